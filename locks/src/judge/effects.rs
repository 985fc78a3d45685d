//! Accepted effects of each slot. A lock is not a dedupe: this is judged apart from overlaps.

use super::View;
use crate::ids::Slot;
use crate::sorted::Map;

pub(super) fn count(view: &View) -> Map<Slot, u32> {
    let mut effects = Map::new();
    for accepted in view.facts.accepted.iter().filter(|accepted| view.counts(&accepted.attempt)) {
        *effects.or_default(accepted.slot.clone()) += 1;
    }
    effects
}
