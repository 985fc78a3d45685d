//! The rig of one run: everything that it stands on, put together. An arena, the bank, links between
//! them and the replicas' processes, the observer, the log that all of them write to. Actions work on it;
//! a file's run and a live session differ only in who asks for actions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use locks::action;
use locks::event::{EndReason, Fault, Kind, ProcessName, ProcessState, Schedule, Source};
use locks::ids::{Endpoint, LockName, SinkName, Slot};
use locks::setup::{Setup, StrategyName};
use locks::strategy;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::board::Board;
use super::catalog;
use super::error::ActError;
use super::faults::Faults;
use super::log::{Log, Recorder, RunId, new_run_id};
use super::observer::Observer;
use super::pair;
use super::replicas::Replicas;
use super::stores::Stores;
use super::traffic::Traffic;
use crate::arena::Arena;
use crate::bank::{Bank, Settled};
use crate::lab::Lab;
use crate::link::{LinkError, Links, Passed};
use crate::replica::control::Control;

/// How long it may take until everything that was said is in the log.
const CARRY_LIMIT: Duration = Duration::from_secs(2);

/// How long a replica may take to set its clocks.
const CLOCK_LIMIT: Duration = Duration::from_secs(5);

/// The variant whose acquisition a replica of the node must acknowledge.
const WAITS_FOR_REPLICA: &str = "wait-1";

/// What a run is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What it belongs to: a lesson step, an exercise, a matrix cell.
    pub tag: Option<String>,
    /// SHA-256 of the script, hexadecimal.
    pub script: String,
    /// The set-up that it begins with.
    pub setup: Setup,
    /// Redis nodes that have a replica from the start.
    pub pairs: BTreeSet<u8>,
    /// A live session.
    pub live: bool,
}

/// See the module. Clones are the same rig.
#[derive(Clone)]
pub struct Rig(Arc<Parts>);

/// What a rig is made of.
pub struct Parts {
    /// Writes the log.
    pub recorder: Recorder,
    /// How the run stands.
    pub board: Arc<Board>,
    /// Stores and processes.
    pub arena: Arc<Arena>,
    /// Between replicas and stores.
    pub links: Links,
    /// Where effects land.
    pub bank: Bank,
    /// What the store says.
    pub observer: Arc<Observer>,
    /// The stores' processes.
    pub stores: Arc<Stores>,
    /// The replicas.
    pub replicas: Replicas,
    traffic: Arc<Traffic>,
    plan: Plan,
    state: Mutex<State>,
    /// Set when nothing more will come: who carries things to the log carries what is left, and ends.
    ending: CancellationToken,
    carriers: TaskTracker,
}

/// What actions change.
pub struct State {
    /// The present segment's run.
    pub id: RunId,
    /// The set-up of now.
    pub setup: Setup,
    /// The catalog of now.
    pub catalog: Vec<Schedule>,
    /// The latest slot that was fired of each schedule.
    pub fired: BTreeMap<String, Slot>,
    /// The latest fire time that any slot has.
    pub newest_fire_ms: i64,
    /// Number of the gate that each replica was let pass last.
    pub passed: BTreeMap<String, u64>,
    /// Shift of replicas' wall clocks, where there is one.
    pub clocks: BTreeMap<String, i64>,
    /// How far the replicas' lease clocks were moved, in milliseconds.
    pub elapsed_ms: u64,
    faults: Faults,
}

impl Deref for Rig {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Rig {
    /// Put everything together and start the replicas; returns when all are ready. The log begins with
    /// `began`, before anything else can be said.
    pub async fn open(lab: &Lab, plan: Plan) -> Result<Rig, ActError> {
        let arena = Arc::new(lab.arena(&plan.setup.node).await.map_err(ActError::arena)?);
        let recorder = Recorder::default();
        let board = Arc::new(Board::new(recorder.clone()));
        let traffic = Arc::new(Traffic::new(recorder.clone()));
        let (id, setup) = (new_run_id(), plan.setup.clone());

        let observer = Observer::start(&arena, recorder.clone(), board.clone());
        let observer = Arc::new(observer.await.map_err(ActError::lab)?);
        let catalog = catalog::with_cadence(observer.read_catalog().await?, setup.every_s);
        recorder.note(began(&id, &plan, &setup, &catalog));
        observer.write_catalog(&catalog).await?;

        let (settled, settling) = mpsc::unbounded_channel();
        let bank = Bank::start(arena.postgres_options(), &setup.guard, settled).await.map_err(ActError::lab)?;
        let (passed, passing) = mpsc::unbounded_channel();
        let upstream = |endpoint| arena.upstream(endpoint).unwrap_or_else(|| bank.upstream());
        let links = Links::start(upstream, passed).map_err(ActError::lab)?;
        let (ending, carriers) = (CancellationToken::new(), TaskTracker::new());
        carriers.spawn(carry(passing, ending.clone(), {
            let (traffic, observer) = (traffic.clone(), observer.clone());
            move |passed| pass(&traffic, &observer, passed)
        }));
        carriers.spawn(carry(settling, ending.clone(), {
            let recorder = recorder.clone();
            move |settled| enter(&recorder, settled)
        }));
        carriers.spawn({
            let (traffic, ending) = (traffic.clone(), ending.clone());
            async move { ending.run_until_cancelled(traffic.run()).await.unwrap_or_default() }
        });
        let stores = Stores::begin(arena.clone(), links.clone(), recorder.clone(), board.clone()).await;
        let stores = Arc::new(stores);
        let replicas = Replicas::new(
            arena.clone(),
            links.clone(),
            stores.clone(),
            recorder.clone(),
            board.clone(),
            traffic.clone(),
        );
        let state = State {
            id,
            setup: setup.clone(),
            catalog,
            fired: BTreeMap::new(),
            newest_fire_ms: 0,
            passed: BTreeMap::new(),
            clocks: BTreeMap::new(),
            elapsed_ms: 0,
            faults: Faults::default(),
        };
        let state = Mutex::new(state);
        let rig = Rig(Arc::new(Parts {
            recorder,
            board,
            arena,
            links,
            bank,
            observer,
            stores,
            replicas,
            traffic,
            plan,
            state,
            ending,
            carriers,
        }));
        match rig.populate(&setup).await {
            Ok(()) => Ok(rig),
            Err(error) => {
                rig.end(EndReason::LabFailed).await;
                Err(error)
            }
        }
    }

