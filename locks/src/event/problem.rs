//! What did not work: in words for the reader, and whose fault it is.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

/// Whose fault it is that something did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// Who wrote the scenario or clicked.
    Yours,
    /// The lab's.
    Lab,
    /// A fault that was injected.
    Fault,
    /// What was handed in for an exercise: it broke the exercise's contract.
    Answer,
}

/// Something that did not work: what, whose fault, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Problem {
    /// Whose fault.
    pub whose: Whose,
    /// What happened and what to do, in words.
    pub text: String,
}
