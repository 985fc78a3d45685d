//! Exercise 3: the shortest way to a violation that the search found, written down as the log of a run, so that it is
//! opened, played and stepped through like every other. A tick is a second. No process ran: the title says so, and
//! nothing in it was measured.

use locks::event::{
    EndReason, Event, Kind, Param, Problem, ProcessName, ProcessState, Reply, Schedule, Source, StoreCommand, Whose,
};
use locks::homework::keep::search::{Found, Trace, search};
use locks::homework::keep::table::Table;
use locks::homework::keep::world::{Answer, Call, LEASE, Move, Phase, Row, Timer, World};
use locks::homework::{Graded, keep};
use locks::ids::{AttemptId, CommandId, Endpoint, Slot, Token};
use locks::machine::{LockState, Outcome, TaskState};
use locks::setup::{Gated, Setup};

use crate::run::log::new_run_id;

/// The schedule whose slot is worked on.
const SCHEDULE: &str = "settle-invoices";
/// A tick, in microseconds; moves of one tick are so far apart.
const TICK_US: u64 = 1_000_000;
const MOVE_US: u64 = 40_000;

/// Grade a table; a violation carries the log that shows it.
pub(super) fn grade(text: &str) -> Graded {
    let mut graded = keep::grade(text);
    if let (Graded::Failed(failure), Ok(table)) = (&mut graded, Table::read(text))
        && let Found::Violation(_, trace) = search(&table)
    {
        let title = format!("Keep it, or let go: {}, as the search found it; a tick is a second", failure.title);
        failure.evidence = Log::of(&table, &trace, title, &failure.schedule, &failure.why);
        // The last but the end.
        failure.at = failure.evidence.len() as u64 - 1;
    }
    graded
}

/// A log that is being written.
struct Log {
    events: Vec<Event>,
    at_us: u64,
    commands: u64,
    /// What A was sent last.
    asked: (CommandId, &'static str, u64),
}

impl Log {
    fn of(table: &Table, trace: &Trace, title: String, schedule: &str, why: &str) -> Vec<Event> {
        let mut log = Log { events: Vec::new(), at_us: TICK_US, commands: 0, asked: (CommandId(0), "", 0) };
        log.begin(table, title, schedule);
        let (mut before, mut within) = (World::start(), 0);
        for (by, world) in trace {
            within = if world.now == before.now { within + 1 } else { 0 };
            log.at_us = (u64::from(world.now) + 1) * TICK_US + within * MOVE_US;
            log.moved(*by, &before, world);
            before = *world;
        }
        let problem = Problem { whose: Whose::Answer, text: why.to_owned() };
        log.push(Source::Runner, Kind::Trouble { problem });
        log.push(Source::Runner, Kind::Ended { why: EndReason::Done });
        log.events
    }

    fn push(&mut self, source: Source, kind: Kind) {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { seq, at_us: self.at_us, until_us: None, source, kind });
        // Causes stand before what they cause.
        self.at_us += 1;
    }

    fn by(&mut self, name: &str, kind: Kind) {
        self.push(Source::Replica { name: name.to_owned(), incarnation: 1 }, kind);
    }

    fn begin(&mut self, table: &Table, title: String, schedule: &str) {
        let ms = |ticks: u8| u64::from(ticks) * TICK_US / 1000;
        let setup = Setup {
            strategy: "pg-lease".into(),
            lease_ms: ms(LEASE),
            margin_ms: ms(table.margin),
            store_timeout_ms: ms(table.timeout),
            renew: true,
            cron: false,
            gated: Gated::No,
            ..Setup::default()
        };
        let of_catalog = Schedule {
            name: SCHEDULE.to_owned(),
            cron: "*/5 * * * * *".to_owned(),
            time_zone: "UTC".to_owned(),
            handler: "settles the invoices that are due".to_owned(),
        };
        let began = Kind::Began {
            run: new_run_id(),
            name: "keep-searched".to_owned(),
            title,
            tag: Some(format!("homework/keep/{schedule}")),
            script: String::new(),
            wall_ms: chrono::Utc::now().timestamp_millis(),
            setup: Box::new(setup),
            catalog: vec![of_catalog],
        };
        self.push(Source::Runner, began);
        for name in ["A", "B"] {
            let process = ProcessName::Replica(name.to_owned());
            let started = Kind::Process { process, pid: 0, incarnation: 1, state: ProcessState::Started };
            self.push(Source::Runner, started);
            self.by(name, Kind::Ready);
        }
        self.begins("A");
        self.asks("A", "acquire");
    }

