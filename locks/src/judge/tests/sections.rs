//! Overlaps.

use super::*;

/// A from 10 to 30, B from `from` to `to`.
fn two(from: u64, to: u64) -> Log {
    let mut log = Log::default();
    log.due(1, "A.1.1", 1).due(1, "B.1.1", 1);
    log.entered(10, "A.1.1").left(30, "A.1.1").entered(from, "B.1.1").left(to, "B.1.1").ended(100);
    log
}

#[test]
fn sections_are_half_open() {
    assert_eq!(two(30, 40).verdict().overlaps, []);
    assert_eq!(two(5, 10).verdict().overlaps, []);
    assert_eq!(two(20, 20).verdict().overlaps, [], "a section without length holds no instant");
    assert_eq!(texts(&two(29, 40).verdict().overlaps), ["A and B were both inside s for 1 ms"]);
    assert_eq!(texts(&two(5, 11).verdict().overlaps), ["B and A were both inside s for 1 ms"]);
}

#[test]
fn the_events_that_entered_prove_it() {
    let finding = &two(12, 40).verdict().overlaps[0];
    assert_eq!(finding.events, [3, 5]);
    assert_eq!((finding.from_us, finding.until_us), (12_000, 30_000));
}

#[test]
fn every_pair_counts_once_and_other_locks_do_not() {
    let mut log = Log::default();
    for attempt in ["A.1.1", "B.1.1", "C.1.1"] {
        log.due(1, attempt, 1).entered(10, attempt);
    }
    for attempt in ["A.1.1", "B.1.1", "C.1.1"] {
        log.left(20, attempt);
    }
    let kind = Kind::Entered { attempt: id("D.1.1"), lock: "other".to_owned(), epoch: None };
    log.add(12, by("D.1.1"), kind).ended(30);
    assert_eq!(log.verdict().overlaps.len(), 3);
}

#[test]
fn death_ends_a_section_and_a_pause_does_not() {
    for (state, overlaps) in [(ProcessState::Gone, 0), (ProcessState::Stopped, 1)] {
        let mut log = Log::default();
        log.due(1, "A.1.1", 1).entered(10, "A.1.1").process(20, "A.1.1", state);
        log.due(1, "B.1.1", 1).entered(30, "B.1.1").left(40, "B.1.1").ended(50);
        assert_eq!(log.verdict().overlaps.len(), overlaps, "{state:?}");
    }
}

#[test]
fn two_incarnations_of_a_replica_are_told_apart() {
    let mut log = Log::default();
    log.entered(10, "A.1.1").entered(12, "A.2.1").left(20, "A.1.1").left(20, "A.2.1").ended(30);
    assert_eq!(texts(&log.verdict().overlaps), ["A.1.1 and A.2.1 were both inside s for 8 ms"]);
}

#[test]
fn an_open_section_lasts_to_the_runs_end() {
    let mut log = Log::default();
    log.entered(10, "A.1.1").entered(20, "B.1.1").left(25, "B.1.1").ended(50);
    let verdict = log.verdict();
    assert_eq!(texts(&verdict.overlaps), ["A and B were both inside s for 5 ms"]);
    assert!(!verdict.provisional);
}

#[test]
fn while_the_run_goes_on_a_section_is_certain_up_to_the_last_word_of_its_replica() {
    let mut log = Log::default();
    log.entered(10, "A.1.1").entered(20, "B.1.1").left(25, "B.1.1");
    assert_eq!(texts(&log.verdict().overlaps), ["? A and B may have been both inside s for 5 ms"]);
    assert!(log.verdict().provisional);
    // A's `left` was on its way: written before B entered.
    log.left(15, "A.1.1");
    assert_eq!(log.verdict().overlaps, []);

    let mut log = Log::default();
    log.entered(10, "A.1.1").entered(20, "B.1.1").left(25, "B.1.1");
    log.add(22, by("A.1.1"), Kind::StopAsked { attempt: id("A.1.1") });
    assert_eq!(texts(&log.verdict().overlaps), ["A and B were both inside s for 5 ms"]);
}

#[test]
fn who_is_paused_or_waits_at_a_gate_is_inside_up_to_now() {
    let gate = crate::ids::Gate::Effect;
    let mut log = Log::default();
    log.entered(10, "A.1.1");
    log.add(
        11,
        by("A.1.1"),
        Kind::GateReached { attempt: id("A.1.1"), gate: gate.clone(), text: String::new(), params: Vec::new() },
    );
    log.entered(20, "B.1.1").left(25, "B.1.1");
    assert_eq!(texts(&log.verdict().overlaps), ["A and B were both inside s for 5 ms"]);
    log.add(26, by("A.1.1"), Kind::GatePassed { attempt: id("A.1.1"), gate });

    let mut log = Log::default();
    log.entered(10, "A.1.1").process(12, "A.1.1", ProcessState::Stopped).entered(20, "B.1.1");
    log.add(25, by("B.1.1"), Kind::StopAsked { attempt: id("B.1.1") });
    assert_eq!(texts(&log.verdict().overlaps), ["A and B were both inside s for 5 ms"]);
}

#[test]
fn a_death_that_is_only_known_within_an_interval_leaves_an_overlap_undecided() {
    let mut log = Log::default();
    log.entered(10, "A.1.1").process(20, "A.1.1", ProcessState::Gone).until(30);
    log.entered(25, "B.1.1").left(40, "B.1.1").ended(50);
    assert_eq!(texts(&log.verdict().overlaps), ["? A and B may have been both inside s for 5 ms"]);
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let mut log = Log::default();
    log.due(1, "A.1.1", 1).granted(5, "A.1.1", Some(1), Some(100)).entered(10, "A.1.1");
    log.due(1, "B.1.1", 1).granted(15, "B.1.1", Some(2), Some(200)).entered(20, "B.1.1");
    log.command("release", "A.1.1", [30, 31], Some(30), 1).left(29, "A.1.1").finished(
        32,
        "A.1.1",
        1,
        Outcome::Executed,
    );
    log.accepted(28, "A.1.1", 1, Some(1)).accepted(35, "B.1.1", 1, Some(2));
    log.left(40, "B.1.1").finished(41, "B.1.1", 1, Outcome::Executed).ended(50);
    let expected = log.verdict();
    assert_eq!(expected.overlaps.len() + expected.stale_effects.len() + expected.foreign_releases.len(), 3);
    // A was stopped: everything that it wrote arrives behind the rest.
    let last = log.events.pop().unwrap();
    log.events.sort_by_key(|event| event.replica() == Some("A"));
    log.events.push(last);
    assert_eq!(log.verdict(), expected);
}
