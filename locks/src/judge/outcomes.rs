//! How attempts ended, and slots of which nothing came.

use super::View;
use crate::ids::{AttemptId, Slot};
use crate::machine::Outcome;
use crate::sorted::Map;

/// While a run goes on, further replicas may come with a slot for so long.
const STRAGGLERS_US: u64 = 500_000;

/// Per replica, its outcomes by slot; of one slot in the order of its attempts.
pub(super) fn list(view: &View) -> Map<String, Vec<Outcome>> {
    let mut of_replica: Map<&str, Map<(i64, &Slot, &AttemptId), Outcome>> = Map::new();
    for (id, attempt) in view.attempts() {
        let Some(slot) = &attempt.slot else { continue };
        if attempt.finished.is_some_and(|(_, finished)| finished.at_us < view.done_us) {
            continue;
        }
        let outcome = attempt.finished.map_or(Outcome::Open, |(outcome, _)| outcome);
        of_replica.or_default(&id.replica).insert((slot.fire_ms, slot, id), outcome);
    }
    let listed = of_replica.into_iter().map(|(replica, of)| (replica.to_owned(), of.values().copied().collect()));
    listed.collect()
}

/// What is known of a slot's attempts.
#[derive(Default)]
struct Tries {
    /// Its earliest event.
    began_us: Option<u64>,
    /// When the last attempt was over.
    over_us: u64,
    known: u32,
    open: u32,
}

impl Tries {
    fn began(&mut self, at_us: u64) {
        self.began_us = Some(self.began_us.map_or(at_us, |began_us| began_us.min(at_us)));
    }
}

/// Slots fired without an accepted effect, once no attempt at them can bring one. What was still under way when
/// somebody had everything begin again was broken off, and not missed.
pub(super) fn missed(view: &View) -> Vec<Slot> {
    let facts = view.facts;
    let mut slots: Map<&Slot, Tries> = Map::new();
    for (slot, at_us) in &facts.fired {
        slots.or_default(slot).began(*at_us);
    }
    for (id, attempt) in &facts.attempts {
        let Some(slot) = &attempt.slot else { continue };
        let tries = slots.or_default(slot);
        tries.began(attempt.began_us);
        tries.known += 1;
        let gone = facts.process_of(id).and_then(|process| process.gone);
        match attempt.finished.map(|(_, finished)| finished).or(gone) {
            Some(over) => tries.over_us = tries.over_us.max(over.at_us),
            None => tries.open += 1,
        }
    }
    let accepted: Map<&Slot, ()> = facts.accepted.iter().map(|accepted| (&accepted.slot, ())).collect();
    // Whose clock is ahead comes with a slot before it is due: the others are still to come.
    let wall_ms = facts.wall_ms().unwrap_or(i64::MAX);
    let hopeless = |slot: &Slot, tries: &Tries| {
        let is_due = slot.fire_ms.saturating_add_unsigned(STRAGGLERS_US / 1000) <= wall_ms;
        is_due && tries.known > 0 && tries.open == 0 && tries.over_us.saturating_add(STRAGGLERS_US) <= facts.now_us
    };
    let missed = slots.into_iter().filter(|(slot, tries)| {
        let done_us = if tries.open > 0 { facts.now_us } else { tries.over_us.max(tries.began_us.unwrap_or(0)) };
        let broken_off = |reset_us: &u64| tries.began_us <= Some(*reset_us) && *reset_us <= done_us;
        tries.began_us >= Some(view.began_us)
            && !facts.resets_us.iter().any(broken_off)
            && done_us >= view.done_us
            && !accepted.contains_key(slot)
            && (facts.ended.is_some() || hopeless(slot, tries))
    });
    missed.map(|(slot, _)| slot.clone()).collect()
}
