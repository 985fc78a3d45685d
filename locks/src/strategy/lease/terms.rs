//! What a lease strategy supplies, what the set-up says of a lease, and how its replies are read.

use std::fmt::Debug;
use std::hash::Hash;

use crate::ids::{AttemptId, Endpoint, LockName, Token};
use crate::setup::{Handler, Setup};
use crate::strategy::{Info, Op, Param, Reply};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What a lease strategy says in its own way.
pub trait Lease: Clone + Eq + Hash + Debug + Send + 'static {
    /// Its commands.
    type Op: Op;
    /// See `Strategy::info`.
    const INFO: &'static Info;
    /// The one store.
    const STORE: Endpoint;
    /// See `Strategy::new`.
    fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self;
    /// Every text that it may send.
    fn texts(&self) -> Vec<&'static str>;
    /// The token to ask with; a mutant may take another than the fresh one.
    fn token(&self, fresh: Token) -> Token {
        fresh
    }
    /// Take it for so long.
    fn acquire(&self, hold: &Hold, lease_ms: u64) -> Self::Op;
    /// Keep it for so long from now on.
    fn renew(&self, hold: &Hold, lease_ms: u64) -> Self::Op;
    /// Give it back.
    fn release(&self, hold: &Hold) -> Self::Op;
    /// What a reply to `acquire` means.
    fn asked(&self, reply: &Reply) -> Asked;
    /// Mutant: takes an unanswered `acquire` for a grant.
    fn guesses(&self) -> bool {
        false
    }
    /// Mutant: trusts its grant for ever.
    fn trusts_for_ever(&self) -> bool {
        false
    }
}

/// Did a renewal or a release take effect?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What a reply to `renew` or `release` means.
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
pub(super) struct Rules {
    pub lease_ms: u64,
    pub margin_ms: u64,
    pub timeout_ms: u64,
    pub acquire_timeout_ms: u64,
    pub renew: bool,
    pub stubborn: bool,
}

impl Rules {
    pub fn of(setup: &Setup) -> Rules {
        Rules {
            lease_ms: setup.lease_ms,
            margin_ms: setup.margin_ms,
            timeout_ms: setup.store_timeout_ms,
            acquire_timeout_ms: setup.acquire_timeout_ms,
            renew: setup.renew,
            stubborn: setup.handler == Handler::Stubborn,
        }
    }

    /// How long to wait before try number `tries`; `doubling` waits longer each time. Scaled to the
    /// lease, so that retries fit into a short one, and jittered, so that replicas do not come in step.
    pub fn pause_ms(&self, tries: u16, jitter: u16, doubling: bool) -> u64 {
        let base = (self.lease_ms / 4).clamp(1, 50);
        let grown = if doubling { base << tries.min(5) } else { base };
        grown + u64::from(jitter.rotate_left(u32::from(tries))) % base
    }
}
