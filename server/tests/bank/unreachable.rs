//! Guards that cannot ask reject, within a limit; and what is written down but not committed was never there.

use std::time::{Duration, Instant};

use locks::event::EffectAnswer;
use locks::guard::Guard::CurrentEpoch;
use locks::ids::Endpoint;
use server::bank::wire::Reply;
use tokio::time::timeout;

use crate::counter::{Counter, LIMIT, effect, post, run, until_blocked};

const UNREACHABLE: Option<Reply> = Some(Reply::Unreachable { guard_unreachable: CurrentEpoch });
const ACCEPTED: Option<Reply> = Some(Reply::Accepted { accepted: true, nth: 1 });

#[tokio::test]
async fn an_epoch_that_cannot_be_asked_for_is_a_rejection_that_stands_in_the_books() {
    let mut counter = Counter::open(&[CurrentEpoch]).await;
    counter.grant("x", 7).await;
    assert_eq!(counter.send(&effect("A", "x", 1, Some(7))).await, ACCEPTED);
    counter.told().await;
    // The arena's database lets nobody in any more; the bank's own goes on.
    let mut outside = counter.in_bank().await;
    let name = counter.arena.postgres_options().get_database().unwrap().to_owned();
    run(&mut outside, &format!("alter database {name} with allow_connections false")).await;
    run(&mut outside, &format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"))
        .await;
    assert_eq!(counter.send(&effect("A", "x", 2, Some(7))).await, UNREACHABLE);
    let told = counter.told().await;
    assert_eq!((told.answer, told.nth), (EffectAnswer::GuardUnreachable(CurrentEpoch), 0));
    counter.bank.set_guards(&[]);
    assert_eq!(counter.send(&effect("A", "x", 3, Some(7))).await, ACCEPTED, "no guard, no question");
    counter.bank.set_guards(&[CurrentEpoch]);
    run(&mut outside, &format!("alter database {name} with allow_connections true")).await;
    assert_eq!(counter.send(&effect("A", "x", 4, Some(7))).await, ACCEPTED, "it asks again by itself");
    counter.close().await;
}

#[tokio::test]
async fn somebody_who_keeps_the_epoch_locked_makes_the_guard_unreachable_in_time() {
    let mut counter = Counter::open(&[CurrentEpoch]).await;
    counter.grant("x", 7).await;
    let mut holder = counter.in_arena().await;
    run(&mut holder, "begin").await;
    run(&mut holder, "update lock_epochs set epoch = 8 where name = 'x'").await;
    let begun = Instant::now();
    assert_eq!(counter.send(&effect("A", "x", 1, Some(7))).await, UNREACHABLE);
    assert!(begun.elapsed() < Duration::from_secs(4), "took {:?}", begun.elapsed());
    assert_eq!(counter.told().await.answer, EffectAnswer::GuardUnreachable(CurrentEpoch));
    counter.close().await;
}

#[tokio::test]
async fn while_postgres_stands_still_nothing_is_accepted_and_afterwards_all_is_as_before() {
    let mut counter = Counter::open(&[CurrentEpoch]).await;
    counter.grant("x", 7).await;
    let postgres = counter.arena.store(Endpoint::Postgres).expect("a Postgres of our own");
    postgres.stop().await.unwrap();
    assert_eq!(counter.send(&effect("A", "x", 1, Some(7))).await, UNREACHABLE);
    counter.bank.set_guards(&[]);
    assert_eq!(counter.send(&effect("A", "x", 1, Some(7))).await, None, "nobody knows");
    let postgres = counter.arena.store(Endpoint::Postgres).expect("a Postgres of our own");
    postgres.cont().await.unwrap();
    assert_eq!(counter.send(&effect("A", "x", 1, Some(7))).await, ACCEPTED);
    assert_eq!(counter.told().await.nth, 1, "the first that was accepted");
    let postgres = counter.arena.store(Endpoint::Postgres).expect("a Postgres of our own");
    postgres.restart().await.unwrap();
    assert_eq!(counter.send(&effect("A", "x", 2, Some(7))).await, ACCEPTED, "on new connections");
    counter.close().await;
}

#[tokio::test]
async fn what_was_not_committed_is_neither_told_nor_answered_as_accepted() {
    let mut counter = Counter::open(&[]).await;
    // Every commit of a settlement waits for an advisory lock that somebody else has.
    let mut barrier = counter.in_bank().await;
    run(
        &mut barrier,
        "create function wait() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(1); return null; end $$",
    )
    .await;
    run(
        &mut barrier,
        "create constraint trigger wait after insert on settlements
        deferrable initially deferred for each row execute function wait()",
    )
    .await;
    run(&mut barrier, "select pg_advisory_lock(1)").await;
    let port = counter.port();
    let effect_of = |slot| effect("A", "x", slot, None);
    let lost = tokio::spawn(async move { post(port, &effect_of(1)).await });
    until_blocked(&mut counter.in_bank().await, 1).await;
    let mut killer = counter.in_arena().await;
    run(
        &mut killer,
        "select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'bank' and wait_event_type = 'Lock'",
    )
    .await;
    assert_eq!(timeout(LIMIT, lost).await.unwrap().unwrap(), None);
    run(&mut barrier, "select pg_advisory_unlock(1)").await;
    assert_eq!(counter.send(&effect_of(2)).await, ACCEPTED);
    assert_eq!(counter.told().await.slot.fire_ms, 2, "nothing was told of the first");
    counter.close().await;
}
