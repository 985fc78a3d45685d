//! Sessions: one pinned connection each; what a reply that does not come means; losing and opening again.

use std::time::Duration;

use locks::action::Direction;
use locks::event::{Kind, Reply};
use locks::ids::{Endpoint, Gate};
use locks::machine::Outcome;
use locks::setup::{Gated, Setup};
use tokio::time::timeout;

use crate::stage::{LIMIT, Replica, Stage};

const POSTGRES: Endpoint = Endpoint::Postgres;
const LOCK: &str = "settle-invoices/lock";

fn gated() -> Setup {
    Setup { strategy: "pg-lease".into(), work_ms: 20, lease_ms: 60_000, ..Setup::default() }
}

fn acquire() -> Gate {
    Gate::Send(Some("acquire".to_owned()))
}

async fn opens_again(a: &mut Replica, session: &str) {
    let closed = a.hears(|kind| matches!(kind, Kind::SessionClosed { session: s, .. } if s == session)).await;
    a.hears_from(closed, |kind| matches!(kind, Kind::SessionOpened { session: s, .. } if s == session)).await;
}

#[tokio::test]
async fn a_held_reply_belongs_to_a_command_that_was_executed() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, acquire()).await;
    stage.links.hold("A", POSTGRES, Direction::Reply).unwrap();
    a.pass(1).await;
    a.hears(|kind| matches!(kind, Kind::Answered { reply: Reply::Unknown, .. })).await;
    // The very first use of the statement on this connection, and no reply ever came back.
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 1);
    // The connection is thrown away, and what may have been granted is given back on a new one.
    a.hears(|kind| matches!(kind, Kind::SessionClosed { session, why, .. } if session == LOCK && why == "discarded"))
        .await;
    stage.links.let_go("A", POSTGRES, Direction::Reply).unwrap();
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Skipped);
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 0);
    stage.close().await;
}

#[tokio::test]
async fn a_reply_that_arrived_during_a_pause_is_a_reply() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, acquire()).await;
    stage.links.hold("A", POSTGRES, Direction::Reply).unwrap();
    a.pass(1).await;
    a.hears(|kind| matches!(kind, Kind::Sent { .. })).await;
    a.process.stop().await.unwrap();
    stage.links.let_go("A", POSTGRES, Direction::Reply).unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    a.process.cont().await.unwrap();
    a.until(1, Gate::Enter).await;
    let reply = a.replies("acquire").pop().unwrap();
    assert!(matches!(reply, Reply::Rows { affected: 1, .. }), "twice the timeout later, but it had arrived: {reply:?}");
    stage.close().await;
}

#[tokio::test]
async fn each_command_is_one_request_on_its_own_sessions_connection() {
    let mut stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, Gate::Enter).await;
    let sent = a.hears(|kind| matches!(kind, Kind::Sent { .. })).await;
    let session = format!("A.1/{LOCK}");
    let mut passed = Vec::new();
    while passed.len() < 2 {
        let message = timeout(LIMIT, stage.passed.recv()).await.expect("two messages pass").unwrap();
        if message.at_us >= a.heard[sent].at_us {
            passed.push((message.session.unwrap_or_default(), message.direction));
        }
    }
    assert!(stage.passed.try_recv().is_err(), "and no other");
    assert_eq!(passed, [(session.clone(), Direction::Request), (session, Direction::Reply)]);
    stage.close().await;
}

#[tokio::test]
async fn an_idle_session_that_was_lost_is_noticed_and_opened_again() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    stage
        .ask::<i64>("select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name like 'A.1/%'")
        .await;
    opens_again(&mut a, LOCK).await;
    opens_again(&mut a, "audit").await;
    a.fire(1_000).await;
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    stage.close().await;
}

#[tokio::test]
async fn after_a_restart_of_postgres_all_sessions_are_open_again() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, Gate::Effect).await;
    stage.arena.store(POSTGRES).unwrap().restart().await.unwrap();
    for session in [LOCK, "dispatch-orders/lock", "send-digests/lock", "audit"] {
        opens_again(&mut a, session).await;
    }
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 0, "given back");
    stage.close().await;
}

#[tokio::test]
async fn behind_a_cut_link_slots_are_skipped_and_once_it_is_healed_they_run() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &Setup { gated: Gated::No, lease_ms: 3_000, ..gated() }).await;
    stage.links.cut("A", POSTGRES).unwrap();
    a.fire(1_000).await;
    a.hears(|kind| matches!(kind, Kind::Answered { name, reply: Reply::Unknown, .. } if name == "acquire")).await;
    stage.links.heal("A", POSTGRES, false).unwrap();
    assert_eq!(a.outcome(1).await.0, Outcome::Skipped);
    // What was asked for through the cut arrives late, before or behind what gives it back: then its lease must end.
    let over = "select count(*) from locks where token is null or expires_at <= clock_timestamp()";
    let arrived_and_over = async {
        while stage.ask::<i64>(over).await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, arrived_and_over).await.expect("the late grant is over");
    a.fire(2_000).await;
    assert_eq!(a.outcome(2).await.0, Outcome::Executed);
    stage.close().await;
}

#[tokio::test]
async fn a_command_on_a_session_that_does_not_open_was_not_sent() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, acquire()).await;
    // Lost, and silent from now on.
    stage.links.cut("A", POSTGRES).unwrap();
    stage.links.reset(POSTGRES);
    a.hears(|kind| matches!(kind, Kind::SessionClosed { session, .. } if session == LOCK)).await;
    a.pass(1).await;
    a.until(1, Gate::Done).await;
    assert_eq!(a.replies("acquire"), [Reply::NotSent]);
    assert_eq!(a.outcome(1).await.0, Outcome::Skipped);
    stage.links.heal("A", POSTGRES, false).unwrap();
    opens_again(&mut a, LOCK).await;
    stage.close().await;
}

#[tokio::test]
async fn an_effect_without_an_answer_is_unknown() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, Gate::Effect).await;
    stage.links.hold("A", Endpoint::Bank, Direction::Reply).unwrap();
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await, (Outcome::Failed, "effect unanswered".to_owned()));
    // The late answer is not taken for the next effect's.
    stage.links.let_go("A", Endpoint::Bank, Direction::Reply).unwrap();
    a.fire(2_000).await;
    a.until(2, Gate::Done).await;
    assert_eq!(a.outcome(2).await.0, Outcome::Executed);
    stage.close().await;
}

#[tokio::test]
async fn sessions_have_the_time_zone_and_isolation_of_the_set_up() {
    let stage = Stage::open(&[]).await;
    let mut setup = Setup { gated: Gated::No, strategy: "pg-lease".into(), ..Setup::default() };
    let own = setup.replica.entry("A".to_owned()).or_default();
    own.time_zone = Some("Asia/Tokyo".to_owned());
    own.isolation = Some("serializable".to_owned());
    let mut a = stage.replica("A", &setup).await;
    a.fire(1_000).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    stage.close().await;
}
