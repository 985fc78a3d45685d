//! The tasks on small logs, right and wrong, written down as a reader would tell them.

mod cost;
mod step1;
mod step2;
mod step3;
mod step5;
mod step6;
mod step7;
mod step8;

use super::{By, Look, Record, step};
use crate::action::Direction;
use crate::event::{
    EffectAnswer, EndReason, Event, Fault, Kind, Param, ProcessName, ProcessState, Reply, Source, StoreCommand,
};
use crate::guard::Guard;
use crate::ids::{AttemptId, CommandId, Endpoint, SinkName, Slot, Token};
use crate::machine::{LockState, Outcome, TaskState};
use crate::setup::{Setup, SetupChange};

/// A log under construction. Times are in milliseconds.
pub(super) struct Log {
    events: Vec<Event>,
    setup: Setup,
}

fn id(text: &str) -> AttemptId {
    text.parse().unwrap()
}

fn by(attempt: &str) -> Source {
    let AttemptId { replica: name, incarnation, .. } = id(attempt);
    Source::Replica { name, incarnation }
}

fn slot(n: i64) -> Slot {
    Slot { schedule: super::record::SCHEDULE.to_owned(), fire_ms: n }
}

impl Log {
    /// A run of that stage begins at 0, its replicas ready.
    fn new(tag: &str, setup: Setup) -> Log {
        let mut log = Log { events: Vec::new(), setup: setup.clone() };
        let began = Kind::Began {
            run: "r".to_owned(),
            name: "live".to_owned(),
            title: String::new(),
            tag: Some(tag.to_owned()),
            script: String::new(),
            wall_ms: 0,
            setup: Box::new(setup.clone()),
            catalog: Vec::new(),
        };
        log.add(0, Source::Runner, began);
        for name in &setup.replicas {
            log.ready(0, &format!("{name}.1.0"));
        }
        log
    }

