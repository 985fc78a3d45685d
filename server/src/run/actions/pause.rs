//! `pause`: stop replicas' processes. It begins when all their threads are stopped, and only then does the
//! step end.

use locks::event::{Fault, ProcessName};

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    for name in names {
        rig.check_runs(name)?;
    }
    for name in names {
        let (asked_us, seen_us) = rig.replicas.pause(name).await?;
        let what = Fault::Pause { process: ProcessName::Replica(name.clone()) };
        rig.begin_fault(what, asked_us, Some(seen_us));
    }
    Ok(())
}
