//! Tells a counterexample as a scenario, so that real replicas and stores can be put to the same test. Where
//! a replica stands at a gate in the model, there it is let go to; what is paused, killed, forgotten or out of
//! reach in the model is so in the script; and time that passes is waited for by what it does to the lock.
//! At the end everybody is let go on, and what is expected is what the model made of all that.
//!
//! A step that no script can force, as a command's timeout at one very moment, makes a path untold.

use std::collections::BTreeSet;

use locks::action::{Action, Advance, Direction, Fire, Links, NodeAction, Wait};
use locks::ids::{Endpoint, Gate};
use locks::machine::{LockState, Outcome};
use locks::scenario::{Bound, Expect, Scenario, Step as ScriptStep};
use locks::setup::Setup;
use locks::strategy::Op;
use stateright::{Model, Path};

use crate::lab::{Fault, Lab};
use crate::story::Checkable;
use crate::world::{LOCK, Message, NAMES, Place, Step, World};

/// How long each step may take, in milliseconds; a wait for the lease's end may take the lease longer.
const LIMIT_MS: u64 = 10_000;

/// Why a path is no scenario.
#[derive(Debug)]
pub struct Untold(pub String);

/// What a path leaves open: what the scenario is called, and the set-up with its times.
pub struct Frame {
    pub name: &'static str,
    pub title: &'static str,
    pub setup: Setup,
}

/// The scenario of a path through a lab.
pub fn told<S: Checkable>(lab: &Lab<S>, path: &Path<World<S>, Step>, frame: Frame) -> Result<Scenario, Untold> {
    let Frame { name, title, setup } = frame;
    let mut world = lab.init_states().remove(0);
    let mut script =
        Script { lab, setup, actions: Vec::new(), at: Default::default(), asking: None, paused: BTreeSet::new() };
    for step in path.clone().into_actions() {
        world = script.follow(world, step)?;
    }
    for r in (0..NAMES.len()).rev() {
        while world.replicas[r].alive && world.replicas[r].outcome.is_none() {
            let step =
                lab.goes_on(&world, r).ok_or_else(|| Untold(format!("{} does not come to its end", NAMES[r])))?;
            world = script.follow(world, step)?;
        }
    }
    let expect = expected(&world, &script.setup);
    let steps = script.actions.into_iter().map(|action| ScriptStep { span: 0..0, action }).collect();
    Ok(Scenario {
        name: name.to_owned(),
        title: title.to_owned(),
        timed: false,
        setup: script.setup,
        steps,
        expect,
        homework: None,
    })
}

/// What the model made of it. Each replica has one attempt, so two sections overlap once or not at all.
fn expected<S: Checkable>(world: &World<S>, setup: &Setup) -> Expect {
    let sink = world.sink(setup.guard.first().copied());
    let outcomes = NAMES.iter().zip(&world.replicas);
    Expect {
        overlaps: Some(Bound::exactly(u64::from(world.seen.sections_overlapped))),
        effects_per_slot: Some(Bound::exactly(sink.effects.into())),
        stale_effects: Some(Bound::exactly(sink.stale.into())),
        foreign_releases: Some(Bound::exactly(u64::from(world.seen.foreign))),
        outcomes: outcomes.map(|(name, is)| ((*name).to_owned(), vec![is.outcome.unwrap_or(Outcome::Open)])).collect(),
        ..Expect::default()
    }
}

impl<S: Checkable> Lab<S> {
    /// The next step of a replica that nothing disturbs.
    fn goes_on(&self, world: &World<S>, r: usize) -> Option<Step> {
        let arrives = world.flying.keys().find(|letter| letter.replica == r).map(|letter| Step::Arrive(*letter));
        let works = (world.replicas[r].place == Place::Working).then_some(Step::Finish(r));
        arrives.or_else(|| self.own_step(world, r)).or(works)
    }
}

/// A script while it is written.
struct Script<'l, S: Checkable> {
    lab: &'l Lab<S>,
    setup: Setup,
    actions: Vec<Action>,
    /// To which gate each replica was let go.
    at: [Option<Gate>; NAMES.len()],
    /// Who has passed a gate in the model and not come to the next: a script can put nothing in between.
    asking: Option<usize>,
    paused: BTreeSet<usize>,
}

