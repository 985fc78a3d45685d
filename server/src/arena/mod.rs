//! An arena: what one run has to itself. A Postgres, five Redis nodes, replica processes; with shared
//! stores a database and a key prefix. Closing it (or dropping it) ends its processes and removes its
//! folder. It knows nothing of links, scripts or logs: a run puts those on top.
//!
//! | module | what it holds |
//! |---|---|
//! | [`embedded`] | private stores, copied and started for this arena |
//! | [`shared`] | stores that other arenas use too |
//! | [`store`] | one store's process: pause, kill, start, restart |
//! | [`replica`] | one replica's process and its pipes |

pub mod embedded;
pub mod replica;
pub mod shared;
pub mod store;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use locks::ids::Endpoint;
use locks::setup::NodeSetup;
use redis::aio::MultiplexedConnection;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use tokio::time::timeout;

use crate::lab::LabError;
use crate::link::Upstream;
use crate::replica::control::{PostgresLogin, RedisLogin};
use crate::stores::reader;
use crate::stores::redis_node;
use crate::stores::{at, log_file, private_folder};
use crate::warden::{User, Warden};

use embedded::Embedded;
use replica::ReplicaProcess;
use shared::Shared;
use store::Store;

/// How long the lab's own readers wait for a connection to Postgres.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// What arenas are made with. One a lab.
#[derive(Clone, Debug)]
pub struct Means {
    /// Who starts processes.
    pub warden: Warden,
    /// `aegis` itself, for replicas.
    pub aegis: PathBuf,
    /// The user that stores run as, if not the server's.
    pub user: Option<User>,
    /// Stores.
    pub stores: StoreMeans,
}

/// Private stores, or shared ones.
#[derive(Clone, Debug)]
pub enum StoreMeans {
    /// Made for each arena.
    Embedded(embedded::Means),
    /// Used by all.
    Shared(shared::Means),
}

#[derive(Debug)]
enum Stores {
    Embedded(Box<Embedded>),
    Shared(Box<Shared>),
}

/// See the module.
#[derive(Debug)]
pub struct Arena {
    folder: PathBuf,
    means: Arc<Means>,
    stores: Arc<Stores>,
    replicas: replica::Replicas,
    closed: AtomicBool,
}

impl Arena {
    /// Make an arena in `folder`, which must not exist yet.
    pub(crate) async fn open(
        means: Arc<Means>,
        folder: PathBuf,
        nodes: &BTreeMap<String, NodeSetup>,
    ) -> Result<Arena, LabError> {
        private_folder(&folder, means.user.as_ref())?;
        let stores = match &means.stores {
            StoreMeans::Embedded(own) => Stores::Embedded(Box::new(Embedded::open(own, &means, &folder, nodes).await?)),
            StoreMeans::Shared(shared) => Stores::Shared(Box::new(Shared::open(shared, &folder).await?)),
        };
        let replicas = replica::Replicas::default();
        Ok(Arena { folder, means, stores: Arc::new(stores), replicas, closed: AtomicBool::new(false) })
    }

    /// Give nodes other settings than they were started with. They keep them over a restart.
    pub(crate) async fn set_nodes(&self, nodes: &BTreeMap<String, NodeSetup>) -> Result<(), LabError> {
        match &*self.stores {
            Stores::Embedded(own) => own.set_nodes(nodes).await,
            Stores::Shared(_) if nodes.is_empty() => Ok(()),
            Stores::Shared(_) => Err(LabError::NotHere("settings of single Redis nodes")),
        }
    }

    /// The arena's folder: logs of its processes, and whatever a run keeps while it goes on.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a link to an endpoint leads; `None` for what is no store (the bank).
    pub fn upstream(&self, endpoint: Endpoint) -> Option<Upstream> {
        match &*self.stores {
            Stores::Embedded(own) => own.upstream(endpoint),
            Stores::Shared(shared) => shared.upstream(endpoint),
        }
    }

    /// How replicas log in to Postgres.
    pub fn postgres_login(&self) -> PostgresLogin {
        match &*self.stores {
            Stores::Embedded(_) => embedded::postgres_login(),
            Stores::Shared(shared) => shared.postgres_login(),
        }
    }

    /// What replicas must know of the Redis nodes.
    pub fn redis_login(&self) -> RedisLogin {
        let nodes = match &*self.stores {
            Stores::Embedded(_) => BTreeMap::new(),
            Stores::Shared(shared) => shared.redis_users(),
        };
        RedisLogin { key_prefix: self.key_prefix().to_owned(), nodes }
    }

    /// How the lab itself reaches the arena's database, past all links, as its owner. For pools and
    /// listeners; a single connection is [`Arena::connect_postgres`].
    pub fn postgres_options(&self) -> PgConnectOptions {
        match &*self.stores {
            Stores::Embedded(own) => own.postgres_options(),
            Stores::Shared(shared) => shared.postgres_options(),
        }
    }

