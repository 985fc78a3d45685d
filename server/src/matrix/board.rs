//! The board: the matrix as one learner sees it, put together from what they said, what was measured for them
//! and what is under way. It reads and writes the control plane and begins nothing by itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use app::matrix::place::guard_name;
use app::matrix::{Cell, CellName, Line, MatrixPage, Measured, Opened, Place, Race, Row, Run, Said, Tally, UnderWay};
use app::stage::view::words;
use locks::guard::Guard;
use locks::scenario::Scenario;
use locks::setup::StrategyName;
use locks::strategy;
use serde_json::{Value, json};

use super::cell;
use super::desk::{Desk, Key, coverage};
use super::expected;
use super::faults::{self, Fault};
use super::job::{Job, Script, refusal};
use super::report::Matrix;
use crate::control::matrix::{MeasuredRow, Prediction};
use crate::lab::{Lab, LabError};
use crate::run::live::Sessions;
use crate::run::script;
use crate::run::shelf::{Shelf, ShelfError};

/// What is raced where nothing else is asked for.
const USUAL_RACE: &str = "pause-past-lease";
/// So many runs are kept folded, so that a page that is looked at again is quick.
const FOLDED: usize = 48;

/// What is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// No such row.
    #[error("No fault is called {name:?}; there are {}.", fault_names())]
    NoFault {
        /// What was asked for.
        name: String,
    },
    /// A cell in which nothing can happen.
    #[error("{fault} cannot happen to {strategy}: there is nothing to run.")]
    Unconcerned {
        /// Its row.
        fault: &'static str,
        /// Its column.
        strategy: String,
    },
    /// A cell that was shown.
    #[error("This cell was shown to you already: what is said of it now is no prediction.")]
    Shown,
    /// This run cannot be raced.
    #[error("{0}")]
    NoRace(String),
    /// A stored run.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// The control plane.
    #[error(transparent)]
    Lab(#[from] LabError),
}

fn fault_names() -> String {
    faults::ALL.iter().map(|fault| fault.name).collect::<Vec<_>>().join(", ")
}

/// See the module.
pub struct Board {
    lab: Arc<Lab>,
    shelf: Shelf,
    sessions: Arc<Sessions>,
    desk: Arc<Desk>,
    folded: Mutex<VecDeque<(String, Arc<Run>)>>,
}

/// What is known of one learner.
struct Known {
    said: BTreeMap<(String, String, String), Said>,
    measured: BTreeMap<(String, String, String), Measured>,
    under_way: BTreeMap<Key, UnderWay>,
    learner: String,
}

impl Known {
    fn cell(&self, script: &str, strategy: &str, guard: Option<Guard>, applies: bool) -> Cell {
        let key = (script.to_owned(), strategy.to_owned(), guard_name(guard));
        let job =
            Key { learner: self.learner.clone(), script: script.to_owned(), strategy: strategy.to_owned(), guard };
        Cell {
            strategy: strategy.to_owned(),
            applies,
            said: self.said.get(&key).copied(),
            measured: self.measured.get(&key).cloned(),
            under_way: self.under_way.get(&job).copied(),
        }
    }

    fn rows(&self, guard: Option<Guard>) -> Vec<Row> {
        let cells = |fault: &Fault| {
            let infos = strategy::ALL.iter();
            infos.map(|info| self.cell(fault.name, info.name, guard, fault.script(info).is_some())).collect()
        };
        let row = |fault: &Fault| Row {
            fault: fault.name.to_owned(),
            title: fault.title.to_owned(),
            group: fault.group.to_owned(),
            cells: cells(fault),
        };
        faults::ALL.iter().map(row).collect()
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for (key, said) in &self.said {
            tally.count(said.covered, self.measured.get(key).map(|measured| measured.coverage));
        }
        tally
    }
}

