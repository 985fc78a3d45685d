//! Live sessions: what a learner plays with. A live session is a scenario being written; each click
//! appends an action. It goes on while somebody watches, is suspended a minute after the last watcher
//! left, and is stored with its verdict when it ends. It must never outlive its arena.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use locks::action::Action;
use locks::event::{EndReason, Kind};
use locks::scenario::Scenario;
use locks::setup::{Gated, Setup};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::back::Steps;
use super::decisions::{self, Decision, Decisions, Place};
use super::error::ActError;
use super::log::{Log, RunId};
use super::rig::{Plan, Rig};
use super::runner::script_hash;
use super::shelf::Shelf;
use super::spool::{self, Spool};
use super::{actions, script};
use crate::lab::Lab;

/// Whoever asks what was decided waits so long for what is being done.
const SOON: Duration = Duration::from_millis(100);

/// A move that is played waits so long for what the one before leads to.
const HEARD_LIMIT: Duration = Duration::from_millis(500);

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

/// All live sessions of a server. Clones are the same.
#[derive(Clone)]
pub struct Sessions(Arc<Shared>);

struct Shared {
    lab: Arc<Lab>,
    shelf: Shelf,
    limits: Limits,
    /// Where logs stand while sessions go on.
    folder: PathBuf,
    open: Mutex<Vec<Arc<Live>>>,
    /// One at a time, so that two pages of one learner get one session.
    opening: tokio::sync::Mutex<()>,
    /// Labs that ended because nobody looked at them, and whose learner has not heard of it; by learner.
    left: Mutex<BTreeMap<String, RunId>>,
}

impl Sessions {
    /// None yet.
    pub fn new(lab: Arc<Lab>, shelf: Shelf, limits: Limits) -> Sessions {
        let folder = lab.data_dir().root().join("live");
        let (open, opening, left) = (Mutex::default(), tokio::sync::Mutex::default(), Mutex::default());
        Sessions(Arc::new(Shared { lab, shelf, limits, folder, open, opening, left }))
    }

    /// Store the sessions that went on when the lab was ended last. Call it once, before any is opened.
    pub async fn recover(&self) {
        let interrupted = match spool::interrupted(&self.0.folder) {
            Ok(interrupted) => interrupted,
            Err(error) => return tracing::error!(%error, "interrupted runs cannot be read"),
        };
        for run in interrupted {
            match self.0.shelf.save(Some(&run.owner), &run.events).await {
                Ok(_) => run.discard(),
                Err(error) => tracing::error!(%error, "an interrupted run could not be stored; it is kept on disk"),
            }
        }
    }

    /// The session of that learner, a new one if there is none that goes on.
    pub async fn open(&self, owner: &str) -> Result<Arc<Live>, OpenError> {
        self.open_with(owner, Setup::live()).await
    }

    /// The same, where a new one begins with that set-up.
    pub async fn open_with(&self, owner: &str, setup: Setup) -> Result<Arc<Live>, OpenError> {
        if let Some(live) = self.of(owner, None) {
            return Ok(live);
        }
        let (sessions, owner) = (self.clone(), owner.to_owned());
        carried_through(async move {
            let _one = sessions.0.opening.lock().await;
            match sessions.of(&owner, None) {
                Some(live) => Ok(live),
                None => sessions.begin(&owner, None, setup).await,
            }
        })
        .await
    }

    /// A new session of that learner that belongs to something, as to a step of the lesson: its tag's first
    /// part says to what. It takes the place of the one that did before.
    pub async fn open_anew(&self, owner: &str, called: Called, setup: Setup) -> Result<Arc<Live>, OpenError> {
        let (sessions, owner) = (self.clone(), owner.to_owned());
        carried_through(async move {
            let _one = sessions.0.opening.lock().await;
            while let Some(before) = sessions.of(&owner, Some(belongs(&called.tag))) {
                before.close().await;
            }
            sessions.begin(&owner, Some(called), setup).await
        })
        .await
    }

