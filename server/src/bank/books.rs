//! The bank's own tables: every settlement that arrived, and per slot and lock what guards compare with.
//! Reading what was seen locks the slot's row and then the lock's, so that of two settlements of a slot
//! at the same time the second sees what became of the first.

use std::time::Duration;

use locks::event::EffectAnswer;
use locks::guard::{Guard, Seen};
use locks::ids::{Slot, Token};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, Row};
use tokio::time::timeout;

use super::BankError;
use super::wire::{Listed, Settlement};

/// The bank's tables.
pub static MIGRATIONS: Migrator = sqlx::migrate!("../migrations/bank");

/// How long making the bank's database may take.
const PREPARE_LIMIT: Duration = Duration::from_secs(20);

/// The bank's database beside an arena's: of the same server, and named after it.
pub fn database_of(arena: &PgConnectOptions) -> PgConnectOptions {
    let name = format!("{}_bank", arena.get_database().unwrap_or("aegis"));
    arena.clone().database(&name).application_name("bank")
}

/// Makes the bank's database and tables, as far as they are not there yet, and answers how to reach them.
/// A template in which this was done once makes it a matter of milliseconds.
pub async fn prepare(arena: &PgConnectOptions) -> Result<PgConnectOptions, BankError> {
    let own = database_of(arena);
    match timeout(PREPARE_LIMIT, make(arena, &own)).await {
        Ok(made) => made.map(|()| own),
        Err(_) => Err(BankError::Silent),
    }
}

async fn make(arena: &PgConnectOptions, own: &PgConnectOptions) -> Result<(), BankError> {
    let name = own.get_database().unwrap_or_default();
    let mut beside = arena.connect().await?;
    let there: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(name)
        .fetch_one(&mut beside)
        .await?;
    if !there {
        // The name is that of a database that exists, with a suffix; quoted all the same.
        let create = format!("create database \"{}\"", name.replace('"', "\"\""));
        sqlx::query(AssertSqlSafe(create)).execute(&mut beside).await?;
    }
    beside.close().await?;
    // A pool of one, because the future of a migration on a borrowed connection cannot move between threads.
    let pool = PgPoolOptions::new().max_connections(1).connect_with(own.clone()).await?;
    MIGRATIONS.run(&pool).await?;
    pool.close().await;
    Ok(())
}

/// Forgets everything.
pub(super) async fn empty(books: &mut PgConnection) -> Result<(), BankError> {
    sqlx::query("truncate settlements, slots, fences").execute(books).await?;
    Ok(())
}

/// What was seen of this slot and this lock; neither changes until the transaction ends.
pub(super) async fn seen(books: &mut PgConnection, slot: &Slot, lock: &str) -> sqlx::Result<Seen> {
    let effects: i32 = sqlx::query_scalar(
        "insert into slots (schedule, fire_ms) values ($1, $2)
         on conflict (schedule, fire_ms) do update set accepted = slots.accepted
         returning accepted",
    )
    .bind(&slot.schedule)
    .bind(slot.fire_ms)
    .fetch_one(&mut *books)
    .await?;
    let highest: Option<i64> = sqlx::query_scalar(
        "insert into fences (lock) values ($1)
         on conflict (lock) do update set highest_epoch = fences.highest_epoch
         returning highest_epoch",
    )
    .bind(lock)
    .fetch_one(books)
    .await?;
    Ok(Seen {
        highest_epoch: highest.and_then(|epoch| u64::try_from(epoch).ok()),
        current_epoch: None,
        effects_of_slot: u32::try_from(effects).unwrap_or_default(),
    })
}

