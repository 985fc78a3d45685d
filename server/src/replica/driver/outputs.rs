//! What a strategy wants done, done: each act behind its gate, and said before it is done.

use std::collections::VecDeque;
use std::time::Duration;

use locks::event::{EffectAnswer, Kind, Param, Reply, StoreCommand, WorkEnd};
use locks::ids::{At, AttemptId, CommandId, Endpoint, Gate};
use locks::machine::TaskState;
use locks::setup::Handler;
use locks::strategy::{Input, Op, Output, Session, Strategy};
use tokio::time::Instant;

use super::{Driver, Happening, Store, Waiting};
use crate::clock::now_us;
use crate::replica::effect::Effect;
use crate::replica::handler;
use crate::replica::me::{at, machine_us, now};
use crate::replica::session::postgres::Call;
use crate::replica::session::redis;

/// What stands before an act.
enum Before {
    /// Nothing.
    Go,
    /// A closed gate, which opens by itself at that time.
    Wait(AttemptId, Gate, Option<At>),
    /// It is too late for it.
    Refused(Input),
}

fn over(not_after: Option<At>) -> bool {
    not_after.is_some_and(|end| now() >= end)
}

impl<S: Strategy> Driver<S> {
    /// Do what the strategy says, in order, up to the first closed gate. Commands of the name `passed` share
    /// the gate that was just passed (Redlock's five are one).
    pub(super) fn perform(&mut self, mut outputs: VecDeque<Output<S::Op>>, mut passed: Option<&'static str>) {
        while let Some(output) = outputs.pop_front() {
            match self.before(&output, passed) {
                Before::Go => {
                    passed = name_of(&output);
                    self.act(output);
                }
                Before::Refused(input) => self.inputs.push_back(input),
                Before::Wait(attempt, gate, until) => {
                    outputs.push_front(output);
                    return self.wait(Waiting { attempt, gate, until, outputs });
                }
            }
        }
    }

    /// An attempt waits at a gate.
    pub(super) fn wait(&mut self, waiting: Waiting<S::Op>) {
        let (text, params) = self.next(waiting.outputs.front());
        self.me.say(Kind::GateReached { attempt: waiting.attempt.clone(), gate: waiting.gate.clone(), text, params });
        self.gates.wait(waiting);
    }

    /// What an output would send, verbatim.
    fn next(&mut self, output: Option<&Output<S::Op>>) -> (String, Vec<Param>) {
        match output {
            Some(Output::Send { op, .. }) => {
                let wire = op.wire();
                (wire.text.to_owned(), wire.params)
            }
            Some(Output::Effect { attempt, epoch, .. }) => {
                let request = self.effect_of(attempt, *epoch).map(|effect| self.sink.request(effect));
                (request.map(|request| request.text()).unwrap_or_default(), Vec::new())
            }
            _ => Default::default(),
        }
    }

    fn effect_of(&mut self, attempt: &AttemptId, epoch: Option<u64>) -> Option<Effect> {
        let under_way = self.under_way(attempt)?;
        let (lock, slot, token) = (under_way.lock.clone(), under_way.slot.clone(), under_way.token.clone());
        Some(Effect { attempt: attempt.clone(), lock, slot, epoch, token })
    }

    /// An attempt passes its gate.
    pub(super) fn pass(&mut self, mut waiting: Waiting<S::Op>) {
        self.say_passed(&waiting);
        if let Some(output) = waiting.outputs.pop_front() {
            let passed = name_of(&output);
            self.act(output);
            self.perform(waiting.outputs, passed);
        }
    }

