//! Everything but overlaps.

use super::*;
use crate::sorted::Map;

#[test]
fn effects_are_counted_by_slot_as_accepted() {
    let mut log = Log::default();
    log.accepted(10, "A.1.1", 1, None).accepted(11, "B.1.1", 1, None).accepted(12, "A.1.2", 2, None);
    log.settled(13, "B.1.2", 2, None, EffectAnswer::Rejected(crate::guard::Guard::UniqueSlot));
    let verdict = log.verdict();
    assert_eq!(verdict.effects_per_slot, Map::from([(slot(1), 2), (slot(2), 1)]));
    assert_eq!(verdict.most_effects(), 2);
}

#[test]
fn an_effect_is_stale_after_a_grant_with_a_higher_epoch() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(7), Some(100)).granted(200, "B.1.1", Some(8), Some(300));
    log.accepted(210, "A.1.1", 1, Some(7)).accepted(220, "B.1.1", 1, Some(8)).ended(400);
    let verdict = log.verdict();
    assert_eq!(
        texts(&verdict.stale_effects),
        ["the bank accepted A's effect with epoch 7 after B had been granted s with epoch 8"]
    );
    assert_eq!(verdict.stale_effects[0].events, [2, 3]);
}

#[test]
fn an_effect_accepted_before_the_newer_grant_or_rejected_is_not_stale() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(7), None).accepted(20, "A.1.1", 1, Some(7)).granted(30, "B.1.1", Some(8), None);
    log.settled(40, "A.1.1", 1, Some(7), EffectAnswer::Rejected(crate::guard::Guard::CurrentEpoch));
    assert_eq!(log.verdict().stale_effects, []);
}

#[test]
fn without_epochs_a_later_grant_makes_an_effect_stale() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", None, None).granted(30, "B.1.1", None, None);
    log.accepted(40, "A.1.1", 1, None).accepted(41, "B.1.1", 1, None);
    let stale = log.verdict().stale_effects;
    assert_eq!(texts(&stale), ["the bank accepted A's effect after B had been granted s"]);
}

#[test]
fn nothing_is_stale_where_nothing_is_granted() {
    let mut log = Log::default();
    log.entered(10, "A.1.1").entered(11, "B.1.1").accepted(20, "A.1.1", 1, None).accepted(21, "B.1.1", 1, None);
    assert_eq!(log.verdict().stale_effects, []);
}

#[test]
fn an_effect_known_within_an_interval_around_the_newer_grant_is_undecided() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(7), None).granted(30, "B.1.1", Some(8), None);
    log.accepted(25, "A.1.1", 1, Some(7)).until(35);
    assert!(!log.verdict().stale_effects[0].certain);
}

#[test]
fn a_release_that_took_effect_on_anothers_grant_is_foreign() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).granted(200, "B.1.1", Some(2), Some(400));
    log.command("release", "A.1.1", [220, 222], Some(221), 1).ended(500);
    let found = log.verdict().foreign_releases;
    assert_eq!(texts(&found), ["A's release took effect on B's grant of s"]);
    assert_eq!(found[0].events, [2, 4, 5], "the grant, the link, the answer");
}

#[test]
fn what_the_store_refused_or_what_was_ones_own_is_not_foreign() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).granted(200, "B.1.1", Some(2), Some(400));
    log.command("release", "A.1.1", [220, 222], Some(221), 0);
    log.command("renew", "B.1.1", [230, 232], Some(231), 1).command("release", "B.1.1", [240, 242], Some(241), 1);
    assert_eq!(log.verdict().foreign_releases, []);
}

/// A got node 1, B the four others; A gives node 1 back.
#[test]
fn what_a_node_outside_the_quorum_did_is_not_foreign() {
    for (nodes, foreign) in [(2..=5, 0), (1..=5, 1)] {
        let mut log = Log::default();
        log.granted(10, "A.1.1", Some(1), Some(100));
        let (attempt, lock, token) = (id("B.1.1"), "s".to_owned(), Token("B".to_owned()));
        let nodes = nodes.map(Endpoint::Redis).collect();
        let kind = Kind::Granted { attempt, lock, token, epoch: None, trusted_until_us: Some(400_000), nodes };
        log.add(200, by("B.1.1"), kind);
        log.command_to(Endpoint::Redis(1), "release", "A.1.1", [220, 222], Some(221), 1);
        assert_eq!(log.verdict().foreign_releases.len(), foreign);
    }
}

