//! A Redis node on this machine: started through the warden without a configuration file, reached by a
//! Unix socket, keeping nothing on disk. A node that was killed comes back empty.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use locks::setup::NodeSetup;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo};

use super::programs::Program;
use super::{START_LIMIT, StoreError, environment, last_words, log_file};
use crate::warden::limits::Limits;
use crate::warden::{Io, Process, Spawn, User, Warden};

/// How often a start is looked at.
const LOOK: Duration = Duration::from_millis(2);
/// How long a node may take to answer somebody of the lab itself.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// What it takes to run Redis here.
#[derive(Clone, Debug)]
pub struct Means {
    /// Who starts it.
    pub warden: Warden,
    /// The program.
    pub redis: Program,
    /// As whom.
    pub user: Option<User>,
}

/// Where a node lives.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, `redis-1` to `redis-5`.
    pub name: String,
    /// The folder of its socket.
    pub folder: PathBuf,
    /// Its output.
    pub log: PathBuf,
    /// Its settings.
    pub setup: NodeSetup,
}

impl Node {
    /// The socket that clients connect to.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!("{}.sock", self.name))
    }

    /// Start the node; returns when it answers.
    pub async fn start(&self, means: &Means) -> Result<Process, StoreError> {
        // A killed node leaves its socket, and Redis does not take over one that is there.
        let socket = self.socket();
        if socket.exists() {
            super::at(&socket, std::fs::remove_file(&socket))?;
        }
        let spawned = means
            .warden
            .spawn(Spawn {
                program: means.redis.path.clone(),
                args: self.args()?,
                env: environment(),
                folder: self.folder.clone(),
                user: means.user.clone(),
                limits: Limits::default(),
                io: Io::Nothing,
                errors: log_file(&self.log)?,
            })
            .await?;
        let process = spawned.process;
        let mut is_new = self.setup.cluster;
        let until = Instant::now() + START_LIMIT;
        loop {
            if socket.exists()
                && let Ok(mut node) = connect(unix(&socket)).await
            {
                if std::mem::take(&mut is_new) {
                    take_all_slots(&mut node).await?;
                }
                if !self.setup.cluster || serves_all_slots(&mut node).await? {
                    return Ok(process);
                }
            }
            if let Some(exit) = process.exit() {
                let log = last_words(&self.log);
                return Err(StoreError::Died { what: self.name.clone(), exit: exit.to_string(), log });
            }
            if Instant::now() > until {
                process.kill().await?;
                let log = last_words(&self.log);
                return Err(StoreError::Silent { what: self.name.clone(), limit: START_LIMIT, log });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn args(&self) -> Result<Vec<String>, StoreError> {
        let socket = self.socket().display().to_string();
        let folder = self.folder.display().to_string();
        let policy = self.setup.maxmemory_policy.as_deref().unwrap_or("noeviction");
        let mut args = vec![
            ("--port", "0"),
            ("--unixsocket", &socket),
            ("--unixsocketperm", "700"),
            ("--dir", &folder),
            ("--daemonize", "no"),
            // Nothing on disk: a restart is a loss of memory.
            ("--save", ""),
            ("--appendonly", "no"),
            // Keys expire, and are reported, when they should; by default seconds later.
            ("--hz", "500"),
            ("--notify-keyspace-events", "KEA"),
            ("--maxmemory-policy", policy),
            // A replica, where there is one, gets a copy at once.
            ("--repl-diskless-sync-delay", "0"),
        ];
        if let Some(most) = &self.setup.maxmemory {
            args.push(("--maxmemory", most));
        }
        // A cluster wants a port for its nodes to talk over, even where there is but one.
        let port;
        if self.setup.cluster {
            port = super::at(&self.folder, free_port())?.to_string();
            let nodes = [("--cluster-enabled", "yes"), ("--cluster-port", &port), ("--bind", "127.0.0.1")];
            args.extend(nodes);
        }
        Ok(args.into_iter().flat_map(|(name, value)| [name.to_owned(), value.to_owned()]).collect())
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// A cluster of one: all keys are its own.
async fn take_all_slots(node: &mut MultiplexedConnection) -> Result<(), StoreError> {
    Ok(redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(0).arg(16_383).query_async(node).await?)
}

/// A node of a cluster obeys commands about keys some time after it has its slots.
async fn serves_all_slots(node: &mut MultiplexedConnection) -> Result<bool, StoreError> {
    let told: String = redis::cmd("CLUSTER").arg("INFO").query_async(node).await?;
    Ok(told.contains("cluster_state:ok"))
}

/// The address of a node's socket.
pub fn unix(socket: &std::path::Path) -> ConnectionAddr {
    ConnectionAddr::Unix(socket.to_owned())
}

/// Connect, and see that the node answers. For the lab's own readers: every wait has a limit.
pub async fn connect(to: impl IntoConnectionInfo) -> Result<MultiplexedConnection, StoreError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(ANSWER_LIMIT))
        .set_response_timeout(Some(ANSWER_LIMIT));
    let mut connection = Client::open(to)?.get_multiplexed_async_connection_with_config(&config).await?;
    redis::cmd("PING").query_async::<()>(&mut connection).await?;
    Ok(connection)
}
