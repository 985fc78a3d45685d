//! Who may only read: the role and the Redis user that put the statements of assertions. Whatever such a
//! statement says, it changes nothing, reads no file of the machine, and ends in time.

use redis::aio::MultiplexedConnection;
use redis::{IntoConnectionInfo, RedisConnectionInfo};
use sqlx::postgres::PgConnectOptions;

use super::StoreError;
use super::redis_node::connect;

/// The role of readers.
pub const READER_ROLE: &str = "aegis_reader";
/// How long a statement may take, in milliseconds.
const STATEMENT_LIMIT_MS: &str = "2000";

/// The same database, for who logs in as this role. Transactions are to be rolled back.
pub fn postgres(options: PgConnectOptions, role: &str) -> PgConnectOptions {
    options.username(role).options([("default_transaction_read_only", "on"), ("statement_timeout", STATEMENT_LIMIT_MS)])
}

/// Connect to a node as a user that may only read what lies under a prefix. The user is made anew each
/// time: a node that was killed has forgotten it.
pub async fn redis(
    to: impl IntoConnectionInfo,
    user: &str,
    password: &str,
    prefix: &str,
) -> Result<MultiplexedConnection, StoreError> {
    let to = to.into_connection_info()?;
    let mut owner = connect(to.clone()).await?;
    let mut rights = redis::cmd("ACL");
    rights.arg("SETUSER").arg(user).arg("reset").arg("on").arg(format!(">{password}")).arg(format!("~{prefix}*"));
    rights.arg(&["+@read", "-@blocking", "+ping", "+select", "+script|exists"]);
    if !prefix.is_empty() {
        // They tell of keys outside of the prefix too.
        rights.arg(&["-keys", "-scan", "-randomkey", "-dbsize"]);
    }
    rights.query_async::<()>(&mut owner).await?;
    let database = to.redis_settings().db();
    let login = RedisConnectionInfo::default().set_username(user).set_password(password).set_db(database);
    connect(to.set_redis_settings(login)).await
}