    fn add(&mut self, ms: u64, source: Source, kind: Kind) -> &mut Self {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { seq, at_us: ms * 1000, until_us: None, source, kind });
        self
    }

    fn ready(&mut self, ms: u64, of: &str) -> &mut Self {
        self.add(ms, by(of), Kind::Ready)
    }

    fn process(&mut self, ms: u64, of: &str, state: ProcessState) -> &mut Self {
        let AttemptId { replica, incarnation, .. } = id(of);
        let process = ProcessName::Replica(replica);
        self.add(ms, Source::Runner, Kind::Process { process, pid: 1, incarnation, state })
    }

    fn set(&mut self, ms: u64, change: SetupChange) -> &mut Self {
        self.setup.apply(&change);
        let setup = Box::new(self.setup.clone());
        self.add(ms, Source::Runner, Kind::Set { change, setup })
    }

    fn due(&mut self, ms: u64, attempt: &str, n: i64) -> &mut Self {
        let lock = super::record::SCHEDULE.to_owned();
        let kind = Kind::SlotDue { attempt: id(attempt), slot: slot(n), lock, by_timer: true };
        self.add(ms, by(attempt), kind)
    }

    fn task(&mut self, ms: u64, attempt: &str, to: TaskState) -> &mut Self {
        self.add(ms, by(attempt), Kind::Task { attempt: id(attempt), from: TaskState::Scheduled, to })
    }

    fn granted(&mut self, ms: u64, attempt: &str, nodes: &[Endpoint]) -> &mut Self {
        let kind = Kind::Granted {
            attempt: id(attempt),
            lock: super::record::SCHEDULE.to_owned(),
            token: Token(attempt.to_owned()),
            epoch: None,
            trusted_until_us: None,
            nodes: nodes.to_vec(),
        };
        self.add(ms, by(attempt), kind)
    }

    fn entered(&mut self, ms: u64, attempt: &str) -> &mut Self {
        let lock = super::record::SCHEDULE.to_owned();
        self.add(ms, by(attempt), Kind::Entered { attempt: id(attempt), lock, epoch: None })
    }

    fn left(&mut self, ms: u64, attempt: &str) -> &mut Self {
        let lock = super::record::SCHEDULE.to_owned();
        self.add(ms, by(attempt), Kind::Left { attempt: id(attempt), lock, why: String::new() })
    }

    fn finished(&mut self, ms: u64, attempt: &str, n: i64, outcome: Outcome) -> &mut Self {
        let kind = Kind::Finished { attempt: id(attempt), slot: slot(n), outcome, why: String::new() };
        self.add(ms, by(attempt), kind)
    }

    fn settled(&mut self, ms: u64, attempt: &str, n: i64, answer: EffectAnswer) -> &mut Self {
        let lock = super::record::SCHEDULE.to_owned();
        let kind = Kind::EffectSettled { attempt: id(attempt), lock, slot: slot(n), epoch: None, answer, nth: 1 };
        self.add(ms, Source::Sink(SinkName::Bank), kind)
    }

    /// Sent, passed on both ways, answered.
    fn command(&mut self, ms: u64, attempt: &str, name: &str, reply: Reply) -> &mut Self {
        let (lock, command) = (super::record::SCHEDULE.to_owned(), CommandId(self.events.len() as u32));
        let sent = StoreCommand {
            command,
            name: name.to_owned(),
            to: Endpoint::Redis(1),
            session: "s/lock".to_owned(),
            text: String::new(),
            params: vec![Param::Null],
            timeout_ms: 200,
        };
        self.add(ms, by(attempt), Kind::Sent { attempt: Some(id(attempt)), lock: lock.clone(), command: sent });
        for direction in [Direction::Request, Direction::Reply] {
            self.passed(ms, attempt, name, command, direction);
        }
        let (attempt_id, name) = (Some(id(attempt)), name.to_owned());
        self.add(ms, by(attempt), Kind::Answered { attempt: attempt_id, lock, command, name, reply, took_us: 1 })
    }

    fn passed(&mut self, ms: u64, attempt: &str, name: &str, command: CommandId, direction: Direction) -> &mut Self {
        let kind = Kind::LinkPassed {
            session: None,
            command: Some(command),
            name: Some(name.to_owned()),
            attempt: Some(id(attempt)),
            direction,
            kept_us: 0,
        };
        self.add(ms, Source::Link { replica: id(attempt).replica, endpoint: Endpoint::Redis(1) }, kind)
    }

    fn says(&mut self, ms: u64, state: LockState, owner: Option<&str>) -> &mut Self {
        let (lock, owner) = (super::record::SCHEDULE.to_owned(), owner.map(id));
        let kind = Kind::StoreSays { lock, state, token: None, owner, epoch: None, ttl_ms: None };
        self.add(ms, Source::Store(Endpoint::Postgres), kind)
    }

    fn fault(&mut self, ms: u64, fault: u32, what: Fault, begins: bool) -> &mut Self {
        let kind = if begins { Kind::FaultBegan { fault, what } } else { Kind::FaultEnded { fault, what } };
        self.add(ms, Source::Runner, kind)
    }

    fn ended(&mut self, ms: u64) -> &mut Self {
        self.add(ms, Source::Runner, Kind::Ended { why: EndReason::Closed })
    }

    /// What the log shows of a task, as `1a`.
    fn look(&self, task: &str) -> Look {
        let (number, letter) = task.split_at(1);
        let task = step(number.parse().unwrap()).unwrap().task(letter).unwrap();
        let By::Log(look) = task.by else { panic!("{letter} of step {number} is looked for elsewhere") };
        look(&Record::of(&self.events))
    }

    /// What it misses of a task.
    fn misses(&self, task: &str) -> &'static str {
        let look = self.look(task);
        assert_eq!(look.proved, [], "it proves something");
        look.misses.expect("it misses nothing")
    }

    /// The marks that it proves of a task; the event of each must be in the log.
    fn proves(&self, task: &str) -> Vec<&'static str> {
        let proved = self.look(task).proved;
        assert!(proved.iter().all(|proof| (1..=self.events.len() as u64).contains(&proof.event)), "{proved:?}");
        proved.into_iter().map(|proof| proof.mark).collect()
    }
}

/// Every task names what it may miss, and its functions name nothing else: hints are kept by these names.
#[test]
fn tasks_have_names_of_their_own() {
    for step in super::STEPS {
        for (nth, task) in step.tasks.iter().enumerate() {
            assert!(!task.misses.is_empty() && !task.marks.is_empty());
            assert!(step.tasks[..nth].iter().all(|other| other.id != task.id), "{}{}", step.number, task.id);
        }
    }
}

#[test]
fn an_empty_log_misses_the_first_things() {
    for step in super::STEPS {
        for task in step.tasks {
            let look = match task.by {
                By::Log(look) => look(&Record::default()),
                By::Cells(look) => look(&[]),
                By::Tried(look) => look(&[]),
                By::Answers(look) => look(0),
            };
            assert_eq!(look.proved, [], "{}{}", step.number, task.id);
            let misses = look.misses.expect("an empty log misses something");
            assert!(task.misses.contains(&misses), "{}{} misses {misses}", step.number, task.id);
        }
    }
}
