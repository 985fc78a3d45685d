//! `start`: start replicas that are gone, as new incarnations. It ends when they are ready.

use locks::event::{Fault, ProcessName};

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    rig.stores.check_none_fell()?;
    for name in names {
        rig.check_known(name)?;
        if !rig.is_gone(name) {
            return Err(ActError::AlreadyRunning { name: name.clone() });
        }
    }
    for name in names {
        let setup = rig.state().setup.clone();
        rig.replicas.start(name, &setup).await?;
        let what = Fault::Kill { process: ProcessName::Replica(name.clone()) };
        rig.end_faults(|open| *open == what);
        rig.tell_clocks(name).await?;
    }
    Ok(())
}