    fn before(&mut self, output: &Output<S::Op>, passed: Option<&'static str>) -> Before {
        let (attempt, gate, retry, until) = match output {
            Output::Send { attempt: Some(attempt), op, retry, .. } => {
                let name = op.wire().name;
                if passed == Some(name) {
                    return Before::Go;
                }
                (attempt, Gate::Send(Some(name.to_owned())), *retry, None)
            }
            Output::Enter { attempt, token, epoch, not_after, nodes } => {
                if let Some(token) = token {
                    let attempt = attempt.clone();
                    let Some(under_way) = self.under_way(&attempt) else { return Before::Go };
                    under_way.token = Some(token.clone());
                    let lock = under_way.lock.clone();
                    self.me.say(Kind::Granted {
                        attempt,
                        lock,
                        token: token.clone(),
                        epoch: *epoch,
                        trusted_until_us: not_after.map(machine_us),
                        nodes: nodes.clone(),
                    });
                }
                (attempt, Gate::Enter, false, None)
            }
            // The last check. While an attempt waits at the gate behind it, nobody looks at the grant.
            Output::Effect { attempt, not_after, .. } if over(*not_after) => {
                return Before::Refused(Input::EffectRefused { attempt: attempt.clone() });
            }
            Output::Effect { attempt, .. } => (attempt, Gate::Effect, false, None),
            Output::Leave { attempt, not_after, forced, .. } => {
                self.withdraw_commands(attempt);
                if *forced || over(*not_after) {
                    return Before::Go;
                }
                (attempt, Gate::Leave, false, *not_after)
            }
            Output::Send { attempt: None, .. }
            | Output::Discard { .. }
            | Output::Extended { .. }
            | Output::Stop { .. }
            | Output::Finish { .. } => return Before::Go,
        };
        if self.gates.closed_at(&gate, retry) { Before::Wait(attempt.clone(), gate, until) } else { Before::Go }
    }

    fn withdraw_commands(&mut self, attempt: &AttemptId) {
        let any = Gate::Send(None);
        while let Some(waiting) = self.gates.take(|waiting| waiting.attempt == *attempt && any.covers(&waiting.gate)) {
            self.refuse(waiting);
        }
    }

    /// Do it.
    pub(super) fn act(&mut self, output: Output<S::Op>) {
        match output {
            Output::Send { command, attempt, to, session, op, timeout_ms, .. } => {
                self.send(command, attempt, to, session, &op, timeout_ms);
            }
            Output::Discard { session } => match self.stores.get(&session) {
                Some(Store::Postgres(store)) => store.discard(),
                Some(Store::Redis(store)) => store.discard(),
                None => {}
            },
            Output::Enter { attempt, not_after, .. } if over(not_after) => {
                self.inputs.push_back(Input::EnterRefused { attempt });
            }
            Output::Enter { attempt, epoch, .. } => self.enter(attempt, epoch),
            Output::Extended { attempt, not_after } => {
                self.me.say(Kind::Extended { attempt, trusted_until_us: machine_us(not_after) });
            }
            Output::Stop { attempt } => {
                let me = self.me.clone();
                if let Some(at_work) = self.under_way(&attempt).and_then(|under_way| under_way.at_work.as_ref()) {
                    me.say(Kind::StopAsked { attempt });
                    at_work.stop();
                }
            }
            Output::Effect { attempt, epoch, within, .. } => self.effect(attempt, epoch, within),
            Output::Leave { attempt, why, .. } => {
                let me = self.me.clone();
                if let Some(under_way) = self.under_way(&attempt) {
                    let (attempt, lock) = (attempt.clone(), under_way.lock.clone());
                    me.say(Kind::Left { attempt, lock, why: why.to_owned() });
                    under_way.moves_to(&me, TaskState::Releasing);
                }
                self.inputs.push_back(Input::Left { attempt });
            }
            Output::Finish { attempt, outcome, why } => self.finish(attempt, outcome, why),
        }
    }

