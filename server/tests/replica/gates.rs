//! Gates: where an attempt waits, what passes it, and what the replica checks there.

use locks::event::{Kind, Reply};
use locks::ids::Gate;
use locks::machine::Outcome;
use locks::setup::{Handler, Setup};
use server::replica::control::Control;

use crate::stage::Stage;

fn gated() -> Setup {
    Setup { strategy: "pg-lease".into(), work_ms: 20, lease_ms: 60_000, ..Setup::default() }
}

fn send(command: &str) -> Gate {
    Gate::Send(Some(command.to_owned()))
}

#[tokio::test]
async fn an_attempt_waits_before_each_act_and_is_final_at_the_last_gate() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, send("acquire")).await;
    assert_eq!(stage.ask::<i64>("select count(*) from locks").await, 0);
    a.until(1, Gate::Enter).await;
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 1);
    assert!(!a.kinds().contains(&"entered".to_owned()));
    a.until(1, Gate::Effect).await;
    assert!(!a.kinds().contains(&"effect_sent".to_owned()));
    a.until(1, Gate::Leave).await;
    assert!(!a.kinds().contains(&"left".to_owned()));
    a.until(1, send("release")).await;
    assert!(!a.kinds().contains(&"finished".to_owned()));
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    // The next slot does not wait for the last gate of the one before.
    a.fire(2_000).await;
    a.until(2, Gate::Done).await;
    assert_eq!(a.outcome(2).await.0, Outcome::Executed);
    stage.close().await;
}

#[tokio::test]
async fn a_slot_that_comes_while_the_one_before_runs_is_skipped() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    a.fire(1_000).await;
    a.until(1, Gate::Effect).await;
    a.fire(2_000).await;
    assert_eq!(a.outcome(2).await, (Outcome::Skipped, "previous slot still running".to_owned()));
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    stage.close().await;
}

#[tokio::test]
async fn behind_gate_enter_a_grant_that_is_over_is_not_entered() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &Setup { lease_ms: 1_500, ..gated() }).await;
    a.fire(1_000).await;
    a.until(1, Gate::Enter).await;
    a.untrusted().await;
    a.pass(1).await;
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Skipped);
    assert!(!a.kinds().contains(&"entered".to_owned()));
    stage.close().await;
}

#[tokio::test]
async fn at_gate_effect_nobody_looks_at_the_deadline_and_at_gate_leave_it_ends_the_wait() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &Setup { lease_ms: 3_000, ..gated() }).await;
    a.fire(1_000).await;
    a.until(1, Gate::Effect).await;
    a.untrusted().await;
    a.pass(1).await;
    a.hears(|kind| matches!(kind, Kind::EffectAnswered { .. })).await;
    // The deadline was over when the effect was sent: the section is left at once, through the gate.
    a.hears(|kind| matches!(kind, Kind::Left { .. })).await;
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);

    a.fire(2_000).await;
    a.until(2, Gate::Leave).await;
    let reached = a.heard.last().unwrap().at_us;
    let second = a.attempt(2);
    let left = a.hears(|kind| matches!(kind, Kind::Left { attempt, .. } if *attempt == second)).await;
    assert!(a.heard[left].at_us > reached + 100_000, "gate leave holds until the deadline");
    stage.close().await;
}

#[tokio::test]
async fn who_is_cancelled_at_a_gate_gives_back_what_it_holds_at_once() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &gated()).await;
    for (n, gate, outcome) in
        [(1, send("acquire"), Outcome::Skipped), (2, Gate::Enter, Outcome::Skipped), (3, Gate::Effect, Outcome::Failed)]
    {
        a.fire(i64::from(n) * 1_000).await;
        a.until(n, gate.clone()).await;
        a.tell(&Control::Cancel).await;
        if n > 1 {
            a.until(n, send("release")).await;
        }
        a.until(n, Gate::Done).await;
        assert_eq!(a.outcome(n).await.0, outcome, "cancelled at {gate}");
        assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 0, "at {gate}");
    }
    stage.close().await;
}

#[tokio::test]
async fn a_cancelled_handler_stops_and_a_stubborn_one_does_not() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &Setup { work_ms: 30_000, ..gated() }).await;
    a.fire(1_000).await;
    a.until(1, Gate::Enter).await;
    a.pass(1).await;
    a.hears(|kind| matches!(kind, Kind::Entered { .. })).await;
    a.tell(&Control::Cancel).await;
    a.until(1, Gate::Done).await;
    assert_eq!(a.outcome(1).await, (Outcome::Failed, "cancelled".to_owned()));

    let mut b = stage.replica("B", &Setup { handler: Handler::Stubborn, work_ms: 300, ..gated() }).await;
    b.fire(2_000).await;
    b.until(1, Gate::Enter).await;
    b.pass(1).await;
    let entered = b.hears(|kind| matches!(kind, Kind::Entered { .. })).await;
    b.tell(&Control::Cancel).await;
    let ended = b.hears(|kind| matches!(kind, Kind::WorkEnded { .. })).await;
    assert!(b.heard[ended].at_us - b.heard[entered].at_us >= 300_000);
    stage.close().await;
}

#[tokio::test]
async fn a_blocking_handler_starves_renewal_and_another_one_does_not() {
    let stage = Stage::open(&[]).await;
    let setup = Setup { renew: true, lease_ms: 3_000, work_ms: 4_500, ..gated() };
    let mut a = stage.replica("A", &setup).await;
    a.fire(1_000).await;
    a.until(1, Gate::Effect).await;
    let renewed = a.replies("renew");
    assert!(renewed.len() >= 2 && renewed.iter().all(|reply| matches!(reply, Reply::Rows { affected: 1, .. })));
    a.until(1, Gate::Done).await;

    let mut b = stage.replica("B", &Setup { handler: Handler::Blocking, ..setup }).await;
    b.fire(2_000).await;
    b.until(1, Gate::Done).await;
    let entered = b.hears(|kind| matches!(kind, Kind::Entered { .. })).await;
    let ended = b.hears(|kind| matches!(kind, Kind::WorkEnded { .. })).await;
    assert!(!b.heard[entered..ended].iter().any(|line| matches!(line.kind, Kind::Sent { .. })), "nothing is renewed");
    stage.close().await;
}