impl Board {
    /// Of that lab, with what its desk does.
    pub fn new(lab: Arc<Lab>, shelf: Shelf, sessions: Arc<Sessions>, desk: Arc<Desk>) -> Board {
        Board { lab, shelf, sessions, desk, folded: Mutex::default() }
    }

    /// The fault of that name.
    pub fn fault(name: &str) -> Result<&'static Fault, BoardError> {
        faults::find(name).ok_or_else(|| BoardError::NoFault { name: name.to_owned() })
    }

    /// The job of a cell.
    pub fn job(name: &CellName, guard: Option<Guard>) -> Result<Job, BoardError> {
        let fault = Board::fault(&name.fault)?;
        let applies = strategy::info(&name.strategy).is_some_and(|info| fault.script(info).is_some());
        if !applies {
            return Err(BoardError::Unconcerned { fault: fault.title, strategy: name.strategy.clone() });
        }
        Ok(Job { script: Script::Fault(fault), strategy: name.strategy.as_str().into(), guard })
    }

    /// Keep what a learner says of a cell.
    pub async fn predict(
        &self,
        learner: &str,
        name: &CellName,
        guard: Option<Guard>,
        covered: bool,
    ) -> Result<(), BoardError> {
        Board::job(name, guard)?;
        let control = self.lab.control().await?;
        let kept = control.predict(learner, &name.fault, &name.strategy, &guard_name(guard), covered).await?;
        kept.then_some(()).ok_or(BoardError::Shown)
    }

    /// Jobs of the cells that are still to be revealed, as far as they are wanted.
    pub async fn left(
        &self,
        learner: &str,
        guard: Option<Guard>,
        wanted: impl Fn(&CellName) -> bool,
    ) -> Result<Vec<Job>, BoardError> {
        let rows = self.known(learner).await?.rows(guard);
        let left = rows.iter().flat_map(|row| {
            row.cells.iter().filter(|cell| cell.is_left()).map(|cell| CellName::new(&cell.strategy, &row.fault))
        });
        left.filter(|name| wanted(name)).map(|name| Board::job(&name, guard)).collect()
    }

    /// Jobs of a race: the lines that are still to be run, or all of them once none is.
    pub async fn race_jobs(&self, learner: &str, name: &str, guard: Option<Guard>) -> Result<Vec<Job>, BoardError> {
        let script = self.script(learner, name).await?;
        let known = self.known(learner).await?;
        let all = self.lanes(&known, &script, guard);
        let mut jobs: Vec<&Cell> = all.iter().filter(|cell| cell.is_left()).collect();
        if jobs.is_empty() {
            jobs = all.iter().filter(|cell| cell.applies).collect();
        }
        let job = |cell: &Cell| Job { script: script.clone(), strategy: cell.strategy.as_str().into(), guard };
        Ok(jobs.into_iter().map(job).collect())
    }

    /// What a race's address names.
    async fn script(&self, learner: &str, name: &str) -> Result<Script, BoardError> {
        if let Some(fault) = faults::find(name) {
            return Ok(Script::Fault(fault));
        }
        if name.len() != 32 {
            return Err(BoardError::NoFault { name: name.to_owned() });
        }
        let scenario = match self.sessions.get(name) {
            Some(live) if live.owner() == learner => live.scenario(),
            Some(_) => return Err(ShelfError::NotFound.into()),
            None => script::of_log(&self.shelf.log(name).await?.after(0)),
        };
        match refusal(&scenario) {
            Some(why) => Err(BoardError::NoRace(why)),
            None => Ok(Script::Run { id: name.to_owned(), scenario: Arc::new(scenario) }),
        }
    }

    /// One cell a strategy.
    fn lanes(&self, known: &Known, script: &Script, guard: Option<Guard>) -> Vec<Cell> {
        let applies = |info| match script {
            Script::Fault(fault) => fault.script(info).is_some(),
            Script::Run { .. } => true,
        };
        strategy::ALL.iter().map(|info| known.cell(script.name(), info.name, guard, applies(info))).collect()
    }

    async fn known(&self, learner: &str) -> Result<Known, LabError> {
        let control = self.lab.control().await?;
        // Before the results are read: what ends meanwhile is then shown as under way, never as nothing.
        let under_way = self.desk.under_way(learner);
        let said = control.predictions(learner).await?.into_iter().map(|said: Prediction| {
            let told = Said { covered: said.covered, at_ms: said.said_at.timestamp_millis() };
            ((said.fault, said.strategy, said.guard), told)
        });
        let mut measured = BTreeMap::new();
        for row in control.measured(learner).await? {
            let (key, row) = of_row(row)?;
            measured.insert(key, row);
        }
        Ok(Known { said: said.collect(), measured, under_way, learner: learner.to_owned() })
    }

    /// Everything that the page shows at a place.
    pub async fn page(&self, learner: &str, place: Place) -> Result<MatrixPage, BoardError> {
        let known = self.known(learner).await?;
        let rows = known.rows(place.guard);
        let opened = match &place.cell {
            Some(name) => Some(self.opened(&rows, name, place.guard).await?),
            None => None,
        };
        let race = self.race(&known, &place).await?;
        let strategies = strategy::ALL.iter().map(|info| info.name.to_owned()).collect();
        Ok(MatrixPage { tally: known.tally(), place, strategies, rows, opened, race })
    }

    async fn opened(&self, rows: &[Row], name: &CellName, guard: Option<Guard>) -> Result<Opened, BoardError> {
        let row = rows.iter().find(|row| row.fault == name.fault);
        let row = row.ok_or_else(|| BoardError::NoFault { name: name.fault.clone() })?;
        let cell = row.cells.iter().find(|cell| cell.strategy == name.strategy && cell.applies).ok_or_else(|| {
            let fault = faults::find(&name.fault).map_or("This", |fault| fault.title);
            BoardError::Unconcerned { fault, strategy: name.strategy.clone() }
        })?;
        let expected = expected::of(&name.fault, &name.strategy);
        Ok(Opened {
            title: row.title.clone(),
            name: name.clone(),
            stage: self.stage(cell.measured.as_ref()).await,
            cell: cell.clone(),
            expected: expected.map(|expected| (expected.behind(guard), expected.why.clone())),
        })
    }

    async fn race(&self, known: &Known, place: &Place) -> Result<Race, BoardError> {
        let name = place.race.as_deref().unwrap_or(USUAL_RACE);
        let script = self.script(&known.learner, name).await?;
        let mut lines = Vec::new();
        for cell in self.lanes(known, &script, place.guard) {
            let stage = self.stage(cell.measured.as_ref()).await;
            lines.push(Line { strategy: cell.strategy.clone(), summary: summary(&cell.strategy), cell, stage });
        }
        let (title, scenario) = match &script {
            Script::Fault(fault) => (fault.title.to_owned(), own_scenario(fault)),
            Script::Run { id, scenario } => {
                (format!("run {}", id.get(..4).unwrap_or(id)), Some(Scenario::clone(scenario)))
            }
        };
        let terms = scenario.map_or_else(String::new, |scenario| {
            let setup = scenario.setup;
            format!(
                "lease {} ms, work {} ms, guard {}, one scale",
                words::grouped(setup.lease_ms),
                words::grouped(setup.work_ms),
                guard_name(place.guard)
            )
        });
        Ok(Race { script: name.to_owned(), title, terms, lines })
    }

    /// The run behind what was measured, folded. One that cannot be read is not shown.
    async fn stage(&self, measured: Option<&Measured>) -> Option<Arc<Run>> {
        let run = measured?.run.as_ref()?;
        if let Some((_, stage)) = self.folded().iter().find(|(id, _)| id == run) {
            return Some(stage.clone());
        }
        match self.shelf.log(run).await {
            Ok(log) => {
                let events = log.after(0);
                let stage = Arc::new(Run::of(events.iter().map(Arc::as_ref)));
                let mut folded = self.folded();
                if folded.len() >= FOLDED {
                    folded.pop_front();
                }
                folded.push_back((run.clone(), stage.clone()));
                Some(stage)
            }
            Err(error) => {
                tracing::warn!(%error, run, "the run behind a cell cannot be shown");
                None
            }
        }
    }

    /// Poisoning is no matter: entries are put in and taken out whole.
    fn folded(&self) -> std::sync::MutexGuard<'_, VecDeque<(String, Arc<Run>)>> {
        self.folded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The learner's cells behind a guard, for programs.
    pub async fn json(&self, learner: &str, guard: Option<Guard>) -> Result<Value, BoardError> {
        let known = self.known(learner).await?;
        let rows = known.rows(guard);
        let cells = rows.iter().flat_map(|row| {
            row.cells.iter().filter(|cell| cell.applies).map(|cell| {
                let measured = cell.measured.as_ref();
                json!({
                    "cell": CellName::new(&cell.strategy, &row.fault).to_string(),
                    "predicted": cell.said.map(|said| said.covered),
                    "under_way": cell.under_way.map(|each| match each {
                        UnderWay::Waits => "waits",
                        UnderWay::Runs => "runs",
                    }),
                    "measured": measured.map(|measured| measured.coverage),
                    "inconclusive_because": measured.and_then(|measured| measured.why.clone()),
                    "figures": measured.and_then(|measured| measured.figures.clone()),
                    "run": measured.and_then(|measured| measured.run.clone()),
                })
            })
        });
        Ok(json!({ "guard": guard_name(guard), "cells": cells.collect::<Vec<_>>() }))
    }

    /// What was measured behind a guard, as `aegis matrix` prints it.
    pub async fn export(&self, learner: &str, guard: Option<Guard>) -> Result<Matrix, BoardError> {
        let rows = self.known(learner).await?.rows(guard);
        let mut cells = Vec::new();
        for (fault, row) in faults::ALL.iter().zip(rows) {
            for cell in row.cells {
                let Some(measured) = cell.measured else { continue };
                cells.push(cell::Measured {
                    cell: cell::Cell { fault, strategy: cell.strategy.as_str().into(), guard },
                    coverage: measured.coverage,
                    why: measured.why,
                    figures: measured.figures,
                    run: None,
                });
            }
        }
        let strategies: Vec<StrategyName> = strategy::ALL.iter().map(|info| info.name.into()).collect();
        Ok(Matrix { strategies, guards: vec![guard], cells })
    }
}

