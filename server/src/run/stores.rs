//! The stores' processes as the run sees them: stopped, killed and started as a fault says, each told in the
//! log when it is really so. One that ends without being told to is told of too, and whoever waits for it or
//! asks for work hears why there is none. Shared stores have no processes here.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use locks::event::{Kind, Problem, ProcessName, ProcessState, Source, Whose};
use locks::ids::Endpoint;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::error::ActError;
use super::log::Recorder;
use super::standing::Standing;
use crate::arena::Arena;
use crate::arena::store::Store;
use crate::clock;
use crate::link::Links;

/// How long it may take until replicas have their sessions again.
const SESSIONS_LIMIT: Duration = Duration::from_secs(10);

/// See the module.
pub struct Stores {
    arena: Arc<Arena>,
    links: Links,
    recorder: Recorder,
    board: Arc<Board>,
    /// For each process that is looked at: is it meant to end?
    meant: Mutex<BTreeMap<Endpoint, Arc<AtomicBool>>>,
    /// Those that ended by themselves and were not started again, with words for it.
    fallen: Arc<watch::Sender<BTreeMap<Endpoint, String>>>,
    ending: CancellationToken,
}

impl Stores {
    /// The processes of an arena; look at them from now on.
    pub async fn begin(arena: Arc<Arena>, links: Links, recorder: Recorder, board: Arc<Board>) -> Stores {
        let stores = Stores {
            arena,
            links,
            recorder,
            board,
            meant: Mutex::default(),
            fallen: Arc::new(watch::Sender::new(BTreeMap::new())),
            ending: CancellationToken::new(),
        };
        let all: Vec<Endpoint> = stores.arena.stores().map(|(endpoint, _)| endpoint).collect();
        for endpoint in all {
            stores.appeared(endpoint).await;
        }
        stores
    }

    /// A store's process began: say so, and look at it from now on.
    pub async fn appeared(&self, endpoint: Endpoint) {
        self.note(endpoint, ProcessState::Started, (clock::now_us(), None));
        self.look_at(endpoint).await;
    }

    /// Look at the process that is now behind an endpoint.
    pub async fn look_at(&self, endpoint: Endpoint) {
        let Some(process) = (match self.arena.store(endpoint) {
            Some(store) => store.process().await,
            None => None,
        }) else {
            return;
        };
        let meant = Arc::new(AtomicBool::new(false));
        let before = self.lock().insert(endpoint, meant.clone());
        // Whatever was behind it before is no more this endpoint's.
        before.inspect(|before| before.store(true, Ordering::Release));
        let (recorder, fallen, ending) = (self.recorder.clone(), self.fallen.clone(), self.ending.clone());
        tokio::spawn(async move {
            let Some(exit) = ending.run_until_cancelled(process.exited()).await else { return };
            if meant.swap(true, Ordering::AcqRel) || ending.is_cancelled() {
                return;
            }
            let text = format!("{endpoint} ended by itself ({exit}), which no fault asked for");
            let kind = Kind::Trouble { problem: Problem { whose: Whose::Lab, text: text.clone() } };
            recorder.note(kind);
            let process_name = ProcessName::Store(endpoint);
            let (pid, state) = (process.pid(), ProcessState::Gone);
            recorder.note(Kind::Process { process: process_name, pid, incarnation: 0, state });
            fallen.send_modify(|fallen| drop(fallen.insert(endpoint, text)));
        });
    }

    /// A Redis node and its replica change places, and with them what their processes do.
    pub async fn swap(&self, node: u8) {
        let (one, other) = (Endpoint::Redis(node), Endpoint::RedisReplica(node));
        let states = (self.state(one), self.state(other));
        self.arena.swap(node);
        for (endpoint, state) in [(one, states.1), (other, states.0)] {
            self.note(endpoint, state.unwrap_or(ProcessState::Started), (clock::now_us(), None));
            self.look_at(endpoint).await;
        }
    }

    /// The run ends: whatever ends from now on is meant to.
    pub fn end(&self) {
        self.ending.cancel();
    }

    /// Resolves when a store has ended by itself, with words for it.
    pub async fn fell(&self) -> String {
        let mut fallen = self.fallen.subscribe();
        // An error would mean that the sender is gone, which lives as long as this value.
        let _ = fallen.wait_for(|fallen| !fallen.is_empty()).await;
        let words: Vec<String> = fallen.borrow().values().cloned().collect();
        words.join("; ")
    }

    /// Is there a store that ended by itself and is still gone?
    pub fn check_none_fell(&self) -> Result<(), ActError> {
        match self.fallen.borrow().first_key_value() {
            Some((endpoint, text)) => Err(ActError::Fell { store: *endpoint, text: text.clone() }),
            None => Ok(()),
        }
    }

    /// What every store's process does, for a log that begins in the middle.
    pub fn processes(&self) -> Vec<Kind> {
        let states = self.board.look(|standing| standing.stores.clone());
        states.into_iter().filter_map(|(endpoint, state)| self.kind(endpoint, state)).collect()
    }

    /// A store with a process of its own.
    pub fn private(&self, endpoint: Endpoint) -> Result<&Store, ActError> {
        self.arena.store(endpoint).ok_or(ActError::NotHere("faults on processes of shared stores"))
    }