/// Node 3 forgot B's key while B's grant of nodes 1 to 3 stood: whoever takes it there and gives it back gives
/// back its own.
#[test]
fn what_a_node_gave_anew_is_the_takers_own() {
    let node = Endpoint::Redis(3);
    for (took_at, foreign) in [(210, 0), (50, 1)] {
        let mut log = Log::default();
        log.command_to(node, "acquire", "B.1.1", [100, 110], Some(105), 1);
        let (attempt, lock, token) = (id("B.1.1"), "s".to_owned(), Token("B".to_owned()));
        let nodes = (1..=3).map(Endpoint::Redis).collect();
        let kind = Kind::Granted { attempt, lock, token, epoch: None, trusted_until_us: Some(900_000), nodes };
        log.add(120, by("B.1.1"), kind);
        log.due(10, "A.1.1", 1);
        log.command_to(node, "acquire", "A.1.1", [took_at, took_at + 2], Some(took_at + 1), 1);
        log.command_to(node, "release", "A.1.1", [220, 222], Some(221), 1);
        assert_eq!(log.verdict().foreign_releases.len(), foreign, "took the key at {took_at}");
    }
}

#[test]
fn the_links_stamp_counts_and_not_the_senders() {
    // A's release is sent before B's grant, held on the link, and passed on after it.
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).granted(200, "B.1.1", Some(2), Some(400));
    log.command("release", "A.1.1", [150, 302], Some(300), 1);
    assert_eq!(log.verdict().foreign_releases.len(), 1);
    // Passed on before B's grant: it was A's own lock.
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).granted(200, "B.1.1", Some(2), Some(400));
    log.command("release", "A.1.1", [90, 302], Some(95), 1);
    assert_eq!(log.verdict().foreign_releases, []);
    // No link saw it: somewhere between.
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).granted(200, "B.1.1", Some(2), Some(400));
    log.command("release", "A.1.1", [150, 302], None, 1);
    assert_eq!(texts(&log.verdict().foreign_releases), ["? A's release took effect on B's grant of s"]);
}

#[test]
fn a_grant_that_has_ended_is_not_touched_by_anybody() {
    for by_release in [true, false] {
        let mut log = Log::default();
        let trusted = if by_release { 900 } else { 300 };
        log.granted(10, "A.1.1", Some(1), None).granted(200, "B.1.1", Some(2), Some(trusted));
        if by_release {
            log.command("release", "B.1.1", [250, 252], Some(251), 1);
        }
        log.command("renew", "A.1.1", [400, 402], Some(401), 1);
        assert_eq!(log.verdict().foreign_releases, [], "by release: {by_release}");
    }
}

#[test]
fn an_extended_grant_is_touched_until_its_new_end() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).granted(200, "B.1.1", Some(2), Some(300));
    log.add(290, by("B.1.1"), Kind::Extended { attempt: id("B.1.1"), trusted_until_us: 600_000 });
    log.command("renew", "A.1.1", [400, 402], Some(401), 1);
    assert_eq!(texts(&log.verdict().foreign_releases), ["A's renew took effect on B's grant of s"]);
}

#[test]
fn what_no_store_answered_is_no_grant_however_much_the_replica_believes() {
    let mut log = Log::default();
    log.granted(10, "B.1.1", Some(1), Some(900));
    let (attempt, lock, name) = (Some(id("A.1.1")), "s".to_owned(), "acquire".to_owned());
    let kind = Kind::Answered { attempt, lock, command: CommandId(1), name, reply: Reply::Unknown, took_us: 1 };
    log.add(20, by("A.1.1"), kind).granted(20, "A.1.1", None, Some(900)).entered(21, "A.1.1");
    log.accepted(30, "B.1.1", 1, Some(1)).command("release", "B.1.1", [40, 42], Some(41), 1).ended(50);
    assert_eq!(log.verdict().foreign_releases, []);
    assert_eq!(log.verdict().stale_effects, []);
}

fn pause(replica: &str) -> Fault {
    Fault::Pause { process: ProcessName::Replica(replica.to_owned()) }
}

