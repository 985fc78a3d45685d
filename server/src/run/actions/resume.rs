//! `resume`: let stopped processes go on.

use locks::event::{Fault, ProcessName};

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    for name in names {
        rig.check_not_gone(name)?;
        if !rig.is_paused(name) {
            return Err(ActError::NotPaused { name: name.clone() });
        }
    }
    for name in names {
        let what = Fault::Pause { process: ProcessName::Replica(name.clone()) };
        rig.end_faults(|open| *open == what);
        rig.replicas.resume(name).await?;
    }
    Ok(())
}
