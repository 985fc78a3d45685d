//! The observer: what the arena's stores say, read on direct connections that no fault touches. It
//! reports rows as the database itself tells of them, reads known locks with the database's own clock
//! after whatever may have changed them and at the moment when they expire, and says what the ledger
//! took. It never believes a replica, and it never writes but the catalog that `set` asks for.

mod keys;
mod keys_read;
mod locks_read;
mod row_locks;
mod rows;
mod statements;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use locks::event::{Kind, Problem, Schedule, Whose};
use locks::ids::{Endpoint, LockName};
use locks::strategy::LockAt;
use serde_json::Value;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::keys_read::{Expired, KeysRead, Reader};
use self::locks_read::{CLAIMS, LOCKS, Reading, read};
use super::board::Board;
use super::error::ActError;
use super::log::Recorder;
use crate::arena::Arena;

/// How long one reading may take.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// How long it may take until all nodes are observed.
const BEGIN_LIMIT: Duration = Duration::from_secs(2);
/// How long good-byes may take.
const CLOSE_LIMIT: Duration = Duration::from_millis(500);
/// How soon a connection that was lost is tried again.
const AGAIN: Duration = Duration::from_millis(20);
/// The longest answer to a statement of a scenario, in characters.
const LONGEST_ANSWER: usize = 65_536;
/// The channel on which the arena's triggers tell of rows.
const CHANNEL: &str = "aegis_rows";

/// See the module. Dropping it ends it.
pub struct Observer {
    pool: PgPool,
    /// For statements of scenarios.
    reader: PgConnectOptions,
    asks: mpsc::UnboundedSender<Ask>,
    /// The newest mark that came back over the notices' channel.
    marks: watch::Receiver<u64>,
    tasks: Vec<JoinHandle<()>>,
}

/// Why locks are to be read.
enum Ask {
    /// Something may have changed.
    Look,
    /// Somebody waits for it.
    Answer(oneshot::Sender<()>),
}

impl Observer {
    /// Begin to observe.
    pub async fn start(arena: &Arc<Arena>, recorder: Recorder, board: Arc<Board>) -> Result<Observer, sqlx::Error> {
        let pool = PgPoolOptions::new().max_connections(3).connect_with(arena.postgres_options()).await?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(CHANNEL).await?;
        let (asks, asked) = mpsc::unbounded_channel();
        let (marked, marks) = watch::channel(0);
        let mut tasks = vec![tokio::spawn(listen(listener, recorder.clone(), asks.clone(), marked))];
        let expired = Arc::new(Expired::default());
        let nodes = Reader::new(arena.clone(), pool.clone(), expired.clone());
        tasks.push(tokio::spawn(read_on(pool.clone(), nodes, asked, recorder.clone(), board)));
        let (beginning, mut begun) = mpsc::channel::<()>(1);
        tasks.extend((1..=Endpoint::REDIS_NODES).map(|node| {
            let (expired, asks) = (expired.clone(), asks.clone());
            let told = move |key: &str, event: &str| {
                expired.told(node, key, event);
                let _ = asks.send(Ask::Look);
            };
            tokio::spawn(keys::observe(arena.clone(), node, recorder.clone(), told, beginning.clone()))
        }));
        drop(beginning);
        // Ends when every node's observation has begun; one that cannot is no reason not to run.
        if timeout(BEGIN_LIMIT, begun.recv()).await.is_err() {
            tracing::warn!("not every Redis node is observed yet");
        }
        Ok(Observer { pool, reader: arena.reader_options(), asks, marks, tasks })
    }

    /// Something may have changed what the store says. Does not wait.
    pub fn look(&self) {
        // The reader ends only with the observer.
        let _ = self.asks.send(Ask::Look);
    }

