//! The event log of one schedule: the same kinds of events as every run's, so that a schedule that failed is stored,
//! opened and played like one. It holds only what the grader itself sent, heard and read.

use std::collections::{BTreeMap, BTreeSet};

use locks::action::Action;
use locks::event::{
    EndReason, Event, Kind, Param, Problem, ProcessName, ProcessState, Reply, Schedule as OfCatalog, Source,
    StoreCommand, Whose,
};
use locks::homework::Exercise;
use locks::ids::{CommandId, Endpoint};
use locks::scenario::{Expect, Homework, Scenario, Step as ScenarioStep};
use locks::setup::{Gated, Setup};
use serde_json::Value;

use super::graded::Watch;
use super::schedule::Schedule;
use crate::clock;
use crate::run::log::{RunId, new_run_id};
use crate::run::runner::script_hash;

/// Most characters of a value that are kept.
const MOST: usize = 4096;

/// The session of whatever is not the learner's.
pub const GRADER: &str = "grader";

/// See the module.
pub struct Evidence {
    id: RunId,
    events: Vec<Event>,
    endpoint: Endpoint,
    lock: String,
    steps: u32,
    commands: u32,
    /// What was sent by each replica and is not answered: number and time.
    sent: BTreeMap<String, (CommandId, u64)>,
    began: BTreeSet<String>,
    sessions: BTreeSet<(String, String)>,
    scenario: Scenario,
    watch: Watch,
}

impl Evidence {
    /// Of that schedule of that exercise, whose stores are that one.
    pub fn new(exercise: &Exercise, schedule: &Schedule, setup: &About, answer: &str, watch: &Watch) -> Evidence {
        let scenario = Scenario {
            name: format!("{}-{}", exercise.slug, schedule.name),
            title: format!("{}: {}", exercise.title, schedule.title),
            timed: false,
            setup: Setup {
                strategy: setup.strategy.into(),
                replicas: setup.replicas.iter().map(|name| (*name).to_owned()).collect(),
                gated: Gated::No,
                cron: false,
                ..Setup::default()
            },
            steps: schedule.steps.iter().map(|step| ScenarioStep { span: 0..0, action: step.action() }).collect(),
            expect: Expect::default(),
            homework: Some(Homework {
                exercise: exercise.slug.to_owned(),
                schedule: schedule.name.clone(),
                answer: answer.to_owned(),
            }),
        };
        let mut evidence = Evidence {
            id: new_run_id(),
            events: Vec::new(),
            endpoint: setup.endpoint,
            lock: setup.lock.to_owned(),
            steps: 0,
            commands: 0,
            sent: BTreeMap::new(),
            began: BTreeSet::new(),
            sessions: BTreeSet::new(),
            scenario,
            watch: watch.clone(),
        };
        let scenario = &evidence.scenario;
        let began = Kind::Began {
            run: evidence.id.clone(),
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            tag: Some(format!("homework/{}/{}", exercise.slug, schedule.name)),
            // Only a schedule that is kept needs it.
            script: String::new(),
            wall_ms: chrono::Utc::now().timestamp_millis(),
            setup: Box::new(scenario.setup.clone()),
            // What was sent is listed by the lock that it is about.
            catalog: vec![OfCatalog {
                name: setup.lock.to_owned(),
                cron: "*/5 * * * * *".to_owned(),
                time_zone: "UTC".to_owned(),
                handler: exercise.title.to_owned(),
            }],
        };
        evidence.runner(began);
        evidence
    }

    /// The schedule as a scenario file has it.
    pub fn steps_as_file(&self) -> String {
        self.scenario.to_toml()
    }

    /// The number of the newest event.
    pub fn newest(&self) -> u64 {
        self.events.len() as u64
    }

    fn push(&mut self, at_us: u64, source: Source, kind: Kind) -> u64 {
        let seq = self.newest() + 1;
        self.events.push(Event { seq, at_us, until_us: None, source, kind });
        seq
    }

    fn runner(&mut self, kind: Kind) -> u64 {
        self.push(clock::now_us(), Source::Runner, kind)
    }

