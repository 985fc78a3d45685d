//! The warden's own loop: one thread, so that a signal is never sent to a pid that was reaped meanwhile.
//! It must do nothing but start, signal and reap; and when the server is gone, kill and end.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tokio::signal::unix::{SignalKind, signal};

use super::linux;
use super::protocol::{self, Ask, Exit, Id, Request, Say, User};

/// How often a stop that is under way is looked at.
const LOOK: Duration = Duration::from_millis(1);
/// How long a process may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// `aegis warden`: serve the server at the other end of standard input until it is gone.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the warden lost its server");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    // A shell gives the warden no session to die with: Ctrl-C reaches the server alone. It fails only for
    // the leader of a group, as when somebody starts the warden by hand.
    let _ = nix::unistd::setsid();
    linux::become_subreaper()?;
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve(line));
    kill_everything();
    served
}

async fn serve(line: UnixStream) -> io::Result<()> {
    let (sender, mut receiver) = protocol::open(line)?;
    let mut ended = signal(SignalKind::child())?;
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut wards = Wards::default();
    sender.send(&Say::Ready, &[]).await?;
    loop {
        tokio::select! {
            message = receiver.receive::<Request>() => match message? {
                Some(request) => {
                    let spawns = matches!(request.what, Ask::Spawn { .. });
                    let descriptors = if spawns { Some(receiver.descriptors()?) } else { None };
                    wards.answer(request, descriptors);
                }
                None => return Ok(()),
            },
            _ = ended.recv() => {}
            _ = look.tick(), if wards.is_stopping() => {}
        }
        wards.look();
        for say in std::mem::take(&mut wards.to_say) {
            sender.send(&say, &[]).await?;
        }
    }
}

/// Kill children until there are none. What a killed child leaves becomes a child in turn, so at the end
/// nothing is left, whatever it did to escape.
fn kill_everything() {
    loop {
        for pid in linux::children_of(std::process::id()) {
            let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
        }
        if let Err(Errno::ECHILD) = waitpid(None, None) {
            return;
        }
    }
}

/// A process that the server asked for.
struct Ward {
    pid: Pid,
    /// How it ended, once it did; it stays listed until what it left is gone too.
    exit: Option<Exit>,
}

/// A stop that is under way.
struct Stopping {
    request: Id,
    process: Id,
    since: Instant,
}

/// All that the warden knows.
#[derive(Default)]
struct Wards {
    wards: BTreeMap<Id, Ward>,
    /// What processes left behind when they died. The lab asked for none of these: they are killed.
    orphans: BTreeSet<Pid>,
    stopping: Vec<Stopping>,
    /// Kills that wait for the end, by process.
    killing: Vec<(Id, Id)>,
    to_say: Vec<Say>,
}

impl Wards {
    fn is_stopping(&self) -> bool {
        !self.stopping.is_empty()
    }

    fn answer(&mut self, Request { id: request, what }: Request, descriptors: Option<[OwnedFd; 3]>) {
        let result = match what {
            Ask::Spawn { program, args, env, folder, user } => {
                let result = spawn(&program, &args, &env, &folder, user.as_ref(), descriptors);
                match result {
                    Ok(pid) => {
                        self.wards.insert(request, Ward { pid: Pid::from_raw(pid as i32), exit: None });
                        self.to_say.push(Say::Spawned { request, pid });
                        return;
                    }
                    Err(error) => Err(format!("{}: {error}", program.display())),
                }
            }
            Ask::Stop { process } => match self.send(process, Signal::SIGSTOP) {
                Ok(()) => {
                    self.stopping.push(Stopping { request, process, since: Instant::now() });
                    return;
                }
                Err(why) => Err(why),
            },
            Ask::Continue { process } => {
                self.stopping.retain(|stopping| stopping.process != process);
                // Children first: while their parent is stopped it reaps none, so their pids are theirs.
                for pid in self.wards.get(&process).map_or(Vec::new(), |ward| linux::below(ward.pid.as_raw() as u32)) {
                    let _ = kill(Pid::from_raw(pid as i32), Signal::SIGCONT);
                }
                self.send(process, Signal::SIGCONT)
            }
            Ask::Kill { process } => {
                if self.wards.contains_key(&process) {
                    // Gone already is as good: then only what it left is waited for.
                    let _ = self.send(process, Signal::SIGKILL);
                    self.killing.push((request, process));
                    return;
                }
                Ok(())
            }
            Ask::Signal { process, signal } => Signal::try_from(signal)
                .map_err(|error| error.to_string())
                .and_then(|signal| self.send(process, signal)),
        };
        self.to_say.push(match result {
            Ok(()) => Say::Done { request },
            Err(why) => Say::Failed { request, why },
        });
    }

