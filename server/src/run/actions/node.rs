//! `node`: disturb one Redis node. Without persistence a node that is killed forgets everything. Its clock
//! cannot be moved alone, so a jump is performed on what hangs on it: the expiries of the arena's keys.
//!
//! On shared stores a killed node is one that replicas cannot reach and that has lost the arena's keys, which
//! for them is the same; nothing else of a shared node's process can be disturbed.

use locks::action::NodeAction;
use locks::event::{Fault, ProcessName};
use locks::ids::Endpoint;

use crate::clock::now_us;
use crate::run::error::ActError;
use crate::run::keys;
use crate::run::outsider;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, action: &NodeAction) -> Result<(), ActError> {
    match *action {
        NodeAction::Kill(node) if rig.arena.is_shared() => kill_shared(rig, node).await,
        NodeAction::Start(node) if rig.arena.is_shared() => start_shared(rig, node).await,
        NodeAction::Kill(node) => super::process::kill(rig, node).await,
        NodeAction::Start(node) => super::process::start(rig, node).await,
        NodeAction::Pause(node) => super::process::pause(rig, node).await,
        NodeAction::Resume(node) => super::process::resume(rig, node).await,
        NodeAction::ScriptFlush(_) if rig.arena.is_shared() => Err(ActError::NotHere("scripts of a shared node")),
        NodeAction::ScriptFlush(node) => outsider::redis(rig, node, &["SCRIPT", "FLUSH", "SYNC"]).await.map(drop),
        NodeAction::ClockShift { clock_shift: node, ms } => {
            rig.begin_fault(Fault::NodeClock { node, shift_ms: ms }, now_us(), None);
            let shifted = keys::shift(rig, node, ms).await;
            rig.end_faults(|open| matches!(open, Fault::NodeClock { node: of, .. } if *of == node));
            shifted
        }
    }
}

fn killed(node: Endpoint) -> Fault {
    Fault::Kill { process: ProcessName::Store(node) }
}

async fn kill_shared(rig: &Rig, node: Endpoint) -> Result<(), ActError> {
    if rig.has_fault(&killed(node)) {
        return Err(ActError::StoreIs { store: node, what: "is gone already" });
    }
    let begun_us = now_us();
    rig.links.unset_upstream(node);
    rig.links.reset(node);
    keys::forget(rig, node).await?;
    rig.begin_fault(killed(node), begun_us, Some(now_us()));
    Ok(())
}

async fn start_shared(rig: &Rig, node: Endpoint) -> Result<(), ActError> {
    let upstream = rig.arena.upstream(node).ok_or(ActError::NotHere("a node of that number"))?;
    if !rig.has_fault(&killed(node)) {
        return Err(ActError::StoreIs { store: node, what: "runs already" });
    }
    let begun_us = now_us();
    super::process::stays_away(rig, node).await;
    rig.links.set_upstream(node, upstream);
    rig.stores.has_sessions_again(node, begun_us).await?;
    rig.end_faults(|open| *open == killed(node));
    Ok(())
}
