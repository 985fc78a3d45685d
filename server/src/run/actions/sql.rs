//! `sql`: a statement by somebody who is no replica, with the rights of one: who has the password of the
//! service can do no more. On a connection of its own, which ends with it.

use locks::ids::Endpoint;
use serde_json::Value;
use sqlx::postgres::{PgRow, PgValueRef};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Either, Executor, Row, ValueRef};
use tokio::time::timeout;
use tokio_stream::StreamExt;

use crate::run::error::ActError;
use crate::run::outsider;
use crate::run::rig::Rig;

/// So many rows of an answer are written down.
const MOST_ROWS: usize = 20;

pub(super) async fn run(rig: &Rig, statement: &str) -> Result<(), ActError> {
    rig.stores.check_runs(Endpoint::Postgres)?;
    let answer = match timeout(outsider::LIMIT, ask(rig, statement)).await {
        Ok(answer) => answer,
        Err(_) => {
            let text = format!("{statement:?} was not answered within {:?}", outsider::LIMIT);
            outsider::note(rig, Endpoint::Postgres, statement, "no answer");
            return Err(ActError::Missed(text));
        }
    };
    let said = answer.as_ref().map_or_else(|error| error.to_string(), Value::to_string);
    outsider::note(rig, Endpoint::Postgres, statement, said);
    match answer {
        Ok(_) => {
            rig.observer.look();
            Ok(())
        }
        Err(error) if is_of_the_moment(&error) => Err(ActError::Missed(format!("{statement:?}: {error}"))),
        Err(error) => Err(ActError::BadValue(format!("{statement:?}: {error}"))),
    }
}

async fn ask(rig: &Rig, statement: &str) -> sqlx::Result<Value> {
    let login = rig.arena.postgres_login();
    let mut options = rig.arena.postgres_options().username(&login.user).database(&login.database);
    if let Some(password) = &login.password {
        options = options.password(password);
    }
    let mut connection = options.application_name("outsider").connect().await?;
    let mut results = connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(statement)));
    let (mut rows, mut affected) = (Vec::new(), 0);
    while let Some(result) = results.next().await {
        match result? {
            Either::Left(done) => affected += done.rows_affected(),
            Either::Right(row) if rows.len() < MOST_ROWS => rows.push(values(&row)),
            Either::Right(_) => {}
        }
    }
    Ok(if rows.is_empty() { format!("{affected} rows").into() } else { rows.into() })
}

/// A row's values: a plain statement's come as text.
fn values(row: &PgRow) -> Value {
    let value = |at: usize| {
        let raw: Option<PgValueRef<'_>> = row.try_get_raw(at).ok().filter(|raw: &PgValueRef<'_>| !raw.is_null());
        raw.and_then(|raw| raw.as_str().ok().map(str::to_owned))
    };
    row.columns().iter().map(|column| (column.name().to_owned(), Value::from(value(column.ordinal())))).collect()
}

/// A lost race, or a store that went away, is no mistake of the statement's.
fn is_of_the_moment(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| ["40", "53", "55", "57", "08"].iter().any(|class| code.starts_with(class)))
        }
        _ => true,
    }
}
