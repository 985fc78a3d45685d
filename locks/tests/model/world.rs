//! What there is in the lab's model: the state that is searched.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

use locks::action::Direction;
use locks::guard::Guard;
use locks::ids::{At, CommandId};
use locks::machine::Outcome;
use locks::strategy::{Op, Reply, Strategy};

/// Names of the replicas.
pub const NAMES: [&str; 2] = ["A", "B"];
/// The one lock.
pub const LOCK: &str = "settle-invoices";

/// What the sink reads from the store: the epoch in the lock's row.
pub trait Epochs {
    /// The published epoch.
    fn epoch(&self) -> Option<u64>;
}

impl Epochs for () {
    fn epoch(&self) -> Option<u64> {
        None
    }
}

impl Epochs for locks::strategy::pg_lease::Store {
    fn epoch(&self) -> Option<u64> {
        self.epochs.get(LOCK).copied()
    }
}

/// Everything that is, and what was seen so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<S: Strategy> {
    pub now: At,
    pub store: <S::Op as Op>::Store,
    pub replicas: Vec<Replica<S>>,
    pub flying: BTreeMap<Letter, Message<S::Op>>,
    /// One sink a rung of [`RUNGS`]; every effect is sent to each of them.
    pub sinks: [Sink; RUNGS.len()],
    pub seen: Witness,
    pub deaths: u8,
}

/// One replica: the strategy's machine and what the driver has to know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replica<S> {
    pub strategy: S,
    pub alive: bool,
    pub fired: bool,
    /// It believes that it holds.
    pub inside: bool,
    pub place: Place,
    /// Commands without an answer, when they were sent and when their timeouts are over.
    pub asked: Vec<(CommandId, At, At)>,
    /// The effect was sent and has no answer.
    pub effect_open: bool,
    pub outcome: Option<Outcome>,
}

/// At which gate or work an attempt is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Nowhere,
    AtEnter { not_after: Option<At> },
    Working,
    AtEffect { epoch: Option<u64> },
}

/// Names a message: each replica has at most one of a kind in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Letter {
    pub replica: usize,
    pub way: Direction,
    /// Of which command; `None`: the effect.
    pub command: Option<CommandId>,
}

/// A message in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message<O> {
    Ask { op: O, sent: At },
    Reply { reply: Reply, sent: At },
    Effect { epoch: Option<u64> },
}

/// Sinks by what they check. No machine heeds the sink's answer but for how its attempt ends, so that one
/// search shows what each guard would have let pass.
pub const RUNGS: [Option<Guard>; 4] = [None, Some(Guard::MaxSeen), Some(Guard::CurrentEpoch), Some(Guard::UniqueSlot)];

/// What a sink took. There is one slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sink {
    pub effects: u32,
    pub highest_epoch: Option<u64>,
    /// An effect was accepted though a newer grant had been given.
    pub stale: bool,
}

/// What an onlooker who sees everything has seen. Nothing in the lab reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Witness {
    /// Who holds by the store's true clock, until when.
    pub standing: Option<(usize, At)>,
    /// The highest epoch that was granted.
    pub newest: Option<u64>,
    /// A grant was given while another stood.
    pub grants_overlapped: bool,
    /// A release or renewal took effect on another's grant.
    pub foreign: bool,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Time,
    Fire(usize),
    Tick(usize),
    Enter(usize),
    Finish(usize),
    SendEffect(usize),
    Arrive(Letter),
    TimedOut(usize),
    EffectTimedOut(usize),
    Die(usize),
}

impl<S: Strategy> World<S> {
    /// How many replicas believe that they hold.
    pub fn inside(&self) -> usize {
        self.replicas.iter().filter(|replica| replica.alive && replica.inside).count()
    }

    /// What the sink with that guard took.
    pub fn sink(&self, guard: Option<Guard>) -> &Sink {
        let rung = RUNGS.iter().position(|rung| *rung == guard);
        &self.sinks[rung.unwrap_or_default()]
    }

    /// Whatever was on its way to a replica finds nobody.
    pub fn forget_replies(&mut self, r: usize) {
        self.flying.retain(|letter, _| letter.replica != r || letter.way == Direction::Request);
    }
}
