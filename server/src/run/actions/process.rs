//! What can be done to a store's process, Postgres or a Redis node alike. Each ends when it is really so: all
//! threads stopped, all processes gone, or the store answering and the replicas that reach it having their
//! sessions again.

use std::time::Duration;

use locks::event::{Fault, ProcessName};
use locks::ids::Endpoint;
use locks::strategy::restart_delay_ms;
use tokio::time::sleep;

use crate::clock::now_us;
use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn kill(rig: &Rig, store: Endpoint) -> Result<(), ActError> {
    let (asked_us, gone_us) = rig.stores.kill(store).await?;
    let process = ProcessName::Store(store);
    rig.end_faults(|open| *open == Fault::Pause { process: process.clone() });
    rig.begin_fault(Fault::Kill { process }, asked_us, Some(gone_us));
    Ok(())
}

pub(super) async fn start(rig: &Rig, store: Endpoint) -> Result<(), ActError> {
    let asked_us = now_us();
    stays_away(rig, store).await;
    rig.stores.start(store).await?;
    let killed = Fault::Kill { process: ProcessName::Store(store) };
    rig.end_faults(|open| *open == killed);
    rig.stores.has_sessions_again(store, asked_us).await
}

/// A Redis node comes back empty. Where the strategy wants it so, it does not take part again until every lease
/// that it may have forgotten is over.
pub(super) async fn stays_away(rig: &Rig, store: Endpoint) {
    if matches!(store, Endpoint::Redis(_)) {
        let delay_ms = restart_delay_ms(&rig.state().setup);
        sleep(Duration::from_millis(delay_ms)).await;
    }
}

pub(super) async fn pause(rig: &Rig, store: Endpoint) -> Result<(), ActError> {
    let (asked_us, seen_us) = rig.stores.pause(store).await?;
    rig.begin_fault(Fault::Pause { process: ProcessName::Store(store) }, asked_us, Some(seen_us));
    Ok(())
}

pub(super) async fn resume(rig: &Rig, store: Endpoint) -> Result<(), ActError> {
    let paused = Fault::Pause { process: ProcessName::Store(store) };
    rig.end_faults(|open| *open == paused);
    rig.stores.resume(store).await?;
    // What was thrown away meanwhile is opened anew.
    rig.stores.has_sessions_again(store, 0).await
}

pub(super) async fn restart(rig: &Rig, store: Endpoint) -> Result<(), ActError> {
    let what = Fault::Restart { process: ProcessName::Store(store) };
    rig.stores.private(store)?;
    rig.stores.check_runs(store)?;
    rig.begin_fault(what.clone(), now_us(), None);
    let asked_us = rig.stores.restart(store).await?;
    rig.end_faults(|open| *open == what);
    rig.stores.has_sessions_again(store, asked_us).await
}
