//! Time as the lab moves it: `elapse` for stores and leases together, `clock` for one replica's wall clock,
//! `reset` for a new beginning.

use locks::event::Kind;

use super::{assert_held, count, run_text};

#[tokio::test]
async fn leases_elapse_for_the_store_and_for_the_replica() {
    let finished = run_text(
        r#"
name = "elapse"
title = "Ten minutes go by"
[setup]
strategy = "pg-lease"
lease_ms = 600000
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "enter" }
[[step]]
assert = { lock = "held" }
[[step]]
elapse = { ms = 600000 }
[[step]]
assert = { lock = "expired" }
[[step]]
advance = { replica = "A", until = "done" }
[[step]]
advance = { replica = "B", until = "done" }
[expect]
overlaps = 0
outcomes = { B = ["executed"] }
[[expect.event]]
kind = "entered"
replica = "A"
max = 0
"#,
    )
    .await;
    assert_held(&finished);
    let told = |kind: &Kind| matches!(kind, Kind::ClockSet { elapsed_ms: 600_000, .. });
    assert_eq!(count(&finished.events, told), 2, "both replicas go by it");
}

#[tokio::test]
async fn a_clock_is_shifted_when_the_step_ends() {
    let finished = run_text(
        r#"
name = "clock"
title = "B's clock is ahead"
[setup]
strategy = "none"
[[step]]
clock = { replica = "B", shift_ms = 4000 }
[[step]]
clock = { replica = "B", shift_ms = 0 }
"#,
    )
    .await;
    assert_held(&finished);
    let at = |is: &dyn Fn(&Kind) -> bool| finished.events.iter().position(|event| is(&event.kind)).unwrap();
    let set = at(&|kind| matches!(kind, Kind::ClockSet { shift_ms: 4_000, .. }));
    let ended = at(&|kind| matches!(kind, Kind::StepEnded { step: 1, .. }));
    assert!(set < ended);
}

#[tokio::test]
async fn after_a_reset_everything_is_new() {
    let finished = run_text(
        r#"
name = "reset"
title = "Once more from the start"
[setup]
strategy = "pg-lease"
lease_ms = 20000
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "effect" }
[[step]]
pause = "B"
[[step]]
cut = { replica = "A", endpoint = "postgres" }
[[step]]
postgres = "kill"
[[step]]
redis = { command = "SET x v", node = "redis-4" }
[[step]]
reset = true
[[step]]
assert = { sql = "select count(*)::int from locks", is = 0 }
[[step]]
assert = { redis = "DBSIZE", node = "redis-4", is = 0 }
[[step]]
fire = { schedule = "settle-invoices", to = "B" }
[[step]]
advance = { replica = "B", until = "done" }
[expect]
outcomes = { A = ["open"], B = ["open", "executed"] }
"#,
    )
    .await;
    assert_held(&finished);
}
