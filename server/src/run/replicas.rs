//! The replicas' processes as the run sees them: started, told things, listened to, stopped and killed.
//! Whatever a replica writes is read to its end, also when it was killed; a line without its end is
//! dropped. Faults never touch these pipes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use locks::event::{Kind, Line, Problem, ProcessName, ProcessState, Source, Whose};
use locks::setup::Setup;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::board::Board;
use super::error::ActError;
use super::log::Recorder;
use super::stores::Stores;
use super::traffic::Traffic;
use crate::arena::Arena;
use crate::clock;
use crate::link::Links;
use crate::replica::control::{Control, REFUSED};
use crate::warden::{Exit, Process};

/// How long a replica may take until it is ready.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// How long a replica that is to end may take before it is killed.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);
/// How long it may take until the pipe of a process that is gone is read to its end.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// The replicas of one run.
pub struct Replicas {
    arena: Arc<Arena>,
    links: Links,
    stores: Arc<Stores>,
    recorder: Recorder,
    board: Arc<Board>,
    traffic: Arc<Traffic>,
    all: Mutex<BTreeMap<String, Handle>>,
    /// The latest incarnation of every name that there ever was: one that is removed and added again goes on
    /// counting, so that no two attempts of a run have one name.
    incarnations: Mutex<BTreeMap<String, u32>>,
}

#[derive(Clone)]
struct Handle {
    incarnation: u32,
    process: Process,
    say: mpsc::UnboundedSender<Control>,
    /// It is meant to end.
    ending: Arc<AtomicBool>,
    /// The process is gone, its pipe read to the end, and the log says so.
    over: watch::Receiver<bool>,
}

impl Replicas {
    /// None yet.
    pub fn new(
        arena: Arc<Arena>,
        links: Links,
        stores: Arc<Stores>,
        recorder: Recorder,
        board: Arc<Board>,
        traffic: Arc<Traffic>,
    ) -> Replicas {
        let (all, incarnations) = (Mutex::default(), Mutex::default());
        Replicas { arena, links, stores, recorder, board, traffic, all, incarnations }
    }

    /// Start a process of that name, the next incarnation; returns when it is ready. One that is cut or held
    /// from a store, or whose store does not run, cannot become ready and is not waited for.
    pub async fn start(&self, name: &str, setup: &Setup) -> Result<(), ActError> {
        let incarnation = self.next_incarnation(name);
        let ports = self.links.add(name).map_err(ActError::lab)?;
        let spawned = self.arena.spawn_replica(name, incarnation).await.map_err(ActError::lab)?;
        self.note(name, &spawned.process, incarnation, ProcessState::Started);

        let (say, told) = mpsc::unbounded_channel();
        let hello = Control::Hello {
            name: name.to_owned(),
            incarnation,
            setup: Box::new(setup.clone()),
            ports,
            postgres: self.arena.postgres_login(),
            redis: self.arena.redis_login(),
        };
        say.send(hello).map_err(ActError::lab)?;
        tokio::spawn(write_controls(spawned.stdin, told));
        let (ended, over) = watch::channel(false);
        let ending = Arc::new(AtomicBool::new(false));
        let listener = Listener {
            name: name.to_owned(),
            incarnation,
            process: spawned.process.clone(),
            ending: ending.clone(),
            recorder: self.recorder.clone(),
            traffic: self.traffic.clone(),
        };
        tokio::spawn(async move {
            listener.listen(spawned.stdout).await;
            ended.send_replace(true);
        });
        self.lock().insert(name.to_owned(), Handle { incarnation, process: spawned.process, say, ending, over });
        let can_be_ready = self.board.look(|standing| self.stores.can_be_ready(standing, name));
        if can_be_ready { self.ready(name).await } else { Ok(()) }
    }

    fn next_incarnation(&self, name: &str) -> u32 {
        let mut all = self.incarnations.lock().unwrap_or_else(PoisonError::into_inner);
        let incarnation = all.entry(name.to_owned()).or_default();
        *incarnation += 1;
        *incarnation
    }

