//! The judge on small logs, written down as a reader would tell them.

mod findings;
mod sections;
mod since;
mod size;

use super::*;
use crate::action::{Action, Direction};
use crate::event::{
    EffectAnswer, EndReason, Fault, Kind, Param, ProcessName, ProcessState, Reply, Source, StoreCommand,
};
use crate::ids::{CommandId, Endpoint, SinkName, Token};

/// A log under construction. Times are in milliseconds; the lock is `s`.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
}

fn slot(n: i64) -> Slot {
    Slot { schedule: "s".to_owned(), fire_ms: n }
}

fn id(text: &str) -> AttemptId {
    text.parse().unwrap()
}

fn by(text: &str) -> Source {
    let AttemptId { replica: name, incarnation, .. } = id(text);
    Source::Replica { name, incarnation }
}

impl Log {
    fn add(&mut self, ms: u64, source: Source, kind: Kind) -> &mut Self {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { seq, at_us: ms * 1000, until_us: None, source, kind });
        self
    }

    /// The latest event is only known to have happened up to then.
    fn until(&mut self, ms: u64) -> &mut Self {
        self.events.last_mut().unwrap().until_us = Some(ms * 1000);
        self
    }

    fn due(&mut self, ms: u64, attempt: &str, n: i64) -> &mut Self {
        let kind = Kind::SlotDue { attempt: id(attempt), slot: slot(n), lock: "s".to_owned(), by_timer: true };
        self.add(ms, by(attempt), kind)
    }

    fn granted(&mut self, ms: u64, attempt: &str, epoch: Option<u64>, trusted_ms: Option<u64>) -> &mut Self {
        let kind = Kind::Granted {
            attempt: id(attempt),
            lock: "s".to_owned(),
            token: Token("t".to_owned()),
            epoch,
            trusted_until_us: trusted_ms.map(|ms| ms * 1000),
            nodes: Vec::new(),
        };
        self.add(ms, by(attempt), kind)
    }

    fn entered(&mut self, ms: u64, attempt: &str) -> &mut Self {
        self.add(ms, by(attempt), Kind::Entered { attempt: id(attempt), lock: "s".to_owned(), epoch: None })
    }

    fn left(&mut self, ms: u64, attempt: &str) -> &mut Self {
        self.add(ms, by(attempt), Kind::Left { attempt: id(attempt), lock: "s".to_owned(), why: String::new() })
    }

    fn finished(&mut self, ms: u64, attempt: &str, n: i64, outcome: Outcome) -> &mut Self {
        let kind = Kind::Finished { attempt: id(attempt), slot: slot(n), outcome, why: String::new() };
        self.add(ms, by(attempt), kind)
    }

    fn settled(&mut self, ms: u64, attempt: &str, n: i64, epoch: Option<u64>, answer: EffectAnswer) -> &mut Self {
        let (attempt, lock, slot) = (id(attempt), "s".to_owned(), slot(n));
        self.add(ms, Source::Sink(SinkName::Bank), Kind::EffectSettled { attempt, lock, slot, epoch, answer, nth: 1 })
    }

    fn accepted(&mut self, ms: u64, attempt: &str, n: i64, epoch: Option<u64>) -> &mut Self {
        self.settled(ms, attempt, n, epoch, EffectAnswer::Accepted)
    }

    fn process(&mut self, ms: u64, attempt: &str, state: ProcessState) -> &mut Self {
        let AttemptId { replica, incarnation, .. } = id(attempt);
        self.add(
            ms,
            Source::Runner,
            Kind::Process { process: ProcessName::Replica(replica), pid: 1, incarnation, state },
        )
    }

    fn fault(&mut self, ms: u64, what: Fault) -> &mut Self {
        self.add(ms, Source::Runner, Kind::FaultBegan { fault: 1, what })
    }

    /// Sent, passed on by the link (unless `None`), answered: `affected` rows.
    fn command(&mut self, name: &str, attempt: &str, ms: [u64; 2], passed: Option<u64>, affected: u64) -> &mut Self {
        self.command_to(Endpoint::Postgres, name, attempt, ms, passed, affected)
    }

    fn command_to(
        &mut self,
        to: Endpoint,
        name: &str,
        attempt: &str,
        ms: [u64; 2],
        passed: Option<u64>,
        affected: u64,
    ) -> &mut Self {
        // A row lock's release is called what it does, and says how.
        let (name, text) = if name == "commit" { ("release", name) } else { (name, "") };
        let (attempt_id, lock, name) = (id(attempt), "s".to_owned(), name.to_owned());
        let command = CommandId(self.events.len() as u32);
        let sent = StoreCommand {
            command,
            name: name.clone(),
            to,
            session: "s/lock".to_owned(),
            text: text.to_owned(),
            params: vec![Param::Null],
            timeout_ms: 200,
        };
        self.add(
            ms[0],
            by(attempt),
            Kind::Sent { attempt: Some(attempt_id.clone()), lock: lock.clone(), command: sent },
        );
        if let Some(passed) = passed {
            let kind = Kind::LinkPassed {
                session: None,
                command: Some(command),
                name: Some(name.clone()),
                attempt: Some(attempt_id.clone()),
                direction: Direction::Request,
                kept_us: 0,
            };
            self.add(passed, Source::Link { replica: attempt_id.replica.clone(), endpoint: to }, kind);
        }
        let reply = Reply::Rows { affected, row: Vec::new() };
        let kind = Kind::Answered { attempt: Some(attempt_id), lock, command, name, reply, took_us: 1 };
        self.add(ms[1], by(attempt), kind)
    }

    fn ended(&mut self, ms: u64) -> &mut Self {
        self.add(ms, Source::Runner, Kind::Ended { why: EndReason::Done })
    }

    fn judge(&self) -> Judge {
        let mut judge = Judge::default();
        self.events.iter().for_each(|event| judge.push(event));
        judge
    }

    fn verdict(&self) -> Verdict {
        self.judge().verdict()
    }
}

fn texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|one| format!("{}{}", if one.certain { "" } else { "? " }, one.text)).collect()
}
