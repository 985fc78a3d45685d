//! Faults on links, aimed with gates: the message that waits is the one that was meant.

use locks::action::{Action, Direction};
use locks::event::Kind;
use locks::machine::LockState;

use super::{assert_held, run_text};

#[tokio::test]
async fn a_held_reply_is_that_of_the_very_command() {
    let finished = run_text(
        r#"
name = "held-reply"
title = "The grant's answer waits, the grant stands"
[setup]
strategy = "pg-lease"
work_ms = 20
store_timeout_ms = 2000
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "send:acquire" }
[[step]]
hold = { replica = "A", endpoint = "postgres", what = "reply" }
[[step]]
advance = { replica = "A" }
[[step]]
wait = { lock = "held", limit_ms = 2000 }
[[step]]
assert = { lock = { holder = "A" } }
[[step]]
let_go = { replica = "A", endpoint = "postgres" }
[[step]]
advance = { replica = "A", until = "done" }
[expect]
overlaps = 0
outcomes = { A = ["executed"], B = ["open"] }
[[expect.event]]
kind = "granted"
replica = "A"
min = 1
max = 1
"#,
    )
    .await;
    assert_held(&finished);
    let first = |is: &dyn Fn(&Kind) -> bool| finished.events.iter().find(|event| is(&event.kind)).unwrap().at_us;
    let says_held = first(&|kind| matches!(kind, Kind::StoreSays { state: LockState::Held, .. }));
    let let_go = first(&|kind| matches!(kind, Kind::StepBegan { action: Action::LetGo { .. }, .. }));
    let passed = first(
        &|kind| matches!(kind, Kind::LinkPassed { name: Some(name), direction: Direction::Reply, .. } if name == "acquire"),
    );
    let granted = first(&|kind| matches!(kind, Kind::Granted { .. }));
    assert!(says_held < let_go && let_go < passed && passed < granted, "the answer waited at the link");
}

#[tokio::test]
async fn who_is_cut_from_its_store_does_not_enter() {
    let finished = run_text(
        r#"
name = "cut"
title = "A is cut before it asks"
[setup]
strategy = "pg-lease"
lease_ms = 800
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "send:acquire" }
[[step]]
cut = { replica = "A", endpoint = "postgres" }
[[step]]
advance = { replica = "A" }
[[step]]
advance = { replica = "A", until = "done" }
[[step]]
advance = { replica = "B", until = "done" }
[expect]
overlaps = 0
outcomes = { A = ["skipped"], B = ["executed"] }
"#,
    )
    .await;
    assert_held(&finished);
}

#[tokio::test]
async fn a_node_tells_of_its_keys() {
    let finished = run_text(
        r#"
name = "keys"
title = "A key is set and expires"
[setup]
strategy = "none"
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
assert = { redis = "SET lock:x token-1 PX 100", node = "redis-2", is = "OK" }
[[step]]
wait = { event = { kind = "key", key = "lock:x", value = "token-1" }, limit_ms = 5000 }
[[step]]
wait = { event = { kind = "key", key = "lock:x", pttl_ms = -2 }, limit_ms = 5000 }
"#,
    )
    .await;
    assert_held(&finished);
}

#[tokio::test]
async fn a_slow_link_is_slow_both_ways_and_jitter_comes_on_top() {
    let finished = run_text(
        r#"
name = "slow"
title = "A's link is slow"
[setup]
strategy = "pg-lease"
work_ms = 20
store_timeout_ms = 5000
[[step]]
fire = { schedule = "settle-invoices", to = "A" }
[[step]]
advance = { replica = "A", until = "send:acquire" }
[[step]]
delay = { replica = "A", endpoint = "postgres", ms = 100, jitter_ms = 50 }
[[step]]
advance = { replica = "A", until = "done" }
[expect]
outcomes = { A = ["executed"] }
"#,
    )
    .await;
    assert_held(&finished);
    let took = finished.events.iter().find_map(|event| match &event.kind {
        Kind::Answered { name, took_us, .. } if name == "acquire" => Some(*took_us),
        _ => None,
    });
    assert!(took.unwrap() >= 200_000, "{took:?}");
    let kept = finished.events.iter().filter_map(|event| match &event.kind {
        Kind::LinkPassed { name: Some(name), kept_us, .. } if name == "acquire" => Some(*kept_us),
        _ => None,
    });
    let kept: Vec<u64> = kept.collect();
    assert!(kept.len() == 2 && kept.iter().all(|us| *us >= 100_000), "{kept:?}");
    assert_ne!(kept[0] / 1_000, kept[1] / 1_000, "each way draws for itself");
}

#[tokio::test]
async fn healed_with_a_reset_a_session_is_a_new_one() {
    let finished = run_text(
        r#"
name = "reset"
title = "A's link is cut, and its connections are gone"
[setup]
strategy = "pg-lease"
work_ms = 20
[[step]]
cut = { replica = "A", endpoint = "postgres" }
[[step]]
heal = { replica = "A", endpoint = "postgres", drop = true }
[[step]]
wait = { event = { kind = "session_closed", replica = "A" } }
[[step]]
fire = { schedule = "settle-invoices", to = "A" }
[[step]]
wait = { event = { kind = "gate_reached", replica = "A" } }
"#,
    )
    .await;
    assert_held(&finished);
}
