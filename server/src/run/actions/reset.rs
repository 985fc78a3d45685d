//! `reset`: begin again. Every fault ends, every store runs and is emptied, and each replica of the set-up is
//! a new process with links that nothing disturbs. The log goes on: what happened has happened.

use std::collections::BTreeSet;

use locks::event::ProcessState;
use locks::ids::Endpoint;

use crate::run::error::ActError;
use crate::run::keys;
use crate::run::outsider;
use crate::run::rig::Rig;

/// Every table of the arena that strategies and sinks write. Rows of strategies are deleted, so that the
/// database tells of each; evidence is thrown away whole.
const TABLES: &str = "\
select case when table_name in ('audit', 'ledger') then 'truncate ' else 'delete from ' end || quote_ident(table_name)
  from information_schema.tables
 where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not in ('schedules', '_sqlx_migrations')
 order by table_name";

pub(super) async fn run(rig: &Rig) -> Result<(), ActError> {
    for name in rig.replicas.names() {
        rig.replicas.discard(&name).await?;
    }
    repair(rig).await?;
    rig.end_faults(|_| true);
    let setup = {
        let mut state = rig.state();
        state.fired.clear();
        state.passed.clear();
        state.clocks.clear();
        state.elapsed_ms = 0;
        state.setup.clone()
    };
    empty(rig).await?;
    rig.start_replicas(&setup).await?;
    rig.observer.read_now().await
}

/// Every store runs, and nothing disturbs replication.
async fn repair(rig: &Rig) -> Result<(), ActError> {
    let states = rig.board.look(|standing| standing.stores.clone());
    for (store, state) in states {
        match state {
            ProcessState::Stopped => rig.stores.resume(store).await?,
            ProcessState::Gone => rig.stores.start(store).await?,
            ProcessState::Started | ProcessState::Continued => {}
        }
    }
    for node in 1..=Endpoint::REDIS_NODES {
        let (endpoint, link) = (Endpoint::Redis(node), Endpoint::RedisReplica(node));
        if let Some(upstream) = rig.arena.upstream(endpoint) {
            rig.links.set_upstream(endpoint, upstream);
        }
        rig.links.undisturb(&endpoint.to_string(), link);
    }
    Ok(())
}

async fn empty(rig: &Rig) -> Result<(), ActError> {
    for statement in rig.observer.rows(TABLES).await? {
        rig.observer.execute(&statement).await?;
        outsider::note(rig, Endpoint::Postgres, statement, "done");
    }
    rig.bank.empty().await.map_err(ActError::lab)?;
    let nodes: BTreeSet<Endpoint> = (1..=Endpoint::REDIS_NODES).map(Endpoint::Redis).collect();
    for node in nodes {
        keys::forget(rig, node).await?;
    }
    Ok(())
}
