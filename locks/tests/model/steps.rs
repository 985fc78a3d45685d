//! The steps of the lab: which are possible, and what each does. Their order decides which of the shortest
//! counterexamples is told: what can be done is done before time passes, time passes only when it must, and
//! slots, then effects and timeouts, come as late as they can.

use std::collections::BTreeMap;

use locks::action::Direction;
use locks::ids::{At, Endpoint, Slot, Token};
use locks::strategy::{EffectAnswer, Input, Reply, Strategy, WorkEnd};
use stateright::{Model, Property};

use crate::command::Command;
use crate::lab::{Fault, Lab};
use crate::world::{CLOSE, LOCK, Letter, Message, NAMES, Place, Replica, Step, Witness, World};

impl<S> Lab<S>
where
    S: Strategy<Op: Command>,
{
    /// What a replica can do by itself now, but for ending its work, which takes as long as it takes.
    pub fn own_step(&self, world: &World<S>, r: usize) -> Option<Step> {
        let replica = &world.replicas[r];
        match replica.place {
            _ if !replica.alive => None,
            _ if replica.strategy.next_timer().is_some_and(|at| at <= world.now) => Some(Step::Tick(r)),
            Place::AtEnter { .. } => Some(Step::Enter(r)),
            Place::AtEffect { .. } => Some(Step::SendEffect(r)),
            _ if replica.asked.iter().any(|(.., until)| *until <= world.now) => Some(Step::TimedOut(r)),
            _ => None,
        }
    }

    /// Both attempts are final and no effect is under way: nothing that comes concerns anybody.
    fn is_over(&self, world: &World<S>) -> bool {
        world.replicas.iter().all(|replica| !replica.alive || replica.outcome.is_some())
            && !world.flying.values().any(|message| matches!(message, Message::Effect { .. }))
    }

    fn fault(&self, world: &mut World<S>) -> Option<()> {
        let (node, by_ms) = match self.bounds.fault? {
            Fault::Forgets { node, away_ms } => {
                world.away = (away_ms > 0).then(|| (Endpoint::Redis(node), world.now.plus(away_ms)));
                (node, None)
            }
            Fault::Jumps { node, by_ms } => (node, Some(by_ms)),
            Fault::FailsOver { node } => return self.fail_over(world, Endpoint::Redis(node)),
        };
        world.faults += 1;
        let disturbed = S::Op::disturb(&mut world.store, Endpoint::Redis(node), by_ms);
        S::Op::tidy(&mut world.store, world.now);
        disturbed.then_some(())
    }

    /// What is under way on the old connections comes to nothing. The new primary gets a replica, too, which knows
    /// nothing yet.
    fn fail_over(&self, world: &mut World<S>, node: Endpoint) -> Option<()> {
        world.faults += 1;
        let standby = world.standby.replace(Default::default())?;
        let lost = |message: &Message<S::Op>| match message {
            Message::Ask { to: at, .. } | Message::Reply { from: at, .. } => *at == node,
            Message::Effect { .. } | Message::Close { .. } => false,
        };
        world.flying.retain(|_, message| !lost(message));
        S::Op::promote(&mut world.store, standby, node).then_some(())
    }

    /// Is anything under way that arrives before time passes?
    fn is_timely(&self, world: &World<S>) -> bool {
        !self.bounds.timely || world.flying.is_empty()
    }
}

