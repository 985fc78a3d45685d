//! `elapse`: time goes by for what hangs on time: every store's expiries and every replica's lease clock move
//! together. For stepping by hand, where people think longer than any lease; nothing else grows older.

use locks::ids::Endpoint;

use crate::run::error::ActError;
use crate::run::keys;
use crate::run::outsider;
use crate::run::rig::Rig;

/// Moves every time of every table that strategies keep. What a row is called by is no time that goes by,
/// and neither is what the catalog and the evidence say.
const SHIFT: &str = "\
select format('update %I set %s', c.table_name,
              string_agg(format('%1$I = %1$I - interval ''1 millisecond'' * $1', c.column_name), ', '))
  from information_schema.columns c
 where c.table_schema = 'public' and c.data_type = 'timestamp with time zone' and c.is_updatable = 'YES'
   and c.table_name not in ('schedules', 'audit', 'ledger', '_sqlx_migrations')
   and c.column_name <> 'fire_at'
   and not exists (
       select from information_schema.key_column_usage k
        where k.table_schema = c.table_schema and k.table_name = c.table_name and k.column_name = c.column_name)
 group by c.table_name order by c.table_name";

pub(super) async fn run(rig: &Rig, ms: u64) -> Result<(), ActError> {
    // All of it or nothing: a store that does not answer is found out first.
    for endpoint in Endpoint::of_replicas() {
        rig.stores.check_runs(endpoint)?;
    }
    let by = i64::try_from(ms).map_err(ActError::lab)?;
    rig.state().elapsed_ms += ms;
    shift_rows(rig, by).await?;
    for node in 1..=Endpoint::REDIS_NODES {
        keys::shift(rig, Endpoint::Redis(node), by).await?;
    }
    for name in rig.replicas.names() {
        if !rig.is_gone(&name) {
            rig.tell_clocks(&name).await?;
        }
    }
    rig.observer.read_now().await
}

async fn shift_rows(rig: &Rig, by: i64) -> Result<(), ActError> {
    let shifts: Vec<String> = rig.observer.rows(SHIFT).await?;
    for statement in shifts {
        let statement = statement.replace("$1", &by.to_string());
        let affected = rig.observer.execute(&statement).await?;
        outsider::note(rig, Endpoint::Postgres, statement, format!("{affected} rows"));
    }
    Ok(())
}
