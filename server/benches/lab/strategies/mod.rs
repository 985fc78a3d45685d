//! What coordination costs beyond its commands: replicas take and give back the lock of a slot, and in turns
//! the very commands that they sent are sent bare, by the same client libraries, through links of the same
//! kind, to the same stores, as the same roles, prepared. One contender says what a driver adds; more say
//! what becomes of it when they all want the same lock at once.

mod bare;
mod recorded;
mod replica;

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use locks::ids::{Endpoint, Slot};
use locks::strategy;
use server::arena::Arena;
use server::link::Links;
use tokio::sync::mpsc;

use crate::Failure;
use crate::figures::{Many, microseconds, milliseconds};
use crate::table::{Contention, Figure};
use bare::Bare;
use recorded::Recorded;
use replica::Replica;

/// The schedule that everybody fires.
const SCHEDULE: &str = "settle-invoices";
/// Nobody waits for the lease's end here.
const LEASE_MS: u64 = 60_000;
/// Before these, connections and caches are cold.
const WARM_UP: usize = 20;
/// How many contenders, in how many rounds.
const CONTENDERS: [(usize, usize); 3] = [(1, 400), (8, 60), (64, 12)];
/// Rounds with a node paused: each takes the node's whole timeout.
const PAUSED_ROUNDS: usize = 20;
const LIMIT: f64 = 1.2;
const QUORUM_LIMIT: f64 = 1.3;

/// One attempt that is over.
pub(crate) struct Attempt {
    /// What it took to acquire; `None`: it was told busy.
    acquired: Option<Duration>,
    /// What the commands behind that took.
    rest: Duration,
    /// So many commands were sent.
    commands: usize,
}

impl Attempt {
    fn whole(&self) -> Option<Duration> {
        Some(self.acquired? + self.rest)
    }
}

/// All strategies that ask a store: what one contender pays, and what many get.
pub async fn measure(arena: &Arena) -> Result<(Vec<Figure>, Vec<Contention>), Failure> {
    let (mut figures, mut contentions) = (Vec::new(), Vec::new());
    for info in strategy::ALL.iter().filter(|info| !info.uses.is_empty()) {
        let mut race = Race::start(arena, info.name).await?;
        for (contenders, rounds) in CONTENDERS {
            let (ours, bare) = race.run(contenders, rounds).await?;
            if contenders == 1 {
                figures.push(figure(info.name, &ours, &bare, rounds));
                if race.recorded.has_quorum() {
                    figures.push(quorum_figure("redlock's acquire, replica to the slowest of five bare", &ours, &bare));
                }
            }
            contentions.extend([
                ours.contention(info.name, "replicas", contenders),
                bare.contention(info.name, "bare", contenders),
            ]);
        }
        if race.recorded.has_quorum() {
            let node = arena.store(Endpoint::Redis(5)).ok_or("the arena has no node 5")?;
            node.stop().await?;
            let measured = race.run(1, PAUSED_ROUNDS).await;
            node.cont().await?;
            let (ours, bare) = measured?;
            figures.push(quorum_figure("the same with one node paused", &ours, &bare));
        }
        race.end().await?;
    }
    Ok((figures, contentions))
}

fn figure(name: &str, ours: &Rounds, bare: &Rounds, rounds: usize) -> Figure {
    let ratio = ratio(&ours.whole, &bare.whole);
    Figure {
        what: format!("acquire + release of `{name}`, replica to bare"),
        measured: format!("{ratio:.2} times"),
        limit: Some("1.2 times"),
        over: ratio >= LIMIT,
        how: format!(
            "{} from sent to granted and from sent to answered by the replica's own event lines, read when it is \
             done; {} for the same commands sent bare through such links; medians of {rounds}, in turns",
            microseconds(ours.whole.median()),
            microseconds(bare.whole.median())
        ),
    }
}

fn quorum_figure(what: &str, ours: &Rounds, bare: &Rounds) -> Figure {
    let ratio = ratio(&ours.acquired, &bare.acquired);
    Figure {
        what: what.to_owned(),
        measured: format!("{ratio:.2} times"),
        limit: Some("1.3 times"),
        over: ratio >= QUORUM_LIMIT,
        how: format!(
            "{} from the first SET to the grant; {} until the last of five SETs at once is answered or given up",
            milliseconds(ours.acquired.median()),
            milliseconds(bare.acquired.median())
        ),
    }
}

fn ratio(ours: &Many, bare: &Many) -> f64 {
    ours.median().as_secs_f64() / bare.median().as_secs_f64()
}

