//! The judge: a fold of the event log into a verdict. It counts what is certain and lists what is
//! undecided apart; it never looks at anything but the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::Slot;
use crate::machine::Outcome;

/// What the judge found. While a run goes on it is provisional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The run has not ended.
    pub provisional: bool,
    /// Pairs of critical sections of the same lock, by different attempts, that intersect.
    pub overlaps: Vec<Finding>,
    /// Accepted effects of each slot that has any.
    pub effects_per_slot: BTreeMap<Slot, u32>,
    /// Effects accepted although a newer grant had been answered.
    pub stale_effects: Vec<Finding>,
    /// Releases, renewals or expiries that took effect on another attempt's grant.
    pub foreign_releases: Vec<Finding>,
    /// From each fault on a holder to the next grant by another, in milliseconds; `None`: there was none.
    pub takeover_ms: Vec<Option<u64>>,
    /// Slots fired, without an accepted effect.
    pub missed_slots: Vec<Slot>,
    /// Per replica, its outcomes by slot.
    pub outcomes: BTreeMap<String, Vec<Outcome>>,
}

impl Verdict {
    /// The largest number of accepted effects of any one slot.
    pub fn most_effects(&self) -> u32 {
        self.effects_per_slot.values().copied().max().unwrap_or(0)
    }
}

/// One thing that the judge found, with the events that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Numbers of the events.
    pub events: Vec<u64>,
    /// Certain, or undecided because intervals overlap.
    pub certain: bool,
    /// When it began, in microseconds.
    pub from_us: u64,
    /// When it ended, in microseconds.
    pub until_us: u64,
    /// In words.
    pub text: String,
}
