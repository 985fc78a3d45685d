//! Plausible logs, written by hand: what a replica, a store, a sink and the runner say in the course of
//! one slot. Times are milliseconds since the run began. Used by tests and by the example that renders
//! the stage without a server.

#![allow(dead_code, missing_docs, unreachable_pub)]

use std::collections::BTreeMap;

use locks::action::{Action, Fire};
use locks::event::*;
use locks::guard::Guard;
use locks::ids::*;
use locks::machine::{LockState, Outcome, TaskState};
use locks::setup::{Setup, SetupChange};

pub const SETTLE: &str = "settle-invoices";
const ORIGIN_US: u64 = 5_000_000_000;
/// 2026-11-29 21:00:00 UTC.
const WALL_MS: i64 = 1_795_986_000_000;

pub struct Log {
    pub events: Vec<Event>,
    setup: Setup,
    attempts: BTreeMap<String, u32>,
    commands: u32,
    steps: u32,
}

/// An attempt with the slot and lock that it is about.
#[derive(Clone)]
pub struct Go {
    pub id: AttemptId,
    pub slot: Slot,
}

impl Log {
    pub fn new(setup: Setup) -> Log {
        let catalog =
            [(SETTLE, "*/5"), ("dispatch-orders", "2/5"), ("send-digests", "4/5")].map(|(name, cron)| Schedule {
                name: name.to_owned(),
                cron: format!("{cron} * * * * *"),
                time_zone: "Europe/Berlin".to_owned(),
                handler: name.replace('-', " "),
            });
        let mut log =
            Log { events: Vec::new(), setup: setup.clone(), attempts: BTreeMap::new(), commands: 0, steps: 0 };
        log.say(
            0.0,
            Source::Runner,
            Kind::Began {
                run: "7f3a52c1d0e94b7fa1c3e5d7f9b1a3c5".to_owned(),
                name: "live".to_owned(),
                title: "Live lab".to_owned(),
                tag: None,
                script: "0".repeat(64),
                wall_ms: WALL_MS,
                setup: Box::new(setup.clone()),
                catalog: catalog.to_vec(),
            },
        );
        for (i, name) in setup.replicas.iter().enumerate() {
            log.process(4.0 + i as f64, name, ProcessState::Started);
            log.replica(30.0 + i as f64 * 3.0, name, Kind::Ready);
        }
        log
    }

    pub fn say(&mut self, at_ms: f64, source: Source, kind: Kind) {
        let seq = self.events.len() as u64 + 1;
        let at_us = ORIGIN_US + (at_ms * 1000.0) as u64;
        self.events.push(Event { seq, at_us, until_us: None, source, kind });
    }

    pub fn replica(&mut self, at_ms: f64, name: &str, kind: Kind) {
        self.say(at_ms, Source::Replica { name: name.to_owned(), incarnation: 1 }, kind);
    }

    pub fn process(&mut self, at_ms: f64, name: &str, state: ProcessState) {
        let pid = 48_200 + u32::from(name.as_bytes()[0]);
        let process = ProcessName::Replica(name.to_owned());
        self.say(at_ms, Source::Runner, Kind::Process { process, pid, incarnation: 1, state });
    }

    pub fn step(&mut self, at_ms: f64, action: Action) {
        self.steps += 1;
        let step = self.steps;
        self.say(at_ms, Source::Runner, Kind::StepBegan { step, action });
        self.say(at_ms + 2.0, Source::Runner, Kind::StepEnded { step, problem: None });
    }

    pub fn set(&mut self, at_ms: f64, change: SetupChange) {
        self.step(at_ms, Action::Set(change.clone()));
        self.setup.apply(&change);
        self.say(at_ms + 1.0, Source::Runner, Kind::Set { change, setup: Box::new(self.setup.clone()) });
    }

    pub fn pause(&mut self, at_ms: f64, name: &str) {
        self.step(at_ms, Action::Pause(vec![name.to_owned()]));
        self.process(at_ms + 0.4, name, ProcessState::Stopped);
    }

    pub fn resume(&mut self, at_ms: f64, name: &str) {
        self.step(at_ms, Action::Resume(vec![name.to_owned()]));
        self.process(at_ms + 0.2, name, ProcessState::Continued);
    }

    pub fn kill(&mut self, at_ms: f64, name: &str) {
        self.step(at_ms, Action::Kill(vec![name.to_owned()]));
        self.process(at_ms + 1.0, name, ProcessState::Gone);
    }

    pub fn fire(&mut self, at_ms: f64, schedule: &str) {
        self.step(at_ms, Action::Fire(Fire { schedule: schedule.to_owned(), to: None, again: false }));
    }

