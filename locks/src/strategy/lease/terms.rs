//! What a lease strategy supplies, what the set-up says of a lease, and how its replies are read.

use std::fmt::Debug;
use std::hash::Hash;

use crate::ids::{AttemptId, Endpoint, LockName, Token};
use crate::setup::{Handler, Setup};
use crate::strategy::{Info, Op, Param, Reply, Session, epochs};

/// What is asked for, and under which proof of ownership.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// Whose.
    pub attempt: AttemptId,
    /// What.
    pub lock: LockName,
    /// The proof.
    pub token: Token,
}

/// What a reply to `acquire` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Granted, with its epoch if it has one.
    Granted(Option<u64>),
    /// Certainly not granted, and why.
    NotGranted(&'static str),
    /// Certainly not asked.
    NotSent,
    /// Granted or not: nobody knows.
    Unknown,
}

/// What mutants do differently, whatever the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quirks {
    /// Takes an unanswered `acquire` for a grant.
    pub guesses: bool,
    /// Trusts its grant for ever.
    pub trusts_for_ever: bool,
    /// Counts a grant's time from its answer, not from when it was asked for.
    pub counts_from_answer: bool,
    /// Goes on releasing what it was told is not its own.
    pub insists: bool,
    /// Tries again without jitter.
    pub in_step: bool,
    /// Gives nothing back when it was cancelled.
    pub leaks_cancelled: bool,
    /// Gives nothing back between tries.
    pub leaks_tries: bool,
}

/// What a lease strategy says in its own way.
pub trait Lease: Clone + Eq + Hash + Debug + Send + 'static {
    /// Its commands.
    type Op: Op;
    /// See `Strategy::info`.
    const INFO: &'static Info;
    /// Its stores, each with its session. Every command goes to all of them at once.
    const STORES: &'static [(Endpoint, Session)];
    /// See `Strategy::new`.
    fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self;
    /// What the set-up says of a lease.
    fn rules(&self, setup: &Setup) -> Rules {
        Rules::of(setup)
    }
    /// Every text that it may send and that must be made ready.
    fn texts(&self) -> Vec<&'static str>;
    /// Refuse stores that may throw keys away?
    fn needs_all_keys(&self) -> bool {
        false
    }
    /// The token to ask with; a mutant may take another than the fresh one.
    fn token(&self, fresh: Token) -> Token {
        fresh
    }
    /// Take it for so long.
    fn acquire(&self, hold: &Hold, lease_ms: u64, at: Endpoint) -> Self::Op;
    /// What must be asked behind a grant before it counts, on the same session.
    fn confirm(&self, _hold: &Hold, _lease_ms: u64) -> Option<Self::Op> {
        None
    }
    /// Keep it for so long from now on.
    fn renew(&self, hold: &Hold, lease_ms: u64, at: Endpoint) -> Self::Op;
    /// Give it back.
    fn release(&self, hold: &Hold, at: Endpoint) -> Self::Op;
    /// What a reply to `acquire` means.
    fn asked(&self, reply: &Reply) -> Asked;
    /// What a reply to `confirm` means.
    fn confirmed(&self, reply: &Reply) -> Asked {
        self.asked(reply)
    }
    /// A statement about epochs, for strategies that mint them.
    fn epoch(&self, _ask: epochs::Ask) -> Option<Self::Op> {
        None
    }
    /// What its mutant does differently.
    fn quirks(&self) -> Quirks {
        Quirks::default()
    }
}

/// Did a renewal or a release take effect?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Took {
    /// It did.
    Yes,
    /// The lock is not ours (any more).
    NotMine,
    /// It was not executed.
    NotDone,
    /// Nobody knows.
    Unknown,
}

/// What a reply to `renew`, `release` or `publish` means.
pub(super) fn took(reply: &Reply) -> Took {
    match reply {
        Reply::Rows { affected: 0, .. } | Reply::Redis(Param::Int(0) | Param::Null) => Took::NotMine,
        Reply::Rows { .. } | Reply::Redis(_) => Took::Yes,
        Reply::Busy | Reply::Refused { .. } | Reply::NotSent => Took::NotDone,
        Reply::Unknown => Took::Unknown,
    }
}

/// What the set-up says of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// How long a grant lasts.
    pub lease_ms: u64,
    /// How long before its end it is trusted no more.
    pub margin_ms: u64,
    /// The timeout of a command.
    pub timeout_ms: u64,
    /// The timeout of a statement about epochs.
    pub epoch_timeout_ms: u64,
    /// How long to go on trying.
    pub acquire_timeout_ms: u64,
    /// Renew while working?
    pub renew: bool,
    /// Mint and publish epochs?
    pub epochs: bool,
    /// The handler heeds no deadline.
    pub stubborn: bool,
    /// How many stores must grant.
    pub quorum: usize,
}

impl Rules {
    /// Those of one store.
    pub fn of(setup: &Setup) -> Rules {
        Rules {
            lease_ms: setup.lease_ms,
            margin_ms: setup.margin_ms,
            timeout_ms: setup.store_timeout_ms,
            epoch_timeout_ms: setup.store_timeout_ms,
            acquire_timeout_ms: setup.acquire_timeout_ms,
            renew: setup.renew,
            epochs: setup.needs_epochs(),
            stubborn: setup.handler == Handler::Stubborn,
            quorum: 1,
        }
    }

    /// How long to wait before try number `tries`; `doubling` waits longer each time. Scaled to the
    /// lease, so that retries fit into a short one, and jittered, so that replicas do not come in step.
    pub(in crate::strategy) fn pause_ms(&self, tries: u16, jitter: Option<u16>, doubling: bool) -> u64 {
        let base = (self.lease_ms / 4).clamp(1, 50);
        let grown = if doubling { base << tries.min(5) } else { base };
        grown + jitter.map_or(0, |jitter| u64::from(jitter.rotate_left(u32::from(tries))) % base)
    }
}
