//! The control plane: learners, their progress, and runs that ended. A database of its own with full
//! durability, which no fault ever touches: embedded under the data folder, or wherever `DATABASE_URL`
//! says. `aegis run` needs none.
//!
//! | module | what it holds |
//! |---|---|
//! | `cluster` | the embedded Postgres |
//! | [`homework`] | drafts, and what was handed in |
//! | [`learners`] | learners and progress |
//! | [`lesson`] | what was said and proved in the lesson |
//! | [`matrix`] | predictions and what was measured |
//! | [`runs`] | runs and their logs |

mod cluster;
pub mod homework;
pub mod learners;
pub mod lesson;
pub mod matrix;
pub mod runs;

use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool};
use tokio::time::timeout;

pub(crate) use cluster::Own;

use crate::address;
use crate::lab::LabError;
use cluster::Embedded;

static MIGRATIONS: Migrator = sqlx::migrate!("../migrations/control");

/// How long to wait for a connection.
const ACQUIRE_LIMIT: Duration = Duration::from_secs(5);
/// How long whoever asks whether it answers waits.
const PING_LIMIT: Duration = Duration::from_secs(1);
/// How long a statement may take.
const STATEMENT_LIMIT_MS: &str = "10000";

/// See the module.
pub struct Control {
    pool: PgPool,
    embedded: Option<Embedded>,
}

impl Control {
    /// The control plane at that address.
    pub async fn at(url: &str) -> Result<Control, LabError> {
        const VARIABLE: &str = "DATABASE_URL";
        let options = address::postgres(VARIABLE, url)?;
        let pool = open(options).await.map_err(|error| address::no_answer(VARIABLE, url, error))?;
        Ok(Control { pool, embedded: None })
    }

    /// A control plane of the lab's own.
    pub(crate) async fn embedded(own: Own<'_>) -> Result<Control, LabError> {
        let embedded = Embedded::start(own).await?;
        match open(embedded.options()).await {
            Ok(pool) => Ok(Control { pool, embedded: Some(embedded) }),
            Err(error) => {
                embedded.stop().await;
                Err(error)
            }
        }
    }

    /// The pool, for what has no function here.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Does it answer, and soon?
    pub async fn ping(&self) -> Result<(), LabError> {
        match timeout(PING_LIMIT, sqlx::query("select 1").execute(&self.pool)).await {
            Ok(answered) => Ok(answered.map(drop)?),
            Err(_) => Err(LabError::Silent { what: "the control plane".to_owned(), limit: PING_LIMIT }),
        }
    }

    /// Close connections, and shut an embedded Postgres down.
    pub async fn close(&self) {
        self.pool.close().await;
        if let Some(embedded) = &self.embedded {
            embedded.stop().await;
        }
    }
}

async fn open(options: PgConnectOptions) -> Result<PgPool, LabError> {
    let options = options
        .application_name("aegis")
        .options([("statement_timeout", STATEMENT_LIMIT_MS), ("idle_in_transaction_session_timeout", "30000")]);
    // A pool tries again until its time is over, and then says only that. What is wrong the first connection says.
    match timeout(ACQUIRE_LIMIT, options.connect()).await {
        Ok(connection) => connection?.close().await?,
        Err(_) => return Err(LabError::Silent { what: "the control plane".to_owned(), limit: ACQUIRE_LIMIT }),
    }
    let pool = PgPoolOptions::new().max_connections(10).acquire_timeout(ACQUIRE_LIMIT).connect_with(options).await?;
    MIGRATIONS.run(&pool).await?;
    Ok(pool)
}
