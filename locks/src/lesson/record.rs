//! What a run's log says of its attempts, slots, replicas and faults, gathered so that a task's predicate is a
//! few lines. Nothing is decided here. What a replica believes, what a store says and what the sink took stay
//! apart, as they are in the log.

use std::collections::BTreeMap;

use crate::action::Direction;
use crate::event::{EffectAnswer, Event, Fault, Kind, ProcessName, ProcessState, Reply};
use crate::guard::Guard;
use crate::ids::{AttemptId, CommandId, Endpoint, LockName, Slot};
use crate::judge::{Finding, Judge, Verdict};
use crate::machine::{LockState, Outcome, TaskState};
use crate::setup::Setup;

/// The schedule that the lesson is about.
pub const SCHEDULE: &str = "settle-invoices";

/// A slot's last words may come so late.
const STRAGGLERS_US: u64 = 500_000;

/// An event: its number and when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Its number.
    pub seq: u64,
    /// When, in microseconds.
    pub at_us: u64,
}

impl Moment {
    fn of(event: &Event) -> Moment {
        Moment { seq: event.seq, at_us: event.at_us }
    }
}

/// A command of an attempt.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// Where it went.
    pub to: Option<Endpoint>,
    /// When it was sent.
    pub sent: Option<Moment>,
    /// When the link passed it on to the store.
    pub passed: Option<Moment>,
    /// When the link passed the store's reply on.
    pub replied: Option<Moment>,
    /// What the replica took for its answer.
    pub answered: Option<(Reply, Moment)>,
}

impl Command {
    /// Did the replica get no answer in time?
    pub fn is_unknown(&self) -> bool {
        matches!(self.answered, Some((Reply::Unknown, _)))
    }
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Whose.
    pub replica: String,
    /// Which process of it.
    pub incarnation: u32,
    /// Its slot.
    pub slot: Option<Slot>,
    /// The lock that it competes for.
    pub lock: Option<LockName>,
    /// The set-up when it began, as its replica saw it.
    pub setup: Setup,
    /// When it began.
    pub due: Moment,
    /// The states that it went through, and when.
    pub path: Vec<(TaskState, Moment)>,
    /// Its grant: who granted it, and when.
    pub granted: Option<(Vec<Endpoint>, Moment)>,
    /// The epoch of its grant.
    pub epoch: Option<u64>,
    /// It went in.
    pub entered: Option<Moment>,
    /// It went out.
    pub left: Option<Moment>,
    /// Its end.
    pub finished: Option<(Outcome, Moment)>,
    /// Its commands, by number.
    pub commands: BTreeMap<CommandId, Command>,
    /// What the replica took for the sink's answer.
    pub effect_answered: Option<(EffectAnswer, Moment)>,
}

impl Attempt {
    /// Its commands of that name, in order.
    pub fn commands(&self, name: &str) -> impl Iterator<Item = &Command> {
        self.commands.values().filter(move |command| command.name == name)
    }

    /// Under that strategy and no mutant of it?
    pub fn is_under(&self, strategy: &str) -> bool {
        self.setup.strategy.to_string() == strategy
    }
}

/// What the sink said of an effect.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Whose.
    pub attempt: AttemptId,
    /// Of which slot.
    pub slot: Slot,
    /// With which epoch.
    pub epoch: Option<u64>,
    /// The answer.
    pub answer: EffectAnswer,
    /// When.
    pub at: Moment,
}

/// What a store said of a lock.
#[derive(Clone, Debug)]
pub struct Says {
    /// The lock.
    pub lock: LockName,
    /// Its state.
    pub state: LockState,
    /// Whose the token is that stands.
    pub owner: Option<AttemptId>,
    /// When.
    pub at: Moment,
}

/// A fault and how long it lasted.
#[derive(Clone, Debug)]
pub struct Span {
    /// Its number.
    fault: u32,
    /// What it is.
    pub what: Fault,
    /// When it took hold.
    pub began: Moment,
    /// When it was over.
    pub ended: Option<Moment>,
}

