//! `chaos`: a bounded series of gate moves and faults, drawn from a seed. The same seed makes the same series
//! for the same replicas; every fault is undone, at the latest when the series ends, also over its limit.

mod series;

use std::time::Duration;

use locks::action::Action;
use locks::ids::Endpoint;
use locks::setup::Gated;
use tokio::time::{Instant, sleep};

use crate::replica::control::Control;
use crate::run::error::ActError;
use crate::run::rig::Rig;
use series::{Move, Stage};

/// How long a move waits for a replica to come to a gate.
const GATE_LIMIT: Duration = Duration::from_millis(300);

pub(super) async fn run(rig: &Rig, seed: u64, faults: u64, limit_ms: u64) -> Result<(), ActError> {
    let names = rig.replicas.names();
    for name in &names {
        rig.check_runs(name)?;
    }
    for endpoint in Endpoint::of_replicas() {
        rig.stores.check_runs(endpoint)?;
    }
    let stage = Stage { replicas: names, has_processes: !rig.arena.is_shared() };
    let deadline = Instant::now() + Duration::from_millis(limit_ms);
    let mut open: Vec<Action> = Vec::new();
    let mut result = Ok(());
    for next in series::of(seed, faults, &stage) {
        if Instant::now() >= deadline {
            result = Err(ActError::Missed(format!("the series was not through within {limit_ms} ms")));
            break;
        }
        let done = match next {
            Move::Pass(name) => pass(rig, &name).await,
            Move::Wait(time) => {
                sleep(time).await;
                Ok(())
            }
            Move::Begin { fault, undo } => {
                let begun = act(rig, &fault).await;
                open.extend(undo.filter(|_| begun.is_ok()));
                begun
            }
            Move::Undo(undo) => {
                open.retain(|other| *other != undo);
                act(rig, &undo).await
            }
        };
        if done.is_err() {
            result = done;
            break;
        }
    }
    for undo in open.into_iter().rev() {
        result = result.and(act(rig, &undo).await);
    }
    result
}

/// Let a replica pass the gate that it waits at, or comes to soon; one that comes to none is let be.
async fn pass(rig: &Rig, name: &str) -> Result<(), ActError> {
    if rig.state().setup.gated == Gated::No {
        return Ok(());
    }
    let limit = if rig.is_paused(name) || rig.is_gone(name) { Duration::ZERO } else { GATE_LIMIT };
    let passed = rig.state().passed.get(name).copied().unwrap_or(0);
    let waiting = rig.board.until(limit, |standing| {
        let attempts = &standing.replicas.get(name)?.attempts;
        attempts.iter().find_map(|(attempt, at)| {
            let (gate, number) = at.at.iter().find(|(_, number)| *number > passed)?;
            Some((attempt.clone(), gate.clone(), *number))
        })
    });
    let Some((attempt, gate, number)) = waiting.await else { return Ok(()) };
    rig.state().passed.insert(name.to_owned(), number);
    rig.replicas.tell(name, Control::Pass { attempt, gate: Some(gate) })
}

/// One fault, or its end.
async fn act(rig: &Rig, action: &Action) -> Result<(), ActError> {
    match action {
        Action::Pause(names) => super::pause::run(rig, names).await,
        Action::Resume(names) => super::resume::run(rig, names).await,
        Action::Kill(names) => super::kill::run(rig, names).await,
        Action::Start(names) => super::start::run(rig, names).await,
        Action::Cut(links) => super::cut::run(rig, links).await,
        Action::Heal { links, drop } => super::heal::run(rig, links, *drop).await,
        Action::Delay { links, ms, jitter_ms } => super::delay::run(rig, links, *ms, *jitter_ms).await,
        Action::Hold { links, what } => super::hold::run(rig, links, *what).await,
        Action::LetGo { links, what } => super::let_go::run(rig, links, *what).await,
        Action::Clock { replica, shift_ms } => super::clock::run(rig, replica, *shift_ms).await,
        Action::Node(node) => super::node::run(rig, node).await,
        Action::Postgres(what) => super::postgres::run(rig, *what).await,
        other => Err(ActError::BadValue(format!("`{}` is no part of chaos", other.name()))),
    }
}
