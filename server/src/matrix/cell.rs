//! One cell of the matrix: which fault, strategy and guard, and what came of running it.

use std::sync::Arc;

use locks::event::{EffectAnswer, Event, Kind};
use locks::guard::Guard;
use locks::matrix::{Coverage, Figures};
use locks::scenario::{Problem, Scenario};
use locks::setup::StrategyName;
use locks::strategy;
use tokio_util::sync::CancellationToken;

use super::expected::{self, Expected};
use super::faults::Fault;
use crate::lab::Lab;
use crate::run::runner::{Outcome, run_unless};

/// Which cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its row.
    pub fault: &'static Fault,
    /// Its column; a mutant has no expectations.
    pub strategy: StrategyName,
    /// What the sink checks.
    pub guard: Option<Guard>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Which.
    pub cell: Cell,
    /// The one word.
    pub coverage: Coverage,
    /// Why it is inconclusive.
    pub why: Option<String>,
    /// What was counted; `None` where nothing was run.
    pub figures: Option<Figures>,
    /// What was run, and its whole log.
    pub run: Option<(Scenario, Vec<Arc<Event>>)>,
}

/// Why a cell could not be measured: a defect of the lab or of a script, never of a strategy.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// A script cannot be read or played.
    #[error("the script of {fault} does not fit {strategy}: {why}")]
    Script {
        /// Which fault's.
        fault: &'static str,
        /// Under which strategy.
        strategy: StrategyName,
        /// What is wrong with it.
        why: String,
    },
    /// It was told to end before it was over, or before it began.
    #[error("told to end")]
    Interrupted,
    /// The lab failed.
    #[error("the lab failed at {fault} under {strategy}: {why}")]
    Lab {
        /// At which fault.
        fault: &'static str,
        /// Under which strategy.
        strategy: StrategyName,
        /// Why.
        why: String,
    },
}

impl Cell {
    /// Its tag, by which the run says where it belongs.
    pub fn tag(&self) -> String {
        let guard = self.guard.map_or("none".to_owned(), |guard| guard.to_string());
        format!("matrix/{}/{}/{guard}", self.fault.name, self.strategy)
    }

    /// What the lab expects; `None` of mutants, and where the fault does not concern the strategy.
    pub fn expected(&self) -> Option<&'static Expected> {
        if self.strategy.mutant.is_some() { None } else { expected::of(self.fault.name, &self.strategy.strategy) }
    }

    /// What is run; `None` if the fault cannot happen to the strategy.
    pub fn scenario(&self) -> Result<Option<Scenario>, CellError> {
        let script = |why| CellError::Script { fault: self.fault.name, strategy: self.strategy.clone(), why };
        let (info, _) = strategy::find(&self.strategy).map_err(|error| script(error.to_string()))?;
        let Some(scenario) = self.fault.script(info) else { return Ok(None) };
        let mut scenario = scenario.map_err(|problems| script(Problem::render_all(&problems, self.fault.name)))?;
        scenario.setup.strategy = self.strategy.clone();
        scenario.setup.guard = self.guard.into_iter().collect();
        Ok(Some(scenario))
    }

    /// Run it, unless it is told to end.
    pub async fn measure(self, lab: &Lab, told_to_end: &CancellationToken) -> Result<Measured, CellError> {
        let Some(scenario) = self.scenario()? else {
            return Ok(Measured { cell: self, coverage: Coverage::NotApplicable, why: None, figures: None, run: None });
        };
        let finished = run_unless(lab, &scenario, Some(self.tag()), told_to_end).await;
        let (fault, strategy) = (self.fault.name, self.strategy.clone());
        let figures = Figures::of(&finished.verdict);
        let (coverage, why) = match finished.outcome {
            Outcome::Held | Outcome::Failed => match unanswered(&finished.events, self.fault.cuts_off) {
                Some(why) => (Coverage::Inconclusive, Some(why)),
                None => (figures.coverage(self.guard.is_some()), None),
            },
            Outcome::Inconclusive(why) => (Coverage::Inconclusive, Some(why)),
            Outcome::BadScenario(why) => return Err(CellError::Script { fault, strategy, why }),
            Outcome::Interrupted => return Err(CellError::Interrupted),
            Outcome::LabFailed(why) => return Err(CellError::Lab { fault, strategy, why }),
        };
        let run = Some((finished.scenario, finished.events));
        Ok(Measured { cell: self, coverage, why, figures: Some(figures), run })
    }
}

/// An effect of which nobody knows whether the sink took it, or that was rejected because the guard could not
/// ask: where no fault did that, the machine was too busy, and the run says nothing about the lock. Effects of
/// a replica that is cut off on purpose are not looked at.
fn unanswered(events: &[Arc<Event>], cut_off: Option<&str>) -> Option<String> {
    events.iter().find_map(|event| match &event.kind {
        Kind::EffectAnswered { attempt, answer: EffectAnswer::Unknown | EffectAnswer::GuardUnreachable(_), .. }
            if Some(attempt.replica.as_str()) != cut_off =>
        {
            Some(format!("the sink had no answer for {attempt} in time, though nothing disturbed it"))
        }
        _ => None,
    })
}

impl Measured {
    /// Does it differ from what is expected? An inconclusive cell shows nothing, so that it does not.
    pub fn differs(&self) -> bool {
        let expected = self.cell.expected().map(|expected| expected.behind(self.cell.guard));
        self.coverage != Coverage::Inconclusive && expected.is_some_and(|expected| expected != self.coverage)
    }
}
