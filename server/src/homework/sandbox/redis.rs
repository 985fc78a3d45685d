//! The Redis of one attempt, for a user that may touch `lock:*` with a score of commands and nothing else. A
//! script that has written cannot be stopped by Redis, so whoever asks kills the server; memory is bounded by the
//! kernel, because `maxmemory` bounds neither a script that writes nor what Lua keeps itself.

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{IntoConnectionInfo, RedisConnectionInfo};

use super::Folder;
use super::resp::{Came, Resp};
use crate::lab::{Lab, LabError};
use crate::stores::programs::{self, Program};
use crate::stores::redis_node::{connect, unix};
use crate::stores::{StoreError, environment, last_words, log_file};
use crate::warden::limits::Limits;
use crate::warden::{Io, Process, Spawn};

/// The oldest Redis whose scripts and commands the exercise is about.
const OLDEST: (u32, u32) = (7, 0);

/// The learner's user.
const LEARNER: &str = "learner";

/// All that it may do.
const RIGHTS: &str = "reset on nopass ~lock:* resetchannels -@all +eval +get +set +del +unlink +exists +getdel +getex \
                      +pttl +ttl +pexpire +expire +pexpireat +pexpiretime +strlen +type +getrange";

/// No limit of files: nothing is written.
const LIMITS: Limits = Limits { memory_kb: Some(400 * 1024), file_blocks: None };

/// How long it may take to answer after its start.
const START_LIMIT: Duration = Duration::from_secs(5);
/// How often a start is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What it takes to make one.
#[derive(Clone, Debug)]
pub struct Workshop {
    redis: Program,
}

impl Workshop {
    /// Find the program.
    pub fn open() -> Result<Workshop, LabError> {
        let redis = programs::find_redis()?;
        // Valkey counts on from Redis 7.
        if redis.version < OLDEST {
            return Err(LabError::Config(format!(
                "{redis} is too old for this exercise, which needs Redis 7 or newer"
            )));
        }
        Ok(Workshop { redis })
    }
}

/// See the module.
pub struct Sandbox {
    process: Process,
    admin: MultiplexedConnection,
    /// Removed last.
    folder: Option<Folder>,
}

impl Sandbox {
    /// Start one.
    pub async fn open(lab: &Lab, workshop: &Workshop) -> Result<Sandbox, LabError> {
        let folder = Folder::new(lab)?;
        let (socket, log) = (folder.sockets.folder().join("redis.sock"), folder.path().join("redis.log"));
        let password = format!("{:032x}", rand::random::<u128>());
        let place = (folder.path().display().to_string(), socket.display().to_string());
        let args = [
            ("--port", "0"),
            ("--unixsocket", &place.1),
            ("--unixsocketperm", "700"),
            ("--dir", &place.0),
            ("--daemonize", "no"),
            ("--requirepass", &password),
            ("--save", ""),
            ("--appendonly", "no"),
            // A script may log, and nothing bounds how much.
            ("--logfile", "/dev/null"),
            ("--databases", "1"),
            ("--maxmemory", "32mb"),
            ("--maxmemory-policy", "noeviction"),
            ("--client-output-buffer-limit", "normal 1mb 1mb 0"),
            ("--proto-max-bulk-len", "1mb"),
            ("--maxclients", "40"),
            ("--busy-reply-threshold", "200"),
            ("--enable-debug-command", "no"),
            ("--enable-module-command", "no"),
        ];
        let spawned = lab
            .warden()
            .spawn(Spawn {
                program: workshop.redis.path.clone(),
                args: args.iter().flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()]).collect(),
                env: environment(),
                folder: folder.path().to_owned(),
                user: lab.store_user().cloned(),
                limits: LIMITS,
                io: Io::Nothing,
                errors: log_file(&log)?,
            })
            .await?;
        let process = spawned.process;
        let login = RedisConnectionInfo::default().set_password(&password);
        let until = Instant::now() + START_LIMIT;
        let opened = loop {
            if socket.exists() {
                let to = unix(&socket).into_connection_info()?.set_redis_settings(login.clone());
                if let Ok(admin) = connect(to).await {
                    break prepare(admin).await;
                }
            }
            let what = "the attempt's Redis".to_owned();
            if let Some(exit) = process.exit() {
                break Err(StoreError::Died { what, exit: exit.to_string(), log: last_words(&log) }.into());
            }
            if Instant::now() > until {
                break Err(StoreError::Silent { what, limit: START_LIMIT, log: last_words(&log) }.into());
            }
            tokio::time::sleep(LOOK).await;
        };
        match opened {
            Ok(admin) => Ok(Sandbox { process, admin, folder: Some(folder) }),
            Err(error) => {
                end(process, folder).await;
                Err(error)
            }
        }
    }

    /// The grader's own connection.
    pub fn admin(&mut self) -> &mut MultiplexedConnection {
        &mut self.admin
    }

    /// A new connection of the learner's.
    pub async fn learner(&self) -> Result<Resp, String> {
        let socket = self.folder.as_ref().map(|folder| folder.sockets.folder().join("redis.sock")).unwrap_or_default();
        let mut resp = Resp::open(&socket).await.map_err(|error| error.to_string())?;
        match resp.ask(&[b"AUTH", LEARNER.as_bytes(), b"any"]).await {
            Came::Text(_) => Ok(resp),
            came => Err(format!("the learner's user cannot log in: {came:?}")),
        }
    }

    /// The server's pid, for people to read.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Kill the server, whatever it does.
    pub async fn kill(&self) {
        if let Err(error) = self.process.kill().await {
            tracing::warn!(%error, "an attempt's Redis could not be killed");
        }
    }

    /// Wait for the server's end, which a closed connection announces. False: it goes on.
    pub async fn ends_within(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.process.exited()).await.is_ok()
    }

    /// End it: no process, no folder.
    pub async fn close(mut self) {
        if let Some(folder) = self.folder.take() {
            end(self.process.clone(), folder).await;
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        // Without a runtime the process is about to end, and the warden with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(end(self.process.clone(), folder));
        }
    }
}

/// Give the learner's user its rights.
async fn prepare(mut admin: MultiplexedConnection) -> Result<MultiplexedConnection, LabError> {
    let mut rights = redis::cmd("ACL");
    rights.arg("SETUSER").arg(LEARNER);
    RIGHTS.split_whitespace().for_each(|right| _ = rights.arg(right));
    rights.query_async::<()>(&mut admin).await?;
    Ok(admin)
}

async fn end(process: Process, folder: Folder) {
    if let Err(error) = process.kill().await
        && process.exit().is_none()
    {
        tracing::warn!(%error, "an attempt's Redis could not be killed");
    }
    drop(folder);
}