    fn replica(&mut self, name: &str, kind: Kind) -> u64 {
        let source = Source::Replica { name: name.to_owned(), incarnation: 1 };
        self.push(clock::now_us(), source, kind)
    }

    /// A step begins.
    pub fn step(&mut self, action: Action) {
        self.steps += 1;
        let step = self.steps;
        self.runner(Kind::StepBegan { step, action });
    }

    /// The step has ended.
    pub fn stepped(&mut self) {
        let step = self.steps;
        self.runner(Kind::StepEnded { step, problem: None });
    }

    /// A replica has a session, in that process of the store.
    pub fn session(&mut self, replica: &str, session: &str, pid: u32) {
        if self.began.insert(replica.to_owned()) {
            let process = ProcessName::Replica(replica.to_owned());
            self.runner(Kind::Process { process, pid, incarnation: 1, state: ProcessState::Started });
            self.replica(replica, Kind::Ready);
        }
        if !self.sessions.insert((replica.to_owned(), session.to_owned())) {
            return;
        }
        let (endpoint, settings) = (self.endpoint, BTreeMap::new());
        self.replica(replica, Kind::SessionOpened { endpoint, session: session.to_owned(), settings });
    }

    /// A replica sends something.
    pub fn sent(&mut self, replica: &str, name: &str, text: &str, params: Vec<Param>, timeout_ms: u64) {
        self.commands += 1;
        let command = CommandId(self.commands);
        self.sent.insert(replica.to_owned(), (command, clock::now_us()));
        let command = StoreCommand {
            command,
            name: name.to_owned(),
            to: self.endpoint,
            session: name.to_owned(),
            text: text.to_owned(),
            params,
            timeout_ms,
        };
        let lock = self.lock.clone();
        self.replica(replica, Kind::Sent { attempt: None, lock, command });
    }

    /// It is answered.
    pub fn answered(&mut self, replica: &str, name: &str, reply: Reply) -> u64 {
        let (command, at) = self.sent.remove(replica).unwrap_or((CommandId(0), clock::now_us()));
        let took_us = clock::now_us().saturating_sub(at);
        if name != GRADER {
            self.watch.add(took_us);
        }
        let lock = self.lock.clone();
        self.replica(replica, Kind::Answered { attempt: None, lock, command, name: name.to_owned(), reply, took_us })
    }

    /// Somebody who is no replica did something.
    pub fn outsider(&mut self, text: &str, answer: &str) {
        let to = self.endpoint;
        self.runner(Kind::Outsider { to, text: text.to_owned(), answer: answer.to_owned() });
    }

    /// A row changed, as the grader's own log says.
    pub fn row(&mut self, table: &str, key: &str, row: Option<&serde_json::Map<String, Value>>) -> u64 {
        let row = row.map(|row| row.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
        let source = Source::Store(self.endpoint);
        self.push(clock::now_us(), source, Kind::Row { table: table.to_owned(), key: key.to_owned(), row })
    }

    /// A key, as the grader reads it.
    pub fn key(&mut self, key: &str, value: Option<String>, pttl_ms: i64) -> u64 {
        let source = Source::Store(self.endpoint);
        self.push(clock::now_us(), source, Kind::Key { key: key.to_owned(), value, pttl_ms })
    }

    /// The schedule was violated: the log ends there. The number of that event, and the whole log.
    pub fn violated(mut self, why: &str) -> (u64, Vec<Event>) {
        let text = why.to_owned();
        let at = self.runner(Kind::Trouble { problem: Problem { whose: Whose::Answer, text } });
        (at, self.ended())
    }

    /// The schedule is over: the whole log.
    pub fn ended(mut self) -> Vec<Event> {
        if let Some(Event { kind: Kind::Began { script, .. }, .. }) = self.events.first_mut() {
            *script = script_hash(&self.scenario);
        }
        self.runner(Kind::Ended { why: EndReason::Done });
        self.events
    }
}

/// How an exercise's schedules are shown.
pub struct About {
    /// The strategy whose part the exercise is.
    pub strategy: &'static str,
    /// Its replicas.
    pub replicas: &'static [&'static str],
    /// Its store.
    pub endpoint: Endpoint,
    /// Its lock.
    pub lock: &'static str,
}

/// Text that is not too long for a log.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
