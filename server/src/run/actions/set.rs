//! `set`: change the set-up while the run goes on. Attempts under way keep what they began with.

use locks::event::Kind;
use locks::ids::Endpoint;
use locks::setup::{Gated, Setup, SetupChange};
use locks::strategy;

use crate::replica::control::Control;
use crate::run::catalog;
use crate::run::error::ActError;
use crate::run::pair;
use crate::run::rig::{Rig, pairs_of};

pub(super) async fn run(rig: &Rig, change: &SetupChange) -> Result<(), ActError> {
    if let Some(name) = &change.strategy {
        strategy::find(name).map_err(|error| ActError::BadValue(error.to_string()))?;
    }
    check(change)?;
    let mut setup = rig.state().setup.clone();
    setup.apply(change);
    check_together(&setup)?;
    // Before anything is changed: the catalog stands in Postgres.
    if change.every_s.is_some() {
        rig.stores.check_runs(Endpoint::Postgres)?;
    }
    if let Some(node) = pairs_of(&setup) {
        pair::ready(rig, node).await?;
    }
    // One action at a time: nothing else changed it meanwhile.
    rig.state().setup = setup.clone();
    rig.recorder.note(Kind::Set { change: change.clone(), setup: Box::new(setup.clone()) });
    if change.guard.is_some() {
        rig.bank.set_guards(&setup.guard);
    }
    rig.replicas.tell_all(&Control::Set { setup: Box::new(setup.clone()) });
    if change.every_s.is_some() {
        let schedules = catalog::with_cadence(rig.state().catalog.clone(), setup.every_s);
        rig.observer.write_catalog(&schedules).await?;
        rig.state().catalog.clone_from(&schedules);
        rig.recorder.note(Kind::CatalogChanged { catalog: schedules });
        rig.replicas.tell_all(&Control::Rebind);
    }
    Ok(())
}

/// Values that only make sense together.
fn check_together(setup: &Setup) -> Result<(), ActError> {
    if setup.margin_ms >= setup.lease_ms {
        let (margin, lease) = (setup.margin_ms, setup.lease_ms);
        return Err(ActError::BadValue(format!("margin_ms ({margin}) must be below lease_ms ({lease})")));
    }
    if setup.cron && setup.gated != Gated::No {
        return Err(ActError::BadValue("replicas fire slots by their own timers only with gated = false".to_owned()));
    }
    Ok(())
}

fn check(change: &SetupChange) -> Result<(), ActError> {
    let within = |what: &str, value: Option<u64>, least: u64, most: u64| match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(ActError::BadValue(format!("{what} must be {least} to {most}, not {value}")))
        }
        _ => Ok(()),
    };
    within("lease_ms", change.lease_ms, 1, 600_000)?;
    within("work_ms", change.work_ms, 0, 600_000)?;
    within("acquire_timeout_ms", change.acquire_timeout_ms, 0, 600_000)?;
    within("store_timeout_ms", change.store_timeout_ms, 1, 60_000)?;
    within("node_timeout_ms", change.node_timeout_ms, 1, 60_000)?;
    within("margin_ms", change.margin_ms, 0, 60_000)?;
    within("every_s", change.every_s, 1, 3_600)
}
