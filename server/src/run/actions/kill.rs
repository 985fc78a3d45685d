//! `kill`: end replicas' processes without warning. It ends when they are gone; the fault lasts until a
//! process of that name is started again.

use locks::event::{Fault, ProcessName};

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    for name in names {
        rig.check_not_gone(name)?;
    }
    for name in names {
        let asked_us = rig.replicas.kill(name).await?;
        let process = ProcessName::Replica(name.clone());
        rig.end_faults(|open| *open == Fault::Pause { process: process.clone() });
        rig.begin_fault(Fault::Kill { process }, asked_us, Some(crate::clock::now_us()));
    }
    Ok(())
}
