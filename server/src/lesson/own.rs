//! Scenarios of a learner's own, run from the page as `aegis run` runs them: the same runner, the same words.
//! A few at a time, for each takes stores of its own.

use std::sync::Arc;

use locks::action::Action;
use locks::event::Event;
use locks::lesson::{Record, Tried};
use locks::matrix::Figures;
use locks::scenario::{Problem, Scenario};
use locks::setup::StrategyName;

use crate::matrix::job;
use crate::run::export::judged;
use crate::run::runner::{Outcome, script_hash};

/// The name of a file that stands in a page.
const FILE: &str = "own.toml";

/// What a learner wrote, under that strategy; why it is not run, if it is not.
pub(super) fn read(text: &str, strategy: &str) -> Result<Scenario, String> {
    let mut scenario = Scenario::parse(text).map_err(|problems| Problem::render_all(&problems, FILE))?;
    let name: StrategyName = strategy.into();
    locks::strategy::find(&name).map_err(|error| error.to_string())?;
    scenario.setup.strategy = name;
    match job::refusal(&scenario) {
        Some(why) => Err(why),
        None if !scenario.expects_something() => {
            Err("This scenario expects nothing, so that no run of it can fail. Add `[expect]`.".to_owned())
        }
        None => Ok(scenario),
    }
}

/// What tells a script from all others, whatever its strategy.
fn identity(scenario: &Scenario) -> String {
    let mut scenario = scenario.clone();
    scenario.setup.strategy = "none".into();
    script_hash(&scenario)
}

/// What came of a run.
pub(super) fn tried(scenario: &Scenario, exit: u8, imported: bool, run: &str, events: &[Arc<Event>]) -> Tried {
    let record = Record::of(events.iter().map(|event| &**event));
    let chaos = scenario.steps.iter().any(|step| matches!(step.action, Action::Chaos { .. }));
    Tried {
        script: identity(scenario),
        strategy: scenario.setup.strategy.to_string(),
        exit,
        replicas: scenario.setup.replicas.len(),
        hit: record.has_hit(),
        chaos,
        figures: figures(events),
        imported,
        run: run.to_owned(),
        event: record.seq,
    }
}

/// What the judge counted, without times: they differ from run to run.
fn figures(events: &[Arc<Event>]) -> String {
    let Figures { overlaps, effects_per_slot, stale_effects, missed_slots, .. } = Figures::of(&judged(events));
    format!("overlaps {overlaps}, effects per slot {effects_per_slot}, stale {stale_effects}, missed {missed_slots}")
}

/// As `aegis run` says it.
pub(super) fn exit(outcome: &Outcome) -> (u8, String) {
    match outcome {
        Outcome::Held => (0, "all held".to_owned()),
        Outcome::Failed => (1, "an expectation failed".to_owned()),
        Outcome::BadScenario(why) => (2, why.clone()),
        Outcome::Inconclusive(why) => (3, format!("inconclusive: {why}")),
        Outcome::LabFailed(why) => (3, format!("the lab failed: {why}")),
        Outcome::Interrupted => (3, "interrupted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"x\"\ntitle = \"x\"\n[setup]\nreplicas = [\"A\"]\n[[step]]\nfire = { schedule = \"settle-invoices\" }\n";

    #[test]
    fn what_cannot_fail_is_not_run() {
        assert!(read(TEXT, "pg-lease").unwrap_err().contains("no run of it can fail"));
        assert!(read("name = 3", "pg-lease").unwrap_err().contains(FILE));
        let text = format!("{TEXT}[expect]\noverlaps = 0\n");
        assert!(read(&text, "pg-leese").is_err());
        let (one, other) = (read(&text, "pg-lease").unwrap(), read(&text, "none").unwrap());
        assert_eq!(identity(&one), identity(&other), "the strategy is not part of the test");
    }
}
