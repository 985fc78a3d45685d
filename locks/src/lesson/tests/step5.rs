//! Step 5: a pause over the lease, before the check and behind it; and a release that asks.

use super::*;

fn stage(strategy: &str, replicas: &[&str]) -> Log {
    let replicas = replicas.iter().map(|name| (*name).to_owned()).collect();
    Log::new("lesson/5/pause", Setup { strategy: strategy.into(), replicas, ..Setup::default() })
}

fn pause_a() -> Fault {
    Fault::Pause { process: ProcessName::Replica("A".to_owned()) }
}

/// A holds, is stopped, its lease ends; B is granted, enters, posts and leaves; A goes on.
fn overtaken(a_is_inside: bool) -> Log {
    let mut log = stage("pg-lease", &["A", "B"]);
    log.due(10, "A.1.1", 1).granted(20, "A.1.1", &[Endpoint::Postgres]).says(21, LockState::Held, Some("A.1.1"));
    if a_is_inside {
        log.entered(22, "A.1.1");
    }
    log.process(30, "A.1.0", ProcessState::Stopped).fault(31, 1, pause_a(), true);
    log.due(40, "B.1.1", 1).says(3020, LockState::Expired, None);
    log.granted(3030, "B.1.1", &[Endpoint::Postgres]).says(3031, LockState::Held, Some("B.1.1"));
    log.entered(3040, "B.1.1").settled(3050, "B.1.1", 1, EffectAnswer::Accepted).left(3060, "B.1.1");
    log.finished(3070, "B.1.1", 1, Outcome::Executed);
    log.process(3100, "A.1.0", ProcessState::Continued).fault(3101, 1, pause_a(), false);
    log
}

#[test]
fn stopped_before_it_entered_it_stays_out() {
    let mut log = overtaken(false);
    assert_eq!(log.misses("5b"), "not-over");
    log.finished(3110, "A.1.1", 1, Outcome::Skipped).ended(3120);
    assert_eq!(log.proves("5b"), ["enter"]);
}

#[test]
fn stopped_behind_its_check_it_posts() {
    let mut log = overtaken(true);
    log.settled(3110, "A.1.1", 1, EffectAnswer::Accepted).left(3120, "A.1.1");
    log.finished(3130, "A.1.1", 1, Outcome::Executed).ended(3140);
    assert_eq!(log.proves("5b"), ["effect"]);
}

#[test]
fn a_guard_that_turns_it_away_proves_neither() {
    let mut log = overtaken(true);
    log.settled(3110, "A.1.1", 1, EffectAnswer::Rejected(Guard::CurrentEpoch)).left(3120, "A.1.1");
    log.finished(3130, "A.1.1", 1, Outcome::Failed).ended(3140);
    assert_eq!(log.misses("5b"), "nothing-new");
}

#[test]
fn a_pause_must_hit_the_holder_and_outlast_its_lease() {
    let mut log = stage("pg-lease", &["A", "B"]);
    assert_eq!(log.misses("5b"), "not-paused");
    log.fault(10, 1, pause_a(), true);
    assert_eq!(log.misses("5b"), "not-hit");
    log.due(20, "A.1.1", 1).granted(30, "A.1.1", &[]).says(31, LockState::Held, Some("A.1.1")).entered(32, "A.1.1");
    log.fault(40, 2, pause_a(), true).fault(90, 2, pause_a(), false);
    assert_eq!(log.misses("5b"), "not-expired");
}

#[test]
fn states_are_collected_as_the_store_says_them() {
    let mut log = stage("pg-lease", &["A", "B"]);
    assert_eq!(log.look("5a").misses, Some("free"));
    log.says(10, LockState::Held, Some("A.1.1")).finished(20, "A.1.1", 1, Outcome::Lost);
    assert_eq!(log.proves("5a"), ["held", "lost"]);
    assert_eq!(log.look("5a").misses, Some("free"));
    log.says(30, LockState::Free, None);
    assert_eq!(log.look("5a").misses, Some("expired"));
}

/// A overruns, B holds, A gives back; whether C gets in is up to the release.
fn late_release(strategy: &str, took: u64) -> Log {
    let mut log = stage(strategy, &["A", "B", "C"]);
    for (n, attempt) in ["A.1.1", "B.1.1", "C.1.1"].into_iter().enumerate() {
        log.due(10 + n as u64, attempt, 1);
    }
    log.granted(20, "A.1.1", &[]).entered(21, "A.1.1").granted(3030, "B.1.1", &[]).entered(3031, "B.1.1");
    log.left(3040, "A.1.1").command(3041, "A.1.1", "release", Reply::Rows { affected: took, row: Vec::new() });
    log.finished(3050, "A.1.1", 1, Outcome::Executed);
    log
}

#[test]
fn a_release_that_does_not_ask_lets_c_in() {
    let mut log = late_release("pg-lease/no-owner-check", 1);
    assert_eq!(log.misses("5c"), "under-way");
    log.granted(3060, "C.1.1", &[]).entered(3061, "C.1.1").left(3080, "B.1.1").left(3090, "C.1.1");
    log.finished(3081, "B.1.1", 1, Outcome::Executed).finished(3091, "C.1.1", 1, Outcome::Executed).ended(4000);
    assert_eq!(log.proves("5c"), ["broken"]);
}

#[test]
fn a_release_that_asks_keeps_c_out() {
    let mut log = late_release("pg-lease", 0);
    log.finished(3060, "C.1.1", 1, Outcome::Skipped).left(3080, "B.1.1");
    log.finished(3081, "B.1.1", 1, Outcome::Executed).ended(4000);
    assert_eq!(log.proves("5c"), ["mended"]);
}
