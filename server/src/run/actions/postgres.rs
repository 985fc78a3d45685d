//! `postgres`: disturb Postgres, the postmaster and all its backends. A restart ends it at once and starts it
//! again; what was committed stays, every session is lost. On shared stores a restart is the end of the
//! arena's own sessions, and the rest is not applicable.

use locks::action::PostgresAction;
use locks::event::{Fault, ProcessName};
use locks::ids::Endpoint;

use crate::clock::now_us;
use crate::run::backends;
use crate::run::error::ActError;
use crate::run::rig::Rig;

const POSTGRES: Endpoint = Endpoint::Postgres;

pub(super) async fn run(rig: &Rig, action: PostgresAction) -> Result<(), ActError> {
    match action {
        PostgresAction::Restart if rig.arena.is_shared() => end_sessions(rig).await,
        PostgresAction::Restart => super::process::restart(rig, POSTGRES).await,
        PostgresAction::Kill => super::process::kill(rig, POSTGRES).await,
        PostgresAction::Start => super::process::start(rig, POSTGRES).await,
        PostgresAction::Pause => super::process::pause(rig, POSTGRES).await,
        PostgresAction::Resume => super::process::resume(rig, POSTGRES).await,
    }
}

async fn end_sessions(rig: &Rig) -> Result<(), ActError> {
    let what = Fault::Restart { process: ProcessName::Store(POSTGRES) };
    let begun_us = now_us();
    rig.begin_fault(what.clone(), begun_us, None);
    backends::terminate_all(rig).await?;
    rig.end_faults(|open| *open == what);
    rig.stores.has_sessions_again(POSTGRES, begun_us).await
}
