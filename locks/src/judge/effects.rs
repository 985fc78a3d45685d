//! Accepted effects of each slot. A lock is not a dedupe: this is judged apart from overlaps. A slot of which
//! any effect counts is counted whole: the second effect is a second one whoever sent the first.

use super::View;
use crate::ids::Slot;
use crate::sorted::Map;

pub(super) fn count(view: &View) -> Map<Slot, u32> {
    let accepted = &view.facts.accepted;
    let counts = accepted.iter().filter(|one| view.counts(&one.attempt) && one.stamp.until_us >= view.done_us);
    let slots: Map<&Slot, ()> = counts.map(|one| (&one.slot, ())).collect();
    let mut effects = Map::new();
    for accepted in accepted.iter().filter(|one| slots.contains_key(&one.slot)) {
        *effects.or_default(accepted.slot.clone()) += 1;
    }
    effects
}
