//! Step 2, where the lock sits: around the tick, the handler or the effect. Looked at are three orders of moves
//! under each boundary, and of each what really ran side by side, whatever lock there was.

use super::record::{Attempt, SCHEDULE};
use super::{By, Look, ONE, Proof, Record, Task};
use crate::guard::Guard;
use crate::ids::Slot;
use crate::setup::Setup;
use crate::strategy::{self, LockScope};

const CELLS: &[&str] =
    &["tick-m1", "tick-m2", "tick-m3", "handler-m1", "handler-m2", "handler-m3", "effect-m1", "effect-m2", "effect-m3"];

pub(super) const TASKS: &[Task] = &[
    Task {
        id: "a",
        marks: CELLS,
        misses: &["not-fired", "under-way", "mixed", "other-boundary", "next"],
        by: By::Log(cells),
    },
    Task {
        id: "b",
        marks: ONE,
        misses: &["not-fired", "no-lock", "fault", "once", "side-by-side"],
        by: By::Log(again),
    },
    Task {
        id: "c",
        marks: &["m1", "m2", "m3"],
        misses: &["not-fired", "under-way", "mixed", "together", "twice", "next"],
        by: By::Log(whole),
    },
];

/// Which boundary a set-up places.
fn boundary(setup: &Setup) -> Option<&'static str> {
    let unique = setup.guard == [Guard::UniqueSlot];
    match (setup.strategy.to_string().as_str(), setup.guard.is_empty(), unique) {
        ("pg-claim", true, _) => Some("tick"),
        ("pg-lease", true, _) => Some("handler"),
        ("none", _, true) => Some("effect"),
        _ => None,
    }
}

/// The moves that were played, once all is over, `m1`, `m2` or `m3`; and under which set-up.
fn played(record: &Record) -> Result<(&str, &Setup), &'static str> {
    if record.attempts.len() < 2 {
        return Err("not-fired");
    }
    if record.attempts.values().any(|attempt| attempt.finished.is_none()) {
        return Err("under-way");
    }
    // Moves under one set-up that ended under another are neither's.
    let setup = record.setup_of(record.attempts.values()).ok_or("mixed")?;
    Ok((record.stage().split('@').next().unwrap_or_default(), setup))
}

/// One cell: this boundary under these moves.
fn cells(record: &Record) -> Look {
    let (moves, setup) = match played(record) {
        Ok(played) => played,
        Err(miss) => return Look::misses(miss),
    };
    let Some(boundary) = boundary(setup) else { return Look::misses("other-boundary") };
    let cell = format!("{boundary}-{moves}");
    match CELLS.iter().copied().find(|mark| **mark == cell) {
        Some(mark) => Look { proved: vec![Proof::new(mark, end(record))], misses: Some("next") },
        None => Look::misses("other-boundary"),
    }
}

fn end(record: &Record) -> u64 {
    record.attempts.values().filter_map(|attempt| attempt.finished).map(|(_, at)| at.seq).max().unwrap_or_default()
}

/// Attempts of the schedule that were inside side by side.
fn together(record: &Record) -> bool {
    let of = |attempt: &&Attempt| attempt.slot.as_ref().is_some_and(|slot| slot.schedule == SCHEDULE);
    let span = |attempt: &Attempt| {
        let entered = attempt.entered?.at_us;
        Some((entered, attempt.left.map_or(u64::MAX, |left| left.at_us)))
    };
    let spans: Vec<(u64, u64)> = record.attempts.values().filter(of).filter_map(span).collect();
    spans.iter().enumerate().any(|(n, a)| spans[..n].iter().any(|b| a.0 < b.1 && b.0 < a.1))
}

/// Does that set-up put one lock around the whole schedule?
fn locks_schedule(Setup { strategy, .. }: &Setup) -> bool {
    let info = strategy::info(&strategy.strategy).filter(|info| info.name != "none");
    strategy.mutant.is_none() && info.is_some_and(|info| info.scope == LockScope::Schedule)
}

/// A lock that did what it promises, and a slot that was settled twice.
fn again(record: &Record) -> Look {
    if record.attempts.is_empty() {
        return Look::misses("not-fired");
    }
    let slots = record.slots();
    let under_lock = |slot: &&Slot| record.setup_of(record.of_slot(slot)).is_some_and(locks_schedule);
    let locked: Vec<&Slot> = slots.into_iter().map(|(slot, _)| slot).filter(under_lock).collect();
    if locked.is_empty() {
        return Look::misses("no-lock");
    }
    if !record.faults.is_empty() {
        return Look::misses("fault");
    }
    if !record.verdict().overlaps.is_empty() {
        return Look::misses("side-by-side");
    }
    for slot in locked {
        let mut inside: Vec<(u64, Option<u64>)> = record
            .of_slot(slot)
            .iter()
            .filter_map(|attempt| Some((attempt.entered?.at_us, attempt.left.map(|left| left.at_us))))
            .collect();
        inside.sort_unstable();
        let in_turn = matches!(inside[..], [(_, Some(left)), (entered, _)] if left < entered);
        let accepted: Vec<u64> = record.accepted(slot).map(|settled| settled.at.seq).collect();
        if let (true, [_, second]) = (in_turn, &accepted[..]) {
            return Look::proves(super::DONE, *second);
        }
    }
    Look::misses("once")
}

/// The set-up that lets nothing run side by side and settles nothing twice.
fn whole(record: &Record) -> Look {
    let (moves, setup) = match played(record) {
        Ok(played) => played,
        Err(miss) => return Look::misses(miss),
    };
    if together(record) {
        return Look::misses("together");
    }
    let is_both = setup.guard == [Guard::UniqueSlot] && locks_schedule(setup);
    if record.slots().iter().any(|(slot, _)| record.accepted(slot).count() > 1) {
        return Look::misses("twice");
    }
    // A lock of slot scope comes through M1 and M2, and fails at M3; only what comes through all three counts.
    match ["m1", "m2", "m3"].into_iter().find(|mark| *mark == moves) {
        Some(mark) if is_both => Look { proved: vec![Proof::new(mark, end(record))], misses: Some("next") },
        _ => Look::misses("next"),
    }
}
