//! What happened when: the marks of the timeline, open ones without an end. Old marks are dropped in
//! chunks, so that a stage stays small enough to embed in a page and to keep as a checkpoint.

use borsh::{BorshDeserialize, BorshSerialize};
use locks::action::{Action, NodeAction, PostgresAction};
use locks::event::EffectAnswer;
use locks::ids::{AttemptId, LockName, Slot};
use locks::machine::LockState;

use super::lock::{HoldEnd, Reading};

/// Most marks of a kind that are kept.
const MOST: usize = 480;
/// How many are dropped at once when there are more.
const CHUNK: usize = 120;

/// A stretch of time; `None`: it goes on.
pub type Span = (u64, Option<u64>);

/// A critical section: the replica believes that it holds.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Section {
    /// The event that began it.
    pub seq: u64,
    /// Whose.
    pub attempt: AttemptId,
    /// Of which schedule.
    pub schedule: String,
    /// Of which lock.
    pub lock: LockName,
    /// The epoch that it believes in.
    pub epoch: Option<u64>,
    /// From, to.
    pub span: Span,
    /// When the store denied it.
    pub denied: Vec<Span>,
    /// It began when locks stood somewhere else: what the store says now says nothing about it.
    pub elsewhere: bool,
}

/// A hold: the store says that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Hold {
    /// Of which lock.
    pub lock: LockName,
    /// Who, where known.
    pub owner: Option<AttemptId>,
    /// Under which epoch.
    pub epoch: Option<u64>,
    /// From, to.
    pub span: Span,
    /// When it expires, by the latest reading.
    pub expires_us: Option<u64>,
    /// How it ended.
    pub end: Option<HoldEnd>,
}

/// A wait for the lock.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Wait {
    /// Whose.
    pub attempt: AttemptId,
    /// Of which schedule.
    pub schedule: String,
    /// From the first asking to entering or giving up.
    pub span: Span,
    /// When it was told "busy".
    pub busy: Vec<u64>,
}

/// An effect at its sink.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Effect {
    /// The event that tells of it.
    pub seq: u64,
    /// Who sent it.
    pub attempt: AttemptId,
    /// Under which lock.
    pub lock: LockName,
    /// For which slot.
    pub slot: Slot,
    /// With which epoch.
    pub epoch: Option<u64>,
    /// Accepted, or which guard rejected it.
    pub answer: EffectAnswer,
    /// Accepted effects of the slot, this one included.
    pub nth: u32,
    /// When it was sent, where known.
    pub sent_us: Option<u64>,
    /// When the sink settled it.
    pub at_us: u64,
}

/// An effect under way.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Flight {
    /// Who sent it.
    pub attempt: AttemptId,
    /// For which slot.
    pub slot: Slot,
    /// With which epoch.
    pub epoch: Option<u64>,
    /// When.
    pub sent_us: u64,
    /// The sink settled it; the sender does not know yet.
    pub settled: bool,
}

/// A process does not run: stopped, or dead.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Stop {
    /// Whose.
    pub replica: String,
    /// From, to.
    pub span: Span,
    /// It is dead.
    pub dead: bool,
}

/// What kind of thing was done to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum CauseKind {
    /// A slot became due.
    Slot,
    /// A setting was changed.
    Set,
    /// A process was stopped.
    Pause,
    /// A process was continued or started.
    Go,
    /// A process was killed.
    Kill,
    /// A link was cut.
    Cut,
    /// A link is slow.
    Delay,
    /// Messages are held.
    Hold,
    /// Anything else.
    Other,
}

/// Something that was done to the run: it stands above its effect.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Cause {
    /// Its event.
    pub seq: u64,
    /// When.
    pub at_us: u64,
    /// The schedule that it concerns; `None`: all.
    pub schedule: Option<String>,
    /// What kind.
    pub kind: CauseKind,
    /// In a few words.
    pub text: String,
}