    fn task(&mut self, at_ms: f64, go: &Go, from: TaskState, to: TaskState) {
        self.replica(at_ms, &go.id.replica, Kind::Task { attempt: go.id.clone(), from, to });
    }

    /// A slot is due at a replica. The slot's time is the second at or before it.
    pub fn due(&mut self, at_ms: f64, name: &str, schedule: &str) -> Go {
        let n = self.attempts.entry(name.to_owned()).or_default();
        *n += 1;
        let id = AttemptId { replica: name.to_owned(), incarnation: 1, n: *n };
        let slot = Slot { schedule: schedule.to_owned(), fire_ms: WALL_MS + (at_ms / 1000.0) as i64 * 1000 };
        let lock = schedule.to_owned();
        self.replica(at_ms, name, Kind::SlotDue { attempt: id.clone(), slot: slot.clone(), lock, by_timer: true });
        Go { id, slot }
    }

    pub fn enter(&mut self, at_ms: f64, go: &Go, epoch: Option<u64>) {
        let from = if epoch.is_some() { TaskState::Acquiring } else { TaskState::Due };
        let lock = go.slot.schedule.clone();
        self.replica(at_ms, &go.id.replica, Kind::Entered { attempt: go.id.clone(), lock, epoch });
        self.task(at_ms, go, from, TaskState::Running);
    }

    /// Asks for the lock; the answer comes 1.6 ms later.
    pub fn acquire(&mut self, at_ms: f64, go: &Go, granted: Option<u64>) {
        self.commands += 1;
        let command = CommandId(self.commands);
        let attempt = Some(go.id.clone());
        let lock = go.slot.schedule.clone();
        let token = format!("{:040x}", 0xc81e_0f07_u64 * u64::from(self.commands + 3));
        let name = go.id.replica.clone();
        self.task(at_ms, go, TaskState::Due, TaskState::Acquiring);
        self.replica(
            at_ms + 0.1,
            &name,
            Kind::Sent {
                attempt: attempt.clone(),
                lock: lock.clone(),
                command: StoreCommand {
                    command,
                    name: "acquire".to_owned(),
                    to: Endpoint::Postgres,
                    session: format!("{lock}/lock"),
                    text:
                        "insert into locks (name, token, epoch, expires_at) values ($1, $2, 1, clock_timestamp() + $3) \
                           on conflict (name) do update set token = excluded.token, epoch = locks.epoch + 1 \
                           where locks.expires_at <= clock_timestamp() returning epoch, expires_at"
                            .to_owned(),
                    params: vec![Param::Text(lock.clone()), Param::Text(token.clone()), Param::Int(1500)],
                    timeout_ms: 200,
                },
            },
        );
        let row = granted.map(|epoch| vec![Param::Int(epoch as i64)]).unwrap_or_default();
        let reply = Reply::Rows { affected: u64::from(granted.is_some()), row };
        self.replica(
            at_ms + 1.7,
            &name,
            Kind::Answered { attempt, lock: lock.clone(), command, name: "acquire".to_owned(), reply, took_us: 1600 },
        );
        if let Some(epoch) = granted {
            let trusted_until_us = Some(ORIGIN_US + ((at_ms + 1450.0) * 1000.0) as u64);
            let nodes = vec![Endpoint::Postgres];
            let granted = Kind::Granted {
                attempt: go.id.clone(),
                lock,
                token: Token(token.clone()),
                epoch: Some(epoch),
                trusted_until_us,
                nodes,
            };
            self.replica(at_ms + 1.8, &name, granted);
            self.store_says(at_ms + 2.0, go, LockState::Held, Some((&token, epoch, 1500)));
            self.enter(at_ms + 2.0, go, Some(epoch));
        }
    }

    pub fn store_says(&mut self, at_ms: f64, go: &Go, state: LockState, held: Option<(&str, u64, i64)>) {
        let lock = go.slot.schedule.clone();
        let kind = Kind::StoreSays {
            lock: lock.clone(),
            state,
            token: held.map(|(token, ..)| Token(token.to_owned())),
            owner: held.map(|_| go.id.clone()),
            epoch: held.map(|(_, epoch, _)| epoch),
            ttl_ms: held.map(|(_, _, ttl)| ttl),
        };
        self.say(at_ms, Source::Store(Endpoint::Postgres), kind);
        let row = held.map(|(token, epoch, _)| {
            BTreeMap::from([
                ("name".to_owned(), lock.clone().into()),
                ("token".to_owned(), token.into()),
                ("epoch".to_owned(), epoch.into()),
                ("expires_at".to_owned(), "2026-11-29 21:00:13.500+00".into()),
            ])
        });
        self.say(at_ms, Source::Store(Endpoint::Postgres), Kind::Row { table: "locks".to_owned(), key: lock, row });
    }