#[test]
fn a_takeover_is_measured_from_the_fault_to_the_next_grant_by_another() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).entered(11, "A.1.1");
    log.fault(50, pause("A")).fault(51, pause("B"));
    log.granted(170, "B.1.1", Some(2), Some(400));
    assert_eq!(log.verdict().takeover_ms, [Some(120)], "B held nothing when it was struck");
}

#[test]
fn a_fault_without_a_takeover_is_null() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).entered(11, "A.1.1").fault(50, pause("A"));
    assert_eq!(log.verdict().takeover_ms, [None]);
    // A goes on and gives the lock back: what B is granted then was not taken over.
    log.left(60, "A.1.1").command("release", "A.1.1", [61, 63], Some(62), 1).granted(5000, "B.1.1", Some(2), None);
    assert_eq!(log.verdict().takeover_ms, [None]);
}

/// A commit counts no rows, and gives a row lock back all the same; it is nobody else's lock that it ends.
#[test]
fn who_commits_has_given_its_row_lock_back() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", None, None).entered(11, "A.1.1").fault(50, pause("A"));
    log.left(160, "A.1.1").command("commit", "A.1.1", [161, 163], Some(162), 0).granted(600, "B.1.1", None, None);
    assert_eq!(log.verdict().takeover_ms, [None]);
    log.command("commit", "A.1.1", [610, 612], Some(611), 0);
    assert_eq!(log.verdict().foreign_releases, []);
}

/// What a try without a quorum gave back is not the grant of the next one.
#[test]
fn what_an_earlier_try_gave_back_ends_no_grant() {
    let mut log = Log::default();
    log.due(0, "A.1.1", 1).command("release", "A.1.1", [5, 7], Some(6), 1);
    log.granted(10, "A.1.1", Some(1), Some(100)).entered(11, "A.1.1").fault(50, pause("A"));
    log.granted(170, "B.1.1", Some(2), Some(400));
    assert_eq!(log.verdict().takeover_ms, [Some(120)]);
}

#[test]
fn a_fault_on_a_replica_started_anew_is_not_one_on_the_dead_holder() {
    let mut log = Log::default();
    log.granted(10, "A.1.1", Some(1), Some(100)).entered(11, "A.1.1").process(20, "A.1.1", ProcessState::Gone);
    log.fault(21, Fault::Kill { process: ProcessName::Replica("A".to_owned()) });
    log.granted(120, "B.1.1", Some(2), None).left(130, "B.1.1");
    log.process(140, "A.2.1", ProcessState::Started).fault(150, pause("A"));
    assert_eq!(log.verdict().takeover_ms, [Some(99)]);
}

#[test]
fn a_slot_is_missed_when_no_attempt_at_it_can_bring_an_effect() {
    let mut log = Log::default();
    log.due(0, "A.1.1", 1).due(1, "B.1.1", 1).finished(10, "A.1.1", 1, Outcome::Skipped);
    let later = |log: &mut Log, ms| {
        log.add(ms, Source::Runner, Kind::CatalogChanged { catalog: Vec::new() });
    };
    later(&mut log, 2000);
    assert_eq!(log.verdict().missed_slots, [], "B is still at it");
    log.finished(2001, "B.1.1", 1, Outcome::Failed);
    assert_eq!(log.verdict().missed_slots, [], "another may come with it");
    later(&mut log, 3000);
    assert_eq!(log.verdict().missed_slots, [slot(1)]);
    log.accepted(3001, "B.1.1", 1, None);
    assert_eq!(log.verdict().missed_slots, []);
}

#[test]
fn the_dead_bring_nothing_and_at_the_end_nobody_does() {
    let mut log = Log::default();
    log.due(0, "A.1.1", 1).process(10, "A.1.1", ProcessState::Gone).due(1000, "A.2.1", 2);
    assert_eq!(log.verdict().missed_slots, [slot(1)]);
    let (fired, lock, to) = (slot(3), "s".to_owned(), vec!["A".to_owned()]);
    log.add(1001, Source::Runner, Kind::SlotFired { slot: fired, lock, to }).ended(1002);
    assert_eq!(log.verdict().missed_slots, [slot(1), slot(2), slot(3)]);
}

