//! Guards: what a sink checks before it accepts an effect. This module only decides, given what the sink
//! has seen and what the lock's row says; asking and storing is the sink's business.

use borsh::{BorshDeserialize, BorshSerialize};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{BadName, as_text};

/// What a sink checks. Several may stand together; they see different things.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Guard {
    /// Rejects an epoch lower than the highest that this sink has accepted for the lock.
    MaxSeen,
    /// Rejects an epoch other than the one that stands in the lock's row now; fails closed.
    CurrentEpoch,
    /// Rejects the second effect of a slot, whoever sends it.
    UniqueSlot,
}

impl Guard {
    /// All guards, in the order of the ladder that the lesson climbs.
    pub const LADDER: [Guard; 3] = [Guard::MaxSeen, Guard::CurrentEpoch, Guard::UniqueSlot];

    /// Does it look at epochs?
    pub fn needs_epoch(self) -> bool {
        matches!(self, Guard::MaxSeen | Guard::CurrentEpoch)
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guard::MaxSeen => "max-seen",
            Guard::CurrentEpoch => "current-epoch",
            Guard::UniqueSlot => "unique-slot",
        })
    }
}

impl FromStr for Guard {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        Guard::LADDER.into_iter().find(|guard| guard.to_string() == text).ok_or_else(|| BadName {
            text: text.to_owned(),
            wanted: "a guard: none, max-seen, current-epoch or unique-slot",
        })
    }
}
as_text!(Guard);

/// What a sink knows when an effect arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The highest epoch of an effect accepted for this lock.
    pub highest_epoch: Option<u64>,
    /// The epoch in the lock's row now; `None` when it could not be read or there is none.
    pub current_epoch: Option<u64>,
    /// Effects of this slot accepted before.
    pub effects_of_slot: u32,
}

/// The first guard that rejects an effect sent with `epoch`, if any. An effect without an epoch passes
/// `MaxSeen` only where no epoch was seen yet, and never passes `CurrentEpoch`.
pub fn rejects(guards: &[Guard], epoch: Option<u64>, seen: &Seen) -> Option<Guard> {
    guards.iter().copied().find(|guard| match guard {
        Guard::MaxSeen => epoch < seen.highest_epoch,
        Guard::CurrentEpoch => epoch.is_none() || epoch != seen.current_epoch,
        Guard::UniqueSlot => seen.effects_of_slot > 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWER_WROTE: Seen = Seen { highest_epoch: Some(8), current_epoch: Some(8), effects_of_slot: 1 };
    const NEWER_SILENT: Seen = Seen { highest_epoch: Some(6), current_epoch: Some(8), effects_of_slot: 0 };

    #[test]
    fn the_ladder_sees_more_at_each_rung() {
        assert_eq!(rejects(&[], Some(7), &NEWER_WROTE), None);
        assert_eq!(rejects(&[Guard::MaxSeen], Some(7), &NEWER_WROTE), Some(Guard::MaxSeen));
        assert_eq!(rejects(&[Guard::MaxSeen], Some(7), &NEWER_SILENT), None, "the stale one arrived first");
        assert_eq!(rejects(&[Guard::CurrentEpoch], Some(7), &NEWER_SILENT), Some(Guard::CurrentEpoch));
        assert_eq!(rejects(&[Guard::UniqueSlot], Some(8), &NEWER_WROTE), Some(Guard::UniqueSlot));
    }

    #[test]
    fn equal_epochs_are_the_same_holder() {
        assert_eq!(rejects(&[Guard::MaxSeen, Guard::CurrentEpoch], Some(8), &NEWER_WROTE), None);
    }

    #[test]
    fn current_epoch_fails_closed() {
        let unknown = Seen { current_epoch: None, ..NEWER_SILENT };
        assert_eq!(rejects(&[Guard::CurrentEpoch], Some(7), &unknown), Some(Guard::CurrentEpoch));
        assert_eq!(rejects(&[Guard::CurrentEpoch], None, &unknown), Some(Guard::CurrentEpoch));
    }
}
