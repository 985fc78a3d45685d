//! Runs that are over, as the control plane keeps them: the log, the scenario that it amounts to, and the
//! verdict. Nothing is ever changed there; a learner may delete what is theirs. The logs that were read last are kept
//! in memory, because a page reads the one that it shows piece by piece.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::data::{Counted, RunLine};
use app::stage::era;
use chrono::{DateTime, Duration, Utc};
use locks::event::{EndReason, Event, Kind};
use locks::judge::Verdict;
use locks::setup::Setup;

use super::export::judged;
use super::log::{Log, RunId};
use super::{script, spool};
use crate::control::runs::StoredRun;
use crate::lab::{Lab, LabError};

/// Most runs of one list.
const LIST: u32 = 200;

/// So many events are kept in memory, of all logs together; the log that was read last is always kept.
const KEPT: u64 = 100_000;

/// Stored runs.
#[derive(Clone)]
pub struct Shelf {
    lab: Arc<Lab>,
    read: Arc<Mutex<Read>>,
}

/// The logs that were read last.
#[derive(Default)]
struct Read {
    /// The latest at the end.
    logs: VecDeque<(RunId, Arc<Log>)>,
    /// How many runs were deleted: a log that was read meanwhile may be one of them, and is not kept.
    deleted: u64,
}

impl Read {
    fn keep(&mut self, id: &str, log: &Arc<Log>) {
        self.logs.retain(|(other, _)| other != id);
        self.logs.push_back((id.to_owned(), log.clone()));
        while self.logs.len() > 1 && self.logs.iter().map(|(_, log)| log.newest()).sum::<u64>() > KEPT {
            self.logs.pop_front();
        }
    }

    fn forget(&mut self, id: &str) {
        self.logs.retain(|(other, _)| other != id);
        self.deleted += 1;
    }
}

/// Why a run is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// There is none of that number.
    #[error("there is no such run")]
    NotFound,
    /// What is stored is no log.
    #[error("the stored run cannot be read: {0}")]
    Broken(String),
    /// The control plane.
    #[error(transparent)]
    Lab(#[from] LabError),
}

impl Shelf {
    /// The runs that this lab's control plane keeps.
    pub fn new(lab: Arc<Lab>) -> Shelf {
        Shelf { lab, read: Arc::default() }
    }

    /// Poisoning is no matter: entries are put in and taken out whole.
    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the control plane answer, and soon?
    pub async fn check(&self) -> Result<(), ShelfError> {
        Ok(self.lab.control().await?.ping().await?)
    }

    /// Store a run that has ended; its identity. Storing it again changes nothing.
    pub async fn save(&self, owner: Option<&str>, events: &[Arc<Event>]) -> Result<RunId, ShelfError> {
        let broken = |what: &str| ShelfError::Broken(what.to_owned());
        let run = stored(owner, events).ok_or_else(|| broken("it does not begin with `began` and end with `ended`"))?;
        let log = spool::lines(events).map_err(|error| broken(&error.to_string()))?;
        let log = String::from_utf8(log).map_err(|error| broken(&error.to_string()))?;
        let control = self.lab.control().await?;
        if let Some(owner) = owner {
            control.see_learner(owner).await?;
        }
        control.save_run(&run, &log).await?;
        Ok(run.id)
    }

    /// The log of a stored run.
    pub async fn log(&self, id: &str) -> Result<Arc<Log>, ShelfError> {
        if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ShelfError::NotFound);
        }
        let deleted = {
            let read = self.read();
            if let Some((_, log)) = read.logs.iter().find(|(other, _)| other == id) {
                return Ok(log.clone());
            }
            read.deleted
        };
        let text = self.lab.control().await?.load_log(id).await?.ok_or(ShelfError::NotFound)?;
        let events: Result<Vec<Event>, _> = text.lines().map(serde_json::from_str).collect();
        let log = Arc::new(Log::of(events.map_err(|error| ShelfError::Broken(error.to_string()))?));
        let mut read = self.read();
        if read.deleted == deleted {
            read.keep(id, &log);
        }
        Ok(log)
    }

    /// Delete a run of that learner's.
    pub async fn delete(&self, owner: &str, id: &str) -> Result<(), ShelfError> {
        match self.lab.control().await?.delete_run(owner, id).await? {
            true => {
                self.read().forget(id);
                Ok(())
            }
            false => Err(ShelfError::NotFound),
        }
    }

    /// That learner's runs, newest first.
    pub async fn list(&self, owner: &str) -> Result<Vec<RunLine>, ShelfError> {
        self.lab.control().await?.list_runs(owner, LIST).await?.into_iter().map(line).collect()
    }
}

/// The row of a run, from its log.
fn stored(owner: Option<&str>, events: &[Arc<Event>]) -> Option<StoredRun> {
    let (first, last) = (events.first()?, events.last()?);
    let Kind::Began { run, name, title, tag, script, wall_ms, setup, .. } = &first.kind else { return None };
    let Kind::Ended { why } = &last.kind else { return None };
    let started_at: DateTime<Utc> = DateTime::from_timestamp_millis(*wall_ms)?;
    let took_us = i64::try_from(last.at_us.saturating_sub(first.at_us)).ok()?;
    let setup = setup_at_end(setup, events);
    Some(StoredRun {
        id: run.clone(),
        owner: owner.map(str::to_owned),
        name: name.clone(),
        title: title.clone(),
        tag: tag.clone(),
        script: script.clone(),
        strategy: era::listed(&era::eras(events.iter().map(|event| &**event))),
        started_at,
        ended_at: started_at + Duration::microseconds(took_us),
        reason: reason(*why)?,
        verdict: serde_json::to_value(judged(events)).ok()?,
        setup: serde_json::to_value(setup).ok()?,
        events: i64::try_from(events.len()).ok()?,
        scenario: script::of_log(events).to_toml(),
    })
}

/// A run as the list shows it.
fn line(run: StoredRun) -> Result<RunLine, ShelfError> {
    let broken = |error: serde_json::Error| ShelfError::Broken(error.to_string());
    let verdict: Verdict = serde_json::from_value(run.verdict).map_err(broken)?;
    let of_homework = run.tag.is_some_and(|tag| tag.starts_with("homework/"));
    // Whoever enters a critical section has an outcome.
    let counted = (!of_homework || !verdict.outcomes.is_empty()).then(|| Counted {
        overlaps: verdict.overlaps.iter().filter(|finding| finding.certain).count() as u32,
        effects_per_slot: verdict.most_effects(),
    });
    Ok(RunLine {
        id: run.id,
        name: run.name,
        title: run.title,
        strategy: run.strategy,
        began_ms: run.started_at.timestamp_millis(),
        events: run.events.unsigned_abs(),
        ended: Some(serde_json::from_value(run.reason.into()).map_err(broken)?),
        counted,
    })
}

fn setup_at_end(begun: &Setup, events: &[Arc<Event>]) -> Setup {
    let changed = events.iter().rev().find_map(|event| match &event.kind {
        Kind::Set { setup, .. } => Some((**setup).clone()),
        _ => None,
    });
    changed.unwrap_or_else(|| begun.clone())
}

/// As the log writes it.
fn reason(why: EndReason) -> Option<String> {
    serde_json::to_value(why).ok()?.as_str().map(str::to_owned)
}
