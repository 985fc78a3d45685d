//! What is explored: one holder by the learner's table, one store row, calls on their way, and B, who takes over
//! as soon as the lease is over. A world is small and compares by value; [`World::moves`] says what may happen
//! next, in every order. Nothing here knows how worlds are searched.

use super::table::{Base, Table, Target};

/// How long a lease is, in ticks.
pub const LEASE: u8 = 6;

/// What A is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It asked for the lock, and has read no answer.
    Asking,
    /// Inside, and no call is out.
    Holding,
    /// Inside, and asks for more time.
    Renewing,
    /// It has left, or never entered.
    Stopped,
}

/// What the store's row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    /// Nobody was granted it yet.
    Empty,
    /// It carries A's token.
    OfA,
    /// An operator deleted it; B waits for the end of the lease all the same.
    Deleted,
    /// It carries B's token, and B is inside.
    OfB,
}

/// The call whose answer A waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Nothing is out.
    None,
    /// On its way to the store, or lost there.
    Asked,
    /// Answered; the answer is on its way to A, or lost there.
    Answered(Answer),
}

/// What the store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Granted, or extended.
    Ok,
    /// Not yours: no row was changed.
    Zero,
    /// It failed, and did nothing.
    Error,
}

/// A's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The deadline.
    Deadline,
    /// The next renewal.
    RenewDue,
    /// The end of a call's time.
    Timeout,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// Time goes on by one tick.
    Tick,
    /// A's call reaches the store, which answers.
    Reaches(Answer),
    /// A call whose answer A no longer waits for reaches the store.
    ReachesLate,
    /// A reads the answer to its call.
    Reads(Answer),
    /// A reads its grant when its deadline is past, and does not enter.
    ReadsTooLate,
    /// One of A's timers goes off.
    Due(Timer),
    /// An operator deletes the row.
    Deletes,
    /// B takes over, and is inside.
    TakesOver,
}

/// Everything, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// Now, in ticks.
    pub now: u8,
    /// What A is doing.
    pub a: Phase,
    /// When A means to be gone.
    pub deadline: u8,
    /// That deadline went off, and A did not leave: it goes off once.
    pub told: bool,
    /// When A sent its last call.
    pub sent: u8,
    /// A read that the row is not its own.
    pub heard_zero: bool,
    /// A's call.
    pub call: Call,
    /// An earlier call is still on its way to the store.
    pub late_call: bool,
    /// What the row says.
    pub row: Row,
    /// When the store lets somebody else in.
    pub expires: u8,
}

impl World {
    /// A has asked for the lock, at tick 0.
    pub fn start() -> World {
        World {
            now: 0,
            a: Phase::Asking,
            deadline: 0,
            told: false,
            sent: 0,
            heard_zero: false,
            call: Call::Asked,
            late_call: false,
            row: Row::Empty,
            expires: 0,
        }
    }

    /// Is A inside?
    pub fn inside(&self) -> bool {
        matches!(self.a, Phase::Holding | Phase::Renewing)
    }

    /// What may happen next, with what comes of it. Time goes on only when none of A's timers is due.
    pub fn moves(&self, table: &Table) -> Vec<(Move, World)> {
        let mut moves = Vec::with_capacity(8);
        let due = self.due(table);
        for timer in &due {
            moves.push((Move::Due(*timer), self.after_timer(*timer, table)));
        }
        if self.call == Call::Asked {
            let answer = self.answer();
            moves.push((Move::Reaches(answer), self.reached(answer)));
            if self.a == Phase::Renewing {
                moves.push((Move::Reaches(Answer::Error), self.reached(Answer::Error)));
            }
        }
        if self.late_call {
            let extended = self.reached(self.answer());
            moves.push((Move::ReachesLate, World { call: self.call, late_call: false, ..extended }));
        }
        moves.extend(self.read(table));
        if self.row == Row::OfA {
            moves.push((Move::Deletes, World { row: Row::Deleted, ..*self }));
        }
        if matches!(self.row, Row::OfA | Row::Deleted) && self.now >= self.expires {
            moves.push((Move::TakesOver, World { row: Row::OfB, ..*self }));
        }
        if due.is_empty() {
            moves.push((Move::Tick, World { now: self.now + 1, ..*self }));
        }
        moves
    }

