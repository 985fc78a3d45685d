//! `fire`: give replicas one slot at once, whatever their timers say. A slot's fire time is the next whole
//! millisecond of the wall clock that no slot of this run has.

use locks::action::Fire;
use locks::event::Kind;
use locks::ids::Slot;

use crate::replica::control::Control;
use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) fn run(rig: &Rig, fire: &Fire) -> Result<(), ActError> {
    rig.stores.check_none_fell()?;
    let slot = if fire.again { latest(rig, fire)? } else { fresh(rig, fire)? };
    let to = match &fire.to {
        Some(names) => {
            for name in names {
                rig.check_not_gone(name)?;
            }
            names.clone()
        }
        None => rig.replicas.alive().into_iter().map(|(name, ..)| name).collect(),
    };
    let lock = rig.lock_of(&slot, None)?;
    // Before anyone is told, so that the log never has an attempt at a slot that was not fired.
    rig.recorder.note(Kind::SlotFired { slot: slot.clone(), lock, to: to.clone() });
    for name in &to {
        let lock = rig.lock_of(&slot, Some(name))?;
        rig.replicas.tell(name, Control::Fire { slot: slot.clone(), lock })?;
    }
    Ok(())
}

fn latest(rig: &Rig, fire: &Fire) -> Result<Slot, ActError> {
    rig.state().fired.get(&fire.schedule).cloned().ok_or(ActError::NothingFired)
}

fn fresh(rig: &Rig, fire: &Fire) -> Result<Slot, ActError> {
    let mut state = rig.state();
    if !state.catalog.iter().any(|schedule| schedule.name == fire.schedule) {
        let there = state.catalog.iter().map(|schedule| schedule.name.clone()).collect();
        return Err(ActError::NoSchedule { name: fire.schedule.clone(), there });
    }
    let next = (chrono::Utc::now().timestamp_millis() + 1).max(state.newest_fire_ms + 1);
    // Whole seconds belong to timers.
    state.newest_fire_ms = if next % 1_000 == 0 { next + 1 } else { next };
    let slot = Slot { schedule: fire.schedule.clone(), fire_ms: state.newest_fire_ms };
    state.fired.insert(fire.schedule.clone(), slot.clone());
    Ok(slot)
}
