//! `add`: add replicas under the set-up of now. It ends when they are ready.

use locks::setup::Setup;

use crate::run::error::ActError;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, names: &[String]) -> Result<(), ActError> {
    rig.stores.check_none_fell()?;
    let there = rig.replicas.names();
    if let Some(name) = names.iter().find(|name| there.contains(name)) {
        return Err(ActError::ReplicaExists { name: name.clone() });
    }
    let most = if rig.is_live() { Setup::MAX_LIVE_REPLICAS } else { Setup::MAX_REPLICAS };
    if there.len() + names.len() > most {
        return Err(ActError::TooMany { what: "there would be too many replicas", most });
    }
    for name in names {
        let setup = {
            let mut state = rig.state();
            state.setup.replicas.push(name.clone());
            state.setup.clone()
        };
        if let Err(error) = rig.replicas.start(name, &setup).await {
            rig.state().setup.replicas.retain(|other| other != name);
            return Err(error);
        }
        rig.tell_clocks(name).await?;
    }
    Ok(())
}