    /// Read all known locks now; returns when what was read is in the log.
    pub async fn read_now(&self) -> Result<(), ActError> {
        let (answer, answered) = oneshot::channel();
        self.asks.send(Ask::Answer(answer)).map_err(ActError::lab)?;
        match timeout(READ_LIMIT, answered).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(ActError::Missed(format!("the stores did not say how the lock stands within {READ_LIMIT:?}"))),
        }
    }

    /// Returns when every row that was committed before is reported: notices arrive in order of commits.
    pub async fn all_told(&self) -> Result<(), ActError> {
        let mut marks = self.marks.clone();
        let mark = *marks.borrow() + 1;
        let told = async {
            sqlx::query("select pg_notify($1, $2)").bind(CHANNEL).bind(mark.to_string()).execute(&self.pool).await?;
            marks.wait_for(|newest| *newest >= mark).await.map_err(|_| sqlx::Error::WorkerCrashed)?;
            Ok::<(), sqlx::Error>(())
        };
        match timeout(READ_LIMIT, told).await {
            Ok(told) => told.map_err(ActError::lab),
            Err(_) => Err(ActError::Lab(format!("Postgres did not tell of its rows within {READ_LIMIT:?}"))),
        }
    }

    /// The catalog as it stands in the arena.
    pub async fn read_catalog(&self) -> Result<Vec<Schedule>, ActError> {
        let rows = sqlx::query("select name, cron, time_zone, handler from schedules order by position")
            .fetch_all(&self.pool)
            .await
            .map_err(ActError::lab)?;
        rows.iter()
            .map(|row| {
                Ok(Schedule {
                    name: row.try_get(0)?,
                    cron: row.try_get(1)?,
                    time_zone: row.try_get(2)?,
                    handler: row.try_get(3)?,
                })
            })
            .collect::<Result<_, sqlx::Error>>()
            .map_err(ActError::lab)
    }

    /// Write the cadence of the catalog.
    pub async fn write_catalog(&self, catalog: &[Schedule]) -> Result<(), ActError> {
        for schedule in catalog {
            sqlx::query("update schedules set cron = $2 where name = $1")
                .bind(&schedule.name)
                .bind(&schedule.cron)
                .execute(&self.pool)
                .await
                .map_err(ActError::lab)?;
        }
        Ok(())
    }

    /// Does any session of that replica wait for a lock inside Postgres?
    pub async fn waits_for_a_lock(&self, replica: &str) -> Result<bool, ActError> {
        let sql = "select exists (select from pg_stat_activity \
                   where wait_event_type = 'Lock' and split_part(application_name, '/', 1) ~ $1)";
        // A replica's name and incarnation.
        let pattern = format!("^{replica}[.][0-9]+$");
        let ask = sqlx::query_scalar(sql).bind(pattern).fetch_one(&self.pool);
        match timeout(READ_LIMIT, ask).await {
            Ok(waits) => waits.map_err(ActError::lab),
            Err(_) => Err(ActError::Missed(format!("Postgres did not say who waits within {READ_LIMIT:?}"))),
        }
    }

    /// The first value of the first row of a statement that can only read, whatever it says; null if there is
    /// no row.
    pub async fn sql(&self, statement: &str) -> Result<Value, ActError> {
        let whole = format!(
            "with asserted as ({statement}) \
             select left(value::text, {}) from asserted, lateral json_each(row_to_json(asserted)) limit 1",
            LONGEST_ANSWER + 1
        );
        let fetch = async {
            let mut connection = self.reader.connect().await?;
            let mut transaction = connection.begin().await?;
            let fetched =
                sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(whole)).fetch_optional(&mut *transaction).await?;
            // Never committed: what a transaction that only reads can still do, such as notices, is undone.
            transaction.rollback().await?;
            connection.close().await?;
            Ok::<_, sqlx::Error>(fetched.flatten())
        };
        let long =
            || ActError::BadValue(format!("{statement:?}: its answer has more than {LONGEST_ANSWER} characters"));
        match timeout(READ_LIMIT, fetch).await {
            Ok(Ok(None)) => Ok(Value::Null),
            Ok(Ok(Some(text))) if text.chars().count() > LONGEST_ANSWER => Err(long()),
            Ok(Ok(Some(text))) => serde_json::from_str(&text).map_err(ActError::lab),
            Ok(Err(error)) => Err(ActError::BadValue(format!("{statement:?}: {error}"))),
            Err(_) => Err(ActError::Missed(format!("{statement:?} was not answered within {READ_LIMIT:?}"))),
        }
    }
}

impl Observer {
    /// Observe no more, and say good-bye to Postgres.
    pub async fn close(&self) {
        self.stop();
        if timeout(CLOSE_LIMIT, self.pool.close()).await.is_err() {
            tracing::debug!("the observer's connections were not closed in time");
        }
    }

