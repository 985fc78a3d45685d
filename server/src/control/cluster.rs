//! The embedded Postgres of the control plane: one cluster under the data folder, one process at a time,
//! with the durability that Postgres has by default.

use std::fs::{self, File};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::data_dir::{DataDir, kill_left_over, try_lock};
use crate::lab::LabError;
use crate::stores::cluster::{Cluster, DATABASE, Means, shut_down};
use crate::stores::programs::Postgres;
use crate::stores::sockets::{self, Sockets};
use crate::stores::{at, private_folder};
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

/// The cluster, running.
pub(super) struct Embedded {
    cluster: Cluster,
    process: Process,
    _sockets: Sockets,
    lock: Mutex<Option<File>>,
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
        let means = Means { warden: own.warden.clone(), postgres, user: own.user.cloned() };
        cluster.forget_dead()?;
        if !finished {
            cluster.init(&means, SETTINGS).await?;
        }
        let process = cluster.start(&means).await?;
        if !finished {
            let mut connection = cluster.superuser("postgres").connect().await?;
            sqlx::query(AssertSqlSafe(format!("create database {DATABASE}"))).execute(&mut connection).await?;
            connection.close().await?;
            // Written last: a cluster without it is half made, holds nothing, and is made again.
            at(&password_file, crate::stores::write_secret(&password_file, &cluster.password))?;
        }
        Ok(Embedded { cluster, process, _sockets: sockets, lock: Mutex::new(Some(lock)) })
    }

    pub(super) fn options(&self) -> PgConnectOptions {
        self.cluster.superuser(DATABASE)
    }

    pub(super) async fn stop(&self) {
        if let Err(error) = shut_down(&self.process, SHUT_LIMIT).await {
            tracing::warn!(%error, "the control plane's Postgres could not be shut down; it recovers at the next start");
        }
        // Another server may have it from now on, though this value lives.
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
