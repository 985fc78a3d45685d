//! Processes of the arena, by name, and what became of them.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

use crate::ids::Endpoint;

/// A process of the arena.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessName {
    /// A replica.
    Replica(String),
    /// A store.
    Store(Endpoint),
}

/// What became of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessState {
    /// It was started.
    Started,
    /// All its threads are stopped.
    Stopped,
    /// It was continued.
    Continued,
    /// It is gone.
    Gone,
}
