//! Races forced with gates: what collides, what is kept apart, what a pause does to a lease.

use locks::event::{Kind, ProcessName, ProcessState, Reply};
use locks::machine::LockState;
use server::run::runner::Outcome;

use super::{assert_held, count, run_text};

const COLLISION: &str = r#"
name = "collision"
title = "Nobody coordinates"
[setup]
strategy = "none"
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = ["A", "B"], until = "effect" }
[[step]]
advance = { replica = "A", until = "done" }
[[step]]
advance = { replica = "B", until = "done" }
[expect]
overlaps = 1
effects_per_slot = 2
outcomes = { A = ["executed"], B = ["executed"] }
"#;

#[tokio::test]
async fn without_coordination_both_enter_and_both_settle() {
    let finished = run_text(COLLISION).await;
    assert_held(&finished);
    let events = &finished.events;
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "numbers have no gaps");
    assert!(matches!(events.first().unwrap().kind, Kind::Began { .. }));
    assert!(matches!(events.last().unwrap().kind, Kind::Ended { .. }));
    assert_eq!(count(events, |kind| matches!(kind, Kind::EffectSettled { nth: 2, .. })), 1, "the bank counts");
}

#[tokio::test]
async fn a_lease_keeps_the_other_out() {
    let finished = run_text(
        r#"
name = "busy"
title = "A holds, B is told busy"
[setup]
strategy = "pg-lease"
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "effect" }
[[step]]
assert = { lock = { holder = "A" } }
[[step]]
advance = { replica = "B", until = "done" }
[[step]]
advance = { replica = "A", until = "done" }
[[step]]
assert = { lock = "free" }
[[step]]
assert = { sql = "select epoch from lock_epochs", is = 1 }
[expect]
overlaps = 0
effects_per_slot = 1
outcomes = { A = ["executed"], B = ["skipped"] }
"#,
    )
    .await;
    assert_held(&finished);
    let labelled = |wanted: &str| {
        let is =
            |kind: &Kind| matches!(kind, Kind::LinkPassed { name: Some(name), attempt: Some(_), .. } if name == wanted);
        count(&finished.events, is)
    };
    assert_eq!(labelled("acquire"), 4, "two requests and two replies, each known by its command");
    assert_eq!(labelled("release"), 2);
}

fn pause_past_lease(strategy: &str, guard: &str, expect: &str) -> String {
    format!(
        r#"
name = "pause-past-lease"
title = "A pauses longer than its lease"
[setup]
strategy = "{strategy}"
guard = "{guard}"
lease_ms = 3000
work_ms = 20
[[step]]
fire = {{ schedule = "settle-invoices" }}
[[step]]
advance = {{ replica = "A", until = "effect" }}
[[step]]
pause = "A"
[[step]]
wait = {{ lock = "expired", limit_ms = 10000 }}
[[step]]
advance = {{ replica = "B", until = "done" }}
[[step]]
resume = "A"
[[step]]
advance = {{ replica = "A", until = "done" }}
[expect]
overlaps = 1
{expect}
"#
    )
}

#[tokio::test]
async fn a_paused_holder_settles_behind_its_successor() {
    let expect = "stale_effects = 1\neffects_per_slot = 2\noutcomes = { A = [\"executed\"], B = [\"executed\"] }";
    let finished = run_text(&pause_past_lease("pg-lease", "none", expect)).await;
    assert_held(&finished);
    let stopped = |kind: &Kind| matches!(kind, Kind::Process { process: ProcessName::Replica(name), state: ProcessState::Stopped, .. } if name == "A");
    assert_eq!(count(&finished.events, stopped), 1);
    let expired = |kind: &Kind| matches!(kind, Kind::StoreSays { state: LockState::Expired, .. });
    assert!(count(&finished.events, expired) >= 1, "the store says when the lease is over");
}

#[tokio::test]
async fn a_guard_that_asks_for_the_epoch_of_now_rejects_the_stale_effect() {
    let expect = "stale_effects = 0\neffects_per_slot = 1\noutcomes = { A = [\"failed\"], B = [\"executed\"] }";
    assert_held(&run_text(&pause_past_lease("pg-lease", "current-epoch", expect)).await);
}

#[tokio::test]
async fn without_leases_waiting_for_expiry_takes_as_long_as_one() {
    let expect = "effects_per_slot = 2";
    assert_held(&run_text(&pause_past_lease("none", "none", expect)).await);
}

#[tokio::test]
async fn a_limit_that_runs_out_proves_nothing() {
    let finished = run_text(
        r#"
name = "never"
title = "Waits for what does not happen"
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
wait = { event = { kind = "entered", replica = "B" }, limit_ms = 100 }
[expect]
overlaps = 0
"#,
    )
    .await;
    assert!(matches!(finished.outcome, Outcome::Inconclusive(_)), "{:?}", finished.outcome);
}

#[tokio::test]
async fn an_assertion_that_differs_is_a_failed_expectation() {
    let finished = run_text(
        r#"
name = "differs"
title = "Asserts what is not so"
[setup]
strategy = "pg-lease"
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
assert = { lock = "held" }
"#,
    )
    .await;
    assert_eq!(finished.outcome, Outcome::Failed);
    assert!(finished.checks[0].observed.contains("is Free, and must be Held"), "{:?}", finished.checks);
}

#[tokio::test]
async fn a_killed_replica_starts_again_as_another_incarnation() {
    let finished = run_text(
        r#"
name = "kill"
title = "A is killed while it holds, and comes back"
[setup]
strategy = "pg-lease"
lease_ms = 3000
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "effect" }
[[step]]
kill = "A"
[[step]]
start = "A"
[[step]]
fire = { schedule = "settle-invoices", to = ["A"], again = true }
[[step]]
wait = { lock = "expired", limit_ms = 5000 }
[[step]]
advance = { replica = "A", until = "done" }
[expect]
overlaps = 0
effects_per_slot = 1
[[expect.event]]
kind = "fault_began"
min = 1
max = 1
[[expect.event]]
kind = "fault_ended"
min = 1
max = 1
"#,
    )
    .await;
    assert_held(&finished);
    let unknown = |kind: &Kind| matches!(kind, Kind::Answered { reply: Reply::Unknown, .. });
    assert_eq!(count(&finished.events, unknown), 0);
    let second = finished.events.iter().any(|event| event.source.to_string() == "replica A.2");
    assert!(second, "the second process speaks for itself");
}
