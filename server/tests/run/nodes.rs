//! Faults of Redis nodes: memory loss, jumps of the clock, forgotten scripts, failover.

use locks::event::{Fault, Kind};
use locks::ids::Endpoint;
use server::run::runner::Outcome;

use super::{assert_held, count, run_text};

fn script(steps: &[&str]) -> String {
    let steps: String = steps.iter().map(|step| format!("[[step]]\n{step}\n")).collect();
    format!("name = \"nodes\"\ntitle = \"A node is disturbed\"\n[setup]\nstrategy = \"none\"\n{steps}")
}

#[tokio::test]
async fn a_killed_node_comes_back_empty_and_says_so() {
    let finished = run_text(&script(&[
        "redis = { command = \"SET x held PX 60000\", node = \"redis-3\" }",
        "wait = { event = { kind = \"key\", key = \"x\", value = \"held\" } }",
        "node = { kill = \"redis-3\" }",
        "node = { start = \"redis-3\" }",
        "assert = { redis = \"EXISTS x\", node = \"redis-3\", is = 0 }",
        "wait = { event = { kind = \"key\", key = \"x\", pttl_ms = -2 } }",
    ]))
    .await;
    assert_held(&finished);
}

#[tokio::test]
async fn a_paused_node_goes_on_with_what_it_had() {
    let finished = run_text(&script(&[
        "redis = { command = \"SET x 'a b'\", node = \"redis-2\" }",
        "node = { pause = \"redis-2\" }",
        "node = { resume = \"redis-2\" }",
        "assert = { redis = \"GET x\", node = \"redis-2\", is = \"a b\" }",
    ]))
    .await;
    assert_held(&finished);
    let refused =
        run_text(&script(&["node = { pause = \"redis-2\" }", "redis = { command = \"GET x\", node = \"redis-2\" }"]))
            .await;
    assert!(matches!(&refused.outcome, Outcome::BadScenario(text) if text.contains("paused")), "{:?}", refused.outcome);
}

#[tokio::test]
async fn a_jump_of_the_clock_brings_expiries_nearer() {
    let finished = run_text(&script(&[
        "redis = { command = \"SET x v PX 60000\", node = \"redis-1\" }",
        "redis = { command = \"SET y v PX 90000\", node = \"redis-1\" }",
        "redis = { command = \"SET z v\", node = \"redis-1\" }",
        "node = { clock_shift = \"redis-1\", ms = 60000 }",
        "assert = { redis = \"EXISTS x y z\", node = \"redis-1\", is = 2 }",
        "assert = { redis = \"PTTL z\", node = \"redis-1\", is = -1 }",
    ]))
    .await;
    assert_held(&finished);
    let told = |kind: &Kind| matches!(kind, Kind::Outsider { text, .. } if text.starts_with("PEXPIRE y "));
    assert_eq!(count(&finished.events, told), 1);
    let ended = |kind: &Kind| matches!(kind, Kind::FaultEnded { what: Fault::NodeClock { shift_ms: 60_000, .. }, .. });
    assert_eq!(count(&finished.events, ended), 1);
}

#[tokio::test]
async fn scripts_are_forgotten() {
    let exists = |is| {
        format!(
            "assert = {{ redis = \"SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db\", node = \"redis-1\", is = [{is}] }}"
        )
    };
    let finished = run_text(&script(&[
        "redis = { command = \"SCRIPT LOAD 'return 1'\", node = \"redis-1\" }",
        &exists(1),
        "node = { script_flush = \"redis-1\" }",
        &exists(0),
    ]))
    .await;
    assert_held(&finished);
}

#[tokio::test]
async fn a_failover_loses_what_was_not_replicated_and_can_be_done_again() {
    let finished = run_text(&script(&[
        "cut = { endpoint = \"redis-1/replica\" }",
        "redis = { command = \"SET lost v\", node = \"redis-1\" }",
        "wait = { event = { kind = \"key\", key = \"lost\", value = \"v\" } }",
        "failover = \"redis-1\"",
        "assert = { redis = \"EXISTS lost\", node = \"redis-1\", is = 0 }",
        "wait = { event = { kind = \"key\", key = \"lost\", pttl_ms = -2 } }",
        "redis = { command = \"SET kept v\", node = \"redis-1\" }",
        "wait = { event = { kind = \"key\", key = \"kept\", value = \"v\" } }",
    ]))
    .await;
    assert_held(&finished);
    let failed_over =
        |kind: &Kind| matches!(kind, Kind::FaultEnded { what: Fault::Failover { node: Endpoint::Redis(1) }, .. });
    assert_eq!(count(&finished.events, failed_over), 1);
    let promoted = |kind: &Kind| matches!(kind, Kind::Outsider { text, .. } if text == "REPLICAOF NO ONE");
    assert_eq!(count(&finished.events, promoted), 1);
}

#[tokio::test]
async fn a_killed_primary_is_replaced() {
    let finished = run_text(&script(&[
        "node = { kill = \"redis-1\" }",
        "failover = \"redis-1\"",
        "redis = { command = \"SET x v\", node = \"redis-1\" }",
        "assert = { redis = \"GET x\", node = \"redis-1\", is = \"v\" }",
    ]))
    .await;
    assert_held(&finished);
}
