//! Reading known locks that stand as rows with a token and an end: each one's row, its epoch and the
//! database's clock in one statement, so that the state is the database's own judgement and not ours.

use std::time::Duration;

use locks::event::{Kind, Source};
use locks::ids::{AttemptId, Endpoint, LockName, Token};
use locks::machine::LockState;
use sqlx::{PgPool, Row};
use tokio::time::Instant;

use crate::clock;
use crate::run::board::Board;
use crate::run::log::Recorder;

/// An expiry is looked at this much later than reckoned, so that it is over by the database's clock too.
pub(super) const BEHIND_EXPIRY: Duration = Duration::from_micros(500);

/// An expiry that is reckoned from what is left differs by less than this from one reading to the next.
const TOLERANCE: Duration = Duration::from_millis(25);

/// Rows of `locks`.
pub(super) const LOCKS: &str = "\
select known.name,
       held.token,
       held.owner,
       published.epoch,
       (extract(epoch from held.expires_at) * 1000000)::bigint as expires_us,
       floor(extract(epoch from held.expires_at - now.at) * 1000000)::bigint as ttl_us
  from unnest($1::text[]) as known(name)
 cross join (select clock_timestamp() as at offset 0) as now
  left join locks as held on held.name = known.name
  left join lock_epochs as published on published.name = known.name";

/// Rows of `slot_claims`: held by a claim that is alive, and over with its last heartbeat.
pub(super) const CLAIMS: &str = "\
select known.name,
       held.picked_by as token,
       held.owner,
       published.epoch,
       (extract(epoch from held.dead_at) * 1000000)::bigint as expires_us,
       floor(extract(epoch from held.dead_at - now.at) * 1000000)::bigint as ttl_us
  from unnest($1::text[]) as known(name)
 cross join (select clock_timestamp() as at offset 0) as now
  left join (select *, heartbeat_at + lease_ms * interval '1 millisecond' as dead_at
               from slot_claims where state in ('claimed', 'sending')) as held on held.slot = known.name
  left join lock_epochs as published on published.name = known.name";

/// What the store said of one lock.
pub(super) struct Reading {
    pub(super) lock: LockName,
    /// Where it stands; with several nodes, the first.
    pub(super) at: Endpoint,
    pub(super) before_us: u64,
    pub(super) after_us: u64,
    pub(super) state: LockState,
    pub(super) token: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) epoch: Option<i64>,
    /// By the database's clock, in microseconds since the Unix epoch.
    pub(super) expires_us: Option<i64>,
    pub(super) ttl_us: Option<i64>,
    pub(super) expires: Option<Instant>,
}

/// Read these locks by one of the statements above.
pub(super) async fn read(
    pool: &PgPool,
    statement: &'static str,
    known: &[LockName],
) -> Result<Vec<Reading>, sqlx::Error> {
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let mut connection = pool.acquire().await?;
    let before_us = clock::now_us();
    let began = Instant::now();
    let rows = sqlx::query(statement).bind(known).fetch_all(&mut *connection).await?;
    let after_us = clock::now_us();
    rows.into_iter()
        .map(|row| {
            let token: Option<String> = row.try_get("token")?;
            let ttl_us: Option<i64> = row.try_get("ttl_us")?;
            let state = match (&token, ttl_us) {
                (Some(_), Some(ttl_us)) if ttl_us <= 0 => LockState::Expired,
                (Some(_), _) => LockState::Held,
                (None, _) => LockState::Free,
            };
            let expires = ttl_us.filter(|_| state == LockState::Held).and_then(|us| u64::try_from(us).ok());
            Ok(Reading {
                lock: row.try_get("name")?,
                at: Endpoint::Postgres,
                before_us,
                after_us,
                state,
                owner: row.try_get::<Option<String>, _>("owner")?.filter(|_| token.is_some()),
                token,
                epoch: row.try_get("epoch")?,
                expires_us: row.try_get("expires_us")?,
                ttl_us,
                expires: expires.map(|us| began + Duration::from_micros(us) + BEHIND_EXPIRY),
            })
        })
        .collect()
}

impl Reading {
    /// When to look again because time alone changes what the store says.
    pub(super) fn expires(&self) -> Option<Instant> {
        self.expires
    }

    /// Does the store say something else now?
    pub(super) fn differs(&self, other: &Reading) -> bool {
        (self.state, &self.token, &self.owner, self.epoch) != (other.state, &other.token, &other.owner, other.epoch)
            || (other.state == LockState::Held && (self.expires_us != other.expires_us || self.moved(other)))
    }

    /// Does it expire at another time now? Where a store tells only how long is left, that is never exact.
    fn moved(&self, other: &Reading) -> bool {
        match (self.expires, other.expires) {
            (Some(before), Some(now)) if self.expires_us.is_none() => {
                let (early, late) = (before.min(now), before.max(now));
                late - early > TOLERANCE
            }
            (before, now) => before.is_some() != now.is_some(),
        }
    }

    /// Append it to the log.
    pub(super) fn record(&self, recorder: &Recorder, board: &Board) {
        let token = self.token.clone().map(Token);
        // The row's own word; where it names no attempt, who was granted that token.
        let owner =
            self.owner.as_ref().and_then(|owner| owner.parse::<AttemptId>().ok()).or_else(|| {
                board.look(|standing| token.as_ref().and_then(|token| standing.owners.get(token)).cloned())
            });
        let kind = Kind::StoreSays {
            lock: self.lock.clone(),
            state: self.state,
            owner,
            token,
            epoch: self.epoch.and_then(|epoch| u64::try_from(epoch).ok()),
            ttl_ms: self.ttl_us.filter(|_| self.token.is_some()).map(|us| us.div_euclid(1_000)),
        };
        recorder.record(self.before_us, Some(self.after_us), Source::Store(self.at), kind);
    }
}
