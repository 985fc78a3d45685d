//! The catalog: which schedules a run has.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

/// A row of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Schedule {
    /// Its name.
    pub name: String,
    /// Cron expression with seconds.
    pub cron: String,
    /// Time zone, an IANA name.
    pub time_zone: String,
    /// What it does, in a few words.
    pub handler: String,
}
