//! `clock`: shift replicas' wall clocks; 0 sets them right again. Leases are measured by other clocks,
//! unless the set-up asks for the replica's. It ends when the replicas say that they go by the new time.

use locks::event::Fault;

use crate::clock::now_us;
use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String], shift_ms: i64) -> Result<(), ActError> {
    for name in names {
        rig.check_not_gone(name)?;
    }
    for name in names {
        rig.state().clocks.insert(name.clone(), shift_ms);
        rig.end_faults(|open| matches!(open, Fault::Clock { replica, .. } if replica == name));
        if shift_ms != 0 {
            rig.begin_fault(Fault::Clock { replica: name.clone(), shift_ms }, now_us(), None);
        }
        rig.tell_clocks(name).await?;
    }
    Ok(())
}
