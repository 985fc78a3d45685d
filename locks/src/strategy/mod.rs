//! How replicas coordinate. A strategy is a state machine without I/O, clock or randomness: it is given
//! an [`Input`] and the replica's monotonic time, and answers with [`Output`]s that the one driver in the
//! replica performs. Every output that the driver performs behind a gate is answered by an input.
//!
//! The life of an attempt, as driver and strategy play it (`→` to the strategy, `←` from it):
//!
//! ```text
//! → Due                ← Send acquire
//! → Reply              ← Enter            (driver: gate `enter`, then `now < not_after`?)
//! → Entered            the handler works  (or → EnterRefused: the grant was over)
//! → WorkEnded          ← Effect           (driver: `now < not_after`?, then gate `effect`)
//! → EffectSent         the effect is under way (or → EffectRefused: the grant was over)
//! → EffectAnswered     ← Leave            (driver: gate `leave`)
//! → Left               ← Send release     (retried with the same token until the lease is over)
//! → Reply              ← Finish
//! ```
//!
//! A strategy's [`Info`] is always compiled, its machine, in the same file, only under feature
//! `strategies`. Adding a strategy touches its file, [`ALL`] and [`dispatch`].

use crate::ids::{Endpoint, LockName, Slot};
use crate::setup::{Setup, StrategyName};

#[cfg(feature = "strategies")]
mod contract;
#[cfg(feature = "strategies")]
pub use contract::{
    EffectAnswer, Input, Language, Op, Output, Param, Reply, Session, SessionSpec, Strategy, Visitor, Wire, WorkEnd,
};

/// What a lock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockScope {
    /// One lock a schedule.
    Schedule,
    /// One lock a slot.
    Slot,
    /// One leader for everything.
    Election,
}

impl LockScope {
    /// The name of the lock that an attempt at a slot competes for.
    pub fn lock_of(self, slot: &Slot) -> LockName {
        match self {
            LockScope::Schedule => slot.schedule.clone(),
            LockScope::Slot => slot.to_string(),
            LockScope::Election => "leader".to_owned(),
        }
    }
}

/// Where a strategy's lock stands in the stores: what the observer reads and pages point at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LockAt {
    /// Nowhere: there is no lock.
    #[default]
    Nowhere,
    /// A row of table `locks`, by the lock's name.
    LocksRow,
    /// A row of table `slot_claims`, by the lock's name.
    SlotRow,
    /// The lock that an open transaction has on a row of table `row_locks`, by the lock's name.
    RowLock,
    /// A Redis key, by [`Param::KEY`](crate::event::Param::KEY) and the lock's name, on the nodes 1 to
    /// `nodes`. It is held where one token stands on `quorum` of them.
    Keys {
        /// How many nodes.
        nodes: u8,
        /// On how many of them a token must stand.
        quorum: u8,
    },
}

/// Where a grant's epoch comes from. All stand in table `lock_epochs`, once granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Epochs {
    /// There is none.
    None,
    /// The granting statement raises it.
    Granted,
    /// Minted from a sequence in Postgres before each try and published after the grant, but only where a
    /// guard of the set-up asks for epochs.
    Minted,
}

/// A variant of a strategy, one small named difference in the same state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its name behind the slash.
    pub name: &'static str,
    /// What differs, one sentence for the learner.
    pub text: &'static str,
    /// Broken: some case must catch it. Otherwise a variant that is as right as the strategy.
    pub broken: bool,
    /// The commands whose texts differ from the strategy's; with the feature `strategies` only.
    pub commands: Commands,
}

/// Names and verbatim texts of commands.
pub type Commands = &'static [(&'static str, &'static str)];

/// What is known of a strategy without running it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name in scenario files.
    pub name: &'static str,
    /// How it works, one sentence for the learner.
    pub text: &'static str,
    /// Its variants.
    pub mutants: &'static [Mutant],
    /// What its lock is about.
    pub scope: LockScope,
    /// Does a grant end by time?
    pub has_lease: bool,
    /// Do its grants carry epochs, and whose?
    pub epochs: Epochs,
    /// Where its lock stands.
    pub lock_at: LockAt,
    /// The stores that it uses whatever the guards are.
    pub uses: &'static [Endpoint],
    /// Its machine: from, on, to; with the feature `strategies` only.
    pub transitions: &'static [(&'static str, &'static str, &'static str)],
    /// Its commands, by name, with their verbatim texts; with the feature `strategies` only.
    pub commands: Commands,
}

