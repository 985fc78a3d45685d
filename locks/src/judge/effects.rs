//! Accepted effects of each slot. A lock is not a dedupe: this is judged apart from overlaps.

use std::collections::BTreeMap;

use super::View;
use crate::ids::Slot;

pub(super) fn count(view: &View) -> BTreeMap<Slot, u32> {
    let mut effects = BTreeMap::new();
    for accepted in view.facts.accepted.iter().filter(|accepted| view.counts(&accepted.attempt)) {
        *effects.entry(accepted.slot.clone()).or_default() += 1;
    }
    effects
}
