//! Step 2: boundaries, looked at by the set-up that each attempt had.

use super::*;

fn stage(moves: &str, strategy: &str, guard: &[Guard]) -> Log {
    let setup = Setup { strategy: strategy.into(), guard: guard.to_vec(), ..Setup::default() };
    Log::new(&format!("lesson/2/{moves}"), setup)
}

/// An attempt that works and posts.
fn works(log: &mut Log, ms: u64, attempt: &str, n: i64) {
    log.due(ms, attempt, n).entered(ms + 1, attempt).settled(ms + 2, attempt, n, EffectAnswer::Accepted);
    log.left(ms + 3, attempt).finished(ms + 4, attempt, n, Outcome::Executed);
}

fn under(strategy: &str) -> SetupChange {
    SetupChange { strategy: Some(strategy.into()), ..SetupChange::default() }
}

#[test]
fn moves_under_one_boundary_are_its_cell() {
    let mut log = stage("m2@pg-lease", "pg-lease", &[]);
    assert_eq!(log.misses("2a"), "not-fired");
    works(&mut log, 10, "A.1.1", 1);
    works(&mut log, 20, "B.1.1", 1);
    assert_eq!(log.proves("2a"), ["handler-m2"]);
    assert_eq!(log.proves("2b"), ["done"]);
    assert_eq!(log.misses("2c"), "twice");
}

#[test]
fn a_set_up_that_was_changed_in_the_middle_is_neither() {
    let mut log = stage("m2@pg-lease", "pg-lease", &[]);
    works(&mut log, 10, "A.1.1", 1);
    log.set(15, under("pg-claim"));
    works(&mut log, 20, "B.1.1", 1);
    assert_eq!((log.misses("2a"), log.misses("2c")), ("mixed", "mixed"));
    assert_eq!(log.misses("2b"), "no-lock", "only one of the two was under the lease");
}

#[test]
fn what_is_set_behind_the_end_changes_nothing() {
    let mut log = stage("m2@pg-lease", "pg-lease", &[]);
    works(&mut log, 10, "A.1.1", 1);
    works(&mut log, 20, "B.1.1", 1);
    log.set(30, under("none"));
    assert_eq!(log.proves("2b"), ["done"]);
    let mut log = stage("m2@none", "none", &[]);
    works(&mut log, 10, "A.1.1", 1);
    works(&mut log, 20, "B.1.1", 1);
    log.set(30, under("pg-lease"));
    assert_eq!(log.misses("2b"), "no-lock", "nobody held a lease when it happened");
}

#[test]
fn lease_and_unique_slot_come_through() {
    let mut log = stage("m2@pg-lease+unique-slot", "pg-lease", &[Guard::UniqueSlot]);
    works(&mut log, 10, "A.1.1", 1);
    log.due(20, "B.1.1", 1).entered(21, "B.1.1").left(23, "B.1.1");
    log.settled(22, "B.1.1", 1, EffectAnswer::Rejected(Guard::UniqueSlot));
    log.finished(24, "B.1.1", 1, Outcome::Failed);
    assert_eq!(log.proves("2c"), ["m2"]);
}
