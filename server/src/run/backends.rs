//! Postgres backends, ended as an administrator would: those of one replica, or all of the arena's.

use std::time::Duration;

use locks::ids::Endpoint;
use tokio::time::timeout;

use super::error::ActError;
use super::outsider;
use super::rig::Rig;

/// How long backends may take to end.
const LIMIT: Duration = Duration::from_secs(5);

/// Replicas' sessions go by `A.1/settle-invoices/lock`.
const OF_REPLICA: &str = "\
select count(pg_terminate_backend(pid, 4000)) from pg_stat_activity
 where regexp_replace(split_part(application_name, '/', 1), '\\.[0-9]+$', '') = $1
   and application_name like '%/%' and datname = current_database()";
/// The arena has a database, and its bank another.
const OF_ARENA: &str = "\
select count(pg_terminate_backend(pid, 4000)) from pg_stat_activity
 where datname in (current_database(), current_database() || $1) and pid <> pg_backend_pid()";

/// End those of a replica; how many there were. Returns when they are gone.
pub async fn terminate_of(rig: &Rig, name: &str) -> Result<i64, ActError> {
    terminate(rig, OF_REPLICA, name).await
}

/// End all sessions of the arena and its bank. Returns when they are gone.
pub async fn terminate_all(rig: &Rig) -> Result<i64, ActError> {
    terminate(rig, OF_ARENA, "_bank").await
}

async fn terminate(rig: &Rig, statement: &'static str, whose: &str) -> Result<i64, ActError> {
    rig.stores.check_runs(Endpoint::Postgres)?;
    let mut connection = rig.arena.connect_postgres().await.map_err(ActError::lab)?;
    let asked = sqlx::query_scalar::<_, i64>(statement).bind(whose).fetch_one(&mut connection);
    let count = match timeout(LIMIT, asked).await {
        Ok(count) => count.map_err(ActError::lab)?,
        Err(_) => return Err(ActError::Missed(format!("backends did not end within {LIMIT:?}"))),
    };
    outsider::note(rig, Endpoint::Postgres, statement.replace("$1", &format!("'{whose}'")), format!("{count} ended"));
    Ok(count)
}