    /// Must its process run?
    pub fn check_runs(&self, endpoint: Endpoint) -> Result<(), ActError> {
        match self.state(endpoint) {
            Some(ProcessState::Gone) => {
                Err(ActError::StoreIs { store: endpoint, what: "is not running; start it first" })
            }
            Some(ProcessState::Stopped) => {
                Err(ActError::StoreIs { store: endpoint, what: "is paused; resume it first" })
            }
            _ => Ok(()),
        }
    }

    /// What its process does.
    pub fn state(&self, endpoint: Endpoint) -> Option<ProcessState> {
        self.board.look(|standing| standing.store(endpoint))
    }

    /// Stop all its threads; when all are stopped: since when it was asked, and until when it was seen.
    pub async fn pause(&self, endpoint: Endpoint) -> Result<(u64, u64), ActError> {
        let store = self.private(endpoint)?;
        self.check_runs(endpoint)?;
        let asked_us = clock::now_us();
        store.stop().await.map_err(ActError::lab)?;
        let seen_us = clock::now_us();
        self.note(endpoint, ProcessState::Stopped, (asked_us, Some(seen_us)));
        Ok((asked_us, seen_us))
    }

    /// Let it go on.
    pub async fn resume(&self, endpoint: Endpoint) -> Result<(), ActError> {
        let store = self.private(endpoint)?;
        if self.state(endpoint) != Some(ProcessState::Stopped) {
            return Err(ActError::StoreIs { store: endpoint, what: "is not paused" });
        }
        // Before it goes on: what it does then is later than this.
        self.note(endpoint, ProcessState::Continued, (clock::now_us(), None));
        store.cont().await.map_err(ActError::lab)
    }

    /// Kill all its processes; when all are gone: since when it was asked, and until when it was seen.
    pub async fn kill(&self, endpoint: Endpoint) -> Result<(u64, u64), ActError> {
        let store = self.private(endpoint)?;
        if self.state(endpoint) == Some(ProcessState::Gone) {
            return Err(ActError::StoreIs { store: endpoint, what: "is gone already" });
        }
        self.mean(endpoint);
        let asked_us = clock::now_us();
        store.kill().await.map_err(ActError::lab)?;
        let gone_us = clock::now_us();
        self.note(endpoint, ProcessState::Gone, (asked_us, Some(gone_us)));
        Ok((asked_us, gone_us))
    }

    /// Start it again; returns when it answers.
    pub async fn start(&self, endpoint: Endpoint) -> Result<(), ActError> {
        let store = self.private(endpoint)?;
        if self.state(endpoint) != Some(ProcessState::Gone) {
            return Err(ActError::StoreIs { store: endpoint, what: "runs already" });
        }
        store.start().await.map_err(ActError::lab)?;
        self.fallen.send_modify(|fallen| drop(fallen.remove(&endpoint)));
        self.appeared(endpoint).await;
        Ok(())
    }

    /// End it at once and start it again; since when it was asked. Returns when it answers.
    pub async fn restart(&self, endpoint: Endpoint) -> Result<u64, ActError> {
        let store = self.private(endpoint)?;
        self.check_runs(endpoint)?;
        self.mean(endpoint);
        let asked_us = clock::now_us();
        store.restart().await.map_err(ActError::lab)?;
        self.appeared(endpoint).await;
        Ok(asked_us)
    }

    /// Returns when every running replica that is not cut or held from a store has its sessions with it, each
    /// opened since then.
    pub async fn has_sessions_again(&self, endpoint: Endpoint, since_us: u64) -> Result<(), ActError> {
        let back = |standing: &Standing| self.without_sessions(standing, endpoint, since_us).is_empty().then_some(());
        if self.board.until(SESSIONS_LIMIT, back).await.is_some() {
            return Ok(());
        }
        let names = self.board.look(|standing| self.without_sessions(standing, endpoint, since_us)).join(", ");
        Err(ActError::Missed(format!("{names} had no session with {endpoint} again within {SESSIONS_LIMIT:?}")))
    }

    fn without_sessions(&self, standing: &Standing, endpoint: Endpoint, since_us: u64) -> Vec<String> {
        let running = standing.replicas.iter().filter(|(_, replica)| replica.runs());
        let without = running.filter(|(name, replica)| {
            self.links.passes(name, endpoint)
                && (!replica.has_sessions(endpoint, since_us) || !replica.ready && self.can_be_ready(standing, name))
        });
        without.map(|(name, _)| name.clone()).collect()
    }

    /// Does a replica reach all stores that it may need?
    pub fn can_be_ready(&self, standing: &Standing, name: &str) -> bool {
        Endpoint::of_replicas().all(|endpoint| standing.store_runs(endpoint) && self.links.passes(name, endpoint))
    }

    /// What ends now is meant to.
    fn mean(&self, endpoint: Endpoint) {
        self.lock().get(&endpoint).inspect(|meant| meant.store(true, Ordering::Release));
    }

    fn note(&self, endpoint: Endpoint, state: ProcessState, at: (u64, Option<u64>)) {
        if let Some(kind) = self.kind(endpoint, state) {
            self.recorder.record(at.0, at.1, Source::Runner, kind);
        }
    }

    fn kind(&self, endpoint: Endpoint, state: ProcessState) -> Option<Kind> {
        let store = self.arena.store(endpoint)?;
        let (pid, incarnation) = (store.pid(), store.incarnation());
        Some(Kind::Process { process: ProcessName::Store(endpoint), pid, incarnation, state })
    }

    /// Poisoning is no matter: flags are put in and taken out whole.
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Endpoint, Arc<AtomicBool>>> {
        self.meant.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
