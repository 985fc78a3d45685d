//! What the store says of each lock: the latest reading, and what stood before it.

use borsh::{BorshDeserialize, BorshSerialize};
use locks::ids::{AttemptId, Endpoint, Token};
use locks::machine::LockState;

/// One reading of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Of which store.
    pub endpoint: Endpoint,
    /// The lock's state.
    pub state: LockState,
    /// The token that stands.
    pub token: Option<Token>,
    /// Whose it is.
    pub owner: Option<AttemptId>,
    /// The published epoch.
    pub epoch: Option<u64>,
    /// Time to live at the reading, in milliseconds.
    pub ttl_ms: Option<i64>,
    /// When it was read, at the earliest.
    pub at_us: u64,
}

/// How a hold ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum HoldEnd {
    /// It was given back.
    Released,
    /// Its time was over.
    Expired,
}

/// The hold before the present one.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Before {
    /// Who held.
    pub owner: Option<AttemptId>,
    /// Under which epoch.
    pub epoch: Option<u64>,
    /// How it ended.
    pub end: HoldEnd,
    /// When.
    pub at_us: u64,
}

/// A lock, as the store sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Lock {
    /// The store that said so.
    pub endpoint: Option<Endpoint>,
    /// Its state.
    pub state: LockState,
    /// The token that stands.
    pub token: Option<Token>,
    /// Whose it is.
    pub owner: Option<AttemptId>,
    /// The published epoch.
    pub epoch: Option<u64>,
    /// Since when this holder, or nobody, has it.
    pub since_us: u64,
    /// When it was last read.
    pub read_us: u64,
    /// When it expires, by the latest reading.
    pub expires_us: Option<u64>,
    /// Time to live when this hold was first read, in milliseconds.
    pub lease_ms: Option<i64>,
    /// The hold before.
    pub before: Option<Before>,
}

impl Lock {
    /// Take in a reading. False if it is older than what is known, and therefore ignored.
    pub(super) fn read(&mut self, reading: &Reading) -> bool {
        if reading.at_us < self.read_us {
            return false;
        }
        let changed = (self.state, &self.token, &self.owner) != (reading.state, &reading.token, &reading.owner);
        if changed && self.state == LockState::Held {
            let over = self.expires_us.is_some_and(|expires| expires <= reading.at_us);
            let end = if over || reading.state == LockState::Expired { HoldEnd::Expired } else { HoldEnd::Released };
            let at_us = match (end, self.expires_us) {
                (HoldEnd::Expired, Some(expires)) => expires.min(reading.at_us),
                _ => reading.at_us,
            };
            self.before = Some(Before { owner: self.owner.take(), epoch: self.epoch, end, at_us });
        }
        if changed || self.endpoint.is_none() {
            self.since_us = reading.at_us;
            self.lease_ms = reading.ttl_ms;
        }
        self.endpoint = Some(reading.endpoint);
        self.state = reading.state;
        self.token.clone_from(&reading.token);
        self.owner.clone_from(&reading.owner);
        self.epoch = reading.epoch;
        self.read_us = reading.at_us;
        self.lease_ms = self.lease_ms.max(reading.ttl_ms);
        self.expires_us = match (reading.state, reading.ttl_ms) {
            (LockState::Held, Some(ms)) => Some(reading.at_us.saturating_add_signed(ms.saturating_mul(1000))),
            _ => None,
        };
        true
    }

    /// Does the store say that this attempt holds?
    pub fn is_held_by(&self, id: &AttemptId) -> bool {
        self.state == LockState::Held && self.owner.as_ref() == Some(id)
    }
}