/// Rows that only whoever runs or checks a machine reads. The browser's program has none of them: they are a
/// hundredth of its size.
const fn of_machine<T>(rows: &'static [T]) -> &'static [T] {
    if cfg!(feature = "strategies") { rows } else { &[] }
}

impl Info {
    /// The mutant of that name.
    pub fn mutant(&self, name: &str) -> Option<&'static Mutant> {
        self.mutants.iter().find(|mutant| mutant.name == name)
    }

    /// Do its grants carry epochs under this set-up?
    pub fn has_epochs(&self, setup: &Setup) -> bool {
        match self.epochs {
            Epochs::None => false,
            Epochs::Granted => true,
            Epochs::Minted => setup.needs_epochs(),
        }
    }

    /// What moves the machine from one state to another: there is one row for each such pair.
    pub fn on(&self, from: &str, to: &str) -> Option<&'static str> {
        self.transitions.iter().find(|row| row.0 == from && row.2 == to).map(|row| row.1)
    }

    /// The text of a command, as the strategy or its mutant sends it.
    pub fn command(&self, mutant: Option<&Mutant>, name: &str) -> Option<&'static str> {
        let own = mutant.map_or(&[][..], |mutant| mutant.commands);
        own.iter().chain(self.commands).find(|command| command.0 == name).map(|command| command.1)
    }
}

pub mod epochs;
pub mod keys;
mod lease;
pub mod none;
pub mod pg_claim;
pub mod pg_lease;
pub mod pg_row_lock;
pub mod redis_set_nx;
pub mod redlock;
#[cfg(feature = "strategies")]
mod section;

/// All strategies, in the order in which pages list them.
pub const ALL: &[&Info] =
    &[&none::INFO, &pg_lease::INFO, &pg_claim::INFO, &pg_row_lock::INFO, &redis_set_nx::INFO, &redlock::INFO];

/// What is known of a strategy, by its name.
pub fn info(name: &str) -> Option<&'static Info> {
    ALL.iter().copied().find(|info| info.name == name)
}

/// A name that no strategy or mutant has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No such strategy.
    #[error("no strategy is called {name:?}; there are {}", ALL.iter().map(|info| info.name).collect::<Vec<_>>().join(", "))]
    Strategy {
        /// The name.
        name: String,
    },
    /// No such mutant.
    #[error("{strategy} has no mutant {name:?}; it has {}", allowed.join(", "))]
    Mutant {
        /// The strategy.
        strategy: &'static str,
        /// The name.
        name: String,
        /// What there is.
        allowed: Vec<&'static str>,
    },
}

/// The strategy and mutant that a name means.
pub fn find(name: &StrategyName) -> Result<(&'static Info, Option<&'static Mutant>), Unknown> {
    let info = info(&name.strategy).ok_or_else(|| Unknown::Strategy { name: name.strategy.clone() })?;
    match &name.mutant {
        None => Ok((info, None)),
        Some(mutant) => match info.mutant(mutant) {
            Some(mutant) => Ok((info, Some(mutant))),
            None => Err(Unknown::Mutant {
                strategy: info.name,
                name: mutant.clone(),
                allowed: info.mutants.iter().map(|mutant| mutant.name).collect(),
            }),
        },
    }
}

/// How long a Redis node that was started again must not answer under this set-up: `redlock/delayed-restart`
/// keeps one that lost its memory away for longer than the lease. Whoever starts a node honours it.
pub fn restart_delay_ms(setup: &Setup) -> u64 {
    redlock::restart_delay_ms(setup)
}

/// Do something with the type of the strategy that a name means.
#[cfg(feature = "strategies")]
pub fn dispatch<V: Visitor>(name: &StrategyName, visitor: V) -> Result<V::Out, Unknown> {
    let (info, mutant) = find(name)?;
    let mutant = mutant.map(|mutant| mutant.name);
    Ok(match info.name {
        none::NAME => visitor.visit::<none::NoLock>(mutant),
        pg_lease::NAME => visitor.visit::<pg_lease::PgLease>(mutant),
        pg_claim::NAME => visitor.visit::<pg_claim::PgClaim>(mutant),
        pg_row_lock::NAME => visitor.visit::<pg_row_lock::PgRowLock>(mutant),
        redis_set_nx::NAME => visitor.visit::<redis_set_nx::RedisSetNx>(mutant),
        redlock::NAME => visitor.visit::<redlock::Redlock>(mutant),
        other => return Err(Unknown::Strategy { name: other.to_owned() }),
    })
}

#[cfg(all(test, feature = "strategies"))]
mod tests;