/// One process of a replica.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    ready: Option<Moment>,
    stopped: bool,
    gone: Option<Moment>,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// What the run belongs to, as its first event says: `lesson/3/look-then-take`.
    pub tag: String,
    /// The set-up of now.
    pub setup: Setup,
    /// Attempts.
    pub attempts: BTreeMap<AttemptId, Attempt>,
    /// What the sink said, in order of arrival.
    pub settled: Vec<Settled>,
    /// What stores said, in order of arrival.
    pub says: Vec<Says>,
    /// Faults, in order of arrival.
    pub faults: Vec<Span>,
    /// Which step could not be done first, and why.
    pub broken_off: Option<(u32, String)>,
    /// The latest number.
    pub seq: u64,
    /// It is over.
    pub ended: bool,
    /// Somebody entered while another was inside: whether that is certain shows with what is heard next.
    meeting: Option<Moment>,
    /// Overlaps, by the event that completes each: the first event at which it was certain.
    certain: BTreeMap<u64, u64>,
    now_us: u64,
    processes: BTreeMap<(String, u32), Process>,
    judge: Judge,
}

impl Record {
    /// Of a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Record {
        let mut record = Record::default();
        events.into_iter().for_each(|event| record.push(event));
        record
    }

    /// The name of the stage: the last part of the tag.
    pub fn stage(&self) -> &str {
        self.tag.splitn(3, '/').nth(2).unwrap_or_default()
    }

    /// Take the next event.
    pub fn push(&mut self, event: &Event) {
        self.judge.push(event);
        self.seq = event.seq;
        self.now_us = self.now_us.max(event.at_us);
        let at = Moment::of(event);
        match &event.kind {
            Kind::Began { tag, setup, .. } => {
                self.tag = tag.clone().unwrap_or_default();
                self.setup = (**setup).clone();
            }
            Kind::Set { setup, .. } => self.setup = (**setup).clone(),
            Kind::StepEnded { step, problem: Some(problem) } if self.broken_off.is_none() => {
                self.broken_off = Some((*step, problem.text.clone()));
            }
            Kind::Ended { .. } => self.ended = true,
            Kind::Ready => {
                if let crate::event::Source::Replica { name, incarnation } = &event.source {
                    self.process(name, *incarnation).ready = Some(at);
                }
            }
            Kind::Process { process: ProcessName::Replica(name), incarnation, state, .. } => {
                let process = self.process(name, *incarnation);
                match state {
                    ProcessState::Started => {}
                    ProcessState::Stopped => process.stopped = true,
                    ProcessState::Continued => process.stopped = false,
                    ProcessState::Gone => process.gone = Some(at),
                }
            }
            Kind::FaultBegan { fault, what } => {
                self.faults.push(Span { fault: *fault, what: what.clone(), began: at, ended: None });
            }
            Kind::FaultEnded { fault, .. } => {
                if let Some(span) = self.faults.iter_mut().find(|span| span.fault == *fault) {
                    span.ended = Some(at);
                }
            }
            Kind::StoreSays { lock, state, owner, .. } => {
                self.says.push(Says { lock: lock.clone(), state: *state, owner: owner.clone(), at });
            }
            Kind::EffectSettled { attempt, slot, epoch, answer, .. } => self.settled.push(Settled {
                attempt: attempt.clone(),
                slot: slot.clone(),
                epoch: *epoch,
                answer: answer.clone(),
                at,
            }),
            kind => self.push_of_attempt(kind, at),
        }
        self.look_for_overlap(&event.kind, at);
    }

    /// From which event on an overlap is certain, and drawn.
    fn look_for_overlap(&mut self, kind: &Kind, at: Moment) {
        if let Kind::Entered { attempt, .. } = kind {
            let inside = |one: &Attempt| one.entered.is_some() && one.left.is_none();
            let other = self.attempts.iter().any(|(id, one)| id != attempt && inside(one));
            self.meeting = other.then_some(at).or(self.meeting);
        }
        let Some(entered) = self.meeting else { return };
        for finding in self.overlaps() {
            self.certain.entry(completed_by(&finding)).or_insert(at.seq);
        }
        if self.certain.contains_key(&entered.seq) || at.at_us > entered.at_us.saturating_add(STRAGGLERS_US) {
            self.meeting = None;
        }
    }

    /// The event at which an overlap can be seen.
    pub fn shown_at(&self, overlap: &Finding) -> u64 {
        let completed = completed_by(overlap);
        self.certain.get(&completed).copied().unwrap_or(completed)
    }

    /// It is that time now, and nothing else was said up to then.
    pub fn pass(&mut self, at_us: u64) {
        self.now_us = self.now_us.max(at_us);
    }

    fn push_of_attempt(&mut self, kind: &Kind, at: Moment) {
        match kind {
            Kind::SlotDue { attempt, slot, lock, .. } => {
                let attempt = self.attempt(attempt, at);
                attempt.slot = Some(slot.clone());
                attempt.lock = Some(lock.clone());
            }
            Kind::Task { attempt, to, .. } => self.attempt(attempt, at).path.push((*to, at)),
            Kind::Granted { attempt, nodes, epoch, .. } => {
                let attempt = self.attempt(attempt, at);
                attempt.granted = Some((nodes.clone(), at));
                attempt.epoch = *epoch;
            }
            Kind::Entered { attempt, .. } => self.attempt(attempt, at).entered = Some(at),
            Kind::Left { attempt, .. } => self.attempt(attempt, at).left = Some(at),
            Kind::Finished { attempt, outcome, .. } => self.attempt(attempt, at).finished = Some((*outcome, at)),
            Kind::EffectAnswered { attempt, answer, .. } => {
                self.attempt(attempt, at).effect_answered = Some((answer.clone(), at));
            }
            Kind::Sent { attempt: Some(attempt), command, .. } => {
                let known = self.command(attempt, command.command, &command.name, at);
                known.sent = Some(at);
                known.to = Some(command.to);
            }
            Kind::Answered { attempt: Some(attempt), command, name, reply, .. } => {
                self.command(attempt, *command, name, at).answered = Some((reply.clone(), at));
            }
            Kind::LinkPassed { attempt: Some(attempt), command: Some(command), name, direction, .. } => {
                let known = self.command(attempt, *command, name.as_deref().unwrap_or_default(), at);
                match direction {
                    Direction::Request => known.passed = Some(at),
                    Direction::Reply => known.replied = Some(at),
                }
            }
            _ => {}
        }
    }

    fn attempt(&mut self, id: &AttemptId, at: Moment) -> &mut Attempt {
        let setup = &self.setup;
        self.attempts.entry(id.clone()).or_insert_with(|| Attempt {
            replica: id.replica.clone(),
            incarnation: id.incarnation,
            slot: None,
            lock: None,
            setup: setup.of_replica(&id.replica),
            due: at,
            path: Vec::new(),
            granted: None,
            epoch: None,
            entered: None,
            left: None,
            finished: None,
            commands: BTreeMap::new(),
            effect_answered: None,
        })
    }

    fn command(&mut self, attempt: &AttemptId, id: CommandId, name: &str, at: Moment) -> &mut Command {
        self.attempt(attempt, at).commands.entry(id).or_insert_with(|| Command {
            name: name.to_owned(),
            to: None,
            sent: None,
            passed: None,
            replied: None,
            answered: None,
        })
    }

    fn process(&mut self, name: &str, incarnation: u32) -> &mut Process {
        self.processes.entry((name.to_owned(), incarnation)).or_default()
    }

    /// What the judge finds so far.
    pub fn verdict(&self) -> Verdict {
        self.judge.verdict()
    }

    /// Replicas that are ready and alive now, stopped or not.
    pub fn alive(&self) -> Vec<&str> {
        let alive = self.processes.iter().filter(|(_, process)| process.ready.is_some() && process.gone.is_none());
        alive.map(|((name, _), _)| name.as_str()).collect()
    }

    /// Is any of them stopped?
    pub fn is_any_stopped(&self) -> bool {
        self.processes.values().any(|process| process.gone.is_none() && process.stopped)
    }

    /// How many replicas were there, ready, for a slot that became due then.
    pub fn present(&self, due: Moment) -> usize {
        self.processes.values().filter(|process| process.was_there(due)).count()
    }

    /// The slots of the lesson's schedule, in order, each with its first moment.
    pub fn slots(&self) -> Vec<(&Slot, Moment)> {
        let mut slots: BTreeMap<&Slot, Moment> = BTreeMap::new();
        for attempt in self.attempts.values() {
            if let Some(slot) = attempt.slot.as_ref().filter(|slot| slot.schedule == SCHEDULE) {
                let first = slots.entry(slot).or_insert(attempt.due);
                if attempt.due.at_us < first.at_us {
                    *first = attempt.due;
                }
            }
        }
        slots.into_iter().collect()
    }

    /// The attempts at a slot, in the order in which they began.
    pub fn of_slot(&self, slot: &Slot) -> Vec<&Attempt> {
        let mut of: Vec<&Attempt> = self.attempts.values().filter(|one| one.slot.as_ref() == Some(slot)).collect();
        of.sort_by_key(|attempt| attempt.due.at_us);
        of
    }

    /// The attempts of the newest slot.
    pub fn newest(&self) -> Vec<&Attempt> {
        self.slots().last().map(|(slot, _)| self.of_slot(slot)).unwrap_or_default()
    }

    /// The set-up that those attempts had when they began; none if they differ in strategy or guard. Before there
    /// is an attempt it is the set-up of now.
    pub fn setup_of<'a>(&'a self, attempts: impl IntoIterator<Item = &'a Attempt>) -> Option<&'a Setup> {
        let mut attempts = attempts.into_iter().map(|attempt| &attempt.setup);
        let Some(first) = attempts.next() else { return Some(&self.setup) };
        attempts.all(|other| other.strategy == first.strategy && other.guard == first.guard).then_some(first)
    }

    /// What the sink accepted of a slot.
    pub fn accepted<'a>(&'a self, slot: &'a Slot) -> impl Iterator<Item = &'a Settled> {
        let of = self.settled.iter().filter(move |settled| settled.slot == *slot);
        of.filter(|settled| settled.answer == EffectAnswer::Accepted)
    }

    /// What that guard rejected of a slot.
    pub fn rejected<'a>(&'a self, slot: &'a Slot, guard: Guard) -> impl Iterator<Item = &'a Settled> {
        let of = self.settled.iter().filter(move |settled| settled.slot == *slot);
        of.filter(move |settled| settled.answer == EffectAnswer::Rejected(guard))
    }

    /// Can nothing more come of a slot? Each replica that was there for it has an outcome or is dead, and the
    /// sink was heard after that.
    pub fn is_closed(&self, slot: &Slot) -> bool {
        let attempts = self.of_slot(slot);
        let Some(first) = attempts.first() else { return false };
        let mut over_us = first.due.at_us;
        for attempt in &attempts {
            let gone = self.processes.get(&(attempt.replica.clone(), attempt.incarnation)).and_then(|one| one.gone);
            let Some(over) = attempt.finished.map(|(_, at)| at).or(gone) else { return false };
            over_us = over_us.max(over.at_us);
        }
        let tried = |name: &str, incarnation: u32| {
            attempts.iter().any(|attempt| attempt.replica == name && attempt.incarnation == incarnation)
        };
        // Timers of all who were there fire; `fire` names whom it means, and they began at once.
        let waited_for = self.setup.cron
            && self.processes.iter().any(|((name, incarnation), process)| {
                process.was_there(first.due) && process.gone.is_none() && !tried(name, *incarnation)
            });
        !waited_for && (self.ended || self.now_us >= over_us.saturating_add(STRAGGLERS_US))
    }

    /// Certain overlaps.
    pub fn overlaps(&self) -> Vec<Finding> {
        self.verdict().overlaps.into_iter().filter(|finding| finding.certain).collect()
    }

    /// Pauses of that replica that took hold while the store said that it held.
    pub fn hits(&self, replica: &str) -> impl Iterator<Item = &Span> {
        let paused =
            move |what: &Fault| matches!(what, Fault::Pause { process: ProcessName::Replica(name) } if name == replica);
        self.faults.iter().filter(move |span| paused(&span.what) && self.holder_at(span.began) == Some(replica))
    }

    /// Did any fault begin while the store said that somebody held?
    pub fn has_hit(&self) -> bool {
        self.faults.iter().any(|span| self.holder_at(span.began).is_some())
    }

    /// Whom the store named as the holder at that time.
    pub fn holder_at(&self, at: Moment) -> Option<&str> {
        let before = self.says.iter().filter(|says| says.at.at_us <= at.at_us);
        let last = before.max_by_key(|says| (says.at.at_us, says.at.seq))?;
        if last.state != LockState::Held {
            return None;
        }
        last.owner.as_ref().map(|owner| owner.replica.as_str())
    }

    /// When the store said so first, at or after a time.
    pub fn said(&self, state: LockState, since_us: u64) -> Option<Moment> {
        self.says
            .iter()
            .filter(|says| says.state == state && says.at.at_us >= since_us)
            .map(|says| says.at)
            .min_by_key(|at| at.at_us)
    }
}

impl Process {
    fn was_there(&self, due: Moment) -> bool {
        let ready = self.ready.is_some_and(|ready| ready.at_us.saturating_add(STRAGGLERS_US) < due.at_us);
        ready && self.gone.is_none_or(|gone| gone.at_us > due.at_us)
    }
}

/// The last of the events that a finding consists of.
fn completed_by(finding: &Finding) -> u64 {
    finding.events.last().copied().unwrap_or_default()
}
