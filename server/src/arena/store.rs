//! One store's process, as faults see it: it can be stopped, continued, killed, started and restarted. Each
//! returns when the store is really so: all threads stopped, all processes gone, connections taken.

use std::sync::PoisonError;

use tokio::sync::Mutex;

use crate::lab::LabError;
use crate::stores::cluster::{self, Cluster};
use crate::stores::memory;
use crate::stores::redis_node::{self, Node};
use crate::warden::Process;

/// See the module.
#[derive(Debug)]
pub struct Store {
    what: What,
    running: Mutex<Option<Process>>,
    /// For readers that do not wait: the process last started, and its number.
    last: std::sync::Mutex<(u32, u32)>,
}

#[derive(Debug)]
enum What {
    Postgres(Cluster, cluster::Means),
    Redis(std::sync::Mutex<Node>, redis_node::Means),
}

impl Store {
    /// Start a Postgres.
    pub(super) async fn postgres(cluster: Cluster, means: cluster::Means) -> Result<Store, LabError> {
        Store::new(What::Postgres(cluster, means)).await
    }

    /// Start a Redis node.
    pub(super) async fn redis(node: Node, means: redis_node::Means) -> Result<Store, LabError> {
        Store::new(What::Redis(std::sync::Mutex::new(node), means)).await
    }

    async fn new(what: What) -> Result<Store, LabError> {
        let store = Store { what, running: Mutex::new(None), last: std::sync::Mutex::new((0, 0)) };
        store.start().await?;
        Ok(store)
    }

    /// The pid of the process last started (of Postgres, its postmaster).
    pub fn pid(&self) -> u32 {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Which process of this store that is, from 1.
    pub fn incarnation(&self) -> u32 {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// The process, if it runs (or is stopped).
    pub async fn process(&self) -> Option<Process> {
        self.running.lock().await.clone().filter(|process| process.exit().is_none())
    }

    /// Stop all its processes.
    pub async fn stop(&self) -> Result<(), LabError> {
        Ok(self.process().await.ok_or(LabError::NotRunning)?.stop().await?)
    }

    /// Let all its processes go on.
    pub async fn cont(&self) -> Result<(), LabError> {
        Ok(self.process().await.ok_or(LabError::NotRunning)?.cont().await?)
    }

    /// Kill all its processes. A Redis node loses its memory, Postgres nothing that was committed.
    pub async fn kill(&self) -> Result<(), LabError> {
        let mut running = self.running.lock().await;
        if let Some(process) = running.as_ref() {
            process.kill().await?;
        }
        *running = None;
        Ok(())
    }

    /// Start it again after a kill; one that runs is left alone.
    pub async fn start(&self) -> Result<(), LabError> {
        let mut running = self.running.lock().await;
        if running.as_ref().is_some_and(|process| process.exit().is_none()) {
            return Ok(());
        }
        let process = match &self.what {
            What::Postgres(cluster, means) => cluster.start(means).await?,
            What::Redis(node, means) => {
                let node = node.lock().unwrap_or_else(PoisonError::into_inner).clone();
                node.start(means).await?
            }
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = (process.pid(), last.1 + 1);
        drop(last);
        *running = Some(process);
        Ok(())
    }

    /// End it and start it again. Postgres quits at once, as in an immediate shutdown; sessions are lost.
    pub async fn restart(&self) -> Result<(), LabError> {
        match (&self.what, self.process().await) {
            (What::Postgres(..), Some(process)) => cluster::quit(&process).await?,
            _ => self.kill().await?,
        }
        self.start().await
    }

    /// End it for good, giving back what it holds of the machine.
    pub(super) async fn close(&self) -> Result<(), LabError> {
        if let (What::Postgres(..), Some(process)) = (&self.what, self.process().await) {
            cluster::quit(&process).await?;
        }
        self.kill().await?;
        if let What::Postgres(cluster, _) = &self.what {
            // After a kill; whoever quits has done it already, and left nothing to read it from.
            memory::give_back(&cluster.data);
        }
        Ok(())
    }

    /// How the superuser reaches this Postgres.
    pub(super) fn superuser(&self) -> Option<sqlx::postgres::PgConnectOptions> {
        match &self.what {
            What::Postgres(cluster, _) => Some(cluster.superuser(cluster::DATABASE)),
            What::Redis(..) => None,
        }
    }

    /// The socket that clients connect to.
    pub fn socket(&self) -> std::path::PathBuf {
        match &self.what {
            What::Postgres(cluster, _) => cluster.socket(),
            What::Redis(node, _) => node.lock().unwrap_or_else(PoisonError::into_inner).socket(),
        }
    }

    /// The settings that a Redis node starts with.
    pub(super) fn node_setup(&self) -> locks::setup::NodeSetup {
        match &self.what {
            What::Redis(node, _) => node.lock().unwrap_or_else(PoisonError::into_inner).setup.clone(),
            What::Postgres(..) => locks::setup::NodeSetup::default(),
        }
    }

    /// Settings that a Redis node starts with from now on.
    pub(super) fn set_node(&self, setup: &locks::setup::NodeSetup) {
        if let What::Redis(node, _) = &self.what {
            node.lock().unwrap_or_else(PoisonError::into_inner).setup = setup.clone();
        }
    }
}