    async fn begin(&self, owner: &str, called: Option<Called>, setup: Setup) -> Result<Arc<Live>, OpenError> {
        let most = self.0.limits.sessions;
        if self.count() >= most {
            return Err(OpenError::Full { most });
        }
        let opened = Live::open(&self.0, owner, called, setup).await;
        let live = opened.map_err(|error| OpenError::Lab(error.to_string()))?;
        self.0.open().push(live.clone());
        tokio::spawn(supervise(live.clone()));
        Ok(live)
    }

    /// The session of that learner that goes on: the one of the lab, or the one that belongs to that.
    pub fn of(&self, owner: &str, to: Option<&str>) -> Option<Arc<Live>> {
        let its = |live: &&Arc<Live>| live.owner() == owner && live.tag().map(belongs) == to && !live.is_over();
        self.0.open().iter().find(its).cloned()
    }

    /// The run of that learner's lab that ended because nobody looked at it; told once.
    pub fn left(&self, owner: &str) -> Option<RunId> {
        self.0.left().remove(owner)
    }

    /// The session whose present segment is that run.
    pub fn get(&self, id: &str) -> Option<Arc<Live>> {
        self.0.open().iter().find(|live| live.id() == id).cloned()
    }

    /// How many go on.
    pub fn count(&self) -> usize {
        self.0.open().len()
    }

    /// End all of them, before the server ends.
    pub async fn close_all(&self) {
        let all = self.0.open().clone();
        join_all(all.iter().map(|live| live.close())).await;
    }
}

/// A lab that is being opened becomes a session, whoever has hung up meanwhile: half of one would be left to nobody.
async fn carried_through(
    opening: impl Future<Output = Result<Arc<Live>, OpenError>> + Send + 'static,
) -> Result<Arc<Live>, OpenError> {
    tokio::spawn(opening).await.unwrap_or_else(|error| Err(OpenError::Lab(error.to_string())))
}

impl Shared {
    /// Poisoning is no matter: sessions are put in and taken out whole.
    fn open(&self) -> MutexGuard<'_, Vec<Arc<Live>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Poisoning is no matter: an entry is put in whole.
    fn left(&self) -> MutexGuard<'_, BTreeMap<String, RunId>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Store a segment that has ended; its file on disk is needed no more then.
    async fn store(&self, owner: &str, log: &Log, spool: Option<Spool>) {
        match self.shelf.save(Some(owner), &log.after(0)).await {
            Ok(_) => drop(spool.map(Spool::discard)),
            Err(error) => tracing::error!(%error, "a run could not be stored; it is kept on disk"),
        }
    }
}

/// What a session is that belongs to something.
#[derive(Clone, Debug)]
pub struct Called {
    /// Its first part says to what: [`Sessions::of`] finds it by that.
    pub tag: String,
    /// What its run is called where runs are listed.
    pub title: String,
}

/// What a tag says that its run belongs to: its first part.
fn belongs(tag: &str) -> &str {
    tag.split('/').next().unwrap_or(tag)
}

/// One live session.
pub struct Live {
    owner: String,
    tag: Option<String>,
    rig: Rig,
    /// One action at a time.
    acting: tokio::sync::Mutex<Acting>,
    /// What was decided when nothing was being done last.
    decided: Mutex<Decided>,
    watchers: watch::Sender<usize>,
    /// Set when it is to end: the action under way is broken off, and there is no other.
    ending: CancellationToken,
    /// The present segment's file.
    spool: Mutex<Option<Spool>>,
    shared: Weak<Shared>,
    limits: Limits,
}

/// What was done in a session.
struct Acting {
    /// Number of the latest step.
    step: u32,
    decisions: Decisions,
    /// When the latest decision was carried out.
    since: Instant,
    /// How often a decision was taken back: a script that was played before goes on no more.
    turns: u32,
}

/// What was decided in a session so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The address that repeats it.
    pub address: String,
    /// How many decisions that is.
    pub count: usize,
    /// What was taken back last, in a word, if nothing was decided since.
    pub taken_back: Option<String>,
}

impl Decided {
    fn of(decisions: &Decisions, taken_back: Option<String>) -> Decided {
        Decided { address: decisions.address(), count: decisions.made.len(), taken_back }
    }
}