    /// The timers that are due now. A looks at its deadline before it sends anything or gives a call up.
    pub(super) fn due(&self, table: &Table) -> Vec<Timer> {
        let (deadline, others): (Target, &[(Timer, u8, Target)]) = match self.a {
            Phase::Holding => (
                table.holding_deadline,
                &[(Timer::RenewDue, self.sent.saturating_add(table.renew_every), table.renew_due)],
            ),
            Phase::Renewing => {
                (table.renewing_deadline, &[(Timer::Timeout, self.sent.saturating_add(table.timeout), table.timed_out)])
            }
            Phase::Asking | Phase::Stopped => return Vec::new(),
        };
        if deadline != Target::Ignore && !self.told && self.now >= self.deadline {
            return vec![Timer::Deadline];
        }
        let is_due = |(_, at, target): &&(Timer, u8, Target)| *target != Target::Ignore && self.now >= *at;
        others.iter().filter(is_due).map(|(timer, ..)| *timer).collect()
    }

    pub(super) fn after_timer(&self, timer: Timer, table: &Table) -> World {
        let holding = self.a == Phase::Holding;
        match timer {
            Timer::Deadline => {
                let told = World { told: true, ..*self };
                told.go(if holding { table.holding_deadline } else { table.renewing_deadline }, table)
            }
            Timer::RenewDue => {
                // Whoever does not ask now is reminded again as long after this.
                let reminded = World { sent: self.now, ..*self };
                match table.renew_due {
                    Target::Renewing | Target::Stopped => self.go(table.renew_due, table),
                    target => reminded.go(target, table),
                }
            }
            Timer::Timeout => self.go(table.timed_out, table),
        }
    }

    /// What the store answers to a call of A that reaches it now: it extends only what is still A's.
    fn answer(&self) -> Answer {
        match self.row {
            Row::Empty => Answer::Ok,
            Row::OfA if self.now < self.expires => Answer::Ok,
            _ => Answer::Zero,
        }
    }

    pub(super) fn reached(&self, answer: Answer) -> World {
        let world = World { call: Call::Answered(answer), ..*self };
        match answer {
            Answer::Ok => World { row: Row::OfA, expires: self.now + LEASE, ..world },
            Answer::Zero | Answer::Error => world,
        }
    }

    /// A reads what was answered.
    pub(super) fn read(&self, table: &Table) -> Option<(Move, World)> {
        let Call::Answered(answer) = self.call else { return None };
        let read = World { call: Call::None, ..*self };
        match (self.a, answer) {
            (Phase::Asking, Answer::Ok) => {
                let deadline = self.counted(table);
                // Whoever reads its grant when it should be gone does not enter.
                Some(match self.now >= deadline {
                    true => (Move::ReadsTooLate, World { a: Phase::Stopped, ..read }),
                    false => (Move::Reads(answer), World { a: Phase::Holding, deadline, ..read }),
                })
            }
            (Phase::Renewing, answer) => {
                let target = match answer {
                    Answer::Ok => table.ok,
                    Answer::Zero => table.zero,
                    Answer::Error => table.error,
                };
                let heard_zero = self.heard_zero || answer == Answer::Zero;
                Some((Move::Reads(answer), World { heard_zero, ..read }.go(target, table)))
            }
            _ => None,
        }
    }

    /// The deadline of a lease that is counted now.
    fn counted(&self, table: &Table) -> u8 {
        let base = match table.base {
            Base::Sent => self.sent,
            Base::Answered => self.now,
        };
        (base + LEASE).saturating_sub(table.margin)
    }

    fn go(&self, target: Target, table: &Table) -> World {
        let out = self.call == Call::Asked;
        match target {
            Target::Ignore => *self,
            Target::Holding => World { a: Phase::Holding, call: Call::None, late_call: self.late_call || out, ..*self },
            Target::Anew => {
                let deadline = self.counted(table);
                // The same deadline again does not go off again.
                let told = self.told && deadline == self.deadline;
                World { deadline, told, ..self.go(Target::Holding, table) }
            }
            // At most two calls are on their way: an older one counts as lost.
            Target::Renewing => World {
                a: Phase::Renewing,
                call: Call::Asked,
                late_call: self.late_call || out,
                sent: self.now,
                ..*self
            },
            Target::Stopped => World { a: Phase::Stopped, call: Call::None, late_call: false, ..*self },
        }
    }
}
