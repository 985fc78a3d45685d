//! `terminate_backend`: end the Postgres backends of replicas, as an administrator would. It ends when they
//! are gone; a replica notices by itself and opens new sessions.

use locks::event::Fault;

use crate::clock::now_us;
use crate::run::backends;
use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    for name in names {
        rig.check_not_gone(name)?;
    }
    for name in names {
        let what = Fault::Terminate { replica: name.clone() };
        let asked_us = now_us();
        let terminated = backends::terminate_of(rig, name).await?;
        if terminated == 0 {
            return Err(ActError::Missed(format!("{name} had no backend in Postgres")));
        }
        rig.begin_fault(what.clone(), asked_us, Some(now_us()));
        rig.end_faults(|open| *open == what);
    }
    Ok(())
}