impl<S: Checkable> Script<'_, S> {
    /// Take a step in the model, and write down what it is on a stage.
    fn follow(&mut self, before: World<S>, step: Step) -> Result<World<S>, Untold> {
        let untold = |what: &str| Untold(format!("at {:?}, {step:?}: {what}", before.now));
        let after = self.lab.next_state(&before, step.clone()).ok_or_else(|| untold("not possible"))?;
        let of = match &step {
            Step::Time | Step::Fault | Step::CatchUp | Step::Die(_) | Step::Fire(_) => None,
            Step::Arrive(letter) => Some(letter.replica),
            Step::Tick(r) | Step::Enter(r) | Step::Finish(r) | Step::SendEffect(r) => Some(*r),
            Step::TimedOut(r) | Step::EffectTimedOut(r) => Some(*r),
        };
        if self.asking.is_some() && self.asking != of {
            return Err(untold("somebody is between two gates"));
        }
        match &step {
            Step::Fire(r) => self.fire(*r, before.replicas.iter().any(|replica| replica.fired)),
            Step::Time => self.time(&before, &after),
            Step::Fault => self.fault().ok_or_else(|| untold("not staged"))?,
            Step::Die(r) => self.actions.push(Action::Kill(vec![NAMES[*r].to_owned()])),
            Step::Finish(r) if !matches!(after.replicas[*r].place, Place::AtEffect { .. }) => {
                return Err(untold("works until just then"));
            }
            Step::Tick(r) if before.replicas[*r].strategy.state() != "releasing" => return Err(untold("a timer")),
            Step::TimedOut(_) | Step::EffectTimedOut(_) => return Err(untold("a timeout")),
            Step::CatchUp => return Err(untold("a replica that catches up just then")),
            Step::Arrive(letter) if letter.way == Direction::Request => self.asking = Some(letter.replica),
            Step::SendEffect(r) => self.asking = Some(*r),
            Step::Arrive(_) | Step::Tick(_) | Step::Enter(_) | Step::Finish(_) => {}
        }
        for r in 0..NAMES.len() {
            self.advance(r, stands_at(&after, r));
        }
        Ok(after)
    }

    fn fire(&mut self, r: usize, again: bool) {
        let replica = vec![NAMES[r].to_owned()];
        let to = Some(replica.clone());
        self.actions.push(Action::Fire(Fire { schedule: LOCK.to_owned(), to, again }));
        self.at[r] = Some(Gate::Send(Some("acquire".to_owned())));
        let reach = self.lab.bounds.reach[r];
        let out_of_reach = |node: &u8| !reach.is_empty() && !reach.contains(node);
        let endpoint: Vec<_> = (1..=Endpoint::REDIS_NODES).filter(out_of_reach).map(Endpoint::Redis).collect();
        if !endpoint.is_empty() {
            self.actions.push(Action::Hold { links: Links { replica, endpoint }, what: Direction::Request });
        }
    }

    /// Only a lock that ends is worth waiting for; who thinks that it holds is paused meanwhile.
    fn time(&mut self, before: &World<S>, after: &World<S>) {
        let holds = |world: &World<S>, r| world.seen.votes_for(r, world.now) >= self.lab.quorum();
        if !(0..NAMES.len()).any(|r| holds(before, r) && !holds(after, r)) {
            return;
        }
        for (r, replica) in before.replicas.iter().enumerate() {
            let believes = replica.inside || matches!(replica.place, Place::AtEnter { .. });
            if replica.alive && believes && self.paused.insert(r) {
                self.actions.push(Action::Pause(vec![NAMES[r].to_owned()]));
            }
        }
        let limit_ms = self.setup.lease_ms + LIMIT_MS;
        self.actions.push(Action::Wait(Wait::Lock { states: vec![LockState::Expired], limit_ms }));
    }

    fn fault(&mut self) -> Option<()> {
        match self.lab.bounds.fault? {
            Fault::Forgets { node, away_ms: 0 } => {
                let node = Endpoint::Redis(node);
                self.actions.extend([Action::Node(NodeAction::Kill(node)), Action::Node(NodeAction::Start(node))]);
            }
            Fault::Forgets { .. } | Fault::FailsOver { .. } => return None,
            Fault::Jumps { node, by_ms } => {
                let ms = by_ms * self.setup.lease_ms / self.lab.setup.lease_ms;
                let clock_shift = Endpoint::Redis(node);
                self.actions.push(Action::Node(NodeAction::ClockShift { clock_shift, ms: i64::try_from(ms).ok()? }));
            }
        }
        Some(())
    }

    /// Let a replica go to where it stands in the model; in one step, if nothing else happens in between.
    fn advance(&mut self, r: usize, gate: Option<Gate>) {
        if gate.is_none() || gate == self.at[r] {
            return;
        }
        self.at[r] = gate.clone();
        self.asking = self.asking.filter(|asking| *asking != r);
        let replica = vec![NAMES[r].to_owned()];
        if self.paused.remove(&r) {
            self.actions.push(Action::Resume(replica.clone()));
        }
        if matches!(self.actions.last(), Some(Action::Advance(last)) if last.replica == replica) {
            self.actions.pop();
        }
        self.actions.push(Action::Advance(Advance { replica, until: gate, limit_ms: LIMIT_MS }));
    }
}

/// The gate at which a replica stands in the model; `None`: before its slot, behind its death, or between gates.
fn stands_at<S: Checkable>(world: &World<S>, r: usize) -> Option<Gate> {
    let replica = &world.replicas[r];
    match replica.place {
        _ if !replica.alive || !replica.fired => None,
        _ if replica.outcome.is_some() => Some(Gate::Done),
        Place::AtEnter { .. } => Some(Gate::Enter),
        Place::Working | Place::AtEffect { .. } => Some(Gate::Effect),
        Place::Nowhere => {
            let asks = world.flying.iter().filter(|(letter, _)| letter.replica == r).filter_map(|(letter, message)| {
                let awaited = replica.asked.iter().any(|(command, ..)| Some(*command) == letter.command);
                match message {
                    Message::Ask { op, .. } if awaited => Some(op.wire().name),
                    _ => None,
                }
            });
            asks.last().map(|name| Gate::Send(Some(name.to_owned())))
        }
    }
}
