//! A series of chaos: everything that it began has ended, and the lab is usable afterwards.

use locks::event::Kind;

use super::{assert_held, count, run_text};

#[tokio::test]
async fn a_series_undoes_what_it_did() {
    let finished = run_text(
        r#"
name = "chaos"
title = "Anything may happen"
[setup]
strategy = "pg-lease"
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
chaos = { seed = 3, faults = 8, limit_ms = 60000 }
[[step]]
fire = { schedule = "dispatch-orders", to = "A" }
[[step]]
wait = { event = { kind = "slot_due", replica = "A" } }
"#,
    )
    .await;
    assert_held(&finished);
    let began = count(&finished.events, |kind| matches!(kind, Kind::FaultBegan { .. }));
    let ended = count(&finished.events, |kind| matches!(kind, Kind::FaultEnded { .. }));
    assert!(began > 0);
    assert_eq!(began, ended);
}