    /// Send a signal to a process that was not reaped.
    fn send(&self, process: Id, signal: Signal) -> Result<(), String> {
        match self.wards.get(&process) {
            Some(Ward { pid, exit: None }) => kill(*pid, signal).map_err(|error| error.to_string()),
            _ => Err("the process is gone".to_owned()),
        }
    }

    /// Reap, kill orphans, look at stops, say what is over.
    fn look(&mut self) {
        if self.reap() {
            self.adopt();
        }
        let stopping = std::mem::take(&mut self.stopping);
        self.stopping = stopping.into_iter().filter_map(|one| self.look_at_stop(one)).collect();
        if !self.orphans.is_empty() {
            return;
        }
        let gone: Vec<Id> = self.wards.iter().filter(|(_, ward)| ward.exit.is_some()).map(|(id, _)| *id).collect();
        for process in gone {
            if let Some(Ward { exit: Some(exit), .. }) = self.wards.remove(&process) {
                self.to_say.push(Say::Exited { process, exit });
            }
            self.killing.retain(|&(request, killed)| {
                if killed == process {
                    self.to_say.push(Say::Done { request });
                }
                killed != process
            });
        }
    }

    /// Take note of all that ended. Returns whether anything did.
    fn reap(&mut self) -> bool {
        let mut any = false;
        loop {
            let (pid, exit) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) => (pid, Exit::Status(status)),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, Exit::Signal(signal as i32)),
                Ok(WaitStatus::StillAlive) | Err(_) => return any,
                Ok(_) => continue,
            };
            any = true;
            self.orphans.remove(&pid);
            if let Some(ward) = self.wards.values_mut().find(|ward| ward.pid == pid && ward.exit.is_none()) {
                ward.exit = Some(exit);
            }
        }
    }

    /// Kill what the dead left. It became the warden's child before its parent could be reaped.
    fn adopt(&mut self) {
        for pid in linux::children_of(std::process::id()).into_iter().map(|pid| Pid::from_raw(pid as i32)) {
            if !self.wards.values().any(|ward| ward.pid == pid && ward.exit.is_none()) && self.orphans.insert(pid) {
                let _ = kill(pid, Signal::SIGKILL);
            }
        }
    }

    /// Stop what is not stopped yet; `None` when the stop is over.
    fn look_at_stop(&mut self, stop: Stopping) -> Option<Stopping> {
        let request = stop.request;
        let Some(Ward { pid, exit: None }) = self.wards.get(&stop.process) else {
            self.to_say.push(Say::Failed { request, why: "the process ended instead of stopping".to_owned() });
            return None;
        };
        let root = pid.as_raw() as u32;
        // Not before the root is stopped: from then on it starts no child and reaps none.
        if linux::all_threads_stopped(root) {
            let running: Vec<u32> =
                linux::below(root).into_iter().filter(|&pid| !linux::all_threads_stopped(pid)).collect();
            if running.is_empty() {
                self.to_say.push(Say::Done { request });
                return None;
            }
            for pid in running {
                let _ = kill(Pid::from_raw(pid as i32), Signal::SIGSTOP);
            }
        }
        if stop.since.elapsed() > STOP_LIMIT {
            self.to_say.push(Say::Failed { request, why: format!("it did not stop within {STOP_LIMIT:?}") });
            return None;
        }
        Some(stop)
    }
}

fn spawn(
    program: &PathBuf,
    args: &[String],
    env: &[(String, String)],
    folder: &PathBuf,
    user: Option<&User>,
    descriptors: Option<[OwnedFd; 3]>,
) -> io::Result<u32> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "its descriptors did not arrive");
    let [stdin, stdout, stderr] = descriptors.ok_or_else(missing)?;
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env.iter().map(|(key, value)| (key, value))).current_dir(folder);
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    Ok(command.spawn()?.id())
}