impl Live {
    async fn open(
        shared: &Arc<Shared>,
        owner: &str,
        called: Option<Called>,
        setup: Setup,
    ) -> Result<Arc<Live>, ActError> {
        let empty = Scenario { setup: Setup { cron: false, ..setup.clone() }, ..script::of_log(&[]) };
        let script = script_hash(&empty);
        let (tag, title) = called.map_or((None, empty.title), |called| (Some(called.tag), called.title));
        let plan =
            Plan { name: empty.name, title, tag: tag.clone(), script, setup, pairs: BTreeSet::new(), live: true };
        let decisions = Decisions::new(plan.setup.clone());
        let rig = Rig::open(&shared.lab, plan).await?;
        let decided = Mutex::new(Decided::of(&decisions, None));
        let acting = Acting { step: 0, decisions, since: Instant::now(), turns: 0 };
        let live = Live {
            owner: owner.to_owned(),
            tag,
            rig,
            acting: tokio::sync::Mutex::new(acting),
            decided,
            watchers: watch::Sender::new(0),
            ending: CancellationToken::new(),
            spool: Mutex::default(),
            shared: Arc::downgrade(shared),
            limits: shared.limits,
        };
        live.begin_spool(shared);
        Ok(Arc::new(live))
    }

    /// Who may act on it.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// What it belongs to.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The run of the present segment.
    pub fn id(&self) -> RunId {
        self.rig.state().id.clone()
    }

    /// The log of the present segment. When it ends with `Segment`, the session goes on in another: ask again.
    pub fn log(&self) -> Arc<Log> {
        self.rig.recorder.log()
    }

    /// The set-up of now.
    pub fn setup(&self) -> Setup {
        self.rig.state().setup.clone()
    }

    /// Do one action, after those asked for before; the number of the step.
    pub async fn act(&self, action: Action) -> Result<u32, ActError> {
        self.act_of(action, None).await
    }

    /// Play moves that somebody else made: each when the one before has come to what it leads to, so that of two that
    /// ask one after the other the first is answered first.
    pub async fn play_moves(&self, moves: impl IntoIterator<Item = Action>) {
        let turns = self.acting.lock().await.turns;
        for action in moves {
            if self.act_of(action, Some(turns)).await.is_err() {
                return;
            }
            // Who waits for a lock, or behind a held link, has heard nothing and need not.
            self.rig.board.until(HEARD_LIMIT, |standing| standing.has_heard().then_some(())).await;
        }
    }

    /// Play a script to its end, or to the first step that cannot be done: the log says why. Whoever takes a
    /// decision back takes it in hand.
    pub async fn play(&self, script: impl IntoIterator<Item = Action>) {
        let turns = self.acting.lock().await.turns;
        for action in script {
            if self.act_of(action, Some(turns)).await.is_err() {
                return;
            }
        }
    }

    /// `script`: it is a step of a script that began when so many decisions had been taken back.
    async fn act_of(&self, action: Action, script: Option<u32>) -> Result<u32, ActError> {
        let mut acting = self.acting.lock().await;
        if self.is_over() || script.is_some_and(|turns| turns != acting.turns) {
            return Err(ActError::Ended);
        }
        let (before, thought, began) = (self.rig.board.look(Place::of), acting.since.elapsed(), Instant::now());
        acting.step += 1;
        let step = acting.step;
        let done = self.ending.run_until_cancelled(actions::step(&self.rig, step, &action)).await;
        done.unwrap_or_else(|| {
            let problem = Some(ActError::Ended.problem());
            self.rig.recorder.note(Kind::StepEnded { step, problem });
            Err(ActError::Ended)
        })?;
        acting.since = Instant::now();
        match action {
            Action::Reset => acting.decisions = Decisions::new(self.setup()),
            action => acting.decisions.made.push(Decision { action, before, thought, took: began.elapsed() }),
        }
        self.tell_decided(Decided::of(&acting.decisions, None));
        Ok(step)
    }

