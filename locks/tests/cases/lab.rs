//! A lab in memory: strategies as they are, the model of their store, a clock that is moved by hand, and an
//! event log such as the real one, with the stamps of replicas, links and sinks.

use std::collections::{BTreeMap, VecDeque};

use locks::action::Direction;
use locks::event::{
    EffectAnswer, EndReason, Event, Kind, ProcessName, ProcessState, Reply, Source, StoreCommand, WorkEnd,
};
use locks::ids::{At, AttemptId, CommandId, Endpoint, SinkName, Slot, Token};
use locks::judge::{Judge, Verdict};
use locks::setup::{Handler, Setup, StrategyName};
use locks::strategy::pg_lease::{Ask, PgLease, Store};
use locks::strategy::{Input, Op, Output, Strategy, find};

/// Where a replica waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Nowhere,
    Working,
    Effect,
}

struct Replica {
    strategy: PgLease,
    stubborn: bool,
    n: u32,
    attempt: Option<(AttemptId, Slot)>,
    outputs: VecDeque<Output<Ask>>,
    stop: Stop,
    at_work: bool,
    paused: bool,
    cut: bool,
    /// Commands whose requests were lost, and when each is given up.
    lost: Vec<(At, CommandId, At)>,
}

#[derive(Default)]
pub struct Lab {
    now: u64,
    store: Store,
    replicas: BTreeMap<String, Replica>,
    events: Vec<Event>,
    next_us: u64,
}

impl Lab {
    pub fn add(&mut self, name: &str, setup: &Setup) {
        self.add_with(name, setup, |strategy| strategy);
    }

    pub fn add_with(&mut self, name: &str, setup: &Setup, change: impl FnOnce(PgLease) -> PgLease) {
        let own = setup.of_replica(name);
        let (_, mutant) = find(&own.strategy).unwrap();
        let strategy = change(PgLease::new(&own, mutant.map(|mutant| mutant.name), &setup.host_of(name)));
        let replica = Replica {
            strategy,
            stubborn: own.handler == Handler::Stubborn,
            n: 0,
            attempt: None,
            outputs: VecDeque::new(),
            stop: Stop::Nowhere,
            at_work: false,
            paused: false,
            cut: false,
            lost: Vec::new(),
        };
        self.replicas.insert(name.to_owned(), replica);
    }

    /// Give a replica the slot of that number, and let it go until it waits.
    pub fn fire(&mut self, name: &str, slot: i64, stop: Stop) {
        let slot = Slot { schedule: "s".to_owned(), fire_ms: slot };
        let replica = self.of(name);
        replica.n += 1;
        replica.stop = stop;
        let attempt = AttemptId { replica: name.to_owned(), incarnation: 1, n: replica.n };
        replica.attempt = Some((attempt.clone(), slot.clone()));
        let token = Token(format!("token of {attempt}"));
        let lock = "s".to_owned();
        self.say(
            name,
            Kind::SlotDue { attempt: attempt.clone(), slot: slot.clone(), lock: lock.clone(), by_timer: false },
        );
        self.feed(name, Input::Due { attempt, slot, lock, token, jitter: 11 });
    }

    /// Let it go on to the end of its attempt.
    pub fn go_on(&mut self, name: &str) {
        let replica = self.of(name);
        replica.stop = Stop::Nowhere;
        match replica.attempt.clone() {
            Some((attempt, _)) if replica.at_work => {
                replica.at_work = false;
                self.feed(name, Input::WorkEnded { attempt, how: WorkEnd::Done });
            }
            _ => self.perform(name),
        }
    }

    pub fn pause(&mut self, name: &str, paused: bool) {
        self.of(name).paused = paused;
        let state = if paused { ProcessState::Stopped } else { ProcessState::Continued };
        let process = ProcessName::Replica(name.to_owned());
        self.event(Source::Runner, Kind::Process { process, pid: 1, incarnation: 1, state });
    }

    pub fn cut(&mut self, name: &str, cut: bool) {
        self.of(name).cut = cut;
    }

    /// Time passes; timers and timeouts of who is not paused run.
    pub fn elapse(&mut self, ms: u64) {
        for _ in 0..ms {
            self.now += 1;
            for name in self.replicas.keys().cloned().collect::<Vec<_>>() {
                if self.of(&name).paused {
                    continue;
                }
                let now = At(self.now);
                if let Some(over) = self.of(&name).lost.iter().position(|(_, _, until)| *until <= now) {
                    let (sent, command, _) = self.of(&name).lost.remove(over);
                    self.feed(&name, Input::Reply { command, sent, reply: Reply::Unknown });
                }
                if self.of(&name).strategy.next_timer().is_some_and(|at| at <= now) {
                    self.feed(&name, Input::Tick);
                }
            }
        }
    }

    pub fn end(&mut self) -> Verdict {
        self.event(Source::Runner, Kind::Ended { why: EndReason::Done });
        let mut judge = Judge::default();
        self.events.iter().for_each(|event| judge.push(event));
        judge.verdict()
    }

    fn of(&mut self, name: &str) -> &mut Replica {
        self.replicas.get_mut(name).unwrap()
    }

    fn feed(&mut self, name: &str, input: Input) {
        let now = At(self.now);
        let replica = self.of(name);
        let outputs = replica.strategy.on(now, input);
        replica.outputs.extend(outputs);
        self.perform(name);
    }

