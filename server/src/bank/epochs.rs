//! What guard current-epoch asks: the epoch of a lock in the arena's database, kept as it is until the
//! bank has committed. Without that a newer grant could be answered between the question and the commit,
//! and a stale effect be accepted behind it.

use locks::ids::LockName;
use sqlx::postgres::PgConnectOptions;

use super::spare::{Loan, Spares};

/// Reads epochs.
#[derive(Debug)]
pub(super) struct Epochs(Spares);

/// An epoch that cannot change while this stands.
#[derive(Debug)]
pub(super) struct Pinned<'a> {
    /// The epoch; `None` if the lock has none.
    pub(super) epoch: Option<u64>,
    connection: Loan<'a>,
}

impl Epochs {
    pub(super) fn new(arena: PgConnectOptions) -> Epochs {
        // A question whose asker has gone must not go on waiting for its turn.
        Epochs(Spares::new(arena.application_name("bank").options([("lock_timeout", "1s")])))
    }

    /// Reads the epoch of a lock and keeps it.
    pub(super) async fn pin(&self, lock: &LockName) -> sqlx::Result<Pinned<'_>> {
        let mut connection = self.0.take().await?;
        sqlx::query("begin").execute(&mut *connection).await?;
        let epoch: Option<i64> = sqlx::query_scalar("select epoch from lock_epochs where name = $1 for share")
            .bind(lock)
            .fetch_optional(&mut *connection)
            .await?;
        Ok(Pinned { epoch: epoch.and_then(|epoch| u64::try_from(epoch).ok()), connection })
    }
}

impl Pinned<'_> {
    /// Lets the epoch go. If that fails the connection is closed, which does the same.
    pub(super) async fn release(mut self) {
        match sqlx::query("commit").execute(&mut *self.connection).await {
            Ok(_) => self.connection.give_back(),
            Err(error) => tracing::debug!(%error, "the bank's question ended with its connection"),
        }
    }
}
