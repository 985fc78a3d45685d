//! What coordination costs beyond its two statements: a replica takes and gives back the lock of a slot,
//! and in turns the same two statements are sent bare, with sqlx, through a link of the same kind. Both
//! go to the same database, as the same role, prepared.

use std::time::{Duration, Instant};

use locks::event::{Kind, Line};
use locks::ids::{Endpoint, SinkName, Slot};
use locks::setup::{Gated, Setup};
use locks::strategy;
use server::arena::Arena;
use server::arena::replica::ReplicaProcess;
use server::link::Links;
use server::replica::control::Control;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, PgConnection};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::Failure;
use crate::figures::{Many, microseconds};
use crate::table::Figure;

const ROUNDS: usize = 500;
/// Before these, connections and caches are cold.
const WARM_UP: usize = 20;
const LIMIT: f64 = 1.3;
/// How long a replica may be silent.
const SILENCE: Duration = Duration::from_secs(10);
const STRATEGY: &str = "pg-lease";
const SCHEDULE: &str = "settle-invoices";
/// Nobody waits for the lease's end here.
const LEASE_MS: u64 = 60_000;

pub async fn measure(arena: &Arena) -> Result<Figure, Failure> {
    let postgres = arena.upstream(Endpoint::Postgres).ok_or("the arena has no Postgres")?;
    // Nobody reads what links pass on, and only those to Postgres are used.
    let (passed, _) = mpsc::unbounded_channel();
    let links = Links::start(|_| postgres.clone(), passed)?;
    let mut replica = Replica::start(arena, &links).await?;
    let mut bare = Bare::connect(arena, &links).await?;
    let (mut of_replica, mut of_bare) = (Many::default(), Many::default());
    for round in 0..WARM_UP + ROUNDS {
        let (by_replica, by_bare) = (replica.acquire_and_release(round).await?, bare.acquire_and_release(round).await?);
        if round >= WARM_UP {
            of_replica.push(by_replica);
            of_bare.push(by_bare);
        }
    }
    replica.process.kill().await?;
    let ratio = of_replica.median().as_secs_f64() / of_bare.median().as_secs_f64();
    Ok(Figure {
        what: "acquire + release of `pg-lease`, replica to bare",
        measured: format!("{ratio:.2} times"),
        limit: Some("1.3 times"),
        over: ratio >= LIMIT,
        how: format!(
            "{} from sent to answered by the replica's own event lines, {} for the same two statements with sqlx \
             through such a link; medians of {ROUNDS}, in turns",
            microseconds(of_replica.median()),
            microseconds(of_bare.median())
        ),
    })
}

/// A replica without timers and gates, whose work takes no time.
struct Replica {
    process: server::warden::Process,
    stdin: pipe::Sender,
    lines: Lines<BufReader<pipe::Receiver>>,
}

impl Replica {
    async fn start(arena: &Arena, links: &Links) -> Result<Replica, Failure> {
        let ReplicaProcess { process, stdin, stdout } = arena.spawn_replica("A", 1).await?;
        let mut replica = Replica { process, stdin, lines: BufReader::new(stdout).lines() };
        let setup = Setup {
            strategy: STRATEGY.into(),
            lease_ms: LEASE_MS,
            work_ms: 0,
            sink: SinkName::Ledger,
            gated: Gated::No,
            ..Setup::default()
        };
        replica
            .tell(&Control::Hello {
                name: "A".to_owned(),
                incarnation: 1,
                setup: Box::new(setup),
                ports: links.add("A")?,
                redis: arena.redis_login(),
                postgres: arena.postgres_login(),
            })
            .await?;
        while !matches!(replica.next().await?.kind, Kind::Ready) {}
        Ok(replica)
    }

    async fn tell(&mut self, control: &Control) -> Result<(), Failure> {
        let line = serde_json::to_string(control)? + "\n";
        Ok(self.stdin.write_all(line.as_bytes()).await?)
    }

    async fn next(&mut self) -> Result<Line, Failure> {
        let line = timeout(SILENCE, self.lines.next_line()).await??.ok_or("the replica ended")?;
        Ok(serde_json::from_str(&line)?)
    }

    /// Give it a slot; what both commands took together, by its own stamps.
    async fn acquire_and_release(&mut self, round: usize) -> Result<Duration, Failure> {
        let slot = Slot { schedule: SCHEDULE.to_owned(), fire_ms: (i64::try_from(round)? + 1) * 1000 };
        self.tell(&Control::Fire { slot, lock: SCHEDULE.to_owned() }).await?;
        let (mut sent_us, mut took_us, mut answers) = (0, 0, 0);
        loop {
            let Line { at_us, kind } = self.next().await?;
            match kind {
                Kind::Sent { .. } => sent_us = at_us,
                Kind::Answered { name, .. } if name == "acquire" || name == "release" => {
                    took_us += at_us - sent_us;
                    answers += 1;
                }
                Kind::Finished { why, .. } if answers != 2 => {
                    return Err(format!("an attempt ended with: {why}").into());
                }
                // The last that the replica has to do with that slot: nothing of it falls on what comes next.
                Kind::Answered { name, .. } if name == "audit" => return Ok(Duration::from_micros(took_us)),
                _ => {}
            }
        }
    }
}

/// The two statements, without a driver.
struct Bare {
    postgres: PgConnection,
    acquire: &'static str,
    release: &'static str,
}

impl Bare {
    async fn connect(arena: &Arena, links: &Links) -> Result<Bare, Failure> {
        let (port, login) = (links.add("bare")?[&Endpoint::Postgres], arena.postgres_login());
        let options = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(port)
            .ssl_mode(PgSslMode::Disable)
            .username(&login.user)
            .database(&login.database)
            .password(login.password.as_deref().unwrap_or_default())
            .disable_statement_logging();
        let info = strategy::info(STRATEGY).ok_or("no such strategy")?;
        let text = |name| info.command(None, name).ok_or("no such command");
        Ok(Bare { postgres: options.connect().await?, acquire: text("acquire")?, release: text("release")? })
    }

    async fn acquire_and_release(&mut self, round: usize) -> Result<Duration, Failure> {
        let (lock, token) = ("bare", format!("{round:032x}"));
        let began = Instant::now();
        let acquire = sqlx::query(self.acquire).bind(lock).bind(&token).bind("bare.1.1").bind(LEASE_MS as i64);
        let granted = acquire.fetch_all(&mut self.postgres).await?.len();
        let acquired = began.elapsed();
        let began = Instant::now();
        let released = sqlx::query(self.release).bind(lock).bind(&token).execute(&mut self.postgres).await?;
        let took = acquired + began.elapsed();
        if (granted, released.rows_affected()) != (1, 1) {
            return Err("a bare statement found the lock taken".into());
        }
        Ok(took)
    }
}
