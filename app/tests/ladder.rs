//! What each guard would do: derived from the guards' own code, compared with what sinks really did.

mod sample;

use app::stage::Stage;
use app::stage::view::ladder::{Does, Ladder, html, ladder};
use locks::event::EffectAnswer;
use locks::guard::Guard;
use locks::setup::{Setup, SetupChange};
use sample::{Go, Log, SETTLE, collision, dead_holder, paused_holder, rejected_effect, settle_slot};

fn of(log: &Log) -> Option<Ladder> {
    let stage = Stage::of(&log.events);
    let now = stage.at_us;
    ladder(&stage, SETTLE, now)
}

fn does(ladder: &Ladder) -> Vec<Does> {
    ladder.rungs.iter().map(|rung| rung.does).collect()
}

#[test]
fn a_stale_effect_on_its_way_is_judged_before_it_arrives() {
    let ladder = of(&paused_holder()).unwrap();
    assert_eq!((ladder.replica.as_str(), ladder.title.as_str()), ("A", "When A’s epoch 8 arrives"));
    assert_eq!(does(&ladder), [Does::Accepts, Does::Rejects, Does::Rejects, Does::Rejects]);
    let why: Vec<&str> = ladder.rungs.iter().map(|rung| rung.why.as_str()).collect();
    assert_eq!(why, ["checks nothing", "8 < 9, seen", "8 ≠ 9, current", "the slot is settled"]);
    assert!(ladder.rungs[0].set && ladder.rungs[1..].iter().all(|rung| !rung.set), "no guard is set");
}

/// The newer holder has not written: the highest seen epoch is an older one, so that max-seen lets it pass.
#[test]
fn max_seen_is_blind_until_the_newer_holder_writes() {
    let mut log = paused_holder();
    let writes = log.events.iter().position(|event| event.at_us > 5_000_000_000 + 17_900_000).unwrap();
    log.events.truncate(writes);
    let ladder = of(&log).unwrap();
    assert_eq!(does(&ladder), [Does::Accepts, Does::Accepts, Does::Rejects, Does::Accepts]);
    assert_eq!(ladder.rungs[1].why, "8 ≥ 7, highest seen");
    assert_eq!(ladder.rungs[3].why, "first of its slot");
}

#[test]
fn an_effect_that_arrived_is_judged_by_what_was_known_then() {
    let of = of(&rejected_effect()).unwrap();
    assert_eq!(of.title, "When A’s epoch 8 arrived");
    assert_eq!(of.rungs[2].does, Does::Rejects, "as it did");
}

/// Another guard may be held against it; another strategy has nothing to do with it.
#[test]
fn an_effect_of_another_strategy_is_no_news_of_this_one() {
    let mut log = rejected_effect();
    let change = SetupChange { guard: Some(vec![Guard::UniqueSlot]), ..SetupChange::default() };
    log.set(60_000.0, change);
    assert_eq!(of(&log).unwrap().title, "When A’s epoch 8 arrived");
    log.set(61_000.0, SetupChange { strategy: Some("redlock".into()), ..SetupChange::default() });
    assert_eq!(of(&log), None);
}

/// Whatever a sink did with the guards that were set, these rungs say.
#[test]
fn rungs_that_are_set_say_what_the_sink_did() {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), guard: vec![Guard::MaxSeen], ..Setup::live() });
    log.lease_slot(1000.0, SETTLE, &["A", "B"], 1);
    let a = log.due(6000.0, "A", SETTLE);
    let b = log.due(6001.0, "B", SETTLE);
    log.acquire(6002.0, &a, Some(2));
    log.acquire(8002.0, &b, Some(3));
    log.execute(8300.0, &b, Some(3), 1);
    log.effect_sent(8400.0, &a, Some(2));
    log.settled(8402.0, &a, Some(2), EffectAnswer::Rejected(Guard::MaxSeen), 1);
    log.effect_answered(8403.0, &a, EffectAnswer::Rejected(Guard::MaxSeen));
    let ladder = of(&log).unwrap();
    let set = ladder.rungs.iter().find(|rung| rung.set).unwrap();
    assert_eq!((set.guard, set.does), (Some(Guard::MaxSeen), Does::Rejects));
    assert_eq!(set.why, "2 < 3, seen");
}

#[test]
fn without_a_lock_only_the_slot_tells() {
    let ladder = of(&collision()).unwrap();
    assert_eq!(ladder.title, "If B sent its effect now", "A's is the slot's first");
    assert_eq!(does(&ladder), [Does::Accepts, Does::Accepts, Does::Rejects, Does::Rejects]);
    assert_eq!(ladder.rungs[2].why, "it has no epoch");
}

/// What was never minted cannot be compared, and it is said so.
#[test]
fn epochs_that_nobody_minted_are_unknown() {
    let mut log = Log::new(Setup { strategy: "redis-set-nx".into(), ..Setup::live() });
    let a = log.due(1000.0, "A", SETTLE);
    let b = log.due(1000.0, "B", SETTLE);
    log.enter(1001.0, &a, None);
    log.enter(3000.0, &b, None);
    log.execute(3300.0, &b, None, 1);
    log.execute(3400.0, &a, None, 2);
    let ladder = of(&log).unwrap();
    assert_eq!(does(&ladder), [Does::Accepts, Does::Unknown, Does::Unknown, Does::Rejects]);
}

#[test]
fn where_nothing_came_late_the_ladder_waits() {
    assert_eq!(of(&dead_holder()), None);
    let idle = html(None);
    assert!(idle.contains("What each guard would do") && idle.contains("current-epoch"));
    let stage = Stage::of(&rejected_effect().events);
    let go = Go { id: "A.1.5".parse().unwrap(), slot: settle_slot(16) };
    assert!(stage.track.effects.iter().any(|effect| effect.attempt == go.id));
    assert!(html(of(&rejected_effect()).as_ref()).contains("rejects: 8 ≠ 9, current"));
}
