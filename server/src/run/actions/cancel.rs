//! `cancel`: cancel whatever attempts of replicas are under way. They give back what they hold.

use crate::replica::control::Control;
use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    for name in names {
        rig.check_not_gone(name)?;
        let under_way = rig.board.look(|standing| {
            let replica = standing.replicas.get(name);
            replica.is_some_and(|replica| replica.attempts.values().any(|attempt| attempt.outcome.is_none()))
        });
        if !under_way {
            return Err(ActError::NothingUnderWay { name: name.clone() });
        }
    }
    names.iter().try_for_each(|name| rig.replicas.tell(name, Control::Cancel))
}
