//! The server's side of the warden. A [`Warden`] spawns; a [`Process`] is a handle to what was spawned,
//! cheap to clone, and never a pid to signal: signals go through the warden, which knows what is reaped.
//! When the warden dies, this side kills what it left, and every process counts as gone.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use super::linux;
use super::protocol::{self, Ask, Exit, Id, Receiver, Request, Say, Sender, User};

/// How long the warden may take to answer. It looks for stopped threads for at most five seconds itself.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// How long a warden may take to be in place.
const START_LIMIT: Duration = Duration::from_secs(10);
/// How long a warden may take to end with all that it has; then it is killed, and its processes with it.
const END_LIMIT: Duration = Duration::from_secs(5);

/// What can go wrong with the warden.
#[derive(Debug, thiserror::Error)]
pub enum WardenError {
    /// It could not be started.
    #[error("the warden ({program}) could not be started: {why}")]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        why: String,
    },
    /// It is gone, and with it every process.
    #[error("the warden is gone, and with it every store and replica")]
    Gone,
    /// It did not answer in time.
    #[error("the warden did not answer within {0:?}")]
    Silent(Duration),
    /// It says that it could not be done.
    #[error("{0}")]
    Refused(String),
    /// Files and pipes.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What to start.
#[derive(Debug)]
pub struct Spawn {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, complete: nothing is inherited.
    pub env: Vec<(String, String)>,
    /// Its working directory. Left-overs of a crash are found by it, so it lies below the lab's folder.
    pub folder: PathBuf,
    /// The user to drop to; `None` keeps the server's.
    pub user: Option<User>,
    /// What it may use of the machine.
    pub limits: Limits,
    /// Standard input and output.
    pub io: Io,
    /// Standard error.
    pub errors: File,
}

/// Standard input and output of a process.
#[derive(Debug)]
pub enum Io {
    /// Pipes to the caller, registered with the runtime that spawns.
    Pipes,
    /// Nothing to read; output goes where errors go.
    Nothing,
}

/// A process that was started, with its pipes if it has any.
#[derive(Debug)]
pub struct Spawned {
    /// The handle.
    pub process: Process,
    /// Standard input and output.
    pub pipes: Option<(pipe::Sender, pipe::Receiver)>,
}

/// The server's end of a warden. Dropping the last clone ends it and all that it started.
#[derive(Clone, Debug)]
pub struct Warden {
    inner: Arc<Inner>,
}

struct Inner {
    pid: u32,
    channel: Sender,
    last: AtomicU64,
    open: Mutex<Open>,
    /// Set when it is to be killed.
    killed: CancellationToken,
    gone: CancellationToken,
    record: Mutex<File>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Warden").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.channel.shut();
    }
}

/// What is waited for.
#[derive(Default)]
struct Open {
    answers: HashMap<Id, oneshot::Sender<Result<u32, String>>>,
    exits: HashMap<Id, watch::Sender<Option<Exit>>>,
}

impl Inner {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Write down what was started. What has ended already needs no line.
    fn record(&self, pid: u32, program: &Path) -> io::Result<()> {
        let Some(started) = linux::started(pid) else { return Ok(()) };
        let line = format!("{pid} {started} {}\n", program.display());
        self.record.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).write_all(line.as_bytes())
    }
}

impl Warden {
    /// Start a warden: `program` is `aegis` itself. What it starts is written down in `record`, one line
    /// each: pid, start time, program. A later lab cleans up by it.
    pub async fn start(program: &Path, record: &Path) -> Result<Warden, WardenError> {
        let failed = |why: String| WardenError::Start { program: program.to_owned(), why };
        let record = Mutex::new(File::options().create(true).append(true).open(record)?);
        linux::become_subreaper()?;
        let (ours, theirs) = protocol::pair()?;
        let mut child = tokio::process::Command::new(program)
            .arg("warden")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let pid = child.id().ok_or_else(|| failed("it ended at once".to_owned()))?;
        linux::note_warden(pid, true);
        let (channel, mut receiver) = protocol::open(ours)?;
        let ready = timeout(START_LIMIT, receiver.receive::<Say>()).await;
        if !matches!(ready, Ok(Ok(Some(Say::Ready)))) {
            linux::note_warden(pid, false);
            channel.shut();
            let _ = child.start_kill();
            return Err(failed("it did not report".to_owned()));
        }
        let inner = Arc::new(Inner {
            pid,
            channel,
            last: AtomicU64::new(0),
            open: Mutex::new(Open::default()),
            killed: CancellationToken::new(),
            gone: CancellationToken::new(),
            record,
        });
        let (killed, gone) = (inner.killed.clone(), inner.gone.clone());
        tokio::spawn(listen(receiver, child, pid, Arc::downgrade(&inner), killed, gone));
        Ok(Warden { inner })
    }