    async fn ready(&self, name: &str) -> Result<(), ActError> {
        let look = |standing: &super::standing::Standing| {
            let replica = standing.replicas.get(name)?;
            (replica.ready || replica.process == Some(ProcessState::Gone)).then_some(replica.ready)
        };
        let ready = tokio::select! {
            ready = self.board.until(READY_LIMIT, look) => ready,
            why = self.stores.fell() => return Err(ActError::Lab(why)),
        };
        match ready {
            Some(true) => Ok(()),
            Some(false) if self.has_refused(name) => Ok(()),
            Some(false) => Err(ActError::Lab(format!("{name} ended before it was ready"))),
            None => Err(ActError::Lab(format!("{name} was not ready within {READY_LIMIT:?}"))),
        }
    }

    /// Did it end because it refuses to work? The log says why.
    fn has_refused(&self, name: &str) -> bool {
        let exit = self.lock().get(name).and_then(|handle| handle.process.exit());
        exit == Some(Exit::Status(i32::from(REFUSED)))
    }

    /// Tell a replica something. It hears it in the order of telling, a stopped one when it goes on.
    pub fn tell(&self, name: &str, control: Control) -> Result<(), ActError> {
        self.handle(name)?.say.send(control).map_err(|_| ActError::NotRunning { name: name.to_owned() })
    }

    /// Tell all that are not gone.
    pub fn tell_all(&self, control: &Control) {
        for handle in self.lock().values() {
            // One that is gone need not hear it: its next incarnation begins with the set-up of then.
            let _ = handle.say.send(control.clone());
        }
    }

    /// Stop a process; when all its threads are stopped: since when it was asked, and until when it was seen.
    pub async fn pause(&self, name: &str) -> Result<(u64, u64), ActError> {
        let handle = self.handle(name)?;
        let asked_us = clock::now_us();
        handle.process.stop().await.map_err(ActError::lab)?;
        let seen_us = clock::now_us();
        self.record(name, &handle.process, handle.incarnation, ProcessState::Stopped, (asked_us, Some(seen_us)));
        Ok((asked_us, seen_us))
    }

    /// Let a stopped process go on.
    pub async fn resume(&self, name: &str) -> Result<(), ActError> {
        let handle = self.handle(name)?;
        // Before it goes on: what it writes then is later than this.
        self.note(name, &handle.process, handle.incarnation, ProcessState::Continued);
        handle.process.cont().await.map_err(ActError::lab)
    }

    /// Kill a process; when it is gone and all it wrote is read: since when.
    pub async fn kill(&self, name: &str) -> Result<u64, ActError> {
        let handle = self.handle(name)?;
        handle.ending.store(true, Ordering::Release);
        let asked_us = clock::now_us();
        handle.process.kill().await.map_err(ActError::lab)?;
        self.drained(name, handle).await?;
        Ok(asked_us)
    }

    /// Let a replica give back what it holds, end it, close its links and forget it.
    pub async fn remove(&self, name: &str) -> Result<(), ActError> {
        let handle = self.handle(name)?;
        handle.ending.store(true, Ordering::Release);
        let mut over = handle.over.clone();
        let heard = handle.say.send(Control::Shutdown).is_ok();
        let paused = self.board.look(|standing| standing.replicas.get(name).is_some_and(|r| r.is_paused()));
        let ended = heard && !paused && timeout(SHUTDOWN_LIMIT, over.wait_for(|over| *over)).await.is_ok();
        if !ended && handle.process.exit().is_none() {
            handle.process.kill().await.map_err(ActError::lab)?;
        }
        self.drained(name, handle).await?;
        self.links.remove(name);
        self.lock().remove(name);
        Ok(())
    }

    /// Kill a replica if it is not gone, close its links and forget it.
    pub async fn discard(&self, name: &str) -> Result<(), ActError> {
        if self.handle(name)?.process.exit().is_none() {
            self.kill(name).await?;
        }
        self.links.remove(name);
        self.lock().remove(name);
        Ok(())
    }

    /// Kill all that are left and read what they wrote.
    pub async fn end(&self) {
        let all: Vec<_> = self.lock().iter().map(|(name, handle)| (name.clone(), handle.clone())).collect();
        for (name, handle) in all {
            handle.ending.store(true, Ordering::Release);
            if handle.process.exit().is_none()
                && let Err(error) = handle.process.kill().await
            {
                tracing::warn!(%name, %error, "a replica could not be killed");
            }
            if let Err(error) = self.drained(&name, handle).await {
                tracing::warn!(%name, %error, "a replica's pipe was not read to its end");
            }
        }
    }

