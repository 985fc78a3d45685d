//! `wait`: for a time, a lock's state, or an event. Never a guess: a lock's state is what the store says,
//! an event is one that stands in the log.

use std::time::Duration;

use locks::action::{EventPattern, Wait};
use locks::machine::LockState;
use locks::strategy;
use tokio::time::{Instant, sleep, timeout_at};

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, wait: &Wait) -> Result<(), ActError> {
    match wait {
        Wait::Ms(ms) => {
            sleep(Duration::from_millis(*ms)).await;
            Ok(())
        }
        Wait::Lock { states, limit_ms } => lock(rig, states, *limit_ms).await,
        Wait::Blocked { replica, limit_ms } => blocked(rig, replica, *limit_ms).await,
        Wait::Event { event, count, limit_ms } => logged(rig, event, *count, *limit_ms).await,
    }
}

async fn lock(rig: &Rig, states: &[LockState], limit_ms: u64) -> Result<(), ActError> {
    let setup = rig.state().setup.clone();
    let (info, _) = strategy::find(&setup.strategy).map_err(|error| ActError::BadValue(error.to_string()))?;
    if !info.has_lease && states.contains(&LockState::Expired) {
        // Nothing expires here; the time that the lease would have taken passes all the same: that of whom the
        // latest slot was given to.
        let leases = rig.board.look(|standing| {
            let replicas = standing.replicas.iter().filter(|(_, replica)| replica.has_next());
            replicas.map(|(name, _)| setup.of_replica(name).lease_ms).max()
        });
        sleep(Duration::from_millis(leases.unwrap_or(setup.lease_ms).min(limit_ms))).await;
        return Ok(());
    }
    let lock = rig.board.look(|standing| standing.latest_lock.clone()).ok_or(ActError::NothingFired)?;
    // What was said last may be older than what was done last.
    rig.observer.read_now().await?;
    let limit = Duration::from_millis(limit_ms);
    let reached = rig.board.until(limit, |standing| {
        let state = standing.locks.get(&lock).map(|lock| lock.state).unwrap_or_default();
        states.contains(&state).then_some(())
    });
    reached.await.ok_or_else(|| {
        let wanted: Vec<_> = states.iter().map(|state| state.name()).collect();
        let is = rig.board.look(|standing| standing.locks.get(&lock).map(|lock| lock.state).unwrap_or_default());
        let (wanted, is) = (wanted.join(" or "), is.name());
        ActError::Missed(format!("lock {lock} was not {wanted} within {limit_ms} ms; it is {is}"))
    })
}

/// How soon Postgres is asked again whether somebody waits: nothing tells of it.
const AGAIN: Duration = Duration::from_millis(10);

async fn blocked(rig: &Rig, replica: &str, limit_ms: u64) -> Result<(), ActError> {
    let deadline = Instant::now() + Duration::from_millis(limit_ms);
    while !rig.observer.waits_for_a_lock(replica).await? {
        if Instant::now() >= deadline {
            return Err(ActError::Missed(format!(
                "{replica} did not wait for a lock in Postgres within {limit_ms} ms"
            )));
        }
        sleep(AGAIN).await;
    }
    Ok(())
}

async fn logged(rig: &Rig, pattern: &EventPattern, count: u64, limit_ms: u64) -> Result<(), ActError> {
    let deadline = Instant::now() + Duration::from_millis(limit_ms);
    let mut log = rig.recorder.log();
    let (mut seen, mut found) = (0, 0);
    loop {
        let mut changed = log.changed();
        for event in log.after(seen) {
            found += u64::from(pattern.matches(&event));
            if found >= count {
                return Ok(());
            }
            seen = event.seq;
        }
        let newest = rig.recorder.log();
        if !std::sync::Arc::ptr_eq(&log, &newest) {
            (log, seen, found) = (newest, 0, 0);
            continue;
        }
        if !matches!(timeout_at(deadline, changed.changed()).await, Ok(Ok(()))) {
            let of = pattern.replica.as_deref().map_or(String::new(), |name| format!(" of {name}"));
            let what = if count == 1 { "no".to_owned() } else { format!("only {found} of {count}") };
            return Err(ActError::Missed(format!("there was {what} {}{of} within {limit_ms} ms", pattern.kind)));
        }
    }
}
