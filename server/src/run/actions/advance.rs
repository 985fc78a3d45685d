//! `advance`: let replicas pass the gate at which they wait, or all gates up to a named one, where they
//! wait then. An attempt that ends before the named gate ends the step.

use std::time::Duration;

use locks::action::Advance;
use locks::ids::{AttemptId, Gate};
use locks::machine::Outcome;
use locks::setup::Gated;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::replica::control::Control;
use crate::run::error::ActError;
use crate::run::rig::Rig;
use crate::run::standing::Standing;

pub(super) async fn run(rig: &Rig, advance: &Advance) -> Result<(), ActError> {
    if rig.state().setup.gated == Gated::No {
        return Err(ActError::BadValue("this run has no gates; set gated to step through it".to_owned()));
    }
    for name in &advance.replica {
        rig.check_runs(name)?;
    }
    // Side by side: one may wait for what another does.
    let mut advancing = JoinSet::new();
    for name in &advance.replica {
        let (rig, name, advance) = (rig.clone(), name.clone(), advance.clone());
        advancing.spawn(async move { one(&rig, &name, &advance).await });
    }
    while let Some(done) = advancing.join_next().await {
        done.map_err(ActError::lab)??;
    }
    Ok(())
}

/// An attempt that waits at a gate.
struct Waiting {
    attempt: AttemptId,
    gate: Gate,
    /// Tells this waiting from all others.
    number: u64,
    outcome: Option<Outcome>,
    /// There is work behind it: it must pass gate `done` for that.
    has_next: bool,
}

async fn one(rig: &Rig, name: &str, advance: &Advance) -> Result<(), ActError> {
    let deadline = Instant::now() + Duration::from_millis(advance.limit_ms);
    let ended_before = rig.board.look(|standing| Some(standing.replicas.get(name)?.ended.as_ref()?.0.clone()));
    loop {
        let passed = rig.state().passed.get(name).copied().unwrap_or(0);
        let limit = deadline.saturating_duration_since(Instant::now());
        let Some(at) = rig.board.until(limit, |standing| waiting(standing, name, passed)).await else {
            return Err(missed(rig, name, advance));
        };
        let waiting = at?;
        if let Some(until) = &advance.until {
            let ended_now = waiting.outcome.filter(|_| ended_before.as_ref() != Some(&waiting.attempt));
            match ended_now {
                Some(outcome) => return ended(name, until, outcome),
                None if waiting.outcome.is_none() && until.covers(&waiting.gate) => return Ok(()),
                // It had ended before this step and nothing comes behind it.
                None if *until == Gate::Done && waiting.outcome.is_some() && !waiting.has_next => return Ok(()),
                None => {}
            }
        }
        rig.state().passed.insert(name.to_owned(), waiting.number);
        rig.replicas.tell(name, Control::Pass { attempt: waiting.attempt, gate: Some(waiting.gate) })?;
        if advance.until.is_none() {
            // Whoever looks next, the run's end above all, is not to find it still waiting there.
            let limit = deadline.saturating_duration_since(Instant::now());
            let gone = |standing: &Standing| (!still_waits(standing, name, waiting.number)).then_some(());
            return rig.board.until(limit, gone).await.ok_or_else(|| missed(rig, name, advance));
        }
    }
}

/// Where the replica waits, if it has come anywhere since it was let pass last.
fn waiting(standing: &Standing, name: &str, passed: u64) -> Option<Result<Waiting, ActError>> {
    let replica = standing.replicas.get(name)?;
    if !replica.runs() {
        return Some(Err(ActError::NotRunning { name: name.to_owned() }));
    }
    replica.attempts.iter().find_map(|(attempt, at)| {
        let (gate, number) = at.at.iter().find(|(_, number)| *number > passed)?;
        Some(Ok(Waiting {
            attempt: attempt.clone(),
            gate: gate.clone(),
            number: *number,
            outcome: at.outcome,
            has_next: replica.has_next(),
        }))
    })
}

/// Does the replica run, and wait where that number says?
fn still_waits(standing: &Standing, name: &str, number: u64) -> bool {
    let Some(replica) = standing.replicas.get(name).filter(|replica| replica.runs()) else { return false };
    replica.attempts.values().any(|attempt| attempt.at.iter().any(|(_, other)| *other == number))
}

/// An attempt ended in this step. Where its effect was waited for and the grant was over before, the
/// precondition was missed; every other end is an end of the step.
fn ended(name: &str, until: &Gate, outcome: Outcome) -> Result<(), ActError> {
    if outcome == Outcome::Lost && matches!(until, Gate::Enter | Gate::Effect) {
        return Err(ActError::Missed(format!("{name} lost its grant before it reached gate {until}")));
    }
    Ok(())
}

fn missed(rig: &Rig, name: &str, advance: &Advance) -> ActError {
    let at = rig.board.look(|standing| {
        let replica = standing.replicas.get(name)?;
        replica.attempts.values().find_map(|attempt| attempt.at.front().map(|(gate, _)| gate.to_string()))
    });
    let wanted = advance.until.as_ref().map_or("any gate".to_owned(), |gate| format!("gate {gate}"));
    let at = at.map_or(String::new(), |gate| format!("; the last was {gate}"));
    ActError::Missed(format!("{name} did not come to {wanted} within {} ms{at}", advance.limit_ms))
}
