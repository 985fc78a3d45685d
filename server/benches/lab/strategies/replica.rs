//! A replica without timers and gates, whose work takes no time. What it says is read only when it is done:
//! on a machine with a core to spare nobody's reading takes time from it, and here nobody's does either.

use std::time::Duration;

use locks::event::{Kind, Line};
use locks::ids::{SinkName, Slot};
use locks::setup::{Gated, Setup};
use locks::strategy;
use server::arena::Arena;
use server::arena::replica::ReplicaProcess;
use server::link::Links;
use server::replica::control::Control;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use super::{Attempt, LEASE_MS, Recorded, SCHEDULE};
use crate::Failure;

/// How long a replica may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// So long one contender is left alone: many times what an attempt takes.
const ALONE: Duration = Duration::from_millis(8);

pub(crate) struct Replica {
    process: server::warden::Process,
    stdin: pipe::Sender,
    lines: Lines<BufReader<pipe::Receiver>>,
    strategy: &'static str,
}

impl Replica {
    pub async fn start(arena: &Arena, links: &Links, name: &str, strategy: &'static str) -> Result<Replica, Failure> {
        let ReplicaProcess { process, stdin, stdout } = arena.spawn_replica(name, 1).await?;
        let mut replica = Replica { process, stdin, lines: BufReader::new(stdout).lines(), strategy };
        let setup = Setup {
            strategy: strategy.into(),
            lease_ms: LEASE_MS,
            work_ms: 0,
            sink: SinkName::Ledger,
            gated: Gated::No,
            // Many contenders on few cores: slow is not lost.
            store_timeout_ms: 5_000,
            ..Setup::default()
        };
        let hello = Control::Hello {
            name: name.to_owned(),
            incarnation: 1,
            setup: Box::new(setup),
            ports: links.add(name)?,
            redis: arena.redis_login(),
            postgres: arena.postgres_login(),
        };
        replica.tell(&hello).await?;
        while !matches!(replica.next().await?.kind, Kind::Ready) {}
        Ok(replica)
    }

    /// One attempt alone, as it was said.
    pub async fn record(&mut self, slot: Slot) -> Result<Recorded, Failure> {
        let fire_ms = slot.fire_ms;
        self.fire(&slot).await?;
        let lines = self.attempt().await?;
        Recorded::of(&lines, fire_ms).ok_or_else(|| format!("{} was not granted its lock", self.strategy).into())
    }

    /// All get the same slot at once; their attempts.
    pub async fn all(replicas: &mut [Replica], slot: &Slot) -> Result<Vec<Attempt>, Failure> {
        for replica in replicas.iter_mut() {
            replica.fire(slot).await?;
        }
        if replicas.len() == 1 {
            sleep(ALONE).await;
        }
        let mut attempts = Vec::new();
        for replica in replicas {
            attempts.push(judged(&replica.attempt().await?));
        }
        Ok(attempts)
    }

    pub async fn end(self) -> Result<(), Failure> {
        Ok(self.process.kill().await?)
    }

    async fn fire(&mut self, slot: &Slot) -> Result<(), Failure> {
        let info = strategy::info(self.strategy).ok_or("no such strategy")?;
        debug_assert_eq!(slot.schedule, SCHEDULE);
        self.tell(&Control::Fire { slot: slot.clone(), lock: info.scope.lock_of(slot) }).await
    }

    async fn tell(&mut self, control: &Control) -> Result<(), Failure> {
        let line = serde_json::to_string(control)? + "\n";
        Ok(self.stdin.write_all(line.as_bytes()).await?)
    }

    async fn next(&mut self) -> Result<Line, Failure> {
        let line = timeout(SILENCE, self.lines.next_line()).await??.ok_or("the replica ended")?;
        Ok(serde_json::from_str(&line)?)
    }

    /// The lines of the attempt under way, up to the last thing that the replica has to do with it.
    async fn attempt(&mut self) -> Result<Vec<Line>, Failure> {
        let mut lines = Vec::new();
        loop {
            let line = self.next().await?;
            let last = matches!(&line.kind, Kind::Answered { name, .. } if name == "audit");
            lines.push(line);
            if last {
                return Ok(lines);
            }
        }
    }
}

/// What an attempt took, by its own stamps.
fn judged(lines: &[Line]) -> Attempt {
    let (mut first_us, mut acquired_us, mut rest_us, mut commands) = (None, None, 0, 0);
    // The step under way: since when, until when.
    let mut step: Option<(u64, u64)> = None;
    for Line { at_us, kind } in lines {
        match kind {
            Kind::Sent { attempt: Some(_), command, .. } if command.name != "audit" => {
                commands += 1;
                first_us.get_or_insert(*at_us);
                match step {
                    Some((began, answered)) if answered > began => {
                        rest_us += if acquired_us.is_some() { answered - began } else { 0 };
                        step = Some((*at_us, *at_us));
                    }
                    Some(_) => {}
                    None => step = Some((*at_us, *at_us)),
                }
            }
            Kind::Answered { attempt: Some(_), name, .. } if name != "audit" => {
                if let Some((_, answered)) = &mut step {
                    *answered = *at_us;
                }
            }
            Kind::Granted { .. } => {
                acquired_us = first_us.map(|first| at_us - first);
                step = None;
            }
            _ => {}
        }
    }
    if let (Some((began, answered)), Some(_)) = (step, acquired_us) {
        rest_us += answered - began;
    }
    Attempt { acquired: acquired_us.map(Duration::from_micros), rest: Duration::from_micros(rest_us), commands }
}
