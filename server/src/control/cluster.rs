//! The embedded Postgres of the control plane: one cluster under the data folder, one process at a time,
//! with the durability that Postgres has by default. One that ends by itself is started again.

use std::fs::{self, File};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::data_dir::{DataDir, kill_left_over, try_lock};
use crate::lab::LabError;
use crate::stores::cluster::{Cluster, DATABASE, LAB_LOGINS, Means, shut_down};
use crate::stores::programs::Postgres;
use crate::stores::sockets::{self, Sockets};
use crate::stores::{at, private_folder};
use crate::warden::limits::Limits;
use crate::warden::{Process, User, Warden};

/// Everything that concerns durability is left as Postgres has it.
const SETTINGS: &str = "\
listen_addresses = ''
unix_socket_permissions = 0700
max_connections = 40
shared_buffers = 32MB
wal_level = minimal
max_wal_senders = 0
min_wal_size = 16MB
max_wal_size = 256MB
dynamic_shared_memory_type = mmap
jit = off
log_checkpoints = off
timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, mdy'
";

/// How long a shutdown with its checkpoint may take; what is killed then recovers at the next start.
const SHUT_LIMIT: Duration = Duration::from_secs(10);

/// What the embedded Postgres needs of the lab.
pub(crate) struct Own<'a> {
    pub(crate) warden: &'a Warden,
    pub(crate) user: Option<&'a User>,
    pub(crate) data_dir: &'a DataDir,
}

/// How soon one that ended by itself is started again; doubled each time that this fails ...
const AGAIN: Duration = Duration::from_millis(200);
/// ... up to this.
const LONGEST_AGAIN: Duration = Duration::from_secs(10);

/// The cluster, running.
pub(super) struct Embedded {
    keeper: Arc<Keeper>,
    _sockets: Sockets,
    lock: Mutex<Option<File>>,
}

/// Keeps it running.
struct Keeper {
    cluster: Cluster,
    means: Means,
    process: watch::Sender<Process>,
    ending: CancellationToken,
}

impl Keeper {
    /// Start it again whenever it ends by itself, until it is to end.
    async fn keep(&self) {
        let mut pause = AGAIN;
        loop {
            let process = self.process.borrow().clone();
            let Some(exit) = self.ending.run_until_cancelled(process.exited()).await else { return };
            tracing::error!(%exit, "the control plane's Postgres ended by itself; it is started again");
            loop {
                if self.means.warden.is_gone() || self.ending.is_cancelled() {
                    return;
                }
                // What a killed Postgres leaves keeps the next one away, and nothing of it runs any more.
                let started = match self.cluster.forget_dead() {
                    Ok(()) => self.cluster.start(&self.means).await,
                    Err(error) => Err(error),
                };
                match started {
                    Ok(process) => {
                        pause = AGAIN;
                        self.process.send_replace(process);
                        break;
                    }
                    Err(error) => tracing::error!(%error, "the control plane's Postgres does not start"),
                }
                if self.ending.run_until_cancelled(sleep(pause)).await.is_none() {
                    return;
                }
                pause = (pause * 2).min(LONGEST_AGAIN);
            }
        }
    }
}

impl Embedded {
    pub(super) async fn start(own: Own<'_>) -> Result<Embedded, LabError> {
        let folder = own.data_dir.control();
        own.data_dir.make(&folder)?;
        let lock = try_lock(&folder)?.ok_or_else(|| LabError::ControlBusy { path: folder.clone() })?;
        let inside = folder.join("cluster");
        let data = inside.join("data");
        let version = fs::read_to_string(data.join("PG_VERSION")).ok().and_then(|text| text.trim().parse().ok());
        let postgres = match version {
            None => Postgres::find()?,
            Some(major) => Postgres::find_major(major)?,
        };
        // What a crashed server left holds the cluster. It is written down in that server's folder, which is
        // cleaned already; here is looked at what works in this one.
        kill_left_over(&folder, vec![postgres.postgres.path.clone()]).await;
        if inside.exists() {
            sockets::remove_left_over(&inside);
        }
        let password_file = inside.join("password");
        let finished = version.is_some() && password_file.exists();
        if !finished {
            if inside.exists() {
                at(&inside, fs::remove_dir_all(&inside))?;
            }
            private_folder(&inside, own.user)?;
        }
        let sockets = Sockets::for_folder(&inside, own.user)?;
        let password = match finished {
            true => at(&password_file, fs::read_to_string(&password_file))?,
            false => format!("{:032x}", rand::random::<u128>()),
        };
        let log = inside.join("log");
        let cluster = Cluster { data, sockets: sockets.folder().to_owned(), log, password };
        let limits = Limits::default();
        let means = Means { warden: own.warden.clone(), postgres, user: own.user.cloned(), limits };
        cluster.forget_dead()?;
        if !finished {
            cluster.init(&means, SETTINGS, LAB_LOGINS).await?;
        }
        let process = cluster.start(&means).await?;
        if !finished {
            let mut connection = cluster.superuser("postgres").connect().await?;
            sqlx::query(AssertSqlSafe(format!("create database {DATABASE}"))).execute(&mut connection).await?;
            connection.close().await?;
            // Written last: a cluster without it is half made, holds nothing, and is made again.
            at(&password_file, crate::stores::write_secret(&password_file, &cluster.password))?;
        }
        let (process, ending) = (watch::Sender::new(process), CancellationToken::new());
        let keeper = Arc::new(Keeper { cluster, means, process, ending });
        tokio::spawn({
            let keeper = keeper.clone();
            async move { keeper.keep().await }
        });
        Ok(Embedded { keeper, _sockets: sockets, lock: Mutex::new(Some(lock)) })
    }

    pub(super) fn options(&self) -> PgConnectOptions {
        self.keeper.cluster.superuser(DATABASE)
    }

    pub(super) async fn stop(&self) {
        self.keeper.ending.cancel();
        let process = self.keeper.process.borrow().clone();
        if let Err(error) = shut_down(&process, SHUT_LIMIT).await {
            tracing::warn!(%error, "the control plane's Postgres could not be shut down; it recovers at the next start");
        }
        // Another server may have it from now on, though this value lives.
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
