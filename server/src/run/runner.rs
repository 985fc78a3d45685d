//! Runs of scenario files. The script's steps one after the other, then the run's end: gates stay shut,
//! and it is over when every attempt of a running replica is final or waits at a gate, or when the limit
//! ran out. Only then are processes ended, and the log is judged.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use locks::action::Action;
use locks::event::{EndReason, Event, Kind, Whose};
use locks::ids::Endpoint;
use locks::judge::Verdict;
use locks::scenario::{Checked, Scenario};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::actions;
use super::error::ActError;
use super::export::judged;
use super::rig::{Plan, Rig};
use crate::homework;
use crate::lab::Lab;

/// How a run came out. Never confused: only `Held` and `Failed` say anything about the strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that was expected was observed.
    Held,
    /// An expectation failed.
    Failed,
    /// The scenario asks for what cannot be.
    BadScenario(String),
    /// A limit ran out or a precondition was missed: the run proves nothing.
    Inconclusive(String),
    /// The lab itself failed.
    LabFailed(String),
    /// It was told to end before it was over, or before it began.
    Interrupted,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was run.
    pub scenario: Scenario,
    /// How it came out.
    pub outcome: Outcome,
    /// What the judge found.
    pub verdict: Verdict,
    /// Each expectation, with what was observed.
    pub checks: Vec<Checked>,
    /// The whole log.
    pub events: Vec<Arc<Event>>,
}

/// The identity of a script: SHA-256 of its canonical form, hexadecimal.
pub fn script_hash(scenario: &Scenario) -> String {
    let digest = Sha256::digest(scenario.to_toml());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Run a scenario.
pub async fn run(lab: &Lab, scenario: &Scenario, tag: Option<String>) -> Finished {
    run_unless(lab, scenario, tag, &CancellationToken::new()).await
}

/// Run a scenario, unless it is told to end: then it ends as soon as every process of it is gone.
pub async fn run_unless(
    lab: &Lab,
    scenario: &Scenario,
    tag: Option<String>,
    told_to_end: &CancellationToken,
) -> Finished {
    if told_to_end.is_cancelled() {
        return never_began(scenario, Outcome::Interrupted);
    }
    if let Some(homework) = &scenario.homework {
        // It has no part of the lab's stores: not one of its steps is an action of a run.
        let played = told_to_end.run_until_cancelled(homework::replay(lab, scenario, homework)).await;
        return played.unwrap_or_else(|| never_began(scenario, Outcome::Interrupted));
    }
    if let Some(what) = unknown_zone(scenario) {
        return never_began(scenario, Outcome::BadScenario(what));
    }
    let plan = Plan {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        tag,
        script: script_hash(scenario),
        setup: scenario.setup.clone(),
        pairs: pairs(scenario),
        live: false,
    };
    let rig = match Rig::open(lab, plan).await {
        Ok(rig) => rig,
        Err(error @ ActError::NotHere(_)) => return never_began(scenario, Outcome::Inconclusive(error.to_string())),
        Err(error) => return never_began(scenario, Outcome::LabFailed(error.to_string())),
    };
    let played = told_to_end.run_until_cancelled(play(&rig, scenario)).await;
    let interrupted = played.is_none();
    let (stopped, differing) = played.unwrap_or_default();
    rig.end(if interrupted { EndReason::Interrupted } else { why(stopped.as_ref()) }).await;
    let events = rig.recorder.log().after(0);
    let verdict = judged(&events);
    let plain: Vec<Event> = events.iter().map(|event| (**event).clone()).collect();
    let mut checks = differing;
    checks.extend(scenario.expect.check(&verdict, &plain));
    let outcome = match interrupted {
        true => Outcome::Interrupted,
        false => outcome(stopped, &events, checks.iter().any(|check| !check.holds)),
    };
    Finished { scenario: scenario.clone(), outcome, verdict, checks, events }
}

/// A time zone that there is not: no session could be opened with it.
fn unknown_zone(scenario: &Scenario) -> Option<String> {
    scenario.setup.replica.iter().find_map(|(name, own)| {
        let zone = own.time_zone.as_ref()?;
        zone.parse::<Tz>()
            .is_err()
            .then(|| format!("replica {name}: there is no time zone {zone:?}; name one as `Europe/Berlin`"))
    })
}

/// Redis nodes of which a script does something with the replica.
fn pairs(scenario: &Scenario) -> BTreeSet<u8> {
    let of = |action: &Action| match action {
        Action::Failover(Endpoint::Redis(node)) => vec![*node],
        Action::Cut(links)
        | Action::Heal { links, .. }
        | Action::Delay { links, .. }
        | Action::Hold { links, .. }
        | Action::LetGo { links, .. } => links.pairs().collect(),
        _ => Vec::new(),
    };
    scenario.steps.iter().flat_map(|step| of(&step.action)).collect()
}

/// The steps, as far as they can be done, and the run's rest: why no further, and which assertions differed.
async fn play(rig: &Rig, scenario: &Scenario) -> (Option<ActError>, Vec<Checked>) {
    let mut differing = Vec::new();
    for (number, step) in (1..).zip(&scenario.steps) {
        match actions::step(rig, number, &step.action).await {
            Ok(()) => {}
            Err(ActError::Differs(observed)) => differing.push(Checked {
                what: format!("step {number}, assert"),
                expected: "no difference".to_owned(),
                observed,
                holds: false,
                // The step's end, which says what differed.
                first_event: Some(rig.recorder.log().newest()),
            }),
            Err(error) => return (Some(error), differing),
        }
    }
    let limit = Duration::from_millis(scenario.setup.end_limit_ms);
    // Over the limit, too, it ends; what is not final then has outcome `open`.
    tokio::select! {
        _ = rig.board.until(limit, |standing| standing.is_at_rest().then_some(())) => (None, differing),
        why = rig.stores.fell() => (Some(ActError::Lab(why)), differing),
    }
}

fn why(stopped: Option<&ActError>) -> EndReason {
    match stopped {
        None => EndReason::Done,
        Some(ActError::Lab(_) | ActError::Fell { .. }) => EndReason::LabFailed,
        Some(_) => EndReason::Inconclusive,
    }
}

fn outcome(stopped: Option<ActError>, events: &[Arc<Event>], failed: bool) -> Outcome {
    let lab = events.iter().find_map(|event| match &event.kind {
        Kind::Trouble { problem } if problem.whose == Whose::Lab => Some(problem.text.clone()),
        _ => None,
    });
    match (lab, stopped) {
        (Some(text), _) => Outcome::LabFailed(text),
        (None, Some(ActError::Lab(text))) => Outcome::LabFailed(text),
        (None, Some(ActError::Missed(text))) => Outcome::Inconclusive(text),
        (None, Some(error @ ActError::NotHere(_))) => Outcome::Inconclusive(error.to_string()),
        (None, Some(error)) => Outcome::BadScenario(error.to_string()),
        (None, None) if failed => Outcome::Failed,
        (None, None) => Outcome::Held,
    }
}

fn never_began(scenario: &Scenario, outcome: Outcome) -> Finished {
    Finished {
        scenario: scenario.clone(),
        outcome,
        verdict: Verdict::default(),
        checks: Vec::new(),
        events: Vec::new(),
    }
}