impl<S> Model for Lab<S>
where
    S: Strategy<Op: Sync + Command<Store: Send + Sync>> + Sync,
{
    type State = World<S>;
    type Action = Step;

    fn init_states(&self) -> Vec<World<S>> {
        let replica = |strategy: &S| Replica {
            strategy: strategy.clone(),
            alive: true,
            fired: false,
            inside: false,
            place: Place::Nowhere,
            asked: Vec::new(),
            effect_open: false,
            outcome: None,
        };
        vec![World {
            now: At(0),
            store: Default::default(),
            standby: matches!(self.bounds.fault, Some(Fault::FailsOver { .. })).then(Default::default),
            replicas: self.strategies.iter().map(replica).collect(),
            flying: BTreeMap::new(),
            sinks: Default::default(),
            seen: Witness::default(),
            deaths: 0,
            faults: 0,
            away: None,
        }]
    }

    fn actions(&self, world: &World<S>, steps: &mut Vec<Step>) {
        if self.is_over(world) {
            return;
        }
        if self.bounds.prompt
            && let Some(step) = (0..NAMES.len()).find_map(|r| self.own_step(world, r))
        {
            return steps.push(step);
        }
        let is_away = |message: &Message<S::Op>| matches!((message, world.away), (Message::Ask { to, .. }, Some((node, _))) if *to == node);
        steps.extend(world.flying.iter().filter(|(_, message)| !is_away(message)).map(|(at, _)| Step::Arrive(*at)));
        let alive = || world.replicas.iter().enumerate().filter(|(_, replica)| replica.alive);
        for (r, replica) in alive() {
            match replica.place {
                Place::AtEnter { .. } => steps.push(Step::Enter(r)),
                Place::Working => steps.push(Step::Finish(r)),
                Place::Nowhere | Place::AtEffect { .. } => {}
            }
            if replica.strategy.next_timer().is_some_and(|at| at <= world.now) {
                steps.push(Step::Tick(r));
            }
        }
        if world.faults == 0 && self.bounds.fault.is_some() {
            steps.push(Step::Fault);
        }
        if world.standby.as_ref().is_some_and(|standby| *standby != world.store) {
            steps.push(Step::CatchUp);
        }
        for (r, replica) in alive() {
            if world.deaths < self.bounds.deaths && replica.fired && replica.outcome.is_none() {
                steps.push(Step::Die(r));
            }
        }
        if world.now.0 < self.bounds.horizon * self.bounds.moment_ms && world.replicas[0].fired && self.is_timely(world)
        {
            steps.push(Step::Time);
        }
        for (r, replica) in alive() {
            // Who comes first may as well be called A, and its time the first moment.
            if !replica.fired && (r == 0 || world.replicas[0].fired) {
                steps.push(Step::Fire(r));
            }
        }
        for (r, replica) in alive() {
            if matches!(replica.place, Place::AtEffect { .. }) {
                steps.push(Step::SendEffect(r));
            }
            if replica.asked.iter().any(|(.., until)| *until <= world.now) {
                steps.push(Step::TimedOut(r));
            }
            if replica.effect_open && !self.bounds.timely {
                steps.push(Step::EffectTimedOut(r));
            }
        }
    }

    fn next_state(&self, last: &World<S>, step: Step) -> Option<World<S>> {
        let mut world = last.clone();
        match step {
            Step::Time => {
                world.now = world.now.plus(self.bounds.moment_ms);
                let now = world.now;
                world.seen.votes.retain(|_, until| *until > now);
                S::Op::tidy(&mut world.store, now);
                if let Some(standby) = &mut world.standby {
                    S::Op::tidy(standby, now);
                }
                world.away = world.away.filter(|(_, until)| *until > now);
            }
            Step::Fault => self.fault(&mut world)?,
            Step::CatchUp => world.standby = Some(world.store.clone()),
            Step::Fire(r) => {
                world.replicas[r].fired = true;
                let slot = Slot { schedule: LOCK.to_owned(), fire_ms: 0 };
                let token = Token(format!("token of {}", NAMES[r]));
                let due = Input::Due { attempt: self.attempt(r), slot, lock: LOCK.to_owned(), token, jitter: 0 };
                self.tell(&mut world, r, due);
            }
            Step::Tick(r) => self.tell(&mut world, r, Input::Tick),
            Step::Enter(r) => {
                let Place::AtEnter { not_after } = world.replicas[r].place.clone() else { return None };
                if not_after.is_none_or(|until| world.now < until) {
                    self.enter(&mut world, r);
                } else {
                    world.replicas[r].place = Place::Nowhere;
                    self.tell(&mut world, r, Input::EnterRefused { attempt: self.attempt(r) });
                }
            }
            Step::Finish(r) => {
                world.replicas[r].place = Place::Nowhere;
                self.tell(&mut world, r, Input::WorkEnded { attempt: self.attempt(r), how: WorkEnd::Done });
            }
            Step::SendEffect(r) => {
                let Place::AtEffect { epoch } = world.replicas[r].place.clone() else { return None };
                world.replicas[r].place = Place::Nowhere;
                world.replicas[r].effect_open = true;
                let letter = Letter { replica: r, way: Direction::Request, command: None };
                world.flying.insert(letter, Message::Effect { epoch });
                self.tell(&mut world, r, Input::EffectSent { attempt: self.attempt(r) });
            }
            Step::Arrive(letter) => {
                let message = world.flying.remove(&letter)?;
                self.arrive(&mut world, letter, message);
            }
            Step::TimedOut(r) => {
                let late = world.replicas[r].asked.iter().position(|(.., until)| *until <= world.now)?;
                let (command, sent, _) = world.replicas[r].asked.remove(late);
                let back = Letter { replica: r, way: Direction::Reply, command: Some(command) };
                world.flying.remove(&back);
                self.tell(&mut world, r, Input::Reply { command, sent, reply: Reply::Unknown });
            }
            Step::EffectTimedOut(r) => {
                world.replicas[r].effect_open = false;
                let answer = EffectAnswer::Unknown;
                self.tell(&mut world, r, Input::EffectAnswered { attempt: self.attempt(r), answer });
            }
            Step::Die(r) => {
                world.deaths += 1;
                let replica = &mut world.replicas[r];
                (replica.alive, replica.inside, replica.effect_open) = (false, false, false);
                replica.place = Place::Nowhere;
                replica.asked.clear();
                world.forget_replies(r);
                let other = &world.replicas[1 - r];
                let waits = other.fired && other.outcome.is_none() && !world.seen.granted[1 - r];
                world.seen.bereft = waits.then_some((1 - r, world.now));
                if let Some(session) = S::Op::LIVES_IN.filter(|_| self.bounds.closes) {
                    let letter = Letter { replica: r, way: Direction::Request, command: Some(CLOSE) };
                    world.flying.insert(letter, Message::Close { session });
                }
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.claims.iter().map(|(name, claim)| Property::always(name, *claim)).collect()
    }
}
