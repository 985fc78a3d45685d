//! The lock's machine, as the store sees it.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

/// What the store says of a lock.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    BorshSerialize,
    BorshDeserialize,
    Default,
)]
#[serde(rename_all = "snake_case")]
pub enum LockState {
    /// Nobody holds it, and the last hold did not end by time.
    #[default]
    Free,
    /// A token stands (Redlock: on three nodes).
    Held,
    /// The last hold ended by time and nobody was granted since.
    Expired,
}

impl LockState {
    /// The name that pages show.
    pub fn name(self) -> &'static str {
        match self {
            LockState::Free => "Free",
            LockState::Held => "Held",
            LockState::Expired => "Expired",
        }
    }
}

/// Legal moves of a lock: from, on, to.
pub const LOCK_TRANSITIONS: &[(LockState, &str, LockState)] = &[
    (LockState::Free, "grant", LockState::Held),
    (LockState::Held, "renew", LockState::Held),
    (LockState::Held, "release", LockState::Free),
    (LockState::Held, "time to live over", LockState::Expired),
    (LockState::Expired, "take over", LockState::Held),
];
