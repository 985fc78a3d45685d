//! `remove`: let replicas give back what they hold, end them and forget them.

use locks::event::{Fault, ProcessName};

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    for name in names {
        rig.check_known(name)?;
    }
    for name in names {
        rig.replicas.remove(name).await?;
        rig.end_faults(|open| match open {
            Fault::Pause { process } | Fault::Kill { process } => *process == ProcessName::Replica(name.clone()),
            Fault::Cut { replica, .. }
            | Fault::Delay { replica, .. }
            | Fault::Hold { replica, .. }
            | Fault::Clock { replica, .. }
            | Fault::Terminate { replica } => replica == name,
            Fault::Restart { .. } | Fault::NodeClock { .. } | Fault::Failover { .. } => false,
        });
        let mut state = rig.state();
        state.setup.replicas.retain(|other| other != name);
        state.passed.remove(name);
        state.clocks.remove(name);
    }
    Ok(())
}