    pub fn busy(&mut self, at_ms: f64, go: &Go) {
        self.acquire(at_ms, go, None);
        self.finish(at_ms + 1.8, go, TaskState::Acquiring, Outcome::Skipped, "busy");
    }

    pub fn effect_sent(&mut self, at_ms: f64, go: &Go, epoch: Option<u64>) {
        let said = epoch.map(|epoch| format!(",\"epoch\":{epoch}")).unwrap_or_default();
        let text = format!("POST /settlements {{\"slot\":\"{}\"{said},\"attempt\":\"{}\"}}", go.slot, go.id);
        self.replica(
            at_ms,
            &go.id.replica,
            Kind::EffectSent {
                attempt: go.id.clone(),
                slot: go.slot.clone(),
                sink: SinkName::Bank,
                epoch,
                within: None,
                text,
            },
        );
    }

    pub fn settled(&mut self, at_ms: f64, go: &Go, epoch: Option<u64>, answer: EffectAnswer, nth: u32) {
        let kind = Kind::EffectSettled {
            attempt: go.id.clone(),
            lock: go.slot.schedule.clone(),
            slot: go.slot.clone(),
            epoch,
            answer,
            nth,
        };
        self.say(at_ms, Source::Sink(SinkName::Bank), kind);
    }

    pub fn effect_answered(&mut self, at_ms: f64, go: &Go, answer: EffectAnswer) {
        self.replica(at_ms, &go.id.replica, Kind::EffectAnswered { attempt: go.id.clone(), answer, took_us: 3900 });
    }

    pub fn leave(&mut self, at_ms: f64, go: &Go, why: &str) {
        let lock = go.slot.schedule.clone();
        self.replica(at_ms, &go.id.replica, Kind::Left { attempt: go.id.clone(), lock, why: why.to_owned() });
        self.task(at_ms, go, TaskState::Running, TaskState::Releasing);
    }

    pub fn finish(&mut self, at_ms: f64, go: &Go, from: TaskState, outcome: Outcome, why: &str) {
        let to = outcome.state().unwrap();
        self.task(at_ms, go, from, to);
        let (attempt, slot) = (go.id.clone(), go.slot.clone());
        self.replica(at_ms, &go.id.replica, Kind::Finished { attempt, slot, outcome, why: why.to_owned() });
        if outcome != Outcome::Skipped {
            let kind = Kind::Audited { attempt: go.id.clone(), slot: go.slot.clone(), outcome, epoch: None };
            self.say(at_ms + 1.0, Source::Store(Endpoint::Postgres), kind);
        }
    }

    /// Effect accepted, section left, attempt executed.
    pub fn execute(&mut self, at_ms: f64, go: &Go, epoch: Option<u64>, nth: u32) {
        self.effect_sent(at_ms, go, epoch);
        self.settled(at_ms + 2.0, go, epoch, EffectAnswer::Accepted, nth);
        self.effect_answered(at_ms + 3.9, go, EffectAnswer::Accepted);
        self.leave(at_ms + 4.5, go, "work done");
    }

    /// One slot under `none`: every replica works and settles.
    pub fn none_slot(&mut self, at_ms: f64, schedule: &str, names: &[&str]) {
        let goes: Vec<(Go, f64)> = names
            .iter()
            .enumerate()
            .map(|(i, name)| (self.due(at_ms + i as f64 * 4.0, name, schedule), i as f64))
            .collect();
        for (go, i) in &goes {
            self.enter(at_ms + 1.0 + i * 5.0, go, None);
        }
        for (n, (go, i)) in goes.iter().enumerate() {
            self.execute(at_ms + 352.0 + i * 9.0, go, None, n as u32 + 1);
            self.finish(at_ms + 357.0 + i * 9.0, go, TaskState::Releasing, Outcome::Executed, "effect accepted");
        }
    }

    /// One slot under `pg-lease`: one works, the others are told "busy".
    pub fn lease_slot(&mut self, at_ms: f64, schedule: &str, names: &[&str], epoch: u64) {
        let goes: Vec<Go> =
            names.iter().enumerate().map(|(i, name)| self.due(at_ms + i as f64, name, schedule)).collect();
        self.acquire(at_ms + 3.0, &goes[0], Some(epoch));
        for (i, go) in goes[1..].iter().enumerate() {
            self.busy(at_ms + 6.0 + i as f64, go);
        }
        self.execute(at_ms + 358.0, &goes[0], Some(epoch), 1);
        self.store_says(at_ms + 365.0, &goes[0], LockState::Free, None);
        self.finish(at_ms + 366.0, &goes[0], TaskState::Releasing, Outcome::Executed, "effect accepted");
    }
}