    fn stop(&self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Report rows as the database tells of them. A lost connection is opened again; what was told meanwhile
/// is lost, so that locks are read then in any case.
async fn listen(
    mut listener: PgListener,
    recorder: Recorder,
    asks: mpsc::UnboundedSender<Ask>,
    marked: watch::Sender<u64>,
) {
    let mut rows = rows::Rows::default();
    loop {
        match listener.try_recv().await {
            Ok(Some(notice)) => {
                if let Ok(mark) = notice.payload().parse() {
                    marked.send_replace(mark);
                    continue;
                }
                for (at_us, until_us, source, kind) in rows.told(notice.payload()) {
                    recorder.record(at_us, until_us, source, kind);
                }
            }
            Ok(None) => {}
            // Postgres is down or paused: nothing tells when it answers again.
            Err(_) => sleep(AGAIN).await,
        }
        if asks.send(Ask::Look).is_err() {
            return;
        }
    }
}

/// Read locks whenever asked, and when one expires; report what changed.
async fn read_on(
    pool: PgPool,
    mut nodes: Reader,
    mut asked: mpsc::UnboundedReceiver<Ask>,
    recorder: Recorder,
    board: Arc<Board>,
) {
    let mut last: BTreeMap<LockName, Reading> = BTreeMap::new();
    let mut last_at = LockAt::default();
    let mut expiry: Option<Instant> = None;
    loop {
        let mut waiting = Vec::new();
        tokio::select! {
            ask = asked.recv() => match ask {
                Some(Ask::Look) => {}
                Some(Ask::Answer(answer)) => waiting.push(answer),
                None => return,
            },
            () = until(expiry) => {}
        }
        // One reading answers all who asked before it.
        while let Ok(ask) = asked.try_recv() {
            if let Ask::Answer(answer) = ask {
                waiting.push(answer);
            }
        }
        let (known, lock_at, has_epochs, stopped) = board.look(|standing| {
            let known: Vec<LockName> = standing.locks.keys().cloned().collect();
            (known, standing.lock_at, standing.has_epochs, standing.stopped_stores())
        });
        // What stood elsewhere is no news of what stands here.
        if std::mem::replace(&mut last_at, lock_at) != lock_at {
            last.clear();
        }
        let read = async {
            match lock_at {
                LockAt::Keys { nodes: most, quorum } => {
                    let KeysRead { readings, again, whole } = nodes.read(&known, (most, quorum), &stopped).await;
                    Ok((readings, again, whole))
                }
                LockAt::Nowhere | LockAt::LocksRow => Ok((read(&pool, LOCKS, &known).await?, None, true)),
                LockAt::SlotRow => Ok((read(&pool, CLAIMS, &known).await?, None, true)),
                LockAt::RowLock => {
                    let (readings, again) = row_locks::read(&pool, &known, &board).await?;
                    Ok((readings, again, true))
                }
            }
        };
        match timeout(READ_LIMIT, read).await {
            Ok(Ok((readings, again, whole))) => {
                expiry = readings.iter().filter_map(|reading| reading.expires()).chain(again).min();
                for mut reading in readings {
                    // Epochs that an earlier strategy published are not this lock's.
                    reading.epoch = reading.epoch.filter(|_| has_epochs);
                    if last.get(&reading.lock).is_none_or(|before| before.differs(&reading)) {
                        reading.record(&recorder, &board);
                        last.insert(reading.lock.clone(), reading);
                    }
                }
                // Who waits is told only of a whole reading; of another it hears that there was none.
                if whole {
                    waiting.into_iter().for_each(|answer| answer.send(()).unwrap_or_default());
                }
            }
            Ok(Err(sqlx::Error::Database(error))) if !is_shutdown(error.code().as_deref()) => {
                let text = format!("the store's locks could not be read: {error}");
                recorder.note(Kind::Trouble { problem: Problem { whose: Whose::Lab, text } });
            }
            // Down or paused: look again soon, so that what it says afterwards is not missed.
            _ => {
                expiry = Some(Instant::now() + AGAIN);
                sleep(AGAIN).await;
            }
        }
    }
}

/// Is that SQLSTATE one of a server that stops or starts?
fn is_shutdown(code: Option<&str>) -> bool {
    code.is_some_and(|code| code.starts_with("57P"))
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
