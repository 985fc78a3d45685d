//! Reading known locks that are row locks: nothing is written anywhere, so the holder is who the row's `xmax`
//! names, as long as that transaction is open. Nothing tells when a transaction ends with its connection;
//! therefore a lock that is held is looked at again soon.

use std::time::Duration;

use locks::ids::{Endpoint, LockName};
use locks::machine::LockState;
use sqlx::{PgPool, Row};
use tokio::time::Instant;

use super::locks_read::Reading;
use crate::clock;
use crate::replica::control::SessionName;
use crate::run::board::Board;
use crate::run::standing::Standing;

/// How soon a held lock is looked at again.
const AGAIN: Duration = Duration::from_millis(25);

const READ: &str = "\
select known.name,
       session.application_name as session,
       published.epoch
  from unnest($1::text[]) as known(name)
  left join row_locks as locked on locked.name = known.name
  left join pg_locks as held
         on held.locktype = 'transactionid' and held.mode = 'ExclusiveLock' and held.granted
        and held.transactionid = locked.xmax
  left join pg_stat_activity as session on session.pid = held.pid
  left join lock_epochs as published on published.name = known.name";

/// Read these locks; also when to look again in any case.
pub(super) async fn read(
    pool: &PgPool,
    known: &[LockName],
    board: &Board,
) -> Result<(Vec<Reading>, Option<Instant>), sqlx::Error> {
    if known.is_empty() {
        return Ok((Vec::new(), None));
    }
    let mut connection = pool.acquire().await?;
    let before_us = clock::now_us();
    let rows = sqlx::query(READ).bind(known).fetch_all(&mut *connection).await?;
    let after_us = clock::now_us();
    let mut readings = Vec::new();
    for row in rows {
        let lock: LockName = row.try_get("name")?;
        let session: Option<String> = row.try_get("session")?;
        let owner = session.as_deref().and_then(|session| board.look(|standing| owner(standing, &lock, session)));
        readings.push(Reading {
            lock,
            at: Endpoint::Postgres,
            before_us,
            after_us,
            state: if session.is_some() { LockState::Held } else { LockState::Free },
            token: None,
            owner,
            epoch: row.try_get("epoch")?,
            expires_us: None,
            ttl_us: None,
            expires: None,
        });
    }
    let held = readings.iter().any(|reading| reading.state == LockState::Held);
    Ok((readings, held.then(|| Instant::now() + AGAIN)))
}

/// The attempt of that session's replica that competes for the lock.
fn owner(standing: &Standing, lock: &LockName, session: &str) -> Option<String> {
    let session: SessionName = session.parse().ok()?;
    let replica = standing.replicas.get(&session.replica).filter(|of| of.incarnation == session.incarnation)?;
    let mut attempts = replica.attempts.iter().filter(|(_, attempt)| attempt.lock == *lock);
    attempts.find(|(_, attempt)| attempt.outcome.is_none()).map(|(attempt, _)| attempt.to_string())
}