    /// The same for statements that only read, whatever they say; transactions are to be rolled back.
    pub fn reader_options(&self) -> PgConnectOptions {
        match &*self.stores {
            Stores::Embedded(_) => reader::postgres(self.postgres_options(), reader::READER_ROLE),
            Stores::Shared(shared) => shared.reader_options(),
        }
    }

    /// A direct connection to the arena's database.
    pub async fn connect_postgres(&self) -> Result<PgConnection, LabError> {
        let options = self.postgres_options();
        match timeout(CONNECT_LIMIT, options.connect()).await {
            Ok(connection) => Ok(connection?),
            Err(_) => Err(LabError::Silent { what: "Postgres".to_owned(), limit: CONNECT_LIMIT }),
        }
    }

    /// How the lab itself reaches a Redis node, 1 to 5, past all links.
    pub fn redis_client(&self, node: u8) -> Result<redis::Client, LabError> {
        let unknown = || LabError::NotHere("a node of that number");
        match &*self.stores {
            Stores::Embedded(own) => {
                Ok(redis::Client::open(redis_node::unix(&own.node_socket(node).ok_or_else(unknown)?))?)
            }
            Stores::Shared(shared) => Ok(redis::Client::open(shared.redis_url(node).ok_or_else(unknown)?)?),
        }
    }

    /// A direct connection to a Redis node, 1 to 5, with limits on waits.
    pub async fn connect_redis(&self, node: u8) -> Result<MultiplexedConnection, LabError> {
        Ok(redis_node::connect(self.redis_client(node)?.get_connection_info().clone()).await?)
    }

    /// The same for commands that only read, whatever they say.
    pub async fn connect_redis_reader(&self, node: u8) -> Result<MultiplexedConnection, LabError> {
        let to = self.redis_client(node)?.get_connection_info().clone();
        let (user, password) = match &*self.stores {
            // Nobody but the lab reaches these nodes, past links that any user may log in through.
            Stores::Embedded(_) => (reader::READER_ROLE, reader::READER_ROLE),
            Stores::Shared(shared) => shared.reader(),
        };
        Ok(reader::redis(to, user, password, self.key_prefix()).await?)
    }

    /// What stands before every Redis key of this arena; empty with private nodes.
    pub fn key_prefix(&self) -> &str {
        match &*self.stores {
            Stores::Embedded(_) => "",
            Stores::Shared(shared) => shared.key_prefix(),
        }
    }

    /// A store's process; `None` when the stores are shared (its faults are not applicable here) or the
    /// endpoint is no store.
    pub fn store(&self, endpoint: Endpoint) -> Option<&Store> {
        match &*self.stores {
            Stores::Embedded(own) => own.store(endpoint),
            Stores::Shared(_) => None,
        }
    }

    /// Every store process, Postgres first; none when the stores are shared.
    pub fn stores(&self) -> impl Iterator<Item = (Endpoint, &Store)> {
        let replicas = (1..=Endpoint::REDIS_NODES).map(Endpoint::RedisReplica);
        let all = Endpoint::of_replicas().chain(replicas);
        all.filter_map(|endpoint| Some((endpoint, self.store(endpoint)?)))
    }

    /// Start a process of a replica behind a Redis node, if there is none yet.
    pub async fn start_replica(&self, node: u8) -> Result<(), LabError> {
        match &*self.stores {
            Stores::Embedded(own) => own.start_replica(node).await,
            Stores::Shared(_) => Err(LabError::NotHere("replicas of shared Redis nodes")),
        }
    }

    /// A Redis node and its replica change places: `redis-1` is the other process from now on.
    pub fn swap(&self, node: u8) {
        if let Stores::Embedded(own) = &*self.stores {
            own.swap(node);
        }
    }

    /// Are the stores somebody else's, and other arenas use them too?
    pub fn is_shared(&self) -> bool {
        matches!(&*self.stores, Stores::Shared(_))
    }

    /// Start a replica. Its pipes belong to the runtime that calls this; its errors go to a log in the
    /// arena's folder.
    pub async fn spawn_replica(&self, name: &str, incarnation: u32) -> Result<ReplicaProcess, LabError> {
        self.replicas.spawn(&self.means, &self.folder, name, incarnation).await
    }

    /// End all processes and remove the folder. Done once; later calls return at once.
    pub async fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            end(self.replicas.clone(), self.stores.clone(), self.folder.clone()).await;
        }
    }
}

async fn end(replicas: replica::Replicas, stores: Arc<Stores>, folder: PathBuf) {
    replicas.kill().await;
    match &*stores {
        Stores::Embedded(own) => own.close().await,
        Stores::Shared(shared) => shared.close().await,
    }
    let removed = tokio::task::spawn_blocking(move || at(&folder, fs::remove_dir_all(&folder))).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!(%error, "an arena's folder could not be removed");
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if *self.closed.get_mut() {
            return;
        }
        // Without a runtime the process is about to end, and the warden with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(end(self.replicas.clone(), self.stores.clone(), self.folder.clone()));
        }
    }
}