    /// Take the latest decision back; what is decided then.
    pub async fn back(&self) -> Result<Decided, ActError> {
        let mut acting = self.acting.lock().await;
        let acting = &mut *acting;
        if self.is_over() {
            return Err(ActError::Ended);
        }
        if self.setup().gated == Gated::No {
            return Err(ActError::BadValue("only a run that is stepped through can be stepped back".to_owned()));
        }
        if acting.decisions.made.is_empty() {
            return Err(ActError::NothingToTakeBack);
        }
        acting.turns += 1;
        let mut steps = Steps { rig: &self.rig, step: &mut acting.step };
        let back = self.ending.run_until_cancelled(steps.back(&mut acting.decisions)).await;
        let back = back.unwrap_or(Err(ActError::Ended));
        acting.since = Instant::now();
        let taken = back.as_ref().ok().map(|last| decisions::word(&last.action));
        let decided = Decided::of(&acting.decisions, taken);
        self.tell_decided(decided.clone());
        back.map(|_| decided)
    }

    /// What was decided so far. What is being done is waited for, if it does not take long.
    pub async fn decided(&self) -> Decided {
        drop(timeout(SOON, self.acting.lock()).await);
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Poisoning is no matter: it is put in whole.
    fn tell_decided(&self, decided: Decided) {
        *self.decided.lock().unwrap_or_else(PoisonError::into_inner) = decided;
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

    /// Has it ended, or is it about to?
    pub fn is_over(&self) -> bool {
        self.ending.is_cancelled()
    }

    /// End it and store it. Returns when every process is gone.
    pub async fn close(&self) {
        self.end(EndReason::Closed).await;
    }

    async fn end(&self, why: EndReason) {
        self.ending.cancel();
        // Behind whatever action is broken off.
        let _acting = self.acting.lock().await;
        if self.log().is_ended() {
            return;
        }
        // Whoever supervises it looks again.
        self.watchers.send_modify(|_| ());
        self.rig.end(why).await;
        let Some(shared) = self.shared.upgrade() else { return };
        let spool = self.spool().take();
        shared.store(&self.owner, &self.log(), spool).await;
        shared.open().retain(|live| !std::ptr::eq(&**live, self));
    }

    async fn new_segment(&self) {
        let _acting = self.acting.lock().await;
        let Some(shared) = self.shared.upgrade().filter(|_| !self.is_over()) else { return };
        let old = self.log();
        self.rig.new_segment();
        let spool = self.spool().take();
        self.begin_spool(&shared);
        shared.store(&self.owner, &old, spool).await;
    }

    fn begin_spool(&self, shared: &Shared) {
        match Spool::begin(&shared.folder, &self.id(), &self.owner, self.log()) {
            Ok(spool) => *self.spool() = Some(spool),
            Err(error) => tracing::error!(%error, "a session's log cannot be kept on disk"),
        }
    }

    /// Poisoning is no matter: a spool is put in and taken out whole.
    fn spool(&self) -> MutexGuard<'_, Option<Spool>> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody watches a session; dropping this ends it.
pub struct Watching(Arc<Live>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.watchers.send_modify(|n| *n -= 1);
    }
}

/// Suspend a session that nobody watches, go on in a new segment when one is full, end it with the lab.
async fn supervise(live: Arc<Live>) {
    let mut watchers = live.watchers.subscribe();
    while !live.is_over() {
        let Some(shared) = live.shared.upgrade() else { return };
        let mut grown = live.log().changed();
        let segment = live.limits.segment;
        let unwatched = *watchers.borrow_and_update() == 0;
        tokio::select! {
            // Somebody came or went, or it is over.
            changed = watchers.changed() => if changed.is_err() { return },
            () = sleep(live.limits.unwatched), if unwatched => {
                live.end(EndReason::Closed).await;
                if live.tag().is_none() {
                    shared.left().insert(live.owner().to_owned(), live.id());
                }
            }
            full = async { grown.wait_for(|newest| *newest >= segment).await.is_ok() } => {
                if full {
                    live.new_segment().await;
                }
            }
            () = shared.lab.broken() => live.end(EndReason::LabFailed).await,
        }
    }
}