    /// Names of those that were started and not removed.
    pub fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Name, pid and incarnation of those whose process is not gone.
    pub fn alive(&self) -> Vec<(String, u32, u32)> {
        let all = self.lock();
        let alive = all.iter().filter(|(_, handle)| handle.process.exit().is_none());
        alive.map(|(name, handle)| (name.clone(), handle.process.pid(), handle.incarnation)).collect()
    }

    async fn drained(&self, name: &str, mut handle: Handle) -> Result<(), ActError> {
        match timeout(DRAIN_LIMIT, handle.over.wait_for(|over| *over)).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(ActError::Lab(format!("the output of {name} did not end with it"))),
        }
    }

    fn note(&self, name: &str, process: &Process, incarnation: u32, state: ProcessState) {
        self.record(name, process, incarnation, state, (clock::now_us(), None));
    }

    fn record(&self, name: &str, process: &Process, incarnation: u32, state: ProcessState, at: (u64, Option<u64>)) {
        let process_name = ProcessName::Replica(name.to_owned());
        let kind = Kind::Process { process: process_name, pid: process.pid(), incarnation, state };
        self.recorder.record(at.0, at.1, Source::Runner, kind);
    }

    fn handle(&self, name: &str) -> Result<Handle, ActError> {
        let all = self.lock();
        let there = || all.keys().cloned().collect();
        all.get(name).cloned().ok_or_else(|| ActError::NoReplica { name: name.to_owned(), there: there() })
    }

    /// Poisoning is no matter: handles are put in and taken out whole.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Handle>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Write what a replica is told, until it is gone or forgotten.
async fn write_controls(mut input: pipe::Sender, mut told: mpsc::UnboundedReceiver<Control>) {
    while let Some(control) = told.recv().await {
        let mut line = match serde_json::to_vec(&control) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, ?control, "a control line cannot be written");
                continue;
            }
        };
        line.push(b'\n');
        if input.write_all(&line).await.is_err() {
            return;
        }
    }
}

struct Listener {
    name: String,
    incarnation: u32,
    process: Process,
    ending: Arc<AtomicBool>,
    recorder: Recorder,
    traffic: Arc<Traffic>,
}

impl Listener {
    /// Record what a replica writes until it is gone and its pipe is empty; then, that it is gone.
    async fn listen(&self, output: pipe::Receiver) {
        let gone = async {
            let exit = self.process.exited().await;
            (exit, clock::now_us())
        };
        let ((exit, gone_us), ()) = tokio::join!(gone, self.read(output));
        // One that refuses has said why.
        if !self.ending.load(Ordering::Acquire) && exit != Exit::Status(i32::from(REFUSED)) {
            self.trouble(format!("{} ended by itself ({exit}); its last words are in its log", self.name));
        }
        self.traffic.gone(&self.name, self.incarnation);
        let process = ProcessName::Replica(self.name.clone());
        let (pid, incarnation) = (self.process.pid(), self.incarnation);
        let kind = Kind::Process { process, pid, incarnation, state: ProcessState::Gone };
        self.recorder.record(gone_us, None, Source::Runner, kind);
    }

    async fn read(&self, output: pipe::Receiver) {
        let mut output = BufReader::new(output);
        let mut text = Vec::new();
        loop {
            text.clear();
            match output.read_until(b'\n', &mut text).await {
                Ok(_) if text.last() == Some(&b'\n') => {}
                // Nothing, or a line that a kill cut short.
                Ok(_) => return,
                Err(error) => return self.trouble(format!("the output of {} cannot be read: {error}", self.name)),
            }
            match serde_json::from_slice::<Line>(&text) {
                Ok(line) => self.traffic.line(&self.name, self.incarnation, line),
                Err(error) => {
                    let text = String::from_utf8_lossy(&text);
                    self.trouble(format!("{} wrote what is no event ({error}): {}", self.name, text.trim_end()));
                }
            }
        }
    }

    fn trouble(&self, text: String) {
        self.recorder.note(Kind::Trouble { problem: Problem { whose: Whose::Lab, text } });
    }
}