impl Cause {
    /// An action as a mark, if it does something to the run.
    pub(super) fn of_action(seq: u64, at_us: u64, action: &Action) -> Option<Cause> {
        let links = |links: &locks::action::Links| {
            let ends: Vec<String> = links.endpoint.iter().map(ToString::to_string).collect();
            format!("{}–{}", links.replica.join(", "), ends.join(", "))
        };
        let (kind, text) = match action {
            Action::Pause(names) => (CauseKind::Pause, format!("pause {}", names.join(", "))),
            Action::Resume(names) => (CauseKind::Go, format!("continue {}", names.join(", "))),
            Action::Kill(names) => (CauseKind::Kill, format!("kill {}", names.join(", "))),
            Action::Start(names) => (CauseKind::Go, format!("start {}", names.join(", "))),
            Action::Cancel(names) => (CauseKind::Other, format!("cancel {}", names.join(", "))),
            Action::Add(names) => (CauseKind::Go, format!("add {}", names.join(", "))),
            Action::Remove(names) => (CauseKind::Kill, format!("remove {}", names.join(", "))),
            Action::Set(change) => (CauseKind::Set, super::view::words::change(change)),
            Action::Cut(which) => (CauseKind::Cut, format!("cut {}", links(which))),
            Action::Heal { links: which, .. } => (CauseKind::Go, format!("heal {}", links(which))),
            Action::Delay { links: which, ms, .. } => (CauseKind::Delay, format!("delay {} {ms} ms", links(which))),
            Action::Hold { links: which, .. } => (CauseKind::Hold, format!("hold {}", links(which))),
            Action::LetGo { links: which, .. } => (CauseKind::Go, format!("let go {}", links(which))),
            Action::Clock { replica, shift_ms } => {
                (CauseKind::Other, format!("clock of {} {shift_ms:+} ms", replica.join(", ")))
            }
            Action::Node(what) => of_node(what),
            Action::Postgres(what) => {
                let (kind, what) = match what {
                    PostgresAction::Restart => (CauseKind::Kill, "restart"),
                    PostgresAction::Kill => (CauseKind::Kill, "kill"),
                    PostgresAction::Start => (CauseKind::Go, "start"),
                    PostgresAction::Pause => (CauseKind::Pause, "pause"),
                    PostgresAction::Resume => (CauseKind::Go, "continue"),
                };
                (kind, format!("{what} postgres"))
            }
            Action::TerminateBackend(names) => (CauseKind::Kill, format!("backends of {}", names.join(", "))),
            Action::Failover(node) => (CauseKind::Go, format!("fail over {node}")),
            _ => return None,
        };
        Some(Cause { seq, at_us, schedule: None, kind, text })
    }
}

fn of_node(what: &NodeAction) -> (CauseKind, String) {
    match what {
        NodeAction::Kill(node) => (CauseKind::Kill, format!("kill {node}")),
        NodeAction::Start(node) => (CauseKind::Go, format!("start {node}")),
        NodeAction::Pause(node) => (CauseKind::Pause, format!("pause {node}")),
        NodeAction::Resume(node) => (CauseKind::Go, format!("continue {node}")),
        NodeAction::ScriptFlush(node) => (CauseKind::Other, format!("{node} forgets scripts")),
        NodeAction::ClockShift { clock_shift, ms } => (CauseKind::Other, format!("clock of {clock_shift} {ms:+} ms")),
    }
}

/// Everything that happened, by kind, each in order of its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Track {
    /// Critical sections.
    pub sections: Vec<Section>,
    /// Holds, as the store says.
    pub holds: Vec<Hold>,
    /// Waits for the lock.
    pub waits: Vec<Wait>,
    /// Effects at their sink.
    pub effects: Vec<Effect>,
    /// Effects under way.
    pub flights: Vec<Flight>,
    /// When processes did not run.
    pub stops: Vec<Stop>,
    /// What was done to the run.
    pub causes: Vec<Cause>,
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= MOST {
        list.drain(..CHUNK);
    }
    list.push(item);
}

impl Track {
    pub(super) fn cause(&mut self, cause: Cause) {
        push(&mut self.causes, cause);
    }

    pub(super) fn enter(&mut self, section: Section) {
        push(&mut self.sections, section);
    }

    /// Locks stand somewhere else from now on: nobody says any more how those stand that stood before.
    pub(super) fn move_locks(&mut self, at_us: u64) {
        for section in self.sections.iter_mut().filter(|section| section.span.1.is_none()) {
            section.elsewhere = true;
            close_denial(section, at_us);
        }
        self.holds.iter_mut().for_each(|hold| _ = hold.span.1.get_or_insert(at_us));
    }

    pub(super) fn leave(&mut self, id: &AttemptId, at_us: u64) {
        if let Some(section) = self.sections.iter_mut().rev().find(|section| section.attempt == *id) {
            close_section(section, at_us);
        }
    }

    /// Death ends sections, waits and the knowledge of what is under way.
    pub(super) fn die(&mut self, replica: &str, at_us: u64) {
        for section in self.sections.iter_mut().filter(|section| section.attempt.replica == replica) {
            close_section(section, at_us);
        }
        for wait in self.waits.iter_mut().filter(|wait| wait.attempt.replica == replica) {
            wait.span.1.get_or_insert(at_us);
        }
        self.flights.retain(|flight| flight.attempt.replica != replica || !flight.settled);
    }

