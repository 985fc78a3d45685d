//! The arena's keys in a Redis node, all at once: moved in time, or forgotten. Each change is a command that
//! stands in the log.

use std::time::Duration;

use locks::ids::Endpoint;
use redis::aio::MultiplexedConnection;
use tokio::time::{sleep, timeout};

use super::error::ActError;
use super::outsider;
use super::rig::Rig;

/// What is left of a key that is over.
const OVER_MS: i64 = 1;
/// How long it may take until such a key is gone.
const GONE_LIMIT: Duration = Duration::from_secs(2);

/// Moves one key's expiry, where it has one, without a moment between reading and writing; what it is then. One that is over
/// is so a millisecond later: the node then tells that it expired, and not that somebody deleted it.
const SHIFT: &str = "\
local left = redis.call('PTTL', KEYS[1])
if left < 0 then return false end
left = math.max(left - ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], left)
return left";

/// Let expiries come nearer by so much; a negative one moves them away.
pub async fn shift(rig: &Rig, node: Endpoint, ms: i64) -> Result<(), ActError> {
    let mut connection = outsider::connect(rig, node).await?;
    for key in all(rig, &mut connection).await? {
        let left: Option<i64> = redis::cmd("EVAL")
            .arg(SHIFT)
            .arg(1)
            .arg(&key)
            .arg(ms)
            .query_async(&mut connection)
            .await
            .map_err(ActError::lab)?;
        if let Some(left) = left {
            outsider::note(rig, node, format!("PEXPIRE {key} {left}"), "1");
            if left == OVER_MS {
                until_gone(&mut connection, &key).await?;
            }
        }
    }
    Ok(())
}

/// Whoever asks next is to find it gone: the step that moved it ends when it is.
async fn until_gone(connection: &mut MultiplexedConnection, key: &str) -> Result<(), ActError> {
    let gone = async {
        while redis::cmd("EXISTS").arg(key).query_async::<i64>(connection).await? > 0 {
            sleep(Duration::from_millis(OVER_MS.unsigned_abs())).await;
        }
        Ok::<(), redis::RedisError>(())
    };
    match timeout(GONE_LIMIT, gone).await {
        Ok(gone) => gone.map_err(ActError::lab),
        Err(_) => Err(ActError::Missed(format!("{key} was not gone within {GONE_LIMIT:?}"))),
    }
}

/// Forget them all.
pub async fn forget(rig: &Rig, node: Endpoint) -> Result<(), ActError> {
    let mut connection = outsider::connect(rig, node).await?;
    if !rig.arena.is_shared() {
        redis::cmd("FLUSHALL").query_async::<()>(&mut connection).await.map_err(ActError::lab)?;
        outsider::note(rig, node, "FLUSHALL", "OK");
        return Ok(());
    }
    let keys = all(rig, &mut connection).await?;
    if !keys.is_empty() {
        let text = format!("DEL {}", keys.join(" "));
        let deleted: i64 = redis::cmd("DEL").arg(keys).query_async(&mut connection).await.map_err(ActError::lab)?;
        outsider::note(rig, node, text, deleted.to_string());
    }
    Ok(())
}

async fn all(rig: &Rig, connection: &mut MultiplexedConnection) -> Result<Vec<String>, ActError> {
    let (mut keys, mut cursor) = (Vec::new(), 0_u64);
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(format!("{}*", rig.arena.key_prefix())).arg("COUNT").arg(1000);
        let (next, mut found): (u64, Vec<String>) = scan.query_async(connection).await.map_err(ActError::lab)?;
        keys.append(&mut found);
        if next == 0 {
            keys.sort();
            keys.dedup();
            return Ok(keys);
        }
        cursor = next;
    }
}
