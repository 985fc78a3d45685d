//! The Postgres of one attempt: a copy of a template of its own, for a role that owns nothing and may neither
//! wait, lock, notify nor write anywhere but where the exercise lets it. A role can change its own limits, so the
//! ones that count are the kernel's, start-up options, and whoever asks, who ends sessions and the cluster.

use std::time::Duration;

use nix::sys::signal::Signal;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use tokio::time::timeout;

use super::Folder;
use super::wire::Wire;
use crate::arena::embedded::POSTGRES;
use crate::lab::{Lab, LabError};
use crate::stores::cluster::{Cluster, Means, SUPERUSER};
use crate::stores::programs::Postgres;
use crate::stores::template::{Recipe, Template};
use crate::stores::{StoreError, memory};
use crate::warden::Process;
use crate::warden::limits::Limits;

/// The one database.
const DATABASE: &str = "attempt";
/// As whom the learner's statements run.
const LEARNER: &str = "hw_learner";
/// As whom the other replicas of an exercise act.
const GRADER: &str = "hw_grader";

/// What the role could not change anyway, and what only costs.
const SETTINGS: &str = "\
listen_addresses = ''
unix_socket_permissions = 0700
max_connections = 24
superuser_reserved_connections = 6
shared_buffers = 8MB
work_mem = 4MB
temp_file_limit = 16MB
max_prepared_transactions = 0
max_worker_processes = 0
max_parallel_workers = 0
max_parallel_workers_per_gather = 0
jit = off
autovacuum = off
max_stack_depth = 1MB
deadlock_timeout = 100ms
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
min_wal_size = 2MB
max_wal_size = 16MB
dynamic_shared_memory_type = mmap
log_min_messages = fatal
log_min_error_statement = panic
timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, mdy'
";

/// A backend notices by itself that nobody listens any more; since Postgres 14.
const NOTICES_CLOSED: &str = "client_connection_check_interval = 500\n";

/// Limits of every session from its start, which no setting of a role undoes.
const OPTIONS: &str = "-c statement_timeout=2s -c lock_timeout=1500ms -c idle_in_transaction_session_timeout=10s";

/// Each process of the cluster: 512 MB, and files of 64 MB.
const LIMITS: Limits = Limits { memory_kb: Some(512 * 1024), file_blocks: Some(128 * 1024) };

/// How long the grader's own statements may take.
const ASK_LIMIT: Duration = Duration::from_secs(5);
/// How long the cluster may take to quit.
const QUIT_LIMIT: Duration = Duration::from_secs(1);

/// What attempts are copied from.
fn recipe(version: (u32, u32)) -> Recipe {
    let notices = if version >= (14, 0) { NOTICES_CLOSED } else { "" };
    Recipe {
        kind: "homework",
        settings: format!("{SETTINGS}{notices}"),
        logins: "local attempt hw_learner,hw_grader trust",
        format: "1",
        sources: vec![FILL.as_bytes().to_vec()],
        fill: |cluster| Box::pin(fill(cluster)),
    }
}

const FILL: &str = include_str!("../../../homework/sandbox.sql");

/// One database, the roles, and rights taken away. Every database is some three hundred files to copy.
async fn fill(cluster: &Cluster) -> Result<(), StoreError> {
    let mut admin = cluster.superuser("template1").connect().await?;
    sqlx::raw_sql(AssertSqlSafe(format!("alter database postgres rename to {DATABASE}"))).execute(&mut admin).await?;
    admin.close().await?;
    let mut admin = cluster.superuser(DATABASE).connect().await?;
    let only_one = "alter database template0 is_template false; alter database template1 is_template false";
    for sql in [only_one, "drop database template0", "drop database template1", FILL, "vacuum analyze"] {
        sqlx::raw_sql(sql).execute(&mut admin).await?;
    }
    // Twice, so that log segments from before the first are gone with the second.
    for _ in 0..2 {
        sqlx::raw_sql("checkpoint").execute(&mut admin).await?;
    }
    admin.close().await?;
    Ok(())
}

/// What it takes to make one: found and made once a lab.
#[derive(Clone, Debug)]
pub struct Workshop {
    means: Means,
    template: Template,
}