    fn moved(&mut self, by: Move, before: &World, world: &World) {
        match by {
            Move::Tick if before.row == Row::OfA && before.now < before.expires && world.now >= world.expires => {
                self.says(LockState::Expired, None, None);
            }
            Move::Tick => {}
            Move::Reaches(Answer::Ok) => self.holds("A", 1, world),
            Move::ReachesLate if world.row == Row::OfA && world.expires != before.expires => self.holds("A", 1, world),
            Move::Reaches(_) | Move::ReachesLate => {}
            Move::Deletes => {
                let text = format!("delete from locks where name = '{SCHEDULE}'");
                let answer = "DELETE 1".to_owned();
                self.push(Source::Runner, Kind::Outsider { to: Endpoint::Postgres, text, answer });
                self.says(LockState::Free, None, None);
            }
            Move::TakesOver => {
                self.begins("B");
                self.asks("B", "acquire");
                self.holds("B", 2, world);
                self.answered("B", granted(2));
                let until_us = self.at_us + u64::from(LEASE) * TICK_US;
                self.enters("B", 2, until_us);
            }
            Move::Reads(answer) => {
                let epoch = if before.a == Phase::Asking { Some(1) } else { None };
                self.answered("A", heard(answer, epoch));
            }
            Move::ReadsTooLate => {
                self.answered("A", granted(1));
                self.task("A", TaskState::Acquiring, TaskState::Skipped);
                self.finished("A", Outcome::Skipped, "its grant came too late");
            }
            Move::Due(Timer::Timeout) => self.answered("A", Reply::Unknown),
            Move::Due(Timer::Deadline | Timer::RenewDue) => {}
        }
        self.of_a(by, before, world);
    }

    /// What A does after a move, which only its new state tells.
    fn of_a(&mut self, by: Move, before: &World, world: &World) {
        let trusted_until_us = (u64::from(world.deadline) + 1) * TICK_US;
        if before.a == Phase::Asking && world.inside() {
            return self.enters("A", 1, trusted_until_us);
        }
        if before.inside() && world.inside() && world.deadline != before.deadline {
            self.by("A", Kind::Extended { attempt: attempt("A"), trusted_until_us });
        }
        let goes_on = (before.a, before.call, before.sent) == (world.a, world.call, world.sent);
        if world.a == Phase::Renewing && world.call == Call::Asked && !goes_on {
            self.asks("A", "renew");
        }
        if before.inside() && world.a == Phase::Stopped {
            let why = match by {
                Move::Due(Timer::Deadline) => "its deadline is there",
                Move::Due(Timer::RenewDue) => "a renewal was due",
                Move::Due(Timer::Timeout) => "its call timed out",
                _ => "the answer to its renewal",
            };
            self.by("A", Kind::StopAsked { attempt: attempt("A") });
            self.by("A", Kind::Left { attempt: attempt("A"), lock: SCHEDULE.to_owned(), why: why.to_owned() });
            self.task("A", TaskState::Running, TaskState::Lost);
            self.finished("A", Outcome::Lost, why);
        }
    }

    fn begins(&mut self, name: &str) {
        let lock = SCHEDULE.to_owned();
        self.by(name, Kind::SlotDue { attempt: attempt(name), slot: slot(), lock, by_timer: false });
        self.task(name, TaskState::Due, TaskState::Acquiring);
    }

    fn asks(&mut self, name: &str, what: &'static str) {
        self.commands += 1;
        self.asked = (CommandId(self.commands as _), what, self.at_us);
        let command = StoreCommand {
            command: self.asked.0,
            name: what.to_owned(),
            to: Endpoint::Postgres,
            session: format!("{SCHEDULE}/lock"),
            text: format!("{what}, for {LEASE} ticks"),
            params: Vec::new(),
            timeout_ms: 0,
        };
        self.by(name, Kind::Sent { attempt: Some(attempt(name)), lock: SCHEDULE.to_owned(), command });
    }

    fn answered(&mut self, name: &str, reply: Reply) {
        let (command, what, sent_us) = self.asked;
        let took_us = self.at_us.saturating_sub(sent_us);
        let (attempt, lock, name_of) = (Some(attempt(name)), SCHEDULE.to_owned(), what.to_owned());
        self.by(name, Kind::Answered { attempt, lock, command, name: name_of, reply, took_us });
    }

    fn enters(&mut self, name: &str, epoch: u64, trusted_until_us: u64) {
        let lock = SCHEDULE.to_owned();
        let granted = Kind::Granted {
            attempt: attempt(name),
            lock: lock.clone(),
            token: token(name),
            epoch: Some(epoch),
            trusted_until_us: Some(trusted_until_us),
            nodes: vec![Endpoint::Postgres],
        };
        self.by(name, granted);
        self.task(name, TaskState::Acquiring, TaskState::Running);
        self.by(name, Kind::Entered { attempt: attempt(name), lock, epoch: Some(epoch) });
    }

