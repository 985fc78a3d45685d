//! Faults of Postgres, with a holder at a gate: what was committed stays, sessions are lost and come back.

use locks::event::{Fault, Kind, ProcessName, ProcessState};
use locks::ids::Endpoint;

use super::{assert_held, count, run_text};

const HOLDING: &str = r#"
name = "postgres"
title = "Postgres is disturbed while A holds"
[setup]
strategy = "pg-lease"
lease_ms = 20000
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices", to = "A" }
[[step]]
advance = { replica = "A", until = "effect" }
"#;

const END: &str = r#"
[[step]]
assert = { lock = { holder = "A" } }
[[step]]
advance = { replica = "A", until = "done" }
[[step]]
assert = { lock = "free" }
[expect]
outcomes = { A = ["executed"] }
"#;

fn states(events: &[std::sync::Arc<locks::event::Event>]) -> Vec<ProcessState> {
    let of_postgres = events.iter().filter_map(|event| match &event.kind {
        Kind::Process { process: ProcessName::Store(Endpoint::Postgres), state, .. } => Some(*state),
        _ => None,
    });
    of_postgres.collect()
}

#[tokio::test]
async fn a_restart_loses_sessions_and_keeps_what_was_committed() {
    let finished = run_text(&format!("{HOLDING}\n[[step]]\npostgres = \"restart\"\n{END}")).await;
    assert_held(&finished);
    let restart = Fault::Restart { process: ProcessName::Store(Endpoint::Postgres) };
    let ended = |kind: &Kind| matches!(kind, Kind::FaultEnded { what, .. } if *what == restart);
    assert_eq!(count(&finished.events, ended), 1);
    let lost = |kind: &Kind| matches!(kind, Kind::SessionClosed { endpoint: Endpoint::Postgres, .. });
    assert!(count(&finished.events, lost) >= 2, "of both replicas");
    assert_eq!(states(&finished.events), [ProcessState::Started, ProcessState::Started]);
}

#[tokio::test]
async fn killed_and_started_it_is_as_it_was() {
    let text = format!("{HOLDING}\n[[step]]\npostgres = \"kill\"\n[[step]]\npostgres = \"start\"\n{END}");
    let finished = run_text(&text).await;
    assert_held(&finished);
    assert_eq!(states(&finished.events), [ProcessState::Started, ProcessState::Gone, ProcessState::Started]);
}

#[tokio::test]
async fn paused_it_answers_nobody_until_it_is_resumed() {
    let finished = run_text(
        r#"
name = "paused"
title = "Postgres is paused when A asks"
[setup]
strategy = "pg-lease"
[[step]]
fire = { schedule = "settle-invoices", to = "A" }
[[step]]
advance = { replica = "A", until = "send:acquire" }
[[step]]
postgres = "pause"
[[step]]
advance = { replica = "A", until = "done" }
[[step]]
postgres = "resume"
[[step]]
fire = { schedule = "settle-invoices", to = "B" }
[[step]]
wait = { lock = ["free", "expired"] }
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
async fn terminated_backends_are_those_of_one_replica() {
    let finished = run_text(&format!("{HOLDING}\n[[step]]\nterminate_backend = \"A\"\n{END}")).await;
    assert_held(&finished);
    let told = |kind: &Kind| matches!(kind, Kind::Outsider { text, .. } if text.contains("pg_terminate_backend"));
    assert_eq!(count(&finished.events, told), 1);
    let of_b = finished.events.iter().filter(|event| {
        event.replica() == Some("B") && matches!(event.kind, Kind::SessionClosed { endpoint: Endpoint::Postgres, .. })
    });
    assert_eq!(of_b.count(), 0, "B is let be");
}
