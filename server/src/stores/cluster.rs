//! A Postgres cluster on this machine: made by `initdb`, started through the warden, reached by a Unix
//! socket. Its superuser has a password, so that whoever reaches a link's port is not the superuser;
//! replicas and readers log in as roles with few rights, without one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::programs::Postgres;
use super::{START_LIMIT, StoreError, at, environment, last_words, log_file, private_folder};
use crate::warden::limits::Limits;
use crate::warden::{Io, Process, Spawn, User, Warden};

/// The superuser of every cluster that the lab makes.
pub const SUPERUSER: &str = "aegis";
/// The role of replicas.
pub const REPLICA_ROLE: &str = "aegis_replica";
/// The database of an arena, and of the control plane.
pub const DATABASE: &str = "aegis";
/// Names the socket; no TCP port of that number is opened.
pub const PORT: u16 = 5432;

/// Whom arenas and the control plane let in: without a password roles with few rights, and everybody else with one.
pub const LAB_LOGINS: &str = "local all aegis_replica,aegis_reader trust\nlocal all all scram-sha-256";

/// How long `initdb` may take.
const INITDB_LIMIT: Duration = Duration::from_secs(60);
/// How long a shutdown that ends backends at once may take.
const QUIT_LIMIT: Duration = Duration::from_secs(5);
/// How often a start is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What it takes to run Postgres here.
#[derive(Clone, Debug)]
pub struct Means {
    /// Who starts it.
    pub warden: Warden,
    /// The programs.
    pub postgres: Postgres,
    /// As whom.
    pub user: Option<User>,
    /// What it may use of the machine.
    pub limits: Limits,
}

/// Where a cluster lives.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The cluster itself.
    pub data: PathBuf,
    /// The folder of its socket.
    pub sockets: PathBuf,
    /// Its output.
    pub log: PathBuf,
    /// The superuser's password.
    pub password: String,
}

impl Cluster {
    /// The socket that clients connect to.
    pub fn socket(&self) -> PathBuf {
        self.sockets.join(format!(".s.PGSQL.{PORT}"))
    }

    /// How the superuser connects.
    pub fn superuser(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(&self.sockets)
            .port(PORT)
            .ssl_mode(PgSslMode::Disable)
            .username(SUPERUSER)
            .password(&self.password)
            .database(database)
    }

    /// Make the cluster with `initdb`, and give it its settings.
    pub async fn init(&self, means: &Means, settings: &str, logins: &str) -> Result<(), StoreError> {
        let folder = self.data.parent().unwrap_or(&self.data);
        private_folder(&self.data, means.user.as_ref())?;
        let password = folder.join("initdb.password");
        write_for(&password, &self.password, means.user.as_ref())?;
        let args = [
            format!("--pgdata={}", self.data.display()),
            format!("--username={SUPERUSER}"),
            format!("--pwfile={}", password.display()),
            "--auth=scram-sha-256".to_owned(),
            "--encoding=UTF8".to_owned(),
            "--locale=C".to_owned(),
            "--wal-segsize=1".to_owned(),
            "--no-sync".to_owned(),
        ];
        let spawned = means
            .warden
            .spawn(Spawn {
                program: means.postgres.initdb.clone(),
                args: args.into(),
                env: environment(),
                folder: folder.to_owned(),
                user: means.user.clone(),
                limits: Limits::default(),
                io: Io::Nothing,
                errors: log_file(&self.log)?,
            })
            .await?;
        let exit = tokio::time::timeout(INITDB_LIMIT, spawned.process.exited()).await;
        at(&password, fs::remove_file(&password))?;
        match exit {
            Ok(exit) if exit.success() => {}
            Ok(exit) => return Err(self.died("initdb", exit.to_string())),
            Err(_) => {
                spawned.process.kill().await?;
                return Err(self.silent("initdb", INITDB_LIMIT));
            }
        }
        let hba = format!(
            "# Who may log in, and how. Sockets only.\n\
             {logins}\n\
             local all {SUPERUSER} scram-sha-256\n"
        );
        write_for(&self.data.join("pg_hba.conf"), &hba, means.user.as_ref())?;
        write_for(&self.data.join("postgresql.conf"), settings, means.user.as_ref())
    }

    /// Remove what a killed Postgres left to keep others away. For a caller that knows that nothing of it
    /// runs any more: a dead process that nobody has reaped yet looks alive to Postgres, and keeps it from
    /// starting.
    pub fn forget_dead(&self) -> Result<(), StoreError> {
        for left in [self.data.join("postmaster.pid"), self.sockets.join(format!(".s.PGSQL.{PORT}.lock"))] {
            if left.exists() {
                at(&left, fs::remove_file(&left))?;
            }
        }
        Ok(())
    }

    /// Start Postgres; returns when it takes connections.
    pub async fn start(&self, means: &Means) -> Result<Process, StoreError> {
        let pid_file = self.data.join("postmaster.pid");
        let args =
            vec!["-D".to_owned(), self.data.display().to_string(), "-k".to_owned(), self.sockets.display().to_string()];
        let spawned = means
            .warden
            .spawn(Spawn {
                program: means.postgres.postgres.path.clone(),
                args,
                env: environment(),
                folder: self.sockets.clone(),
                user: means.user.clone(),
                limits: means.limits,
                io: Io::Nothing,
                errors: log_file(&self.log)?,
            })
            .await?;
        let process = spawned.process;
        let until = Instant::now() + START_LIMIT;
        loop {
            if ready(&pid_file, process.pid()) {
                return Ok(process);
            }
            if let Some(exit) = process.exit() {
                return Err(self.died("Postgres", exit.to_string()));
            }
            if Instant::now() > until {
                process.kill().await?;
                return Err(self.silent("Postgres", START_LIMIT));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn died(&self, what: &str, exit: String) -> StoreError {
        StoreError::Died { what: what.to_owned(), exit, log: last_words(&self.log) }
    }

    fn silent(&self, what: &str, limit: Duration) -> StoreError {
        StoreError::Silent { what: what.to_owned(), limit, log: last_words(&self.log) }
    }
}

/// Does the cluster's own file say that this very process takes connections?
fn ready(pid_file: &Path, pid: u32) -> bool {
    let Ok(text) = fs::read_to_string(pid_file) else { return false };
    let mut lines = text.lines();
    lines.next().is_some_and(|line| line.trim() == pid.to_string())
        && lines.nth(6).is_some_and(|line| line.trim() == "ready")
}

/// End Postgres at once: backends are told to quit, nothing is written. Its shared memory is given back,
/// which a kill would leave to the machine.
pub async fn quit(process: &Process) -> Result<(), StoreError> {
    process.end(Signal::SIGQUIT, QUIT_LIMIT).await?;
    Ok(())
}

/// End Postgres with a checkpoint; sessions are closed.
pub async fn shut_down(process: &Process, limit: Duration) -> Result<(), StoreError> {
    process.end(Signal::SIGINT, limit).await?;
    Ok(())
}

fn write_for(path: &Path, text: &str, user: Option<&User>) -> Result<(), StoreError> {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, chown};
    let opened = fs::File::options().create(true).truncate(true).write(true).mode(0o600).open(path);
    at(path, opened.and_then(|mut file| file.write_all(text.as_bytes())))?;
    if let Some(user) = user {
        at(path, chown(path, Some(user.uid), Some(user.gid)))?;
    }
    Ok(())
}