    /// The warden's pid.
    pub fn pid(&self) -> u32 {
        self.inner.pid
    }

    /// Resolves when the warden is gone and what it left was killed.
    pub async fn gone(&self) {
        self.inner.gone.cancelled().await;
    }

    /// Is it gone?
    pub fn is_gone(&self) -> bool {
        self.inner.gone.is_cancelled()
    }

    /// End the warden and all that it started; returns when all are gone. One that hangs is killed.
    pub async fn close(&self) -> Result<(), WardenError> {
        self.inner.channel.shut();
        match timeout(END_LIMIT, self.gone()).await {
            Ok(()) => Ok(()),
            Err(_) => self.kill().await,
        }
    }

    /// Kill the warden, in whatever state it is, and then all that it started; returns when all are gone.
    pub async fn kill(&self) -> Result<(), WardenError> {
        self.inner.killed.cancel();
        timeout(END_LIMIT, self.gone()).await.map_err(|_| WardenError::Silent(END_LIMIT))
    }

    /// Start a process.
    pub async fn spawn(&self, spawn: Spawn) -> Result<Spawned, WardenError> {
        let Spawn { program, args, env, folder, user, limits, io, errors } = spawn;
        let (begun, args) = limits.lay_over(&program, args);
        let id = self.inner.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, exit) = watch::channel(None);
        let ask = Ask::Spawn { program: begun, args, env, folder, user };
        // Listed before it is asked for: it may be gone before the answer was read.
        self.inner.open().exits.insert(id, sender);
        let asked = match io {
            Io::Pipes => {
                let (child_in, ours_in) = std::io::pipe()?;
                let (ours_out, child_out) = std::io::pipe()?;
                let pid = self.ask(id, ask, &[child_in.as_fd(), child_out.as_fd(), errors.as_fd()]).await;
                let pipes = (
                    pipe::Sender::from_owned_fd(OwnedFd::from(ours_in))?,
                    pipe::Receiver::from_owned_fd(OwnedFd::from(ours_out))?,
                );
                pid.map(|pid| (pid, Some(pipes)))
            }
            Io::Nothing => {
                let nothing = File::open("/dev/null")?;
                let pid = self.ask(id, ask, &[nothing.as_fd(), errors.as_fd(), errors.as_fd()]).await;
                pid.map(|pid| (pid, None))
            }
        };
        match asked {
            Ok((pid, pipes)) => {
                self.inner.record(pid, &program)?;
                Ok(Spawned { process: Process { id, pid, exit, warden: self.clone() }, pipes })
            }
            Err(error) => {
                self.inner.open().exits.remove(&id);
                Err(error)
            }
        }
    }

    /// Ask something new.
    async fn request(&self, what: Ask) -> Result<u32, WardenError> {
        let id = self.inner.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.ask(id, what, &[]).await
    }

    async fn ask(&self, id: Id, what: Ask, descriptors: &[std::os::fd::BorrowedFd<'_>]) -> Result<u32, WardenError> {
        let (sender, answer) = oneshot::channel();
        self.inner.open().answers.insert(id, sender);
        let asked = async {
            if self.is_gone() || self.inner.channel.send(&Request { id, what }, descriptors).await.is_err() {
                return Err(WardenError::Gone);
            }
            match answer.await {
                Ok(Ok(pid)) => Ok(pid),
                Ok(Err(why)) => Err(WardenError::Refused(why)),
                Err(_) => Err(WardenError::Gone),
            }
        };
        let result = timeout(ANSWER_LIMIT, asked).await.unwrap_or(Err(WardenError::Silent(ANSWER_LIMIT)));
        self.inner.open().answers.remove(&id);
        result
    }
}