/// `none`, three replicas, two slots done and a third going on: all three are inside.
pub fn collision() -> Log {
    let mut log = Log::new(Setup::live());
    let names = ["A", "B", "C"];
    log.none_slot(1000.0, SETTLE, &names);
    log.none_slot(3000.0, "dispatch-orders", &["B", "C", "A"]);
    log.none_slot(6000.0, SETTLE, &["C", "A", "B"]);
    log.none_slot(8000.0, "dispatch-orders", &names);
    log.fire(9200.0, SETTLE);
    log.none_slot(9204.0, SETTLE, &["B", "A", "C"]);
    let goes: Vec<Go> =
        names.iter().enumerate().map(|(i, name)| log.due(11_000.0 + i as f64 * 4.0, name, SETTLE)).collect();
    for (i, go) in goes.iter().enumerate() {
        log.enter(11_001.0 + i as f64 * 5.0, go, None);
    }
    log.effect_sent(11_353.0, &goes[0], None);
    log.settled(11_355.0, &goes[0], None, EffectAnswer::Accepted, 1);
    log
}

/// `pg-lease`: A is paused past its lease while it holds epoch 8, B takes over with epoch 9 and settles.
/// Up to the moment when both are inside.
pub fn paused_holder() -> Log {
    let mut log = Log::new(Setup::live());
    log.none_slot(1000.0, SETTLE, &["A", "B", "C"]);
    log.set(2400.0, SetupChange { strategy: Some("pg-lease".into()), ..SetupChange::default() });
    log.lease_slot(6000.0, SETTLE, &["C", "A", "B"], 6);
    log.lease_slot(8000.0, "dispatch-orders", &["A", "B", "C"], 3);
    log.lease_slot(11_000.0, SETTLE, &["B", "A", "C"], 7);
    let change = SetupChange { acquire_timeout_ms: Some(3000), ..SetupChange::default() };
    log.set(13_000.0, change);
    let a = log.due(16_000.0, "A", SETTLE);
    let b = log.due(16_001.0, "B", SETTLE);
    let c = log.due(16_001.5, "C", SETTLE);
    log.acquire(16_002.0, &a, Some(8));
    for at in [16_006.0, 16_420.0, 16_870.0, 17_310.0] {
        log.acquire(at, &b, None);
        log.acquire(at + 31.0, &c, None);
    }
    log.effect_sent(16_250.0, &a, Some(8));
    log.pause(16_260.0, "A");
    log.store_says(17_504.0, &a, LockState::Expired, None);
    log.acquire(17_620.0, &b, Some(9));
    log.acquire(17_660.0, &c, None);
    log.effect_sent(17_972.0, &b, Some(9));
    log.settled(17_975.0, &b, Some(9), EffectAnswer::Accepted, 1);
    log
}

/// The same, gone on: A's effect arrives late, and the guard rejects it.
pub fn rejected_effect() -> Log {
    let mut log = paused_holder();
    let a = Go { id: "A.1.5".parse().unwrap(), slot: settle_slot(16) };
    let b = Go { id: "B.1.5".parse().unwrap(), slot: settle_slot(16) };
    log.effect_answered(17_977.0, &b, EffectAnswer::Accepted);
    log.leave(17_978.0, &b, "work done");
    log.store_says(17_985.0, &b, LockState::Free, None);
    log.finish(17_986.0, &b, TaskState::Releasing, Outcome::Executed, "effect accepted");
    log.settled(18_300.0, &a, Some(8), EffectAnswer::Rejected(Guard::CurrentEpoch), 1);
    log.resume(18_900.0, "A");
    log.effect_answered(18_901.0, &a, EffectAnswer::Rejected(Guard::CurrentEpoch));
    log.leave(18_902.0, &a, "grant over");
    log.finish(18_904.0, &a, TaskState::Releasing, Outcome::Failed, "effect rejected");
    log
}

/// The holder is killed; the store still holds its lock.
pub fn dead_holder() -> Log {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    log.lease_slot(1000.0, SETTLE, &["A", "B", "C"], 1);
    let c = log.due(6000.0, "C", SETTLE);
    let a = log.due(6000.0, "A", SETTLE);
    log.acquire(6002.0, &c, Some(2));
    log.busy(6010.0, &a);
    log.kill(6200.0, "C");
    log.step(
        6600.0,
        Action::Cut(locks::action::Links { replica: vec!["B".into()], endpoint: vec![Endpoint::Postgres] }),
    );
    log
}

pub fn settle_slot(second: i64) -> Slot {
    Slot { schedule: SETTLE.to_owned(), fire_ms: WALL_MS + second * 1000 }
}