    pub(super) fn close_all(&mut self, at_us: u64) {
        self.sections.iter_mut().for_each(|section| close_section(section, at_us));
        self.waits.iter_mut().for_each(|wait| _ = wait.span.1.get_or_insert(at_us));
        self.stops.iter_mut().for_each(|stop| _ = stop.span.1.get_or_insert(at_us));
    }

    pub(super) fn wait(&mut self, id: &AttemptId, schedule: String, at_us: u64) {
        push(&mut self.waits, Wait { attempt: id.clone(), schedule, span: (at_us, None), busy: Vec::new() });
    }

    fn open_wait(&mut self, id: &AttemptId) -> Option<&mut Wait> {
        self.waits.iter_mut().rev().find(|wait| wait.attempt == *id && wait.span.1.is_none())
    }

    pub(super) fn busy(&mut self, id: &AttemptId, at_us: u64) {
        if let Some(wait) = self.open_wait(id) {
            wait.busy.push(at_us);
        }
    }

    /// The latest "busy" was outvoted: the try was granted after all.
    pub(super) fn outvoted(&mut self, id: &AttemptId) {
        if let Some(wait) = self.open_wait(id) {
            wait.busy.pop();
        }
    }

    pub(super) fn end_wait(&mut self, id: &AttemptId, at_us: u64) {
        if let Some(wait) = self.open_wait(id) {
            wait.span.1 = Some(at_us);
        }
    }

    pub(super) fn stop(&mut self, replica: &str, at_us: u64, dead: bool) {
        push(&mut self.stops, Stop { replica: replica.to_owned(), span: (at_us, None), dead });
    }

    pub(super) fn go_on(&mut self, replica: &str, at_us: u64) {
        for stop in self.stops.iter_mut().filter(|stop| stop.replica == replica) {
            stop.span.1.get_or_insert(at_us);
        }
    }

    pub(super) fn effect_sent(&mut self, id: &AttemptId, slot: &Slot, epoch: Option<u64>, at_us: u64) {
        push(
            &mut self.flights,
            Flight { attempt: id.clone(), slot: slot.clone(), epoch, sent_us: at_us, settled: false },
        );
    }

    pub(super) fn effect_over(&mut self, id: &AttemptId) {
        self.flights.retain(|flight| flight.attempt != *id);
    }

    pub(super) fn settled(&mut self, mut effect: Effect) {
        if let Some(flight) = self.flights.iter_mut().find(|flight| flight.attempt == effect.attempt) {
            effect.sent_us = Some(flight.sent_us);
            flight.settled = true;
        }
        push(&mut self.effects, effect);
    }

    /// The store said who holds: extend, end or begin a hold, and note which sections it denies.
    pub(super) fn store_says(&mut self, lock: &str, reading: &Reading) {
        let held = reading.state == LockState::Held;
        let expires_us = reading.ttl_ms.map(|ms| reading.at_us.saturating_add_signed(ms.saturating_mul(1000)));
        let open = self.holds.iter_mut().rev().find(|hold| hold.lock == lock && hold.span.1.is_none());
        let mut goes_on = false;
        if let Some(hold) = open {
            if held && hold.owner == reading.owner && hold.epoch == reading.epoch {
                hold.expires_us = expires_us;
                goes_on = true;
            } else {
                let over = hold.expires_us.filter(|expires| *expires <= reading.at_us);
                let expired = over.is_some() || reading.state == LockState::Expired;
                hold.span.1 = Some(over.unwrap_or(reading.at_us).max(hold.span.0));
                hold.end = Some(if expired { HoldEnd::Expired } else { HoldEnd::Released });
            }
        }
        if held && !goes_on {
            push(
                &mut self.holds,
                Hold {
                    lock: lock.to_owned(),
                    owner: reading.owner.clone(),
                    epoch: reading.epoch,
                    span: (reading.at_us, None),
                    expires_us,
                    end: None,
                },
            );
        }
        for section in self.sections.iter_mut().filter(|section| section.lock == lock && section.span.1.is_none()) {
            if section.elsewhere {
                continue;
            }
            let agrees = held && reading.owner.as_ref() == Some(&section.attempt);
            // A reading from before the section began says nothing about it.
            if reading.at_us < section.span.0 {
                continue;
            }
            match section.denied.last_mut().filter(|denied| denied.1.is_none()) {
                Some(denied) if agrees => denied.1 = Some(reading.at_us),
                None if !agrees => section.denied.push((reading.at_us, None)),
                _ => {}
            }
        }
    }
}

fn close_section(section: &mut Section, at_us: u64) {
    section.span.1.get_or_insert(at_us);
    close_denial(section, at_us);
}

fn close_denial(section: &mut Section, at_us: u64) {
    if let Some(denied) = section.denied.last_mut() {
        denied.1.get_or_insert(at_us);
    }
}