/// Writes down what arrived and what became of it. Answers its number, and the slot's accepted effects.
pub(super) async fn write(
    books: &mut PgConnection,
    settlement: &Settlement,
    answer: &EffectAnswer,
) -> Result<(i64, u32), BankError> {
    let accepted = *answer == EffectAnswer::Accepted;
    let (rejected_by, unreachable) = match answer {
        EffectAnswer::Rejected(guard) => (Some(guard.to_string()), None),
        EffectAnswer::GuardUnreachable(guard) => (None, Some(guard.to_string())),
        EffectAnswer::Accepted | EffectAnswer::Unknown => (None, None),
    };
    let epoch = settlement.epoch.map(i64::try_from).transpose().map_err(|_| {
        // Only reached with an epoch; zero stands for none.
        BankError::Epoch(settlement.epoch.unwrap_or_default())
    })?;
    let nth: i32 = sqlx::query_scalar(
        "update slots set accepted = accepted + $3::boolean::int where schedule = $1 and fire_ms = $2
         returning accepted",
    )
    .bind(&settlement.slot.schedule)
    .bind(settlement.slot.fire_ms)
    .bind(accepted)
    .fetch_one(&mut *books)
    .await?;
    if accepted {
        sqlx::query("update fences set highest_epoch = greatest(highest_epoch, $2) where lock = $1")
            .bind(&settlement.lock)
            .bind(epoch)
            .execute(&mut *books)
            .await?;
    }
    let id = sqlx::query_scalar(
        "insert into settlements
            (attempt, lock, schedule, fire_ms, epoch, token, accepted, rejected_by, guard_unreachable, nth)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         returning id",
    )
    .bind(settlement.attempt.to_string())
    .bind(&settlement.lock)
    .bind(&settlement.slot.schedule)
    .bind(settlement.slot.fire_ms)
    .bind(epoch)
    .bind(settlement.token.as_ref().map(|token| &token.0))
    .bind(accepted)
    .bind(rejected_by)
    .bind(unreachable)
    .bind(nth)
    .fetch_one(books)
    .await?;
    Ok((id, u32::try_from(nth).unwrap_or_default()))
}

/// Does a settlement of that number stand in the books?
pub(super) async fn stands(books: &mut PgConnection, id: i64) -> sqlx::Result<bool> {
    sqlx::query_scalar("select exists (select from settlements where id = $1)").bind(id).fetch_one(books).await
}

/// The latest settlements, newest first.
pub(super) async fn list(books: &mut PgConnection, limit: u32) -> sqlx::Result<Vec<Listed>> {
    let rows = sqlx::query(
        "select id, attempt, lock, schedule, fire_ms, epoch, token, rejected_by, guard_unreachable, nth
           from settlements order by id desc limit $1",
    )
    .bind(i64::from(limit))
    .fetch_all(books)
    .await?;
    rows.iter().map(listed).collect()
}

fn listed(row: &PgRow) -> sqlx::Result<Listed> {
    let wrong = |error: locks::ids::BadName| sqlx::Error::Decode(Box::new(error));
    let guard = |column| -> sqlx::Result<Option<Guard>> {
        row.try_get::<Option<String>, _>(column)?.map(|name| name.parse()).transpose().map_err(wrong)
    };
    let answer = match (guard("rejected_by")?, guard("guard_unreachable")?) {
        (Some(guard), _) => EffectAnswer::Rejected(guard),
        (None, Some(guard)) => EffectAnswer::GuardUnreachable(guard),
        (None, None) => EffectAnswer::Accepted,
    };
    Ok(Listed {
        id: row.try_get("id")?,
        settlement: Settlement {
            attempt: row.try_get::<String, _>("attempt")?.parse().map_err(wrong)?,
            lock: row.try_get("lock")?,
            slot: Slot { schedule: row.try_get("schedule")?, fire_ms: row.try_get("fire_ms")? },
            epoch: row.try_get::<Option<i64>, _>("epoch")?.and_then(|epoch| u64::try_from(epoch).ok()),
            token: row.try_get::<Option<String>, _>("token")?.map(Token),
        },
        answer,
        nth: u32::try_from(row.try_get::<i32, _>("nth")?).unwrap_or_default(),
    })
}
