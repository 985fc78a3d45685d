//! How the work ended, and what became of its effect at the sink.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

use crate::guard::Guard;

/// How the handler ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEnd {
    /// It did its work.
    Done,
    /// It stopped when told.
    Stopped,
    /// It failed.
    Failed,
}

/// What became of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectAnswer {
    /// It was accepted.
    Accepted,
    /// A guard rejected it.
    Rejected(Guard),
    /// The guard could not ask, so it rejected (fails closed).
    GuardUnreachable(Guard),
    /// No answer in time, or the connection was lost.
    Unknown,
}
