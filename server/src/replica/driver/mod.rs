//! The driver: one a schedule. It gives its strategy what happens and performs what the strategy answers,
//! in that order, each act behind its gate. It decides nothing by itself: what a reply, a deadline or a lost
//! session means is the strategy's affair.

mod attempt;
mod outputs;
mod unit;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use locks::event::{EffectAnswer, Kind, Reply, WorkEnd};
use locks::ids::{At, AttemptId, CommandId, Gate, LockName, Slot};
use locks::setup::Setup;
use locks::strategy::{Input, Op, Output, Session, Strategy};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::audit::Audit;
use super::effect::Sink;
use super::gates::{Gates, Waiting};
use super::me::{Me, now, until};
use super::session::{self, postgres::Postgres, redis::Redis, take_turns};
use attempt::Attempt;
pub(super) use unit::{Opening, Spec, Unit};

/// What a driver is told, by the process and by what it set going itself.
pub(super) enum Happening {
    /// A slot is due.
    Due {
        /// The slot.
        slot: Slot,
        /// The lock that its attempt competes for.
        lock: LockName,
        /// By the binder's timer; otherwise by `fire`.
        by_timer: bool,
    },
    /// An attempt may pass its gate, if it is that one.
    Pass(AttemptId, Option<Gate>),
    /// Cancel what is under way.
    Cancel,
    /// The work under way is done.
    EndWork,
    /// The lease clock was moved: timers are looked at anew.
    Elapsed,
    /// End when the attempt under way is final; there is a new set-up for new ones.
    Retire,
    /// Give back what is held and end.
    Shutdown,
    /// A command was answered.
    Replied {
        /// Which.
        command: CommandId,
        /// When it was sent.
        sent: At,
        /// The answer.
        reply: Reply,
    },
    /// A session lost its connection.
    Lost(Session),
    /// The handler ended.
    WorkEnded(AttemptId, WorkEnd),
    /// The sink answered.
    EffectAnswered(AttemptId, EffectAnswer),
}

/// A session of the strategy.
enum Store {
    Postgres(session::Session<Postgres>),
    Redis(session::Session<Redis>),
}

/// The driver of one schedule's strategy.
struct Driver<S: Strategy> {
    me: Rc<Me>,
    schedule: String,
    setup: Setup,
    strategy: S,
    stores: BTreeMap<Session, Store>,
    sink: Sink,
    audit: Audit,
    gates: Gates<S::Op>,
    attempt: Option<Attempt>,
    /// What the strategy is to be told next.
    inputs: VecDeque<Input>,
    /// A blocking handler that is to run on this thread once the strategy knows that it entered.
    blocking: Option<AttemptId>,
    /// Last tick: the next is later, whatever the strategy's timer says, so that nothing can spin.
    ticked: At,
    ending: bool,
    /// In this turn it sends commands.
    sends: bool,
    tell: mpsc::UnboundedSender<Happening>,
    inbox: mpsc::UnboundedReceiver<Happening>,
}

impl<S: Strategy> Driver<S> {
    async fn drive(mut self) {
        while !(self.ending && self.attempt.is_none()) {
            while let Ok(happening) = self.inbox.try_recv() {
                self.take(happening);
            }
            // Commands leave when this task waits, and not before; answers may wait for those that come with them.
            if std::mem::take(&mut self.sends) || self.me.patience().is_some_and(|until| until <= Instant::now()) {
                self.me.speak();
            }
            let patience = self.me.patience();
            let tick = self.strategy.next_timer().map(|at| at.max(self.ticked.plus(1)));
            let timer = [tick, self.gates.next_timer()].into_iter().flatten().min();
            tokio::select! {
                biased;
                Some(happening) = self.inbox.recv() => self.take(happening),
                () = until(timer) => {
                    // A reply that has arrived is a reply, however late: it goes first.
                    take_turns().await;
                    while let Ok(happening) = self.inbox.try_recv() {
                        self.take(happening);
                    }
                    self.tick();
                }
                () = sleep_until(patience.unwrap_or_else(Instant::now)), if patience.is_some() => self.me.speak(),
            }
        }
        for waiting in self.gates.open() {
            self.say_passed(&waiting);
        }
        self.me.speak();
    }

    fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Due { slot, lock, by_timer } => self.due(slot, lock, by_timer),
            Happening::Pass(attempt, gate) => {
                if let Some(waiting) = self.gates.pass(&attempt, gate.as_ref()) {
                    self.pass(waiting);
                }
            }
            Happening::Cancel => {
                if let Some(attempt) = self.attempt.as_ref().map(|attempt| attempt.id.clone()) {
                    self.inputs.push_back(Input::Cancel { attempt: attempt.clone() });
                    self.withdraw(&attempt);
                }
            }
            Happening::EndWork => {
                if let Some(at_work) = self.attempt.as_ref().and_then(|attempt| attempt.at_work.as_ref()) {
                    at_work.end();
                }
            }
            // Whoever drives reckons its timers again after each happening.
            Happening::Elapsed => {}
            Happening::Retire => self.ending = true,
            Happening::Shutdown => {
                self.ending = true;
                self.inputs.push_back(Input::Shutdown);
                for waiting in self.gates.open() {
                    self.refuse(waiting);
                }
            }
            Happening::Replied { command, sent, reply } => self.inputs.push_back(Input::Reply { command, sent, reply }),
            Happening::Lost(session) => self.inputs.push_back(Input::SessionLost { session }),
            Happening::WorkEnded(attempt, how) => self.work_ended(attempt, how),
            Happening::EffectAnswered(attempt, answer) => {
                self.inputs.push_back(Input::EffectAnswered { attempt, answer });
            }
        }
        self.settle();
    }

    fn tick(&mut self) {
        let at = now();
        if self.strategy.next_timer().is_some_and(|timer| timer <= at) {
            self.ticked = at;
            self.inputs.push_back(Input::Tick);
        }
        self.settle();
        while let Some(waiting) = self.gates.over(at) {
            self.pass(waiting);
            self.settle();
        }
    }

    /// Tell the strategy what it is to be told and do what it says, until there is nothing left to tell.
    fn settle(&mut self) {
        loop {
            if let Some(input) = self.inputs.pop_front() {
                let outputs = self.feed(input);
                self.perform(outputs.into(), None);
            } else if let Some(attempt) = self.blocking.take() {
                self.me.speak();
                // The lock's own thread, on purpose: nothing is heard or renewed meanwhile.
                std::thread::sleep(Duration::from_millis(self.setup.work_ms));
                self.work_ended(attempt, WorkEnd::Done);
            } else {
                return;
            }
        }
    }

    fn feed(&mut self, input: Input) -> Vec<Output<S::Op>> {
        let from = self.strategy.state();
        let name = name_of(&input);
        let now = now();
        let outputs = self.strategy.on(now, input);
        let to = self.strategy.state();
        if from != to {
            let mut labels = S::info().transitions.iter().filter(|(f, _, t)| *f == from && *t == to);
            // The table's own word for it, where only one is possible.
            let on = match (labels.next(), labels.next()) {
                (Some((_, on, _)), None) => on,
                _ => name,
            };
            self.me.note(Kind::Strategy {
                attempt: self.attempt.as_ref().map(|attempt| attempt.id.clone()),
                schedule: self.schedule.clone(),
                from: from.to_owned(),
                on: on.to_owned(),
                to: to.to_owned(),
                timer_ms: self.strategy.next_timer().map(|timer| timer.0.saturating_sub(now.0)),
            });
        }
        outputs
    }

    /// Withdraw what of an attempt waits at gates, as the contract of `Cancel` says.
    fn withdraw(&mut self, attempt: &AttemptId) {
        while let Some(waiting) = self.gates.take(|waiting| waiting.attempt == *attempt && waiting.gate != Gate::Done) {
            self.refuse(waiting);
        }
    }

    /// The gate lets through no more than the news that its act is not done; `Leave` passes.
    fn refuse(&mut self, mut waiting: Waiting<S::Op>) {
        self.say_passed(&waiting);
        match waiting.outputs.pop_front() {
            Some(Output::Send { command, op, .. }) => {
                let not_sent = |command| Input::Reply { command, sent: now(), reply: Reply::NotSent };
                self.inputs.push_back(not_sent(command));
                // Those that share the gate are not sent either.
                let name = op.wire().name;
                let shares = |output: &mut Output<S::Op>| outputs::name_of(output) == Some(name);
                while let Some(Output::Send { command, .. }) = waiting.outputs.pop_front_if(shares) {
                    self.inputs.push_back(not_sent(command));
                }
            }
            Some(Output::Enter { attempt, .. }) => self.inputs.push_back(Input::EnterRefused { attempt }),
            Some(Output::Effect { attempt, .. }) => self.inputs.push_back(Input::EffectRefused { attempt }),
            Some(output) => self.act(output),
            None => {}
        }
        self.perform(waiting.outputs, None);
    }

    fn say_passed(&self, waiting: &Waiting<S::Op>) {
        self.me.say(Kind::GatePassed { attempt: waiting.attempt.clone(), gate: waiting.gate.clone() });
    }
}

/// An input's name, for the log.
fn name_of(input: &Input) -> &'static str {
    match input {
        Input::Due { .. } => "due",
        Input::Reply { .. } => "reply",
        Input::Tick => "tick",
        Input::Entered { .. } => "entered",
        Input::EnterRefused { .. } => "enter refused",
        Input::WorkEnded { .. } => "work ended",
        Input::EffectSent { .. } => "effect sent",
        Input::EffectRefused { .. } => "effect refused",
        Input::EffectAnswered { .. } => "effect answered",
        Input::Left { .. } => "left",
        Input::Cancel { .. } => "cancel",
        Input::SessionLost { .. } => "session lost",
        Input::Shutdown => "shutdown",
    }
}
