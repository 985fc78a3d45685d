//! One cell of the matrix: which fault, strategy and guard, and what came of running it. A race measures the
//! same way, with a script of its own.

use std::sync::Arc;

use locks::event::Event;
use locks::guard::Guard;
use locks::matrix::{Coverage, Figures};
use locks::scenario::{Problem, Scenario};
use locks::setup::StrategyName;
use locks::strategy;
use tokio_util::sync::CancellationToken;

use super::expected::{self, Expected};
use super::faults::Fault;
use super::machine;
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
    #[error("the script of {script} does not fit {strategy}: {why}")]
    Script {
        /// Which: the fault's name, or the run that is raced.
        script: String,
        /// Under which strategy.
        strategy: StrategyName,
        /// What is wrong with it.
        why: String,
    },
    /// It was told to end before it was over, or before it began.
    #[error("told to end")]
    Interrupted,
    /// The lab failed.
    #[error("the lab failed at {script} under {strategy}: {why}")]
    Lab {
        /// At which script.
        script: String,
        /// Under which strategy.
        strategy: StrategyName,
        /// Why.
        why: String,
    },
}

/// A scenario that is to be measured.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The fault's name, or the run that is raced.
    pub script: String,
    /// What is run.
    pub scenario: Scenario,
    /// By which the run says where it belongs.
    pub tag: String,
    /// The replica whose effects the script leaves without an answer on purpose.
    pub cuts_off: Option<&'static str>,
}

/// A trial that is over.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The one word.
    pub coverage: Coverage,
    /// Why it is inconclusive.
    pub why: Option<String>,
    /// What was counted.
    pub figures: Figures,
    /// What was run.
    pub scenario: Scenario,
    /// Its whole log.
    pub events: Vec<Arc<Event>>,
}

impl Trial {
    /// Run it, unless it is told to end. A run that proves nothing, as on a machine that is too busy, is tried
    /// once more.
    pub async fn run(&self, lab: &Lab, told_to_end: &CancellationToken) -> Result<Tried, CellError> {
        let first = self.once(lab, told_to_end).await?;
        if first.coverage != Coverage::Inconclusive {
            return Ok(first);
        }
        tracing::info!(script = %self.script, why = first.why, "a run proves nothing; it is tried once more");
        self.once(lab, told_to_end).await
    }

    async fn once(&self, lab: &Lab, told_to_end: &CancellationToken) -> Result<Tried, CellError> {
        let finished = run_unless(lab, &self.scenario, Some(self.tag.clone()), told_to_end).await;
        let (script, strategy) = (self.script.clone(), self.scenario.setup.strategy.clone());
        let figures = Figures::of(&finished.verdict);
        let (coverage, why) = match finished.outcome {
            Outcome::Held | Outcome::Failed => match machine::too_busy(&finished.events, &figures, self.cuts_off) {
                Some(why) => (Coverage::Inconclusive, Some(why)),
                None => (figures.coverage(!self.scenario.setup.guard.is_empty()), None),
            },
            Outcome::Inconclusive(why) => (Coverage::Inconclusive, Some(why)),
            Outcome::BadScenario(why) => return Err(CellError::Script { script, strategy, why }),
            Outcome::Interrupted => return Err(CellError::Interrupted),
            Outcome::LabFailed(why) => return Err(CellError::Lab { script, strategy, why }),
        };
        Ok(Tried { coverage, why, figures, scenario: finished.scenario, events: finished.events })
    }
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
    pub fn trial(&self) -> Result<Option<Trial>, CellError> {
        let name = self.fault.name;
        let script = |why| CellError::Script { script: name.to_owned(), strategy: self.strategy.clone(), why };
        let (info, _) = strategy::find(&self.strategy).map_err(|error| script(error.to_string()))?;
        let Some(scenario) = self.fault.script(info) else { return Ok(None) };
        let mut scenario = scenario.map_err(|problems| script(Problem::render_all(&problems, name)))?;
        scenario.setup.strategy = self.strategy.clone();
        scenario.setup.guard = self.guard.into_iter().collect();
        Ok(Some(Trial { script: name.to_owned(), scenario, tag: self.tag(), cuts_off: self.fault.cuts_off }))
    }

    /// Run it, unless it is told to end.
    pub async fn measure(self, lab: &Lab, told_to_end: &CancellationToken) -> Result<Measured, CellError> {
        let Some(trial) = self.trial()? else {
            return Ok(Measured { cell: self, coverage: Coverage::NotApplicable, why: None, figures: None, run: None });
        };
        let Tried { coverage, why, figures, scenario, events } = trial.run(lab, told_to_end).await?;
        Ok(Measured { cell: self, coverage, why, figures: Some(figures), run: Some((scenario, events)) })
    }
}

impl Measured {
    /// Does it differ from what is expected? An inconclusive cell shows nothing, so that it does not.
    pub fn differs(&self) -> bool {
        let expected = self.cell.expected().map(|expected| expected.behind(self.cell.guard));
        self.coverage != Coverage::Inconclusive && expected.is_some_and(|expected| expected != self.coverage)
    }
}
