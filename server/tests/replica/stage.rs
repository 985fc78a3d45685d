//! What all tests of replicas share: an arena of this machine's real stores, a bank, links, and replicas
//! that are told control lines and heard line by line.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use locks::event::{Kind, Line, Reply};
use locks::guard::Guard;
use locks::ids::{AttemptId, Gate, Slot};
use locks::machine::Outcome;
use locks::setup::Setup;
use server::arena::Arena;
use server::arena::replica::ReplicaProcess;
use server::bank::Bank;
use server::lab::Lab;
use server::link::{Links, Passed};
use server::replica::control::Control;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::common;

/// Long enough for anything that happens at all.
pub const LIMIT: Duration = Duration::from_secs(10);
/// The schedule of most tests.
pub const SCHEDULE: &str = "settle-invoices";

/// An arena with everything that replicas need.
pub struct Stage {
    pub arena: Arena,
    pub links: Links,
    /// What links have passed on.
    pub passed: mpsc::UnboundedReceiver<Passed>,
    lab: Arc<Lab>,
    bank: Bank,
    _data: TempDir,
}

impl Stage {
    /// Open one whose bank has these guards.
    pub async fn open(guards: &[Guard]) -> Stage {
        let data = common::data_dir();
        let lab = common::lab(data.path()).await;
        let arena = lab.arena(&BTreeMap::new()).await.unwrap();
        let (settled, _) = mpsc::unbounded_channel();
        let bank = Bank::start(arena.postgres_options(), guards, settled).await.unwrap();
        let to_bank = bank.upstream();
        let (sender, passed) = mpsc::unbounded_channel();
        let upstream = |endpoint| arena.upstream(endpoint).unwrap_or_else(|| to_bank.clone());
        let links = Links::start(upstream, sender).unwrap();
        Stage { arena, links, passed, lab, bank, _data: data }
    }

    /// Start a replica and wait until it is ready.
    pub async fn replica(&self, name: &str, setup: &Setup) -> Replica {
        let ReplicaProcess { process, stdin, stdout } = self.arena.spawn_replica(name, 1).await.unwrap();
        let mut replica =
            Replica { name: name.to_owned(), process, stdin, lines: BufReader::new(stdout).lines(), heard: Vec::new() };
        replica
            .tell(&Control::Hello {
                name: name.to_owned(),
                incarnation: 1,
                setup: Box::new(setup.clone()),
                ports: self.links.add(name).unwrap(),
                redis: self.arena.redis_login(),
                postgres: self.arena.postgres_login(),
            })
            .await;
        replica.hears(|kind| matches!(kind, Kind::Ready)).await;
        replica
    }

    /// Ask the arena's database, past all links.
    pub async fn ask<T>(&self, sql: &'static str) -> T
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        let mut postgres = self.arena.connect_postgres().await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut postgres).await.unwrap()
    }

    pub async fn close(self) {
        self.bank.close().await;
        self.arena.close().await;
        self.lab.close().await;
    }
}

/// A running replica.
pub struct Replica {
    pub name: String,
    pub process: server::warden::Process,
    stdin: pipe::Sender,
    lines: Lines<BufReader<pipe::Receiver>>,
    /// Everything that it has said.
    pub heard: Vec<Line>,
}

impl Replica {
    pub async fn tell(&mut self, control: &Control) {
        let line = serde_json::to_string(control).unwrap() + "\n";
        self.stdin.write_all(line.as_bytes()).await.unwrap();
    }

    /// Read on until it says such a thing; where in `heard` that stands.
    pub async fn hears(&mut self, such: impl Fn(&Kind) -> bool) -> usize {
        let mut at = 0;
        loop {
            if let Some(found) = self.heard[at..].iter().position(|line| such(&line.kind)) {
                return at + found;
            }
            at = self.heard.len();
            match timeout(LIMIT, self.lines.next_line()).await {
                Ok(Ok(Some(line))) => self.note(&line),
                Ok(ended) => panic!("{} ended ({ended:?}), having said {:#?}", self.name, self.heard),
                Err(_) => panic!("{} never said it, but {:#?}", self.name, self.heard),
            }
        }
    }

    /// Read until it has ended.
    pub async fn ends(&mut self) {
        while let Some(line) = timeout(LIMIT, self.lines.next_line()).await.expect("it ends").unwrap() {
            self.note(&line);
        }
    }

