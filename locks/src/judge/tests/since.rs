//! What counts since the strategy, and since the guard, was changed.

use super::*;
use crate::sorted::Map;

/// A began at 10, B at 200 within A's section, and A's effect is stale at 300.
fn overtaken() -> Log {
    let mut log = Log::default();
    log.due(10, "A.1.1", 1).granted(11, "A.1.1", Some(7), Some(150)).entered(12, "A.1.1");
    log.due(200, "B.1.1", 2).granted(201, "B.1.1", Some(8), Some(400)).entered(202, "B.1.1");
    log.accepted(300, "A.1.1", 1, Some(7)).left(301, "A.1.1");
    log.finished(302, "A.1.1", 1, Outcome::Executed);
    log.accepted(350, "B.1.1", 2, Some(8)).left(351, "B.1.1");
    log
}

fn counted(log: &Log, began_ms: u64, done_ms: u64) -> (usize, usize) {
    let verdict = log.judge().verdict_since(began_ms * 1000, done_ms * 1000);
    (verdict.overlaps.len(), verdict.stale_effects.len())
}

#[test]
fn what_is_completed_after_a_guard_change_counts_whenever_it_began() {
    let log = overtaken();
    assert_eq!(counted(&log, 5, 100), (1, 1), "the guard was changed while A was inside");
    assert_eq!(counted(&log, 5, 310), (0, 0), "both were over by then");
}

#[test]
fn what_began_under_an_earlier_strategy_is_not_charged_to_the_next() {
    let log = overtaken();
    assert_eq!(counted(&log, 100, 100), (0, 0), "A began before the change");
    assert_eq!(log.judge().stale_effects().len(), 1, "and is stale all the same");
}

#[test]
fn a_slot_counts_whole_if_an_effect_of_it_does() {
    let mut log = Log::default();
    log.due(10, "A.1.1", 1).due(10, "B.1.1", 1).due(10, "A.1.2", 2);
    log.accepted(100, "A.1.1", 1, None).accepted(300, "B.1.1", 1, None).accepted(101, "A.1.2", 2, None);
    let verdict = log.judge().verdict_since(0, 200_000);
    assert_eq!(verdict.effects_per_slot, Map::from([(slot(1), 2)]));
}

#[test]
fn a_slot_fired_before_the_strategy_was_changed_is_no_miss_of_the_new_one() {
    let mut log = Log::default();
    log.due(10, "A.1.1", 1).due(200, "A.1.2", 2);
    log.finished(210, "A.1.1", 1, Outcome::Skipped).finished(220, "A.1.2", 2, Outcome::Skipped).ended(2000);
    let missed = |began: u64, done: u64| log.judge().verdict_since(began * 1000, done * 1000).missed_slots;
    assert_eq!(missed(0, 0), [slot(1), slot(2)]);
    assert_eq!(missed(100, 0), [slot(2)]);
    assert_eq!(missed(0, 215), [slot(2)], "the first was over before the guard was changed");
}

#[test]
fn a_takeover_from_a_holder_of_an_earlier_strategy_is_none_of_the_new_one() {
    let mut log = Log::default();
    let kill = Fault::Kill { process: ProcessName::Replica("A".to_owned()) };
    log.due(10, "A.1.1", 1).granted(11, "A.1.1", Some(1), Some(900)).entered(12, "A.1.1");
    log.fault(150, kill).due(200, "B.1.1", 2).granted(201, "B.1.1", Some(2), Some(900));
    let measured = |began: u64, done: u64| log.judge().verdict_since(began * 1000, done * 1000).takeover_ms;
    assert_eq!(measured(0, 0), [Some(51)]);
    assert_eq!(measured(100, 100), [], "A began before the change");
    assert_eq!(measured(0, 300), [], "over before the guard was changed");
}
