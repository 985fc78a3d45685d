//! Counterexamples that are kept as scenario files and run on real stores. The files are what [`told`] makes of
//! the shortest paths; `KEEP_SCENARIOS=1 cargo nextest run -p locks --all-features --test model kept` writes
//! them anew.

use std::path::Path;

use locks::scenario::Scenario;
use locks::setup::Setup;

use crate::claims::{fresh_or_alone, sections};
use crate::lab::{Claim, Lab};
use crate::scenario::{Frame, told};
use crate::story::{Checkable, refutation};
use crate::{redis_set_nx, redlock};

/// Times of the real thing: leases long enough for a busy machine.
fn setup(strategy: &str) -> Setup {
    let strategy = strategy.into();
    Setup { strategy, lease_ms: 6000, store_timeout_ms: 1000, node_timeout_ms: 300, ..Setup::default() }
}

fn kept<S: Checkable>(lab: Lab<S>, claim: fn() -> Claim<S>, frame: Frame) {
    let path = refutation(&lab, claim()).expect("a counterexample");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../server/scenarios/{}.toml", frame.name));
    let scenario = told(&lab, &path, frame).unwrap();
    let told = format!("# A counterexample of the model check. Refuted: {}.\n{}", claim().0, scenario.to_toml());
    Scenario::parse(&told).expect("the script is possible");
    if std::env::var_os("KEEP_SCENARIOS").is_some() {
        std::fs::write(&file, &told).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(kept, told, "{} is not what the model check says", file.display());
}

#[test]
fn kept_pause_past_lease_under_redis_set_nx() {
    let frame = Frame {
        name: "model-redis-set-nx-pause",
        title: "A is paused behind its last check until its lease is over, and B is inside when its effect comes",
        setup: setup("redis-set-nx"),
    };
    kept(redis_set_nx::paused(), fresh_or_alone, frame);
}

#[test]
fn kept_memory_loss_under_redis_set_nx() {
    let frame = Frame {
        name: "model-redis-set-nx-memory-loss",
        title: "The node forgets A's lock while A is inside, and grants it to B",
        setup: setup("redis-set-nx"),
    };
    kept(redis_set_nx::forgetful(), sections, frame);
}

#[test]
fn kept_memory_loss_of_a_bare_quorum_under_redlock() {
    let frame = Frame {
        name: "model-redlock-memory-loss",
        title: "A holds a bare quorum, the node that B needs of it forgets, and both are inside",
        setup: setup("redlock"),
    };
    kept(redlock::forgetful(), sections, frame);
}
