//! The ladder: the same stale effect, under one guard after the other.

use std::time::Duration;

use locks::action::Direction;
use locks::event::EffectAnswer;
use locks::guard::Guard::{self, CurrentEpoch, MaxSeen, UniqueSlot};
use locks::ids::Endpoint;
use server::bank::wire::Reply;
use server::link::Links;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::counter::{Counter, LIMIT, effect, post};

const ACCEPTED: Option<Guard> = None;

async fn fate(counter: &mut Counter, settlement: &server::bank::wire::Settlement) -> Option<Guard> {
    let reply = counter.send(settlement).await.expect("an answer");
    let told = counter.told().await;
    assert_eq!(told.answer, reply.answer(), "told as answered");
    assert_eq!((&told.attempt, &told.slot, told.epoch), (&settlement.attempt, &settlement.slot, settlement.epoch));
    match reply {
        Reply::Accepted { nth, .. } => {
            assert_eq!(told.nth, nth);
            None
        }
        Reply::Rejected { rejected_by } => Some(rejected_by),
        Reply::Unreachable { .. } => panic!("the epoch could be asked for"),
    }
}

#[tokio::test]
async fn each_guard_sees_more_of_the_same_stale_effect() {
    let mut counter = Counter::open(&[]).await;
    // Guard, fate of the stale effect behind the newer holder's, fate when it comes first.
    let ladder: [(&[Guard], Option<Guard>, Option<Guard>); 5] = [
        (&[], ACCEPTED, ACCEPTED),
        (&[MaxSeen], Some(MaxSeen), ACCEPTED),
        (&[CurrentEpoch], Some(CurrentEpoch), Some(CurrentEpoch)),
        (&[UniqueSlot], Some(UniqueSlot), ACCEPTED),
        (&[MaxSeen, UniqueSlot], Some(MaxSeen), ACCEPTED),
    ];
    for (n, (guards, behind, first)) in ladder.into_iter().enumerate() {
        counter.bank.set_guards(guards);
        let lock = format!("behind-{n}");
        counter.grant(&lock, 8).await;
        assert_eq!(fate(&mut counter, &effect("B", &lock, 1, Some(8))).await, ACCEPTED, "{guards:?}: the holder's");
        assert_eq!(fate(&mut counter, &effect("A", &lock, 1, Some(7))).await, behind, "{guards:?}: behind it");
        let lock = format!("first-{n}");
        counter.grant(&lock, 8).await;
        assert_eq!(fate(&mut counter, &effect("A", &lock, 1, Some(7))).await, first, "{guards:?}: first");
    }
    counter.close().await;
}

#[tokio::test]
async fn epochs_that_are_equal_missing_or_unknown() {
    let mut counter = Counter::open(&[MaxSeen, CurrentEpoch]).await;
    counter.grant("x", 8).await;
    for slot in 1..=2 {
        assert_eq!(fate(&mut counter, &effect("B", "x", slot, Some(8))).await, ACCEPTED, "the same holder again");
    }
    assert_eq!(fate(&mut counter, &effect("A", "x", 3, None)).await, Some(MaxSeen), "without an epoch");
    assert_eq!(fate(&mut counter, &effect("A", "never granted", 3, Some(1))).await, Some(CurrentEpoch));
    counter.bank.set_guards(&[]);
    let again = effect("B", "x", 1, Some(8));
    for nth in 2..=3 {
        assert_eq!(counter.send(&again).await, Some(Reply::Accepted { accepted: true, nth }), "no guard, no dedupe");
        assert_eq!(counter.told().await.nth, nth);
    }
    counter.close().await;
}

#[tokio::test]
async fn a_stale_effect_held_in_flight_meets_the_guard_that_stands_when_it_arrives() {
    let mut counter = Counter::open(&[]).await;
    let (sender, mut passed) = mpsc::unbounded_channel();
    let links = Links::start(|_| counter.bank.upstream(), sender).unwrap();
    let (a, b) = (links.add("A").unwrap()[&Endpoint::Bank], links.add("B").unwrap()[&Endpoint::Bank]);
    for (lock, guards, fate) in [
        ("x", vec![], EffectAnswer::Accepted),
        ("y", vec![MaxSeen], EffectAnswer::Rejected(MaxSeen)),
        ("z", vec![CurrentEpoch], EffectAnswer::Rejected(CurrentEpoch)),
    ] {
        counter.bank.set_guards(&guards);
        counter.grant(lock, 7).await;
        links.hold("A", Endpoint::Bank, Direction::Request).unwrap();
        let stale = tokio::spawn(async move { post(a, &effect("A", lock, 1, Some(7))).await });
        counter.grant(lock, 8).await;
        let newer = post(b, &effect("B", lock, 1, Some(8))).await;
        assert_eq!(newer, Some(Reply::Accepted { accepted: true, nth: 1 }));
        assert_eq!(counter.told().await.attempt.replica, "B");
        assert!(timeout(Duration::from_millis(60), counter.settled.recv()).await.is_err(), "A's is in flight");
        links.let_go("A", Endpoint::Bank, Direction::Request).unwrap();
        let answer = timeout(LIMIT, stale).await.unwrap().unwrap().expect("an answer").answer();
        assert_eq!(answer, fate, "under {guards:?}");
        let told = counter.told().await;
        assert_eq!((told.attempt.replica.as_str(), &told.answer), ("A", &fate));
        let held = loop {
            let seen = timeout(LIMIT, passed.recv()).await.unwrap().unwrap();
            if seen.replica == "A" && seen.direction == Direction::Request {
                break seen;
            }
        };
        assert!(held.at_us < told.at_us && held.kept_us >= 50_000);
    }
    counter.close().await;
}
