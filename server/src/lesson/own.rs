//! Scenarios of a learner's own, run from the page as `aegis run` runs them: the same runner, the same words.
//! A few at a time, for each takes stores of its own.

use std::sync::Arc;
use std::time::Duration;

use app::lesson::{OwnRun, OwnState};
use locks::action::Action;
use locks::event::Event;
use locks::lesson::{Record, Tried};
use locks::matrix::Figures;
use locks::scenario::{Problem, Scenario};
use locks::setup::StrategyName;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::tutor::{LESSON, Tutor, TutorError};
use crate::lab::LabError;
use crate::matrix::job;
use crate::run::export::judged;
use crate::run::runner::{Outcome, run_unless, script_hash};

/// So many of them run at a time.
pub(super) const AT_ONCE: usize = 2;
/// Longest that one may take, from when it is its turn.
const LONGEST: Duration = Duration::from_secs(180);
/// Under which keys the latest one is kept, and what came of all.
const OWN: &str = "lesson/own";
const TRIED: &str = "lesson/tried";
/// So many are remembered.
const MOST_TRIED: usize = 60;
/// The name of a file that stands in a page.
const FILE: &str = "own.toml";

impl Tutor {
    /// Run a scenario of a learner's own under a strategy. What comes of it stands on the page.
    pub(super) fn try_own(&self, learner: &str, script: &str, strategy: &str) -> Result<(), TutorError> {
        let (script, strategy) = (script.replace("\r\n", "\n"), strategy.to_owned());
        if script.contains('\0') || strategy.contains('\0') {
            return Err(TutorError::Bad("A scenario is text: it must not contain a NUL character.".to_owned()));
        }
        // Nothing: what runs is ended; else back to the one that the text begins with.
        if script.trim().is_empty() && self.stop_own(learner) {
            return Ok(());
        }
        let (run, scenario) = match script.trim().is_empty() {
            true => (None, None),
            false => {
                let (state, scenario) = match read(&script, &strategy) {
                    Ok(scenario) => (OwnState::Runs, Some(scenario)),
                    Err(why) => (OwnState::Refused(why), None),
                };
                (Some(OwnRun { script, strategy, state }), scenario)
            }
        };
        self.take_place(learner, run.clone())?;
        let (tutor, learner) = (self.clone(), learner.to_owned());
        self.0.tasks.spawn(async move {
            if let Err(error) = tutor.keep_own(&learner, run.as_ref()).await {
                tracing::error!(%error, "a scenario of a learner's own is not kept");
            }
            if let Some((run, scenario)) = run.zip(scenario) {
                tutor.carry_out(&learner, run, scenario).await;
            }
        });
        Ok(())
    }

    /// End what a learner runs, if something does. What came of it stands on the page, as always.
    fn stop_own(&self, learner: &str) -> bool {
        let stop = self.0.stops().get(learner).cloned();
        stop.inspect(CancellationToken::cancel).is_some()
    }

    /// One at a time runs, however many are asked for at once.
    fn take_place(&self, learner: &str, run: Option<OwnRun>) -> Result<(), TutorError> {
        let mut own = self.0.own();
        if own.get(learner).is_some_and(|own| own.state == OwnState::Runs) {
            let text = "One of yours still runs. Wait for it to end, or empty the box and press Run it: that ends it.";
            return Err(TutorError::Bad(text.to_owned()));
        }
        if run.as_ref().is_some_and(|run| run.state == OwnState::Runs) {
            self.0.stops().insert(learner.to_owned(), self.0.ending.child_token());
        }
        match run {
            Some(run) => drop(own.insert(learner.to_owned(), run)),
            None => drop(own.remove(learner)),
        }
        drop(own);
        self.0.changed();
        Ok(())
    }

    async fn keep_own(&self, learner: &str, run: Option<&OwnRun>) -> Result<(), LabError> {
        let kept = run.map_or(Value::Null, |run| json!({ "script": run.script, "strategy": run.strategy }));
        self.0.lab.control().await?.set_progress(learner, OWN, &kept).await
    }