/// What many rounds came to.
#[derive(Default)]
struct Rounds {
    whole: Many,
    acquired: Many,
    attempts: usize,
    commands: usize,
    took: Duration,
}

impl Rounds {
    fn take(&mut self, attempts: Vec<Attempt>, took: Duration) {
        self.took += took;
        for attempt in attempts {
            self.attempts += 1;
            self.commands += attempt.commands;
            if let (Some(whole), Some(acquired)) = (attempt.whole(), attempt.acquired) {
                self.whole.push(whole);
                self.acquired.push(acquired);
            }
        }
    }

    fn contention(&self, strategy: &'static str, who: &'static str, contenders: usize) -> Contention {
        let granted = self.whole.count().max(1);
        Contention {
            strategy,
            who,
            contenders,
            attempts_per_second: (contenders > 1).then(|| self.attempts as f64 / self.took.as_secs_f64()),
            median: self.whole.median(),
            percentile_99: self.whole.percentile(99),
            commands_per_acquisition: self.commands as f64 / granted as f64,
        }
    }
}

/// Replicas and bare contenders of one strategy.
struct Race<'a> {
    arena: &'a Arena,
    links: Links,
    strategy: &'static str,
    replicas: Vec<Replica>,
    bare: Vec<Bare>,
    /// The first attempt of all, which also makes what later ones find there.
    first: Recorded,
    /// An ordinary one.
    recorded: Recorded,
    fire_ms: i64,
}

impl<'a> Race<'a> {
    async fn start(arena: &'a Arena, strategy: &'static str) -> Result<Race<'a>, Failure> {
        // Nobody reads what links pass on.
        let (passed, _) = mpsc::unbounded_channel();
        let upstream = |endpoint| arena.upstream(endpoint).or_else(|| arena.upstream(Endpoint::Postgres));
        let none = arena.upstream(Endpoint::Postgres).ok_or("the arena has no Postgres")?;
        let links = Links::start(|endpoint| upstream(endpoint).unwrap_or_else(|| none.clone()), passed)?;
        let mut first = Replica::start(arena, &links, "R1", strategy).await?;
        let slot = Slot { schedule: SCHEDULE.to_owned(), fire_ms: 1000 };
        // The first attempt also makes what later ones find there.
        let made = first.record(slot).await?;
        let slot = Slot { schedule: SCHEDULE.to_owned(), fire_ms: 2000 };
        let recorded = first.record(slot).await?;
        Ok(Race {
            arena,
            links,
            strategy,
            replicas: vec![first],
            bare: Vec::new(),
            first: made,
            recorded,
            fire_ms: 2000,
        })
    }

    /// So many contenders of both kinds, in turns: first the ones, then the others.
    async fn run(&mut self, contenders: usize, rounds: usize) -> Result<(Rounds, Rounds), Failure> {
        while self.replicas.len() < contenders {
            let name = format!("R{}", self.replicas.len() + 1);
            self.replicas.push(Replica::start(self.arena, &self.links, &name, self.strategy).await?);
        }
        while self.bare.len() < contenders {
            let name = format!("bare{}", self.bare.len() + 1);
            let mut bare = Bare::connect(self.arena, &self.links, &name, &self.first).await?;
            self.fire_ms += 1000;
            bare.attempt(self.fire_ms).await?;
            bare.goes_on_with(&self.recorded);
            self.bare.push(bare);
        }
        let (mut ours, mut bare) = (Rounds::default(), Rounds::default());
        let warm_up = if contenders == 1 && rounds > WARM_UP { WARM_UP } else { 2 };
        for round in 0..warm_up + rounds {
            self.fire_ms += 1000;
            let slot = Slot { schedule: SCHEDULE.to_owned(), fire_ms: self.fire_ms };
            let began = Instant::now();
            let attempts = Replica::all(&mut self.replicas[..contenders], &slot).await?;
            let took = began.elapsed();
            let began = Instant::now();
            let bare_attempts =
                join_all(self.bare[..contenders].iter_mut().map(|bare| bare.attempt(slot.fire_ms))).await;
            let bare_took = began.elapsed();
            if round >= warm_up {
                ours.take(attempts, took);
                bare.take(bare_attempts.into_iter().collect::<Result<_, _>>()?, bare_took);
            }
        }
        Ok((ours, bare))
    }

    async fn end(self) -> Result<(), Failure> {
        for replica in self.replicas {
            replica.end().await?;
        }
        Ok(())
    }
}