/// Hand out what the warden says, until it is gone; then clean up behind it.
async fn listen(
    mut receiver: Receiver,
    mut child: tokio::process::Child,
    pid: u32,
    inner: Weak<Inner>,
    killed: CancellationToken,
    gone: CancellationToken,
) {
    // The last handle may be dropped while nothing arrives: `Drop` shuts the channel, which ends this.
    while let Some(Ok(Some(say))) = killed.run_until_cancelled(receiver.receive::<Say>()).await {
        let Some(inner) = inner.upgrade() else { continue };
        let mut open = inner.open();
        let (request, answer) = match say {
            Say::Ready => continue,
            Say::Spawned { request, pid } => (request, Ok(pid)),
            Say::Done { request } => (request, Ok(0)),
            Say::Failed { request, why } => (request, Err(why)),
            Say::Exited { process, exit } => {
                if let Some(sender) = open.exits.remove(&process) {
                    sender.send_replace(Some(exit));
                }
                continue;
            }
        };
        let spawned = matches!(answer, Ok(pid) if pid != 0);
        let taken = open.answers.remove(&request).is_some_and(|sender| sender.send(answer).is_ok());
        drop(open);
        if spawned && !taken {
            // Whoever asked has given up, and nobody else knows of the process.
            let warden = Warden { inner };
            tokio::spawn(async move { warden.request(Ask::Kill { process: request }).await });
        }
    }
    if let Some(inner) = inner.upgrade() {
        inner.channel.shut();
    }
    drop(receiver);
    // Reaped only now, so what it left is this process' child by now.
    let ended = killed.run_until_cancelled(timeout(END_LIMIT, child.wait())).await;
    if !matches!(ended, Some(Ok(_))) {
        tracing::error!(pid, "the warden did not end; killing it");
        let _ = child.kill().await;
    }
    let left = tokio::task::spawn_blocking(move || {
        linux::note_warden(pid, false);
        linux::kill_adopted(END_LIMIT)
    });
    match left.await {
        Ok(0) => {}
        Ok(killed) => tracing::warn!(pid, killed, "the warden died before its processes; they were killed"),
        Err(error) => tracing::error!(%error, "cleaning up behind the warden failed"),
    }
    gone.cancel();
    if let Some(inner) = inner.upgrade() {
        let mut open = inner.open();
        open.answers.clear();
        for (_, sender) in open.exits.drain() {
            sender.send_replace(Some(Exit::Unknown));
        }
    }
}

/// A handle to a process of the warden's. Dropping it does nothing to the process.
#[derive(Clone, Debug)]
pub struct Process {
    id: Id,
    pid: u32,
    exit: watch::Receiver<Option<Exit>>,
    warden: Warden,
}

impl Process {
    /// Its pid, for people to read.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Stop it and what it started; returns when all their threads are stopped.
    pub async fn stop(&self) -> Result<(), WardenError> {
        self.warden.request(Ask::Stop { process: self.id }).await.map(|_| ())
    }

    /// Let it go on, and what it started.
    pub async fn cont(&self) -> Result<(), WardenError> {
        self.warden.request(Ask::Continue { process: self.id }).await.map(|_| ())
    }

    /// Kill it and what it started; returns when all are gone.
    pub async fn kill(&self) -> Result<(), WardenError> {
        match self.warden.request(Ask::Kill { process: self.id }).await {
            // The warden's own end is the end of all.
            Err(WardenError::Gone) if self.exit.borrow().is_some() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Send it alone a signal.
    pub async fn signal(&self, signal: nix::sys::signal::Signal) -> Result<(), WardenError> {
        self.warden.request(Ask::Signal { process: self.id, signal: signal as i32 }).await.map(|_| ())
    }

    /// Resolves when it, and all that it started, is gone.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        let seen = exit.wait_for(Option::is_some).await;
        seen.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
    }

    /// How it ended, if it did.
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Signal it to end, and kill it when it has not ended within the limit.
    pub async fn end(&self, signal: nix::sys::signal::Signal, limit: Duration) -> Result<Exit, WardenError> {
        // A stopped process sees no signal but these two; and it may be gone already.
        let _ = self.signal(signal).await;
        let _ = self.cont().await;
        if timeout(limit, self.exited()).await.is_err() {
            self.kill().await?;
        }
        timeout(ANSWER_LIMIT, self.exited()).await.map_err(|_| WardenError::Silent(ANSWER_LIMIT))
    }
}