    async fn carry_out(&self, learner: &str, run: OwnRun, scenario: Scenario) {
        let stop = self.0.stops().get(learner).cloned().unwrap_or_else(|| self.0.ending.child_token());
        // The semaphore is never closed; whoever is stopped while it waits runs nothing any more.
        let _permit = stop.run_until_cancelled(self.0.permits.acquire()).await;
        let tag = format!("{LESSON}/7/own");
        let began = Instant::now();
        let in_time = run_unless(&self.0.lab, &scenario, Some(tag), &stop);
        let late = async {
            sleep(LONGEST).await;
            stop.cancel();
            std::future::pending().await
        };
        let finished = tokio::select! { finished = in_time => finished, finished = late => finished };
        self.0.stops().remove(learner);
        let (exit, mut outcome) = self::exit(&finished.outcome);
        if matches!(finished.outcome, Outcome::Interrupted) && !self.0.ending.is_cancelled() {
            outcome = match began.elapsed() >= LONGEST {
                true => format!("ended after {} s: here a scenario has no longer", LONGEST.as_secs()),
                false => "ended by you".to_owned(),
            };
        }
        let mut stored = None;
        if !finished.events.is_empty() {
            match self.0.shelf.save(Some(learner), &finished.events).await {
                Ok(id) => stored = Some(id),
                Err(error) => outcome = format!("{outcome}; it could not be stored: {error}"),
            }
        }
        if let Some(id) = &stored {
            let one = tried(&scenario, exit, false, id, &finished.events);
            if let Err(error) = self.remember(learner, one).await {
                tracing::error!(%error, "what was tried is not kept");
            }
        }
        let checks = finished.checks.into_iter().map(|check| (check.what, check.expected, check.observed, check.holds));
        let state = OwnState::Over { exit, outcome, checks: checks.collect(), run: stored };
        self.0.note_own(learner, OwnRun { state, ..run });
    }

    /// A run was brought here as a file: is it of a script that the learner ran here?
    pub async fn imported(
        &self,
        learner: &str,
        scenario: &Scenario,
        run: &str,
        events: &[Arc<Event>],
    ) -> Result<(), TutorError> {
        if scenario.timed {
            return Ok(());
        }
        self.remember(learner, tried(scenario, 0, true, run, events)).await?;
        self.0.changed();
        Ok(())
    }

    pub(super) async fn tried(&self, learner: &str) -> Result<Vec<Tried>, LabError> {
        let kept = self.kept(learner, TRIED).await?;
        Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default())
    }

    async fn remember(&self, learner: &str, one: Tried) -> Result<(), LabError> {
        let _alone = self.0.remembering.lock().await;
        let mut tried = self.tried(learner).await?;
        tried.push(one);
        let from = tried.len().saturating_sub(MOST_TRIED);
        self.0.lab.control().await?.set_progress(learner, TRIED, &json!(tried[from..])).await
    }

    /// The scenario of their own that a learner ran last.
    pub(super) async fn own(&self, learner: &str) -> Result<Option<OwnRun>, LabError> {
        if let Some(own) = self.0.own().get(learner) {
            return Ok(Some(own.clone()));
        }
        let Some(kept) = self.kept(learner, OWN).await? else { return Ok(None) };
        let text = |key: &str| kept[key].as_str().map(str::to_owned);
        Ok(text("script").zip(text("strategy")).map(|(script, strategy)| OwnRun {
            script,
            strategy,
            state: OwnState::Kept,
        }))
    }

    pub(super) async fn kept(&self, learner: &str, key: &str) -> Result<Option<Value>, LabError> {
        let all = self.0.lab.control().await?.progress(learner).await?;
        Ok(all.into_iter().find(|(other, _)| other == key).map(|(_, value)| value))
    }
}

/// What a learner wrote, under that strategy; why it is not run, if it is not.
fn read(text: &str, strategy: &str) -> Result<Scenario, String> {
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
fn tried(scenario: &Scenario, exit: u8, imported: bool, run: &str, events: &[Arc<Event>]) -> Tried {
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
fn exit(outcome: &Outcome) -> (u8, String) {
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
