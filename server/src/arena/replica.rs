//! A replica's process. The arena starts it and ends it; what is said through its pipes is the run's.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::unix::pipe;

use super::{Means, log_file};
use crate::lab::LabError;
use crate::stores::environment;
use crate::warden::limits::Limits;
use crate::warden::{Io, Process, Spawn};

/// A replica that was started.
#[derive(Debug)]
pub struct ReplicaProcess {
    /// The process: stop, continue, kill, wait.
    pub process: Process,
    /// Control lines go here.
    pub stdin: pipe::Sender,
    /// Event lines come from here.
    pub stdout: pipe::Receiver,
}

/// Every replica process that an arena has started and that has not ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Replicas {
    processes: Arc<Mutex<Vec<Process>>>,
}

impl Replicas {
    pub(super) async fn spawn(
        &self,
        means: &Means,
        folder: &Path,
        name: &str,
        incarnation: u32,
    ) -> Result<ReplicaProcess, LabError> {
        let mut env = environment();
        env.extend(std::env::var("AEGIS_LOG").map(|filter| ("AEGIS_LOG".to_owned(), filter)));
        let spawned = means
            .warden
            .spawn(Spawn {
                program: means.aegis.clone(),
                args: vec!["replica".to_owned()],
                env,
                folder: folder.to_owned(),
                user: None,
                limits: Limits::default(),
                io: Io::Pipes,
                errors: log_file(&folder.join(format!("{name}.{incarnation}.log")))?,
            })
            .await?;
        let process = spawned.process;
        {
            let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
            processes.retain(|process| process.exit().is_none());
            processes.push(process.clone());
        }
        // `Io::Pipes` brings pipes; without them the warden is not ours to talk to.
        let (stdin, stdout) = spawned.pipes.ok_or(LabError::WardenGone)?;
        Ok(ReplicaProcess { process, stdin, stdout })
    }

    pub(super) async fn kill(&self) {
        let processes = std::mem::take(&mut *self.processes.lock().unwrap_or_else(PoisonError::into_inner));
        for process in processes.iter().filter(|process| process.exit().is_none()) {
            if let Err(error) = process.kill().await {
                tracing::warn!(pid = process.pid(), %error, "a replica could not be killed");
            }
        }
    }
}
