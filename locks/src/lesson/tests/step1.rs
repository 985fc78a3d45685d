//! Step 1: who settled what, without a lock.

use super::*;

fn one() -> Log {
    Log::new("lesson/1/one-replica", Setup { replicas: vec!["A".to_owned()], cron: true, ..Setup::default() })
}

/// An attempt that works, with the sink's answer.
fn works(log: &mut Log, ms: u64, attempt: &str, n: i64, answer: EffectAnswer) {
    let outcome = if answer == EffectAnswer::Accepted { Outcome::Executed } else { Outcome::Failed };
    log.due(ms, attempt, n).entered(ms + 1, attempt).left(ms + 3, attempt).settled(ms + 2, attempt, n, answer);
    log.finished(ms + 4, attempt, n, outcome);
}

fn rejected() -> EffectAnswer {
    EffectAnswer::Rejected(Guard::UniqueSlot)
}

#[test]
fn one_replica_settles_two_slots_once_each() {
    let mut log = one();
    assert_eq!(log.misses("1a"), "waiting");
    works(&mut log, 5000, "A.1.1", 1, EffectAnswer::Accepted);
    works(&mut log, 10_000, "A.1.2", 2, EffectAnswer::Accepted);
    assert_eq!(log.misses("1a"), "waiting", "a straggler may yet come");
    log.says(10_600, LockState::Free, None);
    assert_eq!(log.proves("1a"), ["done"]);
}

#[test]
fn two_replicas_are_not_one() {
    let mut log = one();
    works(&mut log, 5000, "A.1.1", 1, EffectAnswer::Accepted);
    log.ready(6000, "B.1.0");
    works(&mut log, 10_000, "A.1.2", 2, EffectAnswer::Accepted);
    log.says(10_700, LockState::Free, None);
    assert_eq!(log.misses("1a"), "not-alone");
}

#[test]
fn a_slot_that_two_settle_is_proved_at_once() {
    let mut log = one();
    assert_eq!(log.misses("1b"), "alone");
    log.ready(1000, "B.1.0");
    assert_eq!(log.misses("1b"), "waiting");
    works(&mut log, 5000, "A.1.1", 1, EffectAnswer::Accepted);
    assert_eq!(log.misses("1b"), "waiting");
    works(&mut log, 5000, "B.1.1", 1, EffectAnswer::Accepted);
    assert_eq!(log.proves("1b"), ["done"]);
}

#[test]
fn the_same_replica_twice_is_no_collision() {
    let mut log = one();
    log.ready(1000, "B.1.0");
    works(&mut log, 5000, "A.1.1", 1, EffectAnswer::Accepted);
    works(&mut log, 5100, "A.1.2", 1, EffectAnswer::Accepted);
    assert_eq!(log.misses("1b"), "waiting");
}

#[test]
fn a_switch_that_stands_wrong_is_named() {
    let mut log = one();
    log.ready(1000, "B.1.0").process(1100, "B.1.0", ProcessState::Stopped);
    assert_eq!(log.misses("1b"), "stopped");
    log.process(1200, "B.1.0", ProcessState::Continued);
    log.set(1300, SetupChange { strategy: Some("pg-lease".into()), ..SetupChange::default() });
    assert_eq!((log.misses("1b"), log.misses("1c")), ("locked", "locked"));
    let guard = Some(vec![Guard::UniqueSlot]);
    log.set(1400, SetupChange { strategy: Some("none".into()), guard, ..SetupChange::default() });
    assert_eq!((log.misses("1b"), log.misses("1c")), ("guarded", "too-few"));
    log.process(1500, "B.1.0", ProcessState::Gone);
    assert_eq!((log.misses("1b"), log.misses("1c")), ("alone", "alone"));
}

#[test]
fn three_slots_in_a_row_are_kept_by_the_guard() {
    let mut log = one();
    log.ready(1000, "B.1.0");
    assert_eq!(log.misses("1c"), "no-guard");
    log.set(1100, SetupChange { guard: Some(vec![Guard::UniqueSlot]), ..SetupChange::default() });
    for n in 1..=3 {
        let ms = 5000 * n as u64;
        works(&mut log, ms, &format!("A.1.{n}"), n, EffectAnswer::Accepted);
        if n == 3 {
            assert_eq!(log.misses("1c"), "too-few");
        }
        works(&mut log, ms + 1, &format!("B.1.{n}"), n, rejected());
    }
    assert_eq!(log.misses("1c"), "too-few", "nothing was heard since");
    log.ended(15_010);
    assert_eq!(log.proves("1c"), ["done"]);
}

#[test]
fn a_slot_that_one_of_them_slept_through_breaks_the_row() {
    let mut log = one();
    log.ready(1000, "B.1.0");
    log.set(1100, SetupChange { guard: Some(vec![Guard::UniqueSlot]), ..SetupChange::default() });
    for n in 1..=4 {
        let ms = 5000 * n as u64;
        works(&mut log, ms, &format!("A.1.{n}"), n, EffectAnswer::Accepted);
        if n != 2 {
            works(&mut log, ms + 1, &format!("B.1.{n}"), n, rejected());
        }
    }
    log.ended(30_000);
    assert_eq!(log.misses("1c"), "too-few");
}

#[test]
fn what_was_missed_is_said_of_the_slot_that_was_tried() {
    let mut log = one();
    log.ready(1000, "B.1.0");
    log.set(1100, SetupChange { guard: Some(vec![Guard::UniqueSlot]), ..SetupChange::default() });
    works(&mut log, 5000, "A.1.1", 1, EffectAnswer::Accepted);
    works(&mut log, 5001, "B.1.1", 1, rejected());
    // Taken away since: no slot was tried without it yet.
    log.set(6000, SetupChange { guard: Some(Vec::new()), ..SetupChange::default() });
    assert_eq!((log.misses("1b"), log.misses("1c")), ("guarded", "too-few"));
}