    async fn populate(&self, setup: &Setup) -> Result<(), ActError> {
        for node in self.plan.pairs.iter().copied().chain(pairs_of(setup)) {
            pair::ready(self, node).await?;
        }
        self.start_replicas(setup).await
    }

    /// Start a process of every replica of a set-up; returns when all are ready.
    pub async fn start_replicas(&self, setup: &Setup) -> Result<(), ActError> {
        let mut starting = JoinSet::new();
        for name in setup.replicas.clone() {
            let (rig, setup) = (self.clone(), setup.clone());
            starting.spawn(async move { rig.replicas.start(&name, &setup).await });
        }
        while let Some(started) = starting.join_next().await {
            started.map_err(ActError::lab)??;
        }
        Ok(())
    }

    /// End every process, read all that they wrote, then write `ended`. Nothing is left of the arena.
    pub async fn end(&self, why: EndReason) {
        self.stores.end();
        self.replicas.end().await;
        self.bank.close().await;
        if let Err(error) = self.observer.all_told().await {
            tracing::warn!(%error, "rows of the run's last moments may be missing");
        }
        self.ending.cancel();
        self.carriers.close();
        if timeout(CARRY_LIMIT, self.carriers.wait()).await.is_err() {
            tracing::warn!("some of the run's last moments may be missing");
        }
        self.traffic.flush();
        self.observer.close().await;
        self.recorder.note(Kind::Ended { why });
        self.arena.close().await;
    }
}

impl Parts {
    /// What actions change. Never kept across an await.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a learner play with it?
    pub fn is_live(&self) -> bool {
        self.plan.live
    }

    /// The lock that a slot's attempts compete for, in general or at one replica.
    pub fn lock_of(&self, slot: &Slot, replica: Option<&str>) -> Result<LockName, ActError> {
        let state = self.state();
        let name = match replica {
            Some(replica) => state.setup.of_replica(replica).strategy,
            None => state.setup.strategy.clone(),
        };
        let (info, _) = strategy::find(&name).map_err(|error| ActError::BadValue(error.to_string()))?;
        Ok(info.scope.lock_of(slot))
    }

    /// A fault takes hold. One that is in force already does not begin again.
    pub fn begin_fault(&self, what: Fault, at_us: u64, until_us: Option<u64>) {
        let begun = self.state().faults.begin(&what);
        if let Some(fault) = begun {
            self.recorder.record(at_us, until_us, Source::Runner, Kind::FaultBegan { fault, what });
        }
    }

    /// Is just that fault in force?
    pub fn has_fault(&self, what: &Fault) -> bool {
        self.state().faults.open().iter().any(|(_, open)| open == what)
    }

    /// The faults that are meant are over.
    pub fn end_faults(&self, meant: impl Fn(&Fault) -> bool) {
        let ended = self.state().faults.end(meant);
        for (fault, what) in ended {
            self.recorder.note(Kind::FaultEnded { fault, what });
        }
    }

    /// Is there such a replica, running or not?
    pub fn check_known(&self, name: &str) -> Result<(), ActError> {
        let there = self.replicas.names();
        if there.iter().any(|known| known == name) {
            return Ok(());
        }
        Err(ActError::NoReplica { name: name.to_owned(), there })
    }

    /// Is there a process of that replica, stopped or not?
    pub fn check_not_gone(&self, name: &str) -> Result<(), ActError> {
        self.check_known(name)?;
        if self.is_gone(name) { Err(ActError::NotRunning { name: name.to_owned() }) } else { Ok(()) }
    }

    /// Does that replica run, and is not stopped?
    pub fn check_runs(&self, name: &str) -> Result<(), ActError> {
        self.check_not_gone(name)?;
        if self.is_paused(name) { Err(ActError::Paused { name: name.to_owned() }) } else { Ok(()) }
    }

