//! The desk: measures cells and lines of races for learners, a bounded number of arenas at a time, and keeps
//! what came of them in the control plane, each run stored like any other. It knows what waits and what runs,
//! and ends it when told to. What was measured survives it; what was under way does not.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::matrix::UnderWay;
use app::matrix::place::guard_name;
use locks::guard::Guard;
use locks::matrix::Coverage;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::cell::{CellError, Tried};
use super::job::Job;
use crate::control::matrix::MeasuredRow;
use crate::lab::{Lab, LabError};
use crate::run::shelf::{Shelf, ShelfError};

/// Cells wait for time far more than for a core, but pages are served from the same cores.
const JOBS_A_CORE: usize = 2;
/// Most jobs of one learner that are not over: the whole matrix, and a race.
const MOST: usize = 240;

/// Which job of which learner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Whose.
    pub learner: String,
    /// A fault by its name, or the run that is raced.
    pub script: String,
    /// Under which strategy.
    pub strategy: String,
    /// Behind which guard.
    pub guard: Option<Guard>,
}

impl Key {
    /// That job, of that learner.
    pub fn of(learner: &str, job: &Job) -> Key {
        let script = job.script.name().to_owned();
        Key { learner: learner.to_owned(), script, strategy: job.strategy.to_string(), guard: job.guard }
    }
}

/// Why nothing was begun.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Enough is under way.
    #[error("{MOST} cells of yours are under way already. Wait for some of them, or cancel them.")]
    TooMany,
    /// The desk is closed.
    #[error("the lab is about to end")]
    Closed,
}

struct Pending {
    under_way: UnderWay,
    cancel: CancellationToken,
}

/// See the module.
pub struct Desk(Arc<Shared>);

struct Shared {
    lab: Arc<Lab>,
    shelf: Shelf,
    jobs: u32,
    permits: Arc<Semaphore>,
    pending: Mutex<BTreeMap<Key, Pending>>,
    /// Counts changes of what is pending or measured.
    changed: watch::Sender<u64>,
    ending: CancellationToken,
    tasks: TaskTracker,
}

impl Desk {
    /// Nothing is under way yet.
    pub fn new(lab: Arc<Lab>, shelf: Shelf) -> Desk {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Desk::with_jobs(lab, shelf, cores * JOBS_A_CORE)
    }

    /// The same, with so many jobs at a time.
    pub fn with_jobs(lab: Arc<Lab>, shelf: Shelf, jobs: usize) -> Desk {
        Desk(Arc::new(Shared {
            lab,
            shelf,
            jobs: u32::try_from(jobs).unwrap_or(u32::MAX),
            permits: Arc::new(Semaphore::new(jobs)),
            pending: Mutex::default(),
            changed: watch::Sender::new(0),
            ending: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Begin jobs for a learner; how many. Those that are under way already are passed over.
    pub fn start(&self, learner: &str, jobs: Vec<Job>) -> Result<usize, StartError> {
        let shared = &self.0;
        if shared.ending.is_cancelled() {
            return Err(StartError::Closed);
        }
        let mut pending = shared.pending();
        let keyed = jobs.into_iter().map(|job| (Key::of(learner, &job), job));
        let mut fresh: Vec<(Key, Job)> = keyed.filter(|(key, _)| !pending.contains_key(key)).collect();
        if pending.keys().filter(|key| key.learner == learner).count() + fresh.len() > MOST {
            return Err(StartError::TooMany);
        }
        // What needs the machine to itself comes last.
        fresh.sort_by_key(|(_, job)| job.script.is_heavy());
        let count = fresh.len();
        for (key, job) in fresh {
            let cancel = shared.ending.child_token();
            pending.insert(key.clone(), Pending { under_way: UnderWay::Waits, cancel: cancel.clone() });
            shared.tasks.spawn(shared.clone().carry_out(key, job, cancel));
        }
        drop(pending);
        shared.changed();
        Ok(count)
    }

    /// End everything of a learner that is under way; how much that was. It is over a moment later.
    pub fn cancel(&self, learner: &str) -> usize {
        let pending = self.0.pending();
        let own = pending.iter().filter(|(key, _)| key.learner == learner);
        own.inspect(|(_, pending)| pending.cancel.cancel()).count()
    }

    /// What is under way for a learner.
    pub fn under_way(&self, learner: &str) -> BTreeMap<Key, UnderWay> {
        let pending = self.0.pending();
        let own = pending.iter().filter(|(key, _)| key.learner == learner);
        own.map(|(key, pending)| (key.clone(), pending.under_way)).collect()
    }

    /// Changes whenever something began, moved or ended.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// End everything, before the server ends. Returns when no process of it is left.
    pub async fn close(&self) {
        self.0.ending.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

impl Shared {
    /// Poisoning is no matter: jobs are put in and taken out whole.
    fn pending(&self) -> MutexGuard<'_, BTreeMap<Key, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changed.send_modify(|n| *n += 1);
    }

    async fn carry_out(self: Arc<Self>, key: Key, job: Job, cancel: CancellationToken) {
        let wanted = if job.script.is_heavy() { self.jobs } else { 1 };
        // The semaphore is never closed.
        let permits = cancel.run_until_cancelled(self.permits.clone().acquire_many_owned(wanted)).await;
        if permits.is_some() {
            if let Some(pending) = self.pending().get_mut(&key) {
                pending.under_way = UnderWay::Runs;
            }
            self.changed();
            if let Err(error) = self.measure(&key, &job, &cancel).await {
                tracing::error!(%error, script = key.script, strategy = key.strategy, "what was measured is not kept");
            }
        }
        self.pending().remove(&key);
        self.changed();
    }

    async fn measure(&self, key: &Key, job: &Job, cancel: &CancellationToken) -> Result<(), ShelfError> {
        let row = MeasuredRow {
            script: key.script.clone(),
            strategy: key.strategy.clone(),
            guard: guard_name(key.guard),
            coverage: word(Coverage::Inconclusive),
            why: None,
            figures: None,
            run: None,
        };
        let tried = match job.trial() {
            Ok(Some(trial)) => trial.run(&self.lab, cancel).await,
            // Nobody begins what cannot happen.
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        let row = match tried {
            Ok(tried) => self.stored(&key.learner, row, tried).await?,
            Err(CellError::Interrupted) => return Ok(()),
            Err(error) => MeasuredRow { why: Some(error.to_string()), ..row },
        };
        Ok(self.lab.control().await?.keep_measured(&key.learner, &row).await?)
    }

    /// Store the run behind it.
    async fn stored(&self, learner: &str, row: MeasuredRow, tried: Tried) -> Result<MeasuredRow, ShelfError> {
        let Tried { coverage, why, figures, events, .. } = tried;
        let run = if events.is_empty() { None } else { Some(self.shelf.save(Some(learner), &events).await?) };
        let figures = serde_json::to_value(figures).map_err(|error| ShelfError::Broken(error.to_string()))?;
        Ok(MeasuredRow { coverage: word(coverage), why, figures: Some(figures), run, ..row })
    }
}

/// As the database has it: the form of JSON.
fn word(coverage: Coverage) -> String {
    coverage.name().replace(' ', "-")
}

/// What the database has, as the word that it is.
pub fn coverage(word: &str) -> Result<Coverage, LabError> {
    let all = [Coverage::Covered, Coverage::NotCovered, Coverage::Inconclusive];
    let found = all.into_iter().find(|coverage| coverage.name().replace(' ', "-") == word);
    found.ok_or_else(|| LabError::Lab(format!("{word:?} is no word for what was measured")))
}
