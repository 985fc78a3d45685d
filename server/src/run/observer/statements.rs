//! Statements that actions put to Postgres with the lab's own rights, on the observer's connections.

use sqlx::AssertSqlSafe;
use tokio::time::timeout;

use super::{Observer, READ_LIMIT};
use crate::run::error::ActError;

impl Observer {
    /// The first value of each row of a statement of the lab's own, as text.
    pub async fn rows(&self, statement: &'static str) -> Result<Vec<String>, ActError> {
        within(statement, sqlx::query_scalar(statement).fetch_all(&self.pool)).await
    }

    /// Execute a statement of the lab's own; how many rows it was about.
    pub async fn execute(&self, statement: &str) -> Result<u64, ActError> {
        let query = sqlx::query(AssertSqlSafe(statement.to_owned()));
        Ok(within(statement, query.execute(&self.pool)).await?.rows_affected())
    }
}

async fn within<T>(statement: &str, done: impl Future<Output = sqlx::Result<T>>) -> Result<T, ActError> {
    match timeout(READ_LIMIT, done).await {
        Ok(done) => done.map_err(ActError::lab),
        Err(_) => Err(ActError::Missed(format!("{statement:?} was not answered within {READ_LIMIT:?}"))),
    }
}