    fn send(
        &mut self,
        command: CommandId,
        attempt: Option<AttemptId>,
        to: Endpoint,
        session: Session,
        op: &S::Op,
        timeout_ms: u64,
    ) {
        let (me, tell) = (self.me.clone(), self.tell.clone());
        let mut lock = self.schedule.clone();
        if let Some(under_way) = attempt.as_ref().and_then(|id| self.under_way(id)) {
            lock = under_way.lock.clone();
            under_way.asks(&me);
        }
        let wire = op.wire();
        let at_sending = |param| match param {
            Param::WallClock => Param::Time(me.wall_us()),
            Param::Key(lock) => Param::Text(me.key_of(&lock)),
            param => param,
        };
        let keys = wire.params.iter().filter(|param| matches!(param, Param::Key(_))).count();
        let params: Vec<Param> = wire.params.into_iter().map(at_sending).collect();
        self.sends = true;
        let sent_us = me.note(Kind::Sent {
            attempt: attempt.clone(),
            lock: lock.clone(),
            command: StoreCommand {
                command,
                name: wire.name.to_owned(),
                to,
                session: format!("{}/{}", self.schedule, session.0),
                text: wire.text.to_owned(),
                params: params.clone(),
                timeout_ms,
            },
        });
        let sent = at(sent_us);
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        let answered = move |reply: Reply| {
            let took_us = now_us().saturating_sub(sent_us);
            let name = wire.name.to_owned();
            me.note(Kind::Answered { attempt, lock, command, name, reply: reply.clone(), took_us });
            // The driver may have ended: then nobody needs the answer any more, and nobody else says this.
            if tell.send(Happening::Replied { command, sent, reply }).is_err() {
                me.speak();
            }
        };
        match self.stores.get(&session) {
            Some(Store::Postgres(store)) => store.call(Call { text: wire.text, params }, deadline, answered),
            Some(Store::Redis(store)) => {
                let call = redis::Call { language: wire.language, text: wire.text, params, keys };
                store.call(call, deadline, answered);
            }
            None => answered(Reply::NotSent),
        }
    }

    fn enter(&mut self, attempt: AttemptId, epoch: Option<u64>) {
        let me = self.me.clone();
        let (kind, work) = (self.setup.handler, Duration::from_millis(self.setup.work_ms));
        let tell = self.tell.clone();
        let Some(under_way) = self.under_way(&attempt) else { return };
        under_way.epoch = epoch;
        me.say(Kind::Entered { attempt: attempt.clone(), lock: under_way.lock.clone(), epoch });
        under_way.moves_to(&me, TaskState::Running);
        self.inputs.push_back(Input::Entered { attempt: attempt.clone() });
        if kind == Handler::Blocking {
            self.blocking = Some(attempt);
            return;
        }
        let worker = attempt.clone();
        let ended = move |how| drop(tell.send(Happening::WorkEnded(worker, how)));
        match handler::start(kind, work, ended) {
            Ok(at_work) => {
                if let Some(under_way) = self.under_way(&attempt) {
                    under_way.at_work = Some(at_work);
                }
            }
            Err(error) => {
                tracing::error!("no thread for the handler: {error}");
                self.work_ended(attempt, WorkEnd::Failed);
            }
        }
    }

    fn effect(&mut self, attempt: AttemptId, epoch: Option<u64>, within: Option<Session>) {
        let (me, tell) = (self.me.clone(), self.tell.clone());
        let Some(effect) = self.effect_of(&attempt, epoch) else { return };
        let slot = effect.slot.clone();
        let request = self.sink.request(effect);
        let text = request.text();
        let in_session = within.map(|session| format!("{}/{}", self.schedule, session.0));
        let sent_us = me.say(Kind::EffectSent {
            attempt: attempt.clone(),
            slot,
            sink: self.setup.sink,
            epoch,
            within: in_session,
            text,
        });
        self.inputs.push_back(Input::EffectSent { attempt: attempt.clone() });
        let answered = move |answer: EffectAnswer| {
            let took_us = now_us().saturating_sub(sent_us);
            me.say(Kind::EffectAnswered { attempt: attempt.clone(), answer: answer.clone(), took_us });
            let _ = tell.send(Happening::EffectAnswered(attempt, answer));
        };
        let transaction = within.and_then(|session| match self.stores.get(&session) {
            Some(Store::Postgres(store)) => Some(store),
            _ => None,
        });
        self.sink.send(request, transaction, answered);
    }
}

pub(super) fn name_of<O: Op>(output: &Output<O>) -> Option<&'static str> {
    match output {
        Output::Send { op, .. } => Some(op.wire().name),
        _ => None,
    }
}
