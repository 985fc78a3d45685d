//! Step 3: two commands, six orders.

use super::*;

fn stage(strategy: &str) -> Log {
    let setup = Setup { strategy: strategy.into(), ..Setup::default() };
    Log::new("lesson/3/look-then-take", setup)
}

const MUTANT: &str = "redis-set-nx/look-then-take";

fn nil() -> Reply {
    Reply::Redis(Param::Null)
}

fn ok() -> Reply {
    Reply::Redis(Param::Text("OK".to_owned()))
}

fn path(log: &mut Log, ms: u64, attempt: &str) {
    use TaskState::{Acquiring, Due, Executed, Releasing, Running};
    for state in [Due, Acquiring, Running, Releasing, Executed] {
        log.task(ms, attempt, state);
    }
}

#[test]
fn a_whole_attempt_is_one_whose_release_took() {
    let mut log = stage(MUTANT);
    assert_eq!(log.misses("3a"), "not-fired");
    log.due(10, "A.1.1", 1);
    assert_eq!(log.misses("3a"), "under-way");
    path(&mut log, 20, "A.1.1");
    log.finished(30, "A.1.1", 1, Outcome::Executed);
    assert_eq!(log.misses("3a"), "not-executed", "nothing was given back");
    log.command(25, "A.1.1", "release", Reply::Redis(Param::Int(0)));
    assert_eq!(log.misses("3a"), "not-executed", "and this was no longer its own");
    log.command(26, "A.1.1", "release", Reply::Redis(Param::Int(1)));
    assert_eq!(log.proves("3a"), ["done"]);
}

#[test]
fn both_get_in_when_both_looked_first() {
    let mut log = stage(MUTANT);
    log.due(10, "A.1.1", 1);
    assert_eq!(log.misses("3b"), "one-alone");
    log.due(11, "B.1.1", 1);
    assert_eq!(log.misses("3b"), "nobody-looked");
    log.command(20, "A.1.1", "look", nil()).command(21, "B.1.1", "look", nil());
    assert_eq!(log.misses("3b"), "both-looked");
    log.command(30, "A.1.1", "acquire", ok()).command(31, "B.1.1", "acquire", ok());
    log.entered(40, "A.1.1").entered(41, "B.1.1");
    // Both wait at a gate: who is inside is certain.
    log.add(
        42,
        by("A.1.1"),
        Kind::GateReached {
            attempt: id("A.1.1"),
            gate: crate::ids::Gate::Effect,
            text: String::new(),
            params: Vec::new(),
        },
    );
    log.add(
        43,
        by("B.1.1"),
        Kind::GateReached {
            attempt: id("B.1.1"),
            gate: crate::ids::Gate::Effect,
            text: String::new(),
            params: Vec::new(),
        },
    );
    log.says(50, LockState::Held, Some("B.1.1"));
    assert_eq!(log.proves("3b"), ["done"]);
    let shown_at = log.look("3b").proved[0].event;
    let drawn = |events: u64| Record::of(&log.events[..events as usize]).overlaps().len();
    assert_eq!((drawn(shown_at - 1), drawn(shown_at)), (0, 1), "the link leads to where the overlap is drawn");
}

#[test]
fn who_looks_too_late_is_told() {
    let mut log = stage(MUTANT);
    log.due(10, "A.1.1", 1).due(11, "B.1.1", 1).command(20, "A.1.1", "look", nil());
    log.command(21, "A.1.1", "acquire", ok());
    log.command(22, "B.1.1", "look", Reply::Redis(Param::Text("a".to_owned())));
    assert_eq!(log.misses("3b"), "too-late");
}

#[test]
fn a_fault_or_another_lock_proves_nothing() {
    let mut log = stage(MUTANT);
    log.fault(5, 1, Fault::Pause { process: ProcessName::Replica("A".to_owned()) }, true);
    assert_eq!(log.misses("3b"), "fault");
    assert_eq!(stage("redis-set-nx").misses("3b"), "other-lock");
    assert_eq!(stage(MUTANT).misses("3c"), "other-lock");
}

#[test]
fn one_command_lets_one_in() {
    let mut log = stage("redis-set-nx");
    log.due(10, "A.1.1", 1).due(11, "B.1.1", 1);
    log.command(20, "A.1.1", "acquire", ok()).granted(21, "A.1.1", &[Endpoint::Redis(1)]).entered(22, "A.1.1");
    assert_eq!(log.misses("3c"), "not-both");
    log.command(23, "B.1.1", "acquire", nil()).finished(24, "B.1.1", 1, Outcome::Skipped);
    assert_eq!(log.misses("3c"), "not-closed");
    log.left(30, "A.1.1").finished(31, "A.1.1", 1, Outcome::Executed);
    assert_eq!(log.misses("3c"), "not-closed", "a straggler may come");
    log.says(600, LockState::Free, None);
    assert_eq!(log.proves("3c"), ["done"]);
}

#[test]
fn one_after_the_other_is_no_race() {
    let mut log = stage("redis-set-nx");
    log.due(10, "A.1.1", 1).due(11, "B.1.1", 1).command(20, "A.1.1", "acquire", ok());
    log.granted(21, "A.1.1", &[Endpoint::Redis(1)]).entered(22, "A.1.1").left(30, "A.1.1");
    log.finished(31, "A.1.1", 1, Outcome::Executed);
    log.command(40, "B.1.1", "acquire", ok()).granted(41, "B.1.1", &[Endpoint::Redis(1)]).entered(42, "B.1.1");
    log.left(50, "B.1.1").finished(51, "B.1.1", 1, Outcome::Executed).ended(60);
    assert_eq!(log.misses("3c"), "not-both");
}
