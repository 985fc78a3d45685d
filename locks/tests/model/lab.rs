//! The lab as a model: two replicas that run a real strategy, the model of its store, a sink with real
//! guards, and messages in flight. One slot is given to both.
//!
//! Whatever may happen may also come late or never. So a pause is nothing but time that passes without the
//! replica's steps, a death looks to all others like a pause without end, and a lost message is one that
//! never arrives. In a `prompt` lab a replica does at once what it can do by itself: then nobody is ever
//! paused, and deaths are steps of their own.

use std::collections::BTreeMap;

use locks::action::Direction;
use locks::guard::{Seen, rejects};
use locks::ids::{At, AttemptId, Slot, Token};
use locks::setup::{Handler, Setup};
use locks::strategy::{EffectAnswer, Input, Op, Output, Param, Reply, Strategy, WorkEnd};
use stateright::{Model, Property};

use crate::world::{Epochs, LOCK, Letter, Message, NAMES, Place, RUNGS, Replica, Step, Witness, World};

/// A claim and its name.
pub type Claim<S> = (&'static str, fn(&Lab<S>, &World<S>) -> bool);

/// The bounds of a check.
#[derive(Clone)]
pub struct Lab<S: Strategy> {
    /// The strategies at the start, one a replica.
    pub strategies: [S; 2],
    /// Its lease and handler are looked at.
    pub setup: Setup,
    /// The last moment.
    pub horizon: u64,
    /// Nobody is paused.
    pub prompt: bool,
    /// Replicas that may die.
    pub deaths: u8,
    /// What is claimed of every state, by name.
    pub claims: Vec<Claim<S>>,
}

impl<S> Lab<S>
where
    S: Strategy,
    <S::Op as Op>::Store: Epochs,
{
    fn attempt(&self, r: usize) -> AttemptId {
        AttemptId { replica: NAMES[r].to_owned(), incarnation: 1, n: 1 }
    }

    /// Tell a replica's strategy something and perform what it wants, up to the next gate.
    fn tell(&self, world: &mut World<S>, r: usize, input: Input) {
        let now = world.now;
        for output in world.replicas[r].strategy.on(now, input) {
            self.perform(world, r, output);
        }
    }

    fn perform(&self, world: &mut World<S>, r: usize, output: Output<S::Op>) {
        let now = world.now;
        let attempt = self.attempt(r);
        let replica = &mut world.replicas[r];
        match output {
            Output::Send { command, op, timeout_ms, .. } => {
                replica.asked.push((command, now, now.plus(timeout_ms)));
                let letter = Letter { replica: r, way: Direction::Request, command: Some(command) };
                world.flying.insert(letter, Message::Ask { op, sent: now });
            }
            // What was written may still arrive; nothing comes back on a closed connection.
            Output::Discard { .. } => world
                .flying
                .retain(|letter, _| letter.replica != r || letter.way != Direction::Reply || letter.command.is_none()),
            Output::Enter { not_after, .. } => replica.place = Place::AtEnter { not_after },
            Output::Extended { .. } => {}
            Output::Stop { .. } if replica.place == Place::Working && self.setup.handler == Handler::Cooperative => {
                replica.place = Place::Nowhere;
                self.tell(world, r, Input::WorkEnded { attempt, how: WorkEnd::Stopped });
            }
            Output::Stop { .. } => {}
            Output::Effect { epoch, not_after, .. } if not_after.is_none_or(|until| now < until) => {
                replica.place = Place::AtEffect { epoch };
            }
            Output::Effect { .. } => self.tell(world, r, Input::EffectRefused { attempt }),
            Output::Leave { .. } => {
                replica.inside = false;
                self.tell(world, r, Input::Left { attempt });
            }
            Output::Finish { outcome, .. } => {
                replica.outcome = Some(outcome);
                replica.asked.clear();
                world.forget_replies(r);
            }
        }
    }

    /// A command reaches the store.
    fn execute(&self, world: &mut World<S>, letter: Letter, op: &S::Op, sent: At) {
        let now = world.now;
        let reply = op.apply(&mut world.store, now);
        let r = letter.replica;
        let until = now.plus(self.setup.lease_ms);
        let seen = &mut world.seen;
        let took_effect = matches!(reply, Reply::Rows { affected: 1.., .. });
        let anothers = seen.standing.is_some_and(|(holder, until)| holder != r && now < until);
        match op.wire().name {
            "acquire" if took_effect => {
                seen.grants_overlapped |= anothers;
                seen.standing = Some((r, until));
                if let Reply::Rows { row, .. } = &reply
                    && let Some(Param::Int(epoch)) = row.first()
                {
                    seen.newest = seen.newest.max(u64::try_from(*epoch).ok());
                }
            }
            "renew" if took_effect && anothers => seen.foreign = true,
            "renew" if took_effect => seen.standing = Some((r, until)),
            "release" if took_effect && anothers => seen.foreign = true,
            "release" if took_effect => seen.standing = None,
            _ => {}
        }
        if world.replicas[r].asked.iter().any(|(command, ..)| Some(*command) == letter.command) {
            let back = Letter { way: Direction::Reply, ..letter };
            world.flying.insert(back, Message::Reply { reply, sent });
        }
    }

    /// An effect reaches the sinks, which decide as the bank does.
    fn settle(&self, world: &mut World<S>, letter: Letter, epoch: Option<u64>) {
        let current_epoch = world.store.epoch();
        for (sink, guard) in world.sinks.iter_mut().zip(RUNGS) {
            let seen = Seen { highest_epoch: sink.highest_epoch, current_epoch, effects_of_slot: sink.effects };
            if rejects(guard.as_slice(), epoch, &seen).is_none() {
                sink.effects += 1;
                sink.highest_epoch = sink.highest_epoch.max(epoch);
                sink.stale |= epoch < world.seen.newest;
            }
        }
        // An answer on its way does nothing but what a later arrival does.
        if std::mem::take(&mut world.replicas[letter.replica].effect_open) {
            let answer = EffectAnswer::Accepted;
            self.tell(world, letter.replica, Input::EffectAnswered { attempt: self.attempt(letter.replica), answer });
        }
    }

    fn arrive(&self, world: &mut World<S>, letter: Letter, message: Message<S::Op>) {
        let r = letter.replica;
        match message {
            Message::Ask { op, sent } => self.execute(world, letter, &op, sent),
            Message::Effect { epoch } => self.settle(world, letter, epoch),
            Message::Reply { reply, sent } => {
                let Some(command) = letter.command else { return };
                world.replicas[r].asked.retain(|(asked, ..)| *asked != command);
                self.tell(world, r, Input::Reply { command, sent, reply });
            }
        }
    }

    /// What a replica can do by itself now, but for ending its work, which takes as long as it takes.
    fn own_step(&self, world: &World<S>, r: usize) -> Option<Step> {
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
}

impl<S> Model for Lab<S>
where
    S: Strategy + Sync,
    S::Op: Sync,
    <S::Op as Op>::Store: Epochs + Send + Sync,
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
            replicas: self.strategies.iter().map(replica).collect(),
            flying: BTreeMap::new(),
            sinks: Default::default(),
            seen: Witness::default(),
            deaths: 0,
        }]
    }

    fn actions(&self, world: &World<S>, steps: &mut Vec<Step>) {
        if self.prompt
            && let Some(step) = (0..NAMES.len()).find_map(|r| self.own_step(world, r))
        {
            return steps.push(step);
        }
        if world.now.0 < self.horizon && world.replicas[0].fired {
            steps.push(Step::Time);
        }
        for (r, replica) in world.replicas.iter().enumerate().filter(|(_, replica)| replica.alive) {
            if !replica.fired {
                // Who comes first may as well be called A, and its time the first moment.
                if r == 0 || world.replicas[0].fired {
                    steps.push(Step::Fire(r));
                }
                continue;
            }
            if replica.strategy.next_timer().is_some_and(|at| at <= world.now) {
                steps.push(Step::Tick(r));
            }
            match replica.place {
                Place::Nowhere => {}
                Place::AtEnter { .. } => steps.push(Step::Enter(r)),
                Place::Working => steps.push(Step::Finish(r)),
                Place::AtEffect { .. } => steps.push(Step::SendEffect(r)),
            }
            if replica.asked.iter().any(|(.., until)| *until <= world.now) {
                steps.push(Step::TimedOut(r));
            }
            if replica.effect_open {
                steps.push(Step::EffectTimedOut(r));
            }
            if world.deaths < self.deaths && replica.outcome.is_none() {
                steps.push(Step::Die(r));
            }
        }
        for letter in world.flying.keys() {
            steps.push(Step::Arrive(*letter));
        }
    }

    fn next_state(&self, last: &World<S>, step: Step) -> Option<World<S>> {
        let mut world = last.clone();
        match step {
            Step::Time => world.now = world.now.plus(1),
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
                let attempt = self.attempt(r);
                if not_after.is_none_or(|until| world.now < until) {
                    world.replicas[r].inside = true;
                    world.replicas[r].place = Place::Working;
                    self.tell(&mut world, r, Input::Entered { attempt });
                } else {
                    world.replicas[r].place = Place::Nowhere;
                    self.tell(&mut world, r, Input::EnterRefused { attempt });
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
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.claims.iter().map(|(name, claim)| Property::always(name, *claim)).collect()
    }
}
