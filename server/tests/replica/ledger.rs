//! Sink `ledger`: the ladder of guards as the database itself climbs it, also when two effects meet.

use locks::guard::Guard;
use locks::ids::{Gate, SinkName};
use locks::machine::Outcome;
use locks::setup::Setup;
use sqlx::{Connection, PgConnection, Row};

use crate::common::until;
use crate::stage::{LIMIT, Stage};

async fn settle(on: &mut PgConnection, slot_s: f64, epoch: Option<i64>, guards: &[Guard]) -> Option<String> {
    let guards: Vec<String> = guards.iter().map(Guard::to_string).collect();
    sqlx::query("select settle('A.1.1', 'l', 's', to_timestamp($1), 'A', $2, $3)")
        .bind(slot_s)
        .bind(epoch)
        .bind(guards)
        .fetch_one(on)
        .await
        .unwrap()
        .get(0)
}

async fn publish(on: &mut PgConnection, epoch: i64) {
    sqlx::query("insert into lock_epochs values ('l', $1) on conflict (name) do update set epoch = excluded.epoch")
        .bind(epoch)
        .execute(on)
        .await
        .unwrap();
}

#[tokio::test]
async fn the_ladder_sees_more_at_each_rung() {
    let stage = Stage::open(&[]).await;
    let mut on = stage.arena.connect_postgres().await.unwrap();
    publish(&mut on, 8).await;
    // The stale one arrives first: max-seen does not see it, current-epoch does.
    assert_eq!(settle(&mut on, 1.0, Some(7), &[Guard::MaxSeen]).await, None);
    assert_eq!(settle(&mut on, 1.0, Some(7), &[Guard::CurrentEpoch]).await.as_deref(), Some("current-epoch"));
    assert_eq!(settle(&mut on, 1.0, Some(8), &[Guard::MaxSeen, Guard::CurrentEpoch]).await, None);
    assert_eq!(settle(&mut on, 2.0, Some(7), &[Guard::MaxSeen]).await.as_deref(), Some("max-seen"));
    assert_eq!(settle(&mut on, 2.0, None, &[Guard::MaxSeen]).await.as_deref(), Some("max-seen"));
    assert_eq!(settle(&mut on, 2.0, None, &[Guard::CurrentEpoch]).await.as_deref(), Some("current-epoch"));
    assert_eq!(settle(&mut on, 1.0, Some(8), &[Guard::UniqueSlot]).await.as_deref(), Some("unique-slot"));
    assert_eq!(settle(&mut on, 1.0, None, &[]).await, None, "no guard checks nothing");
    assert_eq!(stage.ask::<i64>("select count(*) from ledger where not accepted").await, 5, "rejections are kept");
    stage.close().await;
}

async fn waits(stage: &Stage, how: &'static str) {
    let mut on = stage.arena.connect_postgres().await.unwrap();
    let mut waiting = false;
    let end = std::time::Instant::now() + LIMIT;
    while !waiting && std::time::Instant::now() < end {
        let sql = "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like $1)";
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        waiting = sqlx::query_scalar(sql).bind(how).fetch_one(&mut on).await.unwrap();
    }
    assert!(waiting, "nobody waits with {how}");
}

#[tokio::test]
async fn of_two_effects_that_meet_one_is_unique() {
    let stage = Stage::open(&[]).await;
    let mut first = stage.arena.connect_postgres().await.unwrap();
    let mut under_way = first.begin().await.unwrap();
    assert_eq!(settle(&mut under_way, 1.0, None, &[Guard::UniqueSlot]).await, None);
    let mut second = stage.arena.connect_postgres().await.unwrap();
    let meets = tokio::spawn(async move { settle(&mut second, 1.0, None, &[Guard::UniqueSlot]).await });
    waits(&stage, "select settle%").await;
    under_way.commit().await.unwrap();
    assert_eq!(meets.await.unwrap().as_deref(), Some("unique-slot"));
    stage.close().await;
}

#[tokio::test]
async fn a_newer_grant_waits_for_an_effect_that_was_checked_against_the_old_one() {
    let stage = Stage::open(&[]).await;
    let mut first = stage.arena.connect_postgres().await.unwrap();
    publish(&mut first, 1).await;
    let mut under_way = first.begin().await.unwrap();
    assert_eq!(settle(&mut under_way, 1.0, Some(1), &[Guard::CurrentEpoch]).await, None);
    let mut second = stage.arena.connect_postgres().await.unwrap();
    let newer = tokio::spawn(async move { publish(&mut second, 2).await });
    waits(&stage, "insert into lock_epochs%").await;
    under_way.commit().await.unwrap();
    newer.await.unwrap();
    stage.close().await;
}

#[tokio::test]
async fn a_guard_at_the_ledger_stops_the_effect_of_a_holder_who_overslept() {
    let stage = Stage::open(&[]).await;
    let setup = Setup {
        strategy: "pg-lease".into(),
        sink: SinkName::Ledger,
        guard: vec![Guard::CurrentEpoch],
        lease_ms: 3_000,
        work_ms: 20,
        ..Setup::default()
    };
    let (mut a, mut b) = (stage.replica("A", &setup).await, stage.replica("B", &setup).await);
    a.fire(1_000).await;
    a.until(1, Gate::Effect).await;
    until("A's lease is over", LIMIT, || server::clock::now_us() > a.heard.last().unwrap().at_us + 3_500_000).await;
    b.fire(1_000).await;
    b.until(1, Gate::Done).await;
    assert_eq!(b.outcome(1).await.0, Outcome::Executed);
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await, (Outcome::Failed, "effect rejected".to_owned()));
    assert_eq!(stage.ask::<String>("select rejected_by from ledger where attempt = 'A.1.1'").await, "current-epoch");
    stage.close().await;
}
