//! Exercise 6: graded by properties alone, so that a busy machine changes no result. Where a time-out fails, the
//! same is played on five real nodes and its run is attached, to be opened like every other.

use std::sync::Arc;

use locks::homework::redlock::{self, Answer};
use locks::homework::{Failure, Graded};
use locks::scenario::{Problem, Scenario};

use crate::lab::Lab;
use crate::run::runner::{Outcome, run};

const NODE_DEAD: &str = include_str!("../../homework/node-dead.toml");
const NODES_SLOW: &str = include_str!("../../homework/nodes-slow.toml");

/// The lease of the trial, and the longest time-out that is played: a longer one only takes longer.
const LEASE_MS: u64 = 1500;
const LONGEST_MS: u64 = 5000;

/// Grade an answer.
pub(super) async fn grade(lab: &Lab, text: &str) -> Graded {
    match (redlock::grade(text), Answer::read(text)) {
        (Graded::Failed(failure), Ok(answer)) => {
            let script = match failure.schedule.as_str() {
                "one node dead" => NODE_DEAD,
                "slow nodes" => NODES_SLOW,
                _ => return Graded::Failed(failure),
            };
            let timeout_ms = u64::try_from(answer.node_timeout_ms).unwrap_or(1).clamp(1, LONGEST_MS);
            Graded::Failed(Box::new(played(lab, *failure, script, timeout_ms).await))
        }
        (graded, _) => graded,
    }
}

/// The failure with a run that shows it; without one, if the nodes had better luck than the property allows.
async fn played(lab: &Lab, failure: Failure, script: &str, timeout_ms: u64) -> Failure {
    let mut scenario = match Scenario::parse(script) {
        Ok(scenario) => scenario,
        Err(problems) => {
            tracing::error!(problems = Problem::render_all(&problems, "the script"), "a trial cannot be read");
            return failure;
        }
    };
    scenario.setup.strategy = "redlock".into();
    scenario.setup.lease_ms = LEASE_MS;
    scenario.setup.node_timeout_ms = timeout_ms;
    let finished = run(lab, &scenario, Some("homework/redlock".to_owned())).await;
    let shown =
        matches!(finished.outcome, Outcome::Held | Outcome::Failed) && !finished.verdict.missed_slots.is_empty();
    if !shown {
        return failure;
    }
    let at = finished.events.last().map_or(0, |event| event.seq);
    let evidence = finished.events.iter().map(Arc::as_ref).cloned().collect();
    Failure { steps: format!("{}\n{}", failure.steps, scenario.to_toml()), evidence, at, ..failure }
}
