//! Private stores of one arena: a Postgres copied from the template and five Redis nodes, all started at
//! the same time. About 0.2 s and 50 MB, so that every run can have its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use locks::ids::Endpoint;
use locks::setup::NodeSetup;
use sqlx::postgres::PgConnectOptions;
use tokio::sync::OnceCell;

use super::store::Store;
use crate::lab::LabError;
use crate::link::Upstream;
use crate::replica::control::PostgresLogin;
use crate::stores::cluster::{self, Cluster, DATABASE, REPLICA_ROLE};
use crate::stores::programs::{Postgres, Program};
use crate::stores::redis_node::{self, Node};
use crate::stores::sockets::Sockets;
use crate::stores::template::Template;
use crate::warden::limits::Limits;

/// The cluster's folder in an arena's.
pub(crate) const POSTGRES: &str = "postgres";

/// What private stores are made from.
#[derive(Clone, Debug)]
pub struct Means {
    /// Postgres of this machine.
    pub postgres: Postgres,
    /// Redis of this machine.
    pub redis: Program,
    /// The cluster that is copied.
    pub template: Template,
}

/// The stores.
#[derive(Debug)]
pub(super) struct Embedded {
    postgres: Store,
    options: PgConnectOptions,
    nodes: Vec<Pair>,
    redis: redis_node::Means,
    folder: PathBuf,
    /// Removed last.
    sockets: Sockets,
}

/// A Redis node, and the replica that it may have.
#[derive(Debug)]
struct Pair {
    first: Store,
    second: OnceCell<Store>,
    /// It failed over: the second is the primary.
    swapped: AtomicBool,
}

impl Pair {
    fn new(first: Store) -> Pair {
        Pair { first, second: OnceCell::new(), swapped: AtomicBool::new(false) }
    }

    fn primary(&self) -> &Store {
        match self.second.get() {
            Some(second) if self.swapped.load(Ordering::Acquire) => second,
            _ => &self.first,
        }
    }

    fn replica(&self) -> Option<&Store> {
        let second = self.second.get()?;
        Some(if self.swapped.load(Ordering::Acquire) { &self.first } else { second })
    }
}

impl Embedded {
    pub(super) async fn open(
        own: &Means,
        means: &super::Means,
        folder: &Path,
        setups: &BTreeMap<String, NodeSetup>,
    ) -> Result<Embedded, LabError> {
        let sockets = Sockets::for_folder(folder, means.user.as_ref())?;
        let redis =
            redis_node::Means { warden: means.warden.clone(), redis: own.redis.clone(), user: means.user.clone() };
        let node = |number: u8| {
            let name = Endpoint::Redis(number).to_string();
            let setup = setups.get(&name).cloned().unwrap_or_default();
            let log = folder.join(format!("{name}.log"));
            let node = Node { name, folder: sockets.folder().to_owned(), log, setup };
            Store::redis(node, redis.clone())
        };
        let postgres = async {
            let (template, user) = (own.template.clone(), means.user.clone());
            let data = folder.join(POSTGRES);
            let to = data.clone();
            let copied = tokio::task::spawn_blocking(move || template.copy(&to, user.as_ref())).await;
            copied.map_err(|error| LabError::Lab(error.to_string()))??;
            let cluster = Cluster {
                data,
                sockets: sockets.folder().to_owned(),
                log: folder.join("postgres.log"),
                password: own.template.password().to_owned(),
            };
            let means = cluster::Means {
                warden: means.warden.clone(),
                postgres: own.postgres.clone(),
                user: means.user.clone(),
                limits: Limits::default(),
            };
            Store::postgres(cluster, means).await
        };
        let (postgres, one, two, three, four, five) =
            tokio::try_join!(postgres, node(1), node(2), node(3), node(4), node(5))?;
        let options = postgres.superuser().ok_or_else(|| LabError::Lab("Postgres is no Postgres".to_owned()))?;
        let nodes = [one, two, three, four, five].map(Pair::new).into();
        Ok(Embedded { postgres, options, nodes, redis, folder: folder.to_owned(), sockets })
    }

    /// Start a second process behind a node, if there is none. What makes it a replica is the run's.
    pub(super) async fn start_replica(&self, node: u8) -> Result<(), LabError> {
        let Some(pair) = self.pair(node) else { return Err(LabError::NotHere("a node of that number")) };
        let name = format!("{}-replica", Endpoint::Redis(node));
        let log = self.folder.join(format!("{name}.log"));
        let setup = pair.first.node_setup();
        let node = Node { name, folder: self.sockets.folder().to_owned(), log, setup };
        pair.second.get_or_try_init(|| Store::redis(node, self.redis.clone())).await?;
        Ok(())
    }

    /// The two processes of a pair change places.
    pub(super) fn swap(&self, node: u8) {
        if let Some(pair) = self.pair(node) {
            pair.swapped.fetch_xor(true, Ordering::AcqRel);
        }
    }

    fn pair(&self, node: u8) -> Option<&Pair> {
        self.nodes.get(usize::from(node).checked_sub(1)?)
    }

    /// Change settings of nodes that run.
    pub(super) async fn set_nodes(&self, setups: &BTreeMap<String, NodeSetup>) -> Result<(), LabError> {
        for (name, setup) in setups {
            let Ok(endpoint @ Endpoint::Redis(_)) = name.parse() else { return Err(LabError::NotHere("that node")) };
            let Some(store) = self.store(endpoint) else { return Err(LabError::NotHere("that node")) };
            let mut connection = redis_node::connect(redis_node::unix(&store.socket())).await?;
            let values = [("maxmemory", &setup.maxmemory), ("maxmemory-policy", &setup.maxmemory_policy)];
            for (key, value) in values.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
                redis::cmd("CONFIG").arg("SET").arg(key).arg(value).query_async::<()>(&mut connection).await?;
            }
            store.set_node(setup);
        }
        Ok(())
    }

    pub(super) fn store(&self, endpoint: Endpoint) -> Option<&Store> {
        match endpoint {
            Endpoint::Postgres => Some(&self.postgres),
            Endpoint::Redis(node) => self.pair(node).map(Pair::primary),
            Endpoint::RedisReplica(node) => self.pair(node)?.replica(),
            Endpoint::Bank => None,
        }
    }

    pub(super) fn upstream(&self, endpoint: Endpoint) -> Option<Upstream> {
        self.store(endpoint).map(|store| Upstream::Unix(store.socket()))
    }

    pub(super) fn node_socket(&self, node: u8) -> Option<PathBuf> {
        self.store(Endpoint::Redis(node)).map(Store::socket)
    }

    pub(super) fn postgres_options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    pub(super) async fn close(&self) {
        let nodes = async {
            for node in &self.nodes {
                report(node.first.close().await);
                if let Some(second) = node.second.get() {
                    report(second.close().await);
                }
            }
        };
        let postgres = async { report(self.postgres.close().await) };
        tokio::join!(postgres, nodes);
    }
}

fn report(ended: Result<(), LabError>) {
    if let Err(error) = ended {
        tracing::warn!(%error, "a store could not be ended");
    }
}

/// How replicas log in: a role with few rights, which needs no password because only it gets in that way.
pub(super) fn postgres_login() -> PostgresLogin {
    PostgresLogin { user: REPLICA_ROLE.to_owned(), database: DATABASE.to_owned(), password: None }
}