    fn task(&mut self, name: &str, from: TaskState, to: TaskState) {
        self.by(name, Kind::Task { attempt: attempt(name), from, to });
    }

    fn finished(&mut self, name: &str, outcome: Outcome, why: &str) {
        self.by(name, Kind::Finished { attempt: attempt(name), slot: slot(), outcome, why: why.to_owned() });
    }

    /// The store's row is a replica's.
    fn holds(&mut self, name: &str, epoch: u64, world: &World) {
        let left = match name {
            "A" => i64::from(world.expires) - i64::from(world.now),
            _ => i64::from(LEASE),
        };
        self.says(LockState::Held, Some((name, epoch)), Some(left * (TICK_US / 1000) as i64));
    }

    fn says(&mut self, state: LockState, whose: Option<(&str, u64)>, ttl_ms: Option<i64>) {
        let (token, owner) = (whose.map(|(name, _)| token(name)), whose.map(|(name, _)| attempt(name)));
        let (lock, epoch) = (SCHEDULE.to_owned(), whose.map(|(_, epoch)| epoch));
        let says = Kind::StoreSays { lock, state, token, owner, epoch, ttl_ms };
        self.push(Source::Store(Endpoint::Postgres), says);
    }
}

fn attempt(name: &str) -> AttemptId {
    AttemptId { replica: name.to_owned(), incarnation: 1, n: 1 }
}

fn slot() -> Slot {
    Slot { schedule: SCHEDULE.to_owned(), fire_ms: 0 }
}

fn token(name: &str) -> Token {
    Token(name.to_lowercase())
}

fn granted(epoch: i64) -> Reply {
    Reply::Rows { affected: 1, row: vec![Param::Int(epoch)] }
}

fn heard(answer: Answer, epoch: Option<i64>) -> Reply {
    match answer {
        Answer::Ok => Reply::Rows { affected: 1, row: epoch.map(Param::Int).into_iter().collect() },
        Answer::Zero => Reply::Rows { affected: 0, row: Vec::new() },
        Answer::Error => Reply::Refused { code: "error".to_owned(), message: "nothing was changed".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::run::export::judged;

    fn failed(text: &str) -> (String, Vec<Arc<Event>>, u64) {
        match grade(text) {
            Graded::Failed(failure) => {
                (failure.reason.clone(), failure.evidence.into_iter().map(Arc::new).collect(), failure.at)
            }
            other => panic!("{text}\n{other:?}"),
        }
    }

    /// What the search calls a violation is one for the judge of runs as well.
    #[test]
    fn the_judge_finds_in_the_log_what_the_search_found() {
        let model = keep::EXERCISE.model;
        for (from, to, reason, overlaps) in [
            ("margin = 1", "margin = 0", "both inside", 1),
            ("timeout = \"Holding\"", "timeout = \"Holding+\"", "both inside", 1),
            ("\"sent\"", "\"answered\"", "both inside", 1),
            ("zero = \"Stopped\"", "zero = \"Holding\"", "went on after \"not yours\"", 0),
            ("ok = \"Holding+\"", "ok = \"Holding\"", "let go without trouble", 0),
            ("margin = 1", "margin = 6", "let go without trouble", 0),
        ] {
            let text = model.replacen(from, to, 1);
            assert_ne!(text, model);
            let (found, events, at) = failed(&text);
            assert_eq!(found, reason, "{from}");
            assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
            assert!(events.windows(2).all(|pair| pair[0].at_us < pair[1].at_us), "in order of time");
            assert!(matches!(events[at as usize - 1].kind, Kind::Trouble { .. }));
            let verdict = judged(&events);
            assert_eq!(verdict.overlaps.len(), overlaps, "{from}: {:?}", verdict.overlaps);
            let left = events.iter().any(|event| matches!(event.kind, Kind::Left { .. }));
            assert_eq!(left, reason.starts_with("let go") && to != "margin = 6", "{from}");
        }
        let sent = events_named(&failed(keep::EXERCISE.starter).1);
        assert_eq!(sent, ["acquire", "renew"], "{sent:?}");
    }

    fn events_named(events: &[Arc<Event>]) -> Vec<String> {
        let name = |event: &Arc<Event>| match &event.kind {
            Kind::Sent { command, .. } => Some(command.name.clone()),
            _ => None,
        };
        events.iter().filter_map(name).collect()
    }
}
