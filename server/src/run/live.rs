//! Live sessions: what a learner plays with. A live session is a scenario being written; each click
//! appends an action. It goes on while somebody watches, is suspended a minute after the last watcher
//! left, and is stored with its verdict when it ends. It must never outlive its arena.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use locks::action::Action;
use locks::event::EndReason;
use locks::scenario::Scenario;
use locks::setup::Setup;
use tokio::sync::watch;

use super::error::ActError;
use super::log::{Log, Recorder, RunId, new_run_id};
use super::script;

/// What live sessions are limited to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most sessions at a time.
    pub sessions: usize,
    /// How long a session goes on that nobody watches.
    pub unwatched: Duration,
    /// Most events of one segment.
    pub segment: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { sessions: 8, unwatched: Duration::from_secs(60), segment: 50_000 }
    }
}

/// Why there is no session to be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// All arenas are taken.
    #[error("all {most} labs are in use; one becomes free a minute after its page was closed. Try again shortly")]
    Full {
        /// How many there may be.
        most: usize,
    },
    /// The lab itself failed.
    #[error("the lab could not be opened: {0}")]
    Lab(String),
}

/// All live sessions of a server.
pub struct Sessions {
    limits: Limits,
    folder: PathBuf,
    open: Mutex<BTreeMap<RunId, Arc<Live>>>,
}

impl Sessions {
    /// None yet; their logs stand below `folder` while they go on.
    pub fn new(folder: PathBuf, limits: Limits) -> Sessions {
        Sessions { limits, folder, open: Mutex::default() }
    }

    /// The session of that learner, a new one if there is none that goes on.
    pub async fn open(&self, owner: &str) -> Result<Arc<Live>, OpenError> {
        self.open_with(owner, Setup::live()).await
    }

    /// The same, where a new one begins with that set-up.
    pub async fn open_with(&self, owner: &str, setup: Setup) -> Result<Arc<Live>, OpenError> {
        if let Some(live) = self.of(owner) {
            return Ok(live);
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= self.limits.sessions {
            return Err(OpenError::Full { most: self.limits.sessions });
        }
        let _ = (&self.folder, setup);
        let live = Arc::new(Live::new(owner));
        open.insert(live.id(), live.clone());
        Ok(live)
    }

    /// The session of that learner that goes on.
    pub fn of(&self, owner: &str) -> Option<Arc<Live>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).values().find(|live| live.owner() == owner).cloned()
    }

    /// The session whose present segment is that run.
    pub fn get(&self, id: &str) -> Option<Arc<Live>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).values().find(|live| live.id() == id).cloned()
    }

    /// How many go on.
    pub fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// End all of them, before the server ends.
    pub async fn close_all(&self) {
        let all: Vec<_> = self.open.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for live in all {
            live.close().await;
        }
    }
}

/// One live session.
pub struct Live {
    owner: String,
    id: Mutex<RunId>,
    recorder: Recorder,
    watchers: watch::Sender<usize>,
}

impl Live {
    fn new(owner: &str) -> Live {
        Live {
            owner: owner.to_owned(),
            id: Mutex::new(new_run_id()),
            recorder: Recorder::default(),
            watchers: watch::Sender::new(0),
        }
    }

    /// Who may act on it.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The run of the present segment.
    pub fn id(&self) -> RunId {
        self.id.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The log of the present segment. When it ends with `Segment`, the session goes on in another: ask again.
    pub fn log(&self) -> Arc<Log> {
        self.recorder.log()
    }

    /// Do one action, after those asked for before; the number of the step.
    pub async fn act(&self, action: Action) -> Result<u32, ActError> {
        Err(ActError::NotSupported { action: action.name() })
    }

    /// The scenario that this session has written so far.
    pub fn scenario(&self) -> Scenario {
        script::of_log(&self.log().after(0))
    }

    /// The session goes on at least as long as this is kept.
    pub fn watch(self: &Arc<Self>) -> Watching {
        self.watchers.send_modify(|n| *n += 1);
        Watching(self.clone())
    }

    /// End it and store it. Returns when every process is gone.
    pub async fn close(&self) {
        self.recorder.note(locks::event::Kind::Ended { why: EndReason::Closed });
    }
}

/// Somebody watches a session; dropping this ends it.
pub struct Watching(Arc<Live>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.watchers.send_modify(|n| *n -= 1);
    }
}
