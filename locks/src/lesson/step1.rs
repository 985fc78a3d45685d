//! Step 1, the single-instance illusion: a shared catalog excludes nobody.

use std::collections::BTreeSet;

use super::record::Moment;
use super::{By, Look, ONE, Record, Task};
use crate::guard::Guard;
use crate::ids::Slot;
use crate::setup::Setup;

pub(super) const TASKS: &[Task] = &[
    Task { id: "a", marks: ONE, misses: &["not-alone", "waiting"], by: By::Log(alone) },
    Task { id: "b", marks: ONE, misses: &["alone", "stopped", "locked", "guarded", "waiting"], by: By::Log(twice) },
    Task { id: "c", marks: ONE, misses: &["alone", "stopped", "locked", "no-guard", "too-few"], by: By::Log(rejected) },
];

/// One replica, two slots in a row, each settled once.
fn alone(record: &Record) -> Look {
    let once = |(slot, due): &(&Slot, Moment)| {
        record.present(*due) == 1 && record.is_closed(slot) && record.accepted(slot).count() == 1
    };
    let slots = record.slots();
    match slots.windows(2).find(|two| two.iter().all(once)) {
        Some(two) => Look::proves(super::DONE, settled_last(record, two[1].0)),
        None if record.alive().len() > 1 => Look::misses("not-alone"),
        None => Look::misses("waiting"),
    }
}

/// A slot that two replicas settled, without a lock.
fn twice(record: &Record) -> Look {
    for (slot, _) in record.slots() {
        let unlocked = record.of_slot(slot).iter().all(|attempt| attempt.is_under("none"));
        let by: BTreeSet<&str> = record.accepted(slot).map(|settled| settled.attempt.replica.as_str()).collect();
        if unlocked && by.len() > 1 {
            return Look::proves(super::DONE, settled_last(record, slot));
        }
    }
    Look::misses(switch(record).unwrap_or(if latest(record).guard.is_empty() { "waiting" } else { "guarded" }))
}

/// Three slots in a row that several worked on and the guard let through once.
fn rejected(record: &Record) -> Look {
    let kept = |(slot, _): &(&Slot, Moment)| {
        let attempts = record.of_slot(slot);
        let worked = attempts.iter().filter(|attempt| attempt.entered.is_some()).count();
        let unlocked = attempts.iter().all(|attempt| attempt.is_under("none"));
        unlocked
            && worked > 1
            && record.is_closed(slot)
            && record.accepted(slot).count() == 1
            && record.rejected(slot, Guard::UniqueSlot).count() > 0
    };
    let slots = record.slots();
    match slots.windows(3).find(|three| three.iter().all(kept)) {
        Some(three) => Look::proves(super::DONE, settled_last(record, three[2].0)),
        None if latest(record).guard.contains(&Guard::UniqueSlot) => Look::misses(switch(record).unwrap_or("too-few")),
        None => Look::misses(switch(record).unwrap_or("no-guard")),
    }
}

/// The set-up under which the newest slot was tried. What was set since is tried with the next slot.
fn latest(record: &Record) -> &Setup {
    record.setup_of(record.newest()).unwrap_or(&record.setup)
}

/// Which switch stands wrong for two to work on one slot.
fn switch(record: &Record) -> Option<&'static str> {
    if record.alive().len() < 2 {
        Some("alone")
    } else if record.is_any_stopped() {
        Some("stopped")
    } else if latest(record).strategy.to_string() != "none" {
        Some("locked")
    } else {
        None
    }
}

/// The sink's last word on a slot.
fn settled_last(record: &Record, slot: &Slot) -> u64 {
    record
        .settled
        .iter()
        .filter(|settled| settled.slot == *slot)
        .map(|settled| settled.at.seq)
        .max()
        .unwrap_or_default()
}
