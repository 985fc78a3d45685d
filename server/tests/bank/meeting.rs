//! Settlements that meet each other, and a grant. The meeting is forced: somebody holds the row that they
//! all need until all of them wait for it.

use locks::event::EffectAnswer;
use locks::guard::Guard::{CurrentEpoch, UniqueSlot};
use server::bank::wire::Reply;
use server::clock::now_us;
use tokio::time::timeout;

use crate::counter::{Counter, LIMIT, effect, post, run, until_blocked};

/// Two effects of one slot, both under way before either is settled. Answers how many were accepted.
async fn two_at_once(counter: &mut Counter, slot: i64) -> Vec<u32> {
    let mut barrier = counter.in_bank().await;
    run(&mut barrier, "begin").await;
    run(&mut barrier, &format!("insert into slots (schedule, fire_ms) values ('x', {slot})")).await;
    let port = counter.port();
    let both = ["A", "B"].map(|who| tokio::spawn(async move { post(port, &effect(who, "x", slot, Some(1))).await }));
    until_blocked(&mut counter.in_bank().await, 2).await;
    run(&mut barrier, "rollback").await;
    let mut accepted = Vec::new();
    for one in both {
        match timeout(LIMIT, one).await.unwrap().unwrap().expect("an answer") {
            Reply::Accepted { nth, .. } => accepted.push(nth),
            other => assert_eq!(other, Reply::Rejected { rejected_by: UniqueSlot }),
        }
        counter.told().await;
    }
    accepted.sort();
    accepted
}

#[tokio::test]
async fn of_two_effects_at_the_same_time_unique_slot_accepts_exactly_one() {
    let mut counter = Counter::open(&[UniqueSlot]).await;
    assert_eq!(two_at_once(&mut counter, 1).await, [1]);
    counter.bank.set_guards(&[]);
    assert_eq!(two_at_once(&mut counter, 2).await, [1, 2], "and without a guard both");
    counter.close().await;
}

#[tokio::test]
async fn no_newer_grant_gets_between_the_question_and_the_commit() {
    let mut counter = Counter::open(&[CurrentEpoch]).await;
    counter.grant("x", 7).await;
    // The bank can ask and decide, but not write.
    let mut barrier = counter.in_bank().await;
    run(&mut barrier, "begin").await;
    run(&mut barrier, "lock table settlements in share mode").await;
    let port = counter.port();
    let effect = tokio::spawn(async move { post(port, &effect("A", "x", 1, Some(7))).await });
    until_blocked(&mut counter.in_bank().await, 1).await;
    let mut newer = counter.in_arena().await;
    run(&mut newer, "set lock_timeout = '50ms'").await;
    let raise = "update lock_epochs set epoch = 8 where name = 'x'";
    let refused = sqlx::query(raise).execute(&mut newer).await.expect_err("the epoch is kept as it is");
    assert_eq!(refused.as_database_error().and_then(|error| error.code()).as_deref(), Some("55P03"));
    run(&mut newer, "set lock_timeout = 0").await;
    let grant = tokio::spawn(async move {
        run(&mut newer, raise).await;
        now_us()
    });
    run(&mut barrier, "rollback").await;
    assert_eq!(timeout(LIMIT, effect).await.unwrap().unwrap(), Some(Reply::Accepted { accepted: true, nth: 1 }));
    let told = counter.told().await;
    assert_eq!(told.answer, EffectAnswer::Accepted);
    assert!(told.at_us < timeout(LIMIT, grant).await.unwrap().unwrap(), "settled before the newer grant");
    counter.close().await;
}
