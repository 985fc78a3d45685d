//! What there is in the lab's model: the state that is searched.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

use locks::action::Direction;
use locks::guard::Guard;
use locks::ids::{At, CommandId, Endpoint};
use locks::machine::Outcome;
use locks::strategy::{Op, Reply, Session, Strategy};

/// Names of the replicas.
pub const NAMES: [&str; 2] = ["A", "B"];
/// The one lock.
pub const LOCK: &str = "settle-invoices";

/// Everything that is, and what was seen so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<S: Strategy> {
    pub now: At,
    pub store: <S::Op as Op>::Store,
    /// What the replica of a failover pair has heard of, while there is one.
    pub standby: Option<<S::Op as Op>::Store>,
    pub replicas: Vec<Replica<S>>,
    pub flying: BTreeMap<Letter, Message<S::Op>>,
    /// One sink a rung of [`RUNGS`]; every effect is sent to each of them.
    pub sinks: [Sink; RUNGS.len()],
    pub seen: Witness,
    pub deaths: u8,
    pub faults: u8,
    /// A node that does not answer until then.
    pub away: Option<(Endpoint, At)>,
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

/// What the end of a connection is called: commands are counted from 1.
pub const CLOSE: CommandId = CommandId(0);

/// A message in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message<O> {
    Ask {
        op: O,
        to: Endpoint,
        session: Session,
        sent: At,
    },
    Reply {
        reply: Reply,
        /// Who answered.
        from: Endpoint,
        session: Session,
        sent: At,
    },
    Effect {
        epoch: Option<u64>,
    },
    /// The connection of a session was closed.
    Close {
        session: Session,
    },
}

/// Sinks by what they check. No machine heeds the sink's answer but for how its attempt ends, so that one
/// search shows what each guard would have let pass.
pub const RUNGS: [Option<Guard>; 4] = [None, Some(Guard::MaxSeen), Some(Guard::CurrentEpoch), Some(Guard::UniqueSlot)];

/// What a sink took. There is one slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sink {
    pub effects: u32,
    pub highest_epoch: Option<u64>,
    /// Effects that were accepted though a newer grant had been given: one with a higher epoch, or, where
    /// there are no epochs, a later one.
    pub stale: u32,
}

/// What an onlooker who sees everything has seen. Nothing in the lab reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Witness {
    /// Which store has given whom its vote, and until when, whatever becomes of that store's memory.
    pub votes: BTreeMap<(usize, Endpoint), At>,
    /// Who was told of a grant last.
    pub latest: Option<usize>,
    /// Who was ever told of a grant.
    pub granted: [bool; NAMES.len()],
    /// The highest epoch of which anyone was told.
    pub newest: Option<u64>,
    /// A grant was given while another stood.
    pub grants_overlapped: bool,
    /// The same, though the other had more votes than it needed.
    pub wide_grants_overlapped: bool,
    /// Somebody entered while another was inside.
    pub sections_overlapped: bool,
    /// Somebody entered whose grant no longer stood.
    pub entered_without: bool,
    /// A release or renewal took effect on another's grant.
    pub foreign: bool,
    /// Who has waited since when for what the dead may have held, and is not granted it yet.
    pub bereft: Option<(usize, At)>,
}

impl Witness {
    /// How many votes stand for a replica.
    pub fn votes_for(&self, r: usize, now: At) -> usize {
        self.votes.iter().filter(|((of, _), until)| *of == r && **until > now).count()
    }
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
    /// The store fault that the lab allows.
    Fault,
    /// The replica of a failover pair hears of everything that was written.
    CatchUp,
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