#[test]
fn a_slot_that_is_yet_to_come_is_not_missed_whosever_clock_was_ahead() {
    let mut log = Log::default();
    let began = Kind::Began {
        run: String::new(),
        name: String::new(),
        title: String::new(),
        tag: None,
        script: String::new(),
        wall_ms: 0,
        setup: Box::default(),
        catalog: Vec::new(),
    };
    log.add(0, Source::Runner, began).due(100, "A.1.1", 5000).finished(110, "A.1.1", 5000, Outcome::Skipped);
    let later = |log: &mut Log, ms| {
        log.add(ms, Source::Runner, Kind::CatalogChanged { catalog: Vec::new() });
    };
    later(&mut log, 5400);
    assert_eq!(log.verdict().missed_slots, [], "the others may still come with it");
    later(&mut log, 5500);
    assert_eq!(log.verdict().missed_slots, [slot(5000)]);
}

#[test]
fn what_a_reset_broke_off_is_not_missed() {
    let mut log = Log::default();
    log.due(0, "A.1.1", 1).finished(10, "A.1.1", 1, Outcome::Failed).due(1000, "A.1.2", 2);
    log.add(1100, Source::Runner, Kind::StepBegan { step: 1, action: Action::Reset });
    log.process(1110, "A.1.2", ProcessState::Gone).due(1200, "A.2.1", 3).process(1300, "A.2.1", ProcessState::Gone);
    log.ended(2000);
    assert_eq!(log.verdict().missed_slots, [slot(1), slot(3)]);
}

#[test]
fn outcomes_stand_by_slot_and_what_is_not_final_is_open() {
    let mut log = Log::default();
    log.due(0, "A.1.2", 2).due(0, "A.1.1", 1).due(0, "B.1.1", 1).due(5, "A.2.1", 2);
    log.finished(1, "A.1.2", 2, Outcome::Lost).finished(2, "A.1.1", 1, Outcome::Executed);
    let expected = Map::from([
        ("A".to_owned(), vec![Outcome::Executed, Outcome::Lost, Outcome::Open]),
        ("B".to_owned(), vec![Outcome::Open]),
    ]);
    assert_eq!(log.verdict().outcomes, expected);
}

#[test]
fn since_a_time_only_attempts_due_then_or_later_count() {
    let mut log = Log::default();
    log.due(0, "A.1.1", 1).due(0, "B.1.1", 1).entered(10, "A.1.1").entered(11, "B.1.1");
    log.accepted(20, "A.1.1", 1, None).accepted(21, "B.1.1", 1, None);
    log.left(200, "A.1.1").left(200, "B.1.1");
    log.finished(201, "A.1.1", 1, Outcome::Executed).finished(201, "B.1.1", 1, Outcome::Executed);
    log.due(100, "C.1.1", 2).granted(101, "C.1.1", Some(1), None).entered(102, "C.1.1").left(103, "C.1.1");
    log.accepted(102, "C.1.1", 2, Some(1)).finished(104, "C.1.1", 2, Outcome::Executed);
    let judge = log.judge();
    assert_eq!(judge.verdict().overlaps.len(), 3);
    let since = judge.verdict_since(100_000, 100_000);
    assert_eq!(since.overlaps, [], "A and B were due before");
    assert_eq!(since.effects_per_slot, Map::from([(slot(2), 1)]));
    assert_eq!(since.outcomes.keys().collect::<Vec<_>>(), ["C"]);
    assert_eq!(judge.verdict_since(100_001, 0), Verdict { provisional: true, ..Verdict::default() });
}

#[test]
fn a_checkpoint_goes_on_as_the_original() {
    let mut log = Log::default();
    log.due(0, "A.1.1", 1).granted(1, "A.1.1", Some(1), None).entered(2, "A.1.1");
    log.command("release", "A.1.1", [5, 6], Some(5), 1);
    let half = serde_json::to_string(&log.judge()).unwrap();
    let mut read: Judge = serde_json::from_str(&half).unwrap();
    assert_eq!(read, log.judge());
    let seen = log.events.len();
    log.left(10, "A.1.1").ended(20);
    log.events[seen..].iter().for_each(|event| read.push(event));
    assert_eq!(read.verdict(), log.verdict());
}
