//! What is measured: a fault's script, or the scenario of a run, under one strategy and one guard.

use std::sync::Arc;

use locks::action::{Action, Assert, Wait};
use locks::guard::Guard;
use locks::scenario::{Expect, Scenario};
use locks::setup::{SetupChange, StrategyName};

use super::cell::{Cell, CellError, Trial};
use super::faults::Fault;
use crate::run::log::RunId;

/// The longest script that is raced, in milliseconds of its own waits: a race is to be watched.
const LONGEST_MS: u64 = 90_000;
/// Most steps and replicas of such a script.
const MOST_STEPS: usize = 2_000;
const MOST_REPLICAS: usize = 9;

/// What is run.
#[derive(Clone, Debug)]
pub enum Script {
    /// A fault's.
    Fault(&'static Fault),
    /// That of a stored run.
    Run {
        /// Which.
        id: RunId,
        /// Its scenario.
        scenario: Arc<Scenario>,
    },
}

impl Script {
    /// The fault's name, or the run's.
    pub fn name(&self) -> &str {
        match self {
            Script::Fault(fault) => fault.name,
            Script::Run { id, .. } => id,
        }
    }

    /// Takes so many processes that it has the machine to itself.
    pub fn is_heavy(&self) -> bool {
        matches!(self, Script::Fault(fault) if fault.heavy)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is run.
    pub script: Script,
    /// Under which strategy.
    pub strategy: StrategyName,
    /// Behind which guard.
    pub guard: Option<Guard>,
}

impl Job {
    /// What is run; `None` if the fault cannot happen to the strategy.
    pub fn trial(&self) -> Result<Option<Trial>, CellError> {
        match &self.script {
            Script::Fault(fault) => Cell { fault, strategy: self.strategy.clone(), guard: self.guard }.trial(),
            Script::Run { id, scenario } => {
                let tag = format!("race/{id}/{}", self.strategy);
                let scenario = under(scenario, &self.strategy, self.guard);
                Ok(Some(Trial { script: id.clone(), scenario, tag, cuts_off: None }))
            }
        }
    }
}

/// A scenario under another strategy and guard: where it changes them itself, it no longer does. What it
/// expects is of its own strategy, and is left out.
fn under(scenario: &Scenario, strategy: &StrategyName, guard: Option<Guard>) -> Scenario {
    let mut scenario = Scenario { expect: Expect::default(), ..scenario.clone() };
    scenario.setup.strategy = strategy.clone();
    scenario.setup.guard = guard.into_iter().collect();
    scenario.steps.retain_mut(|step| match &mut step.action {
        Action::Set(change) => {
            change.strategy = None;
            change.guard = None;
            *change != SetupChange::default()
        }
        _ => true,
    });
    scenario
}

/// Why a run's scenario is not raced, if it is not.
pub fn refusal(scenario: &Scenario) -> Option<String> {
    if scenario.homework.is_some() {
        return Some("This run is a schedule of homework: what was written there is no strategy.".to_owned());
    }
    let actions = || scenario.steps.iter().map(|step| &step.action);
    let speaks_to_stores = |action: &Action| {
        matches!(action, Action::Sql(_) | Action::Redis { .. })
            || matches!(action, Action::Assert(Assert::Sql { .. } | Assert::Redis { .. }))
    };
    if actions().any(speaks_to_stores) {
        let why = "This run puts statements of its own to the stores. Save its scenario as a file and run it with \
                   `aegis run FILE --strategy NAME`.";
        return Some(why.to_owned());
    }
    let waits: u64 = actions().map(|action| if let Action::Wait(Wait::Ms(ms)) = action { *ms } else { 0 }).sum();
    if waits > LONGEST_MS || scenario.steps.len() > MOST_STEPS {
        let why = format!(
            "This run goes on for {} s; only runs of up to {} s are raced. Begin a fresh one and do just what you \
             want to compare.",
            waits / 1000,
            LONGEST_MS / 1000
        );
        return Some(why);
    }
    if scenario.setup.replicas.len() > MOST_REPLICAS {
        return Some(format!("This run has more than {MOST_REPLICAS} replicas; race one with fewer."));
    }
    (actions().next().is_none()).then(|| "Nothing was done in this run yet, so there is nothing to race.".to_owned())
}

#[cfg(test)]
mod tests {
    use locks::scenario::Step;

    use super::*;

    fn scenario(text: &str) -> Scenario {
        let head = "name = \"x\"\ntitle = \"x\"\n[setup]\nreplicas = [\"A\"]\nstrategy = \"none\"\n";
        Scenario::parse(&format!("{head}{text}")).unwrap()
    }

    fn step(action: Action) -> Step {
        Step { span: 0..0, action }
    }

    #[test]
    fn a_race_changes_strategy_and_guard_wherever_the_script_does() {
        let mut own = scenario("[[step]]\nfire = { schedule = \"settle-invoices\" }\n");
        let change = SetupChange { strategy: Some("redlock".into()), ..SetupChange::default() };
        own.steps.push(step(Action::Set(change.clone())));
        own.steps.push(step(Action::Set(SetupChange { lease_ms: Some(900), ..change })));
        let raced = under(&own, &"pg-lease".into(), Some(Guard::MaxSeen));
        assert_eq!(
            (raced.setup.strategy.to_string().as_str(), &raced.setup.guard[..]),
            ("pg-lease", &[Guard::MaxSeen][..])
        );
        let kept: Vec<&Action> = raced.steps.iter().map(|step| &step.action).collect();
        let lease = SetupChange { lease_ms: Some(900), ..SetupChange::default() };
        assert_eq!(kept[1..], [&Action::Set(lease)], "a change of nothing else is left out");
    }

    #[test]
    fn what_is_not_raced_says_why() {
        let own = scenario("[[step]]\nfire = { schedule = \"settle-invoices\" }\n");
        assert_eq!(refusal(&own), None);
        let mut long = own.clone();
        long.steps.push(step(Action::Wait(Wait::Ms(LONGEST_MS + 1))));
        assert!(refusal(&long).unwrap().contains("90 s"));
        let mut sql = own.clone();
        sql.steps.push(step(Action::Sql("select 1".to_owned())));
        assert!(refusal(&sql).unwrap().contains("statements"));
        let empty = Scenario { steps: Vec::new(), ..own };
        assert!(refusal(&empty).unwrap().contains("nothing to race"));
    }
}