    fn perform(&mut self, name: &str) {
        while let Some(output) = self.of(name).outputs.pop_front() {
            if let Output::Effect { attempt, epoch, not_after, within } = &output
                && self.of(name).stop == Stop::Effect
                && !over(*not_after, self.now)
            {
                // The last check stands before the gate: behind it nobody looks at the grant again.
                let (attempt, epoch, within) = (attempt.clone(), *epoch, *within);
                self.of(name).outputs.push_front(Output::Effect { attempt, epoch, not_after: None, within });
                return;
            }
            self.act(name, output);
        }
    }

    fn act(&mut self, name: &str, output: Output<Ask>) {
        match output {
            Output::Send { command, attempt, to, op, timeout_ms, .. } => {
                self.send(name, command, attempt, to, &op, timeout_ms)
            }
            Output::Enter { attempt, not_after, .. } if over(not_after, self.now) => {
                self.feed(name, Input::EnterRefused { attempt });
            }
            Output::Enter { attempt, token, epoch, not_after, nodes } => {
                let lock = "s".to_owned();
                let trusted_until_us = not_after.map(|At(ms)| ms * 1000);
                let token = token.unwrap();
                self.say(
                    name,
                    Kind::Granted {
                        attempt: attempt.clone(),
                        lock: lock.clone(),
                        token,
                        epoch,
                        trusted_until_us,
                        nodes,
                    },
                );
                self.say(name, Kind::Entered { attempt: attempt.clone(), lock, epoch });
                self.of(name).at_work = true;
                self.feed(name, Input::Entered { attempt });
                if self.of(name).stop != Stop::Working {
                    self.work_ends(name, WorkEnd::Done);
                }
            }
            Output::Stop { .. } if self.of(name).stubborn => {}
            Output::Stop { .. } => self.work_ends(name, WorkEnd::Stopped),
            Output::Effect { attempt, not_after, .. } if over(not_after, self.now) => {
                self.feed(name, Input::EffectRefused { attempt });
            }
            Output::Effect { attempt, epoch, .. } => {
                self.feed(name, Input::EffectSent { attempt: attempt.clone() });
                let (_, slot) = self.of(name).attempt.clone().unwrap();
                let (lock, answer) = ("s".to_owned(), EffectAnswer::Accepted);
                let kind = Kind::EffectSettled { attempt: attempt.clone(), lock, slot, epoch, answer, nth: 1 };
                self.event(Source::Sink(SinkName::Bank), kind);
                self.feed(name, Input::EffectAnswered { attempt, answer: EffectAnswer::Accepted });
            }
            Output::Leave { attempt, why, .. } => {
                self.say(name, Kind::Left { attempt: attempt.clone(), lock: "s".to_owned(), why: why.to_owned() });
                self.feed(name, Input::Left { attempt });
            }
            Output::Extended { attempt, not_after: At(ms) } => {
                self.say(name, Kind::Extended { attempt, trusted_until_us: ms * 1000 });
            }
            Output::Finish { attempt, outcome, why } => {
                let (_, slot) = self.of(name).attempt.take().unwrap();
                self.say(name, Kind::Finished { attempt, slot, outcome, why: why.to_owned() });
            }
            Output::Discard { .. } => {}
        }
    }

    fn work_ends(&mut self, name: &str, how: WorkEnd) {
        let replica = self.of(name);
        if std::mem::take(&mut replica.at_work) {
            let (attempt, _) = replica.attempt.clone().unwrap();
            self.feed(name, Input::WorkEnded { attempt, how });
        }
    }

    fn send(
        &mut self,
        name: &str,
        command: CommandId,
        attempt: Option<AttemptId>,
        to: Endpoint,
        op: &Ask,
        timeout_ms: u64,
    ) {
        let wire = op.wire();
        let sent = At(self.now);
        let stored = StoreCommand {
            command,
            name: wire.name.to_owned(),
            to,
            session: "s/lock".to_owned(),
            text: wire.text.to_owned(),
            params: wire.params,
            timeout_ms,
        };
        let lock = "s".to_owned();
        self.say(name, Kind::Sent { attempt: attempt.clone(), lock: lock.clone(), command: stored });
        if self.of(name).cut {
            return self.of(name).lost.push((sent, command, sent.plus(timeout_ms)));
        }
        let link = Source::Link { replica: name.to_owned(), endpoint: to };
        let passed = Kind::LinkPassed {
            session: Some("s/lock".to_owned()),
            command: Some(command),
            name: Some(wire.name.to_owned()),
            attempt: attempt.clone(),
            direction: Direction::Request,
            kept_us: 0,
        };
        self.event(link, passed);
        let reply = op.apply(&mut self.store, At(self.now));
        let name_of = wire.name.to_owned();
        self.say(name, Kind::Answered { attempt, lock, command, name: name_of, reply: reply.clone(), took_us: 1 });
        self.feed(name, Input::Reply { command, sent, reply });
    }

    fn say(&mut self, name: &str, kind: Kind) {
        self.event(Source::Replica { name: name.to_owned(), incarnation: 1 }, kind);
    }

    /// Each event a microsecond behind the one before.
    fn event(&mut self, source: Source, kind: Kind) {
        let at_us = (self.now * 1000).max(self.next_us);
        self.next_us = at_us + 1;
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { seq, at_us, until_us: None, source, kind });
    }
}

fn over(not_after: Option<At>, now: u64) -> bool {
    not_after.is_some_and(|end| At(now) >= end)
}

/// Lease 3000 ms, three replicas.
pub fn setup(strategy: &str) -> Setup {
    let replicas = ["A", "B", "C"].map(str::to_owned).to_vec();
    Setup { strategy: StrategyName::from(strategy), replicas, ..Setup::default() }
}
