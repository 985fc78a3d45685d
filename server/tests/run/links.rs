//! Faults on links, aimed with gates: the message that waits is the one that was meant.

use locks::action::{Action, Direction, EventPattern, Wait};
use locks::event::{EndReason, Kind};
use locks::machine::LockState;
use locks::setup::Setup;
use serde_json::json;
use server::run::actions::step as step_of;
use server::run::rig::{Plan, Rig};

use super::common::{data_dir, lab};
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
lease_ms = 3000
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
    let data = data_dir();
    let lab = lab(data.path()).await;
    let plan = Plan {
        name: "keys".to_owned(),
        title: "A key is set and expires".to_owned(),
        tag: None,
        script: String::new(),
        pairs: Default::default(),
        setup: Setup { strategy: "none".into(), ..Setup::default() },
        live: false,
    };
    let rig = Rig::open(&lab, plan).await.unwrap();
    let mut node = rig.arena.connect_redis(2).await.unwrap();
    let mut set = redis::cmd("SET");
    set.arg("lock:x").arg("token-1").arg("PX").arg(100).query_async::<()>(&mut node).await.unwrap();
    for (step, (field, value)) in (1..).zip([("value", json!("token-1")), ("pttl_ms", json!(-2))]) {
        let fields = [("key".to_owned(), json!("lock:x")), (field.to_owned(), value)].into();
        let event = EventPattern { kind: "key".to_owned(), replica: None, fields };
        step_of(&rig, step, &Action::Wait(Wait::Event { event, count: 1, limit_ms: 5000 })).await.unwrap();
    }
    rig.end(EndReason::Done).await;
    lab.close().await;
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
