//! The life of an attempt, from the slot to the finish, and of the process.

use locks::event::{EffectAnswer, Kind};
use locks::ids::SinkName;
use locks::machine::Outcome;
use locks::setup::{Gated, Setup};
use server::replica::control::Control;

use crate::stage::{Stage, of_attempts};

fn ungated(strategy: &str) -> Setup {
    Setup { strategy: strategy.into(), gated: Gated::No, work_ms: 30, ..Setup::default() }
}

#[tokio::test]
async fn an_attempt_under_none_runs_from_slot_to_audit_row() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &ungated("none")).await;
    a.fire(1_000).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    a.hears(|kind| matches!(kind, Kind::Answered { name, .. } if name == "audit")).await;
    let life =
        "slot_due task entered task work_ended effect_sent effect_answered left task task finished sent answered";
    assert_eq!(of_attempts(a.kinds()), life, "{:#?}", a.heard);
    assert_eq!(
        stage.ask::<i64>("select count(*) from audit where outcome = 'executed' and attempt = 'A.1.1'").await,
        1
    );
    a.tell(&Control::Shutdown).await;
    a.ends().await;
    stage.close().await;
}

#[tokio::test]
async fn an_attempt_under_pg_lease_takes_the_row_and_gives_it_back() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &Setup { sink: SinkName::Ledger, ..ungated("pg-lease") }).await;
    a.fire(1_000).await;
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    assert_eq!(stage.ask::<i64>("select count(*) from ledger where accepted and epoch = 1").await, 1);
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is null").await, 1);
    let answer = a.hears(|kind| matches!(kind, Kind::EffectAnswered { .. })).await;
    assert!(matches!(&a.heard[answer].kind, Kind::EffectAnswered { answer: EffectAnswer::Accepted, .. }));
    stage.close().await;
}