fn of_row(row: MeasuredRow) -> Result<((String, String, String), Measured), LabError> {
    let broken = |error: serde_json::Error| LabError::Lab(error.to_string());
    let figures = row.figures.map(serde_json::from_value).transpose().map_err(broken)?;
    let measured = Measured { coverage: coverage(&row.coverage)?, why: row.why, figures, run: row.run };
    Ok(((row.script, row.strategy, row.guard), measured))
}

/// What a lock is, in a few words: where it stands.
fn summary(name: &str) -> String {
    use locks::strategy::LockAt;
    let Some(info) = strategy::info(name) else { return String::new() };
    match info.lock_at {
        LockAt::Nowhere => "no coordination".to_owned(),
        LockAt::LocksRow => "a row with a lease".to_owned(),
        LockAt::SlotRow => "the slot’s row".to_owned(),
        LockAt::RowLock => "a row lock".to_owned(),
        LockAt::Keys { nodes: 1, .. } => "a key".to_owned(),
        LockAt::Keys { nodes, .. } => format!("keys on {nodes} nodes"),
    }
}

/// A fault's script for the first strategy that it concerns: set-ups are the same for all.
fn own_scenario(fault: &Fault) -> Option<Scenario> {
    strategy::ALL.iter().find_map(|info| fault.script(info)?.ok())
}
