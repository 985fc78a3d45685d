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