impl Workshop {
    /// Find the programs and make the template, if there is none.
    pub async fn open(lab: &Lab) -> Result<Workshop, LabError> {
        // Whoever shares stores with others gets a cluster of its own here too.
        let postgres = Postgres::find()?;
        let recipe = recipe(postgres.postgres.version);
        let (warden, user) = (lab.warden().clone(), lab.store_user().cloned());
        let means = Means { warden, postgres, user, limits: Limits::default() };
        let template = lab.template(&recipe, &means).await?;
        Ok(Workshop { means: Means { limits: LIMITS, ..means }, template })
    }
}

/// See the module.
pub struct Sandbox {
    cluster: Cluster,
    process: Process,
    admin: PgConnection,
    /// Removed last.
    folder: Option<Folder>,
}

impl Sandbox {
    /// Make one, with the tables of an exercise.
    pub async fn open(lab: &Lab, workshop: &Workshop, schema: &'static str) -> Result<Sandbox, LabError> {
        let folder = Folder::new(lab)?;
        let data = folder.path().join(POSTGRES);
        let (template, user, to) = (workshop.template.clone(), workshop.means.user.clone(), data.clone());
        let copied = tokio::task::spawn_blocking(move || template.copy(&to, user.as_ref())).await;
        copied.map_err(|error| LabError::Lab(error.to_string()))??;
        let cluster = Cluster {
            data,
            sockets: folder.sockets.folder().to_owned(),
            log: folder.path().join("postgres.log"),
            password: workshop.template.password().to_owned(),
        };
        let process = cluster.start(&workshop.means).await?;
        // A machine that is busy is not told of statement by statement.
        let options = cluster.superuser(DATABASE).disable_statement_logging().options([
            ("statement_timeout", "4s"),
            ("lock_timeout", "4s"),
            // What the grader does itself is not noted.
            ("session_replication_role", "replica"),
        ]);
        let opened = async {
            let mut admin = connect(options).await?;
            sqlx::raw_sql(schema).execute(&mut admin).await?;
            Ok(admin)
        };
        match opened.await {
            Ok(admin) => Ok(Sandbox { cluster, process, admin, folder: Some(folder) }),
            Err(error) => {
                end(process, cluster, folder).await;
                Err(error)
            }
        }
    }

    /// The grader's own connection.
    pub fn admin(&mut self) -> &mut PgConnection {
        &mut self.admin
    }

    /// A new session of the learner's.
    pub async fn learner(&self) -> Result<Wire, String> {
        Wire::open(&self.cluster.socket(), LEARNER, DATABASE, OPTIONS).await
    }

    /// A new session of another replica of the exercise, which is the grader's.
    pub async fn other(&self) -> Result<Wire, String> {
        Wire::open(&self.cluster.socket(), GRADER, DATABASE, OPTIONS).await
    }

    /// End a session's backend. False: it does not end, and the cluster is of no more use.
    pub async fn terminate(&mut self, pid: u32) -> bool {
        let asked = sqlx::query_scalar::<_, bool>("select pg_terminate_backend($1, 1000)").bind(pid as i32);
        matches!(timeout(ASK_LIMIT, asked.fetch_one(&mut self.admin)).await, Ok(Ok(true)))
    }

    /// End it: no more logins, no more sessions, no process, no folder.
    pub async fn close(mut self) {
        if let Some(folder) = self.folder.take() {
            end(self.process.clone(), self.cluster.clone(), folder).await;
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        // Without a runtime the process is about to end, and the warden with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(end(self.process.clone(), self.cluster.clone(), folder));
        }
    }
}

async fn end(process: Process, cluster: Cluster, folder: Folder) {
    // SIGQUIT gives shared memory back; then everything that is left of it is killed.
    let _ = process.end(Signal::SIGQUIT, QUIT_LIMIT).await;
    if let Err(error) = process.kill().await
        && process.exit().is_none()
    {
        tracing::warn!(%error, "an attempt's Postgres could not be killed");
    }
    memory::give_back(&cluster.data);
    drop(folder);
}

async fn connect(options: PgConnectOptions) -> Result<PgConnection, LabError> {
    match timeout(ASK_LIMIT, options.connect()).await {
        Ok(connection) => Ok(connection?),
        Err(_) => Err(LabError::Silent { what: format!("Postgres, asked by {SUPERUSER}"), limit: ASK_LIMIT }),
    }
}