    fn note(&mut self, line: &str) {
        let line: Line = serde_json::from_str(line).unwrap();
        if let Kind::Task { attempt, from, to } = &line.kind {
            assert!(from.may_become(*to), "{attempt}: {from:?} to {to:?}");
        }
        self.heard.push(line);
    }

    pub fn attempt(&self, n: u32) -> AttemptId {
        AttemptId { replica: self.name.clone(), incarnation: 1, n }
    }

    /// Give it a slot; its attempt.
    pub async fn fire(&mut self, fire_ms: i64) {
        let slot = Slot { schedule: SCHEDULE.to_owned(), fire_ms };
        self.tell(&Control::Fire { slot, lock: SCHEDULE.to_owned() }).await;
    }

    /// Let attempt `n` pass the gate at which it waits.
    pub async fn pass(&mut self, n: u32) {
        let attempt = self.attempt(n);
        self.tell(&Control::Pass { attempt, gate: None }).await;
    }

    /// Pass gates until attempt `n` waits at that one.
    pub async fn until(&mut self, n: u32, wanted: Gate) {
        let attempt = self.attempt(n);
        let mut from = 0;
        loop {
            let reached = |kind: &Kind| matches!(kind, Kind::GateReached { attempt: a, .. } if *a == attempt);
            let at = self.hears_from(from, reached).await;
            if matches!(&self.heard[at].kind, Kind::GateReached { gate, .. } if wanted.covers(gate)) {
                return;
            }
            from = at + 1;
            let passed = |kind: &Kind| matches!(kind, Kind::GatePassed { attempt: a, .. } if *a == attempt);
            if !self.heard[from..].iter().any(|line| passed(&line.kind)) {
                self.tell(&Control::Pass { attempt: attempt.clone(), gate: None }).await;
            }
        }
    }

    /// As [`Replica::hears`], past what stands before `from`.
    pub async fn hears_from(&mut self, from: usize, such: impl Fn(&Kind) -> bool) -> usize {
        let rest = self.heard.split_off(from);
        let before = std::mem::replace(&mut self.heard, rest);
        let found = self.hears(such).await;
        let rest = std::mem::replace(&mut self.heard, before);
        self.heard.extend(rest);
        from + found
    }

    /// Wait until the replica trusts its latest grant no longer.
    pub async fn untrusted(&mut self) {
        self.hears(|kind| matches!(kind, Kind::Granted { .. })).await;
        let until_us = self.heard.iter().rev().find_map(|line| match line.kind {
            Kind::Granted { trusted_until_us, .. } => trusted_until_us,
            _ => None,
        });
        let left_us = until_us.expect("a grant that expires").saturating_sub(server::clock::now_us());
        tokio::time::sleep(std::time::Duration::from_micros(left_us + 1)).await;
    }

    /// How attempt `n` ended.
    pub async fn outcome(&mut self, n: u32) -> (Outcome, String) {
        let attempt = self.attempt(n);
        let at = self.hears(|kind| matches!(kind, Kind::Finished { attempt: a, .. } if *a == attempt)).await;
        let Kind::Finished { outcome, why, .. } = &self.heard[at].kind else { unreachable!() };
        (*outcome, why.clone())
    }

    /// The replies to commands of that name, in order, as far as heard.
    pub fn replies(&self, command: &str) -> Vec<Reply> {
        self.heard
            .iter()
            .filter_map(|line| match &line.kind {
                Kind::Answered { name, reply, .. } if name == command => Some(reply.clone()),
                _ => None,
            })
            .collect()
    }

    /// What it has said, by the names of the log.
    pub fn kinds(&self) -> Vec<String> {
        let name = |line: &Line| serde_json::to_value(line).unwrap()["kind"].as_str().unwrap().to_owned();
        self.heard.iter().map(name).collect()
    }
}

/// What it said of attempts; the strategy's inner moves and sessions apart.
pub fn of_attempts(kinds: Vec<String>) -> String {
    let apart = |kind: &String| kind.starts_with("session_") || kind == "strategy" || kind == "ready";
    kinds.into_iter().filter(|kind| !apart(kind)).collect::<Vec<_>>().join(" ")
}