    /// Is that replica's process gone?
    pub fn is_gone(&self, name: &str) -> bool {
        self.process(name) == Some(ProcessState::Gone)
    }

    /// Is that replica's process stopped?
    pub fn is_paused(&self, name: &str) -> bool {
        self.process(name) == Some(ProcessState::Stopped)
    }

    fn process(&self, name: &str) -> Option<ProcessState> {
        self.board.look(|standing| standing.replicas.get(name)?.process)
    }

    /// Do something with each link that is meant.
    pub fn each_link(
        &self,
        links: &action::Links,
        mut act: impl FnMut(&str, Endpoint) -> Result<(), LinkError>,
    ) -> Result<(), ActError> {
        for replica in &links.replica {
            self.check_known(replica)?;
        }
        links.each().iter().try_for_each(|(name, endpoint)| act(name, *endpoint).map_err(ActError::lab))
    }

    /// Tell a replica how its clocks stand, if they are not the machine's; returns when it says that they do.
    /// One that is stopped, or not ready yet, hears it before anything that it is told later.
    pub async fn tell_clocks(&self, name: &str) -> Result<(), ActError> {
        let (shift, elapsed_ms) = {
            let state = self.state();
            (state.clocks.get(name).copied(), state.elapsed_ms)
        };
        if let Some(shift_ms) = shift {
            self.replicas.tell(name, Control::Clock { shift_ms })?;
        }
        if elapsed_ms > 0 {
            self.replicas.tell(name, Control::Elapsed { elapsed_ms })?;
        }
        let so = self.board.until(CLOCK_LIMIT, |standing| {
            let Some(replica) = standing.replicas.get(name).filter(|replica| replica.runs() && replica.ready) else {
                return Some(());
            };
            let (shown_ms, moved_ms) = replica.clocks;
            (shift.is_none_or(|shift_ms| shift_ms == shown_ms) && moved_ms == elapsed_ms).then_some(())
        });
        so.await.ok_or_else(|| ActError::Missed(format!("{name} did not set its clocks within {CLOCK_LIMIT:?}")))
    }

    /// End the present log as a segment and go on in a new one, which begins with how the run stands.
    pub fn new_segment(&self) -> (RunId, Arc<Log>) {
        let id = new_run_id();
        let mut state = self.state();
        let mut first = vec![began(&id, &self.plan, &state.setup, &state.catalog)];
        first.extend(self.replicas.alive().into_iter().map(|(name, pid, incarnation)| Kind::Process {
            state: if self.is_paused(&name) { ProcessState::Stopped } else { ProcessState::Started },
            process: ProcessName::Replica(name),
            pid,
            incarnation,
        }));
        first.extend(self.stores.processes());
        let faults = state.faults.open().iter();
        first.extend(faults.map(|(fault, what)| Kind::FaultBegan { fault: *fault, what: what.clone() }));
        state.id.clone_from(&id);
        (id, self.recorder.new_segment(Kind::Ended { why: EndReason::Segment }, first))
    }
}

fn began(id: &str, plan: &Plan, setup: &Setup, catalog: &[Schedule]) -> Kind {
    Kind::Began {
        run: id.to_owned(),
        name: plan.name.clone(),
        title: plan.title.clone(),
        tag: plan.tag.clone(),
        script: plan.script.clone(),
        wall_ms: chrono::Utc::now().timestamp_millis(),
        setup: Box::new(setup.clone()),
        catalog: catalog.to_vec(),
    }
}

/// Do something with everything that comes, and in the end with what has come already.
async fn carry<T>(mut coming: mpsc::UnboundedReceiver<T>, ending: CancellationToken, mut act: impl FnMut(T)) {
    while let Some(Some(one)) = ending.run_until_cancelled(coming.recv()).await {
        act(one);
    }
    while let Ok(one) = coming.try_recv() {
        act(one);
    }
}

/// Redis nodes that must have a replica under a set-up.
pub fn pairs_of(setup: &Setup) -> Option<u8> {
    let own = setup.replica.values().filter_map(|own| own.strategy.as_ref());
    let wants = |name: &StrategyName| name.mutant.as_deref() == Some(WAITS_FOR_REPLICA);
    own.chain([&setup.strategy]).any(wants).then_some(1)
}

/// What came back from a store may have changed what it says. What passes between a node and its replica is
/// no message of a replica of ours.
fn pass(traffic: &Traffic, observer: &Observer, passed: Passed) {
    if matches!(passed.endpoint, Endpoint::RedisReplica(_)) {
        return;
    }
    let of_store = matches!(passed.endpoint, Endpoint::Postgres | Endpoint::Redis(_));
    let may_have_changed = of_store && passed.direction == action::Direction::Reply;
    traffic.passed(passed);
    if may_have_changed {
        observer.look();
    }
}

/// Enter what the bank settled into the log.
fn enter(recorder: &Recorder, settled: Settled) {
    let Settled { at_us, attempt, lock, slot, epoch, answer, nth } = settled;
    let kind = Kind::EffectSettled { attempt, lock, slot, epoch, answer, nth };
    recorder.record(at_us, None, Source::Sink(SinkName::Bank), kind);
}
