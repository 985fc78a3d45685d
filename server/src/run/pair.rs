//! A Redis node with a replica. The replica copies its primary over a link of its own, `redis-1/replica`,
//! which can be cut, held and slowed like any other. A failover does what a sentinel does: the replica is
//! promoted, clients are led to it, and the old primary becomes its replica.

use std::time::Duration;

use locks::event::{Fault, ProcessName};
use locks::ids::Endpoint;
use tokio::time::{Instant, sleep};

use super::error::ActError;
use super::outsider;
use super::rig::Rig;
use crate::clock::now_us;

/// How long a first copy may take.
const COPY_LIMIT: Duration = Duration::from_secs(10);
/// How long one look waits for the replica's word: it gives it when asked, once it is counted at all.
const ACKNOWLEDGED: Duration = Duration::from_millis(100);
/// How often it is looked at: Redis tells nobody that it is done.
const LOOK: Duration = Duration::from_millis(5);

/// See that a node has a replica that follows it, and that the node knows: a replica has copied all up to a second
/// before its primary counts it, and whoever waits for it with `WAIT` until then waits in vain.
pub async fn ready(rig: &Rig, node: u8) -> Result<(), ActError> {
    if rig.arena.store(Endpoint::RedisReplica(node)).is_some() {
        return Ok(());
    }
    rig.stores.check_runs(Endpoint::Redis(node))?;
    rig.arena.start_replica(node).await.map_err(ActError::arena)?;
    rig.stores.appeared(Endpoint::RedisReplica(node)).await;
    follow(rig, node).await?;
    let until = Instant::now() + COPY_LIMIT;
    while !(has_copied(rig, node).await? && is_counted(rig, node).await?) {
        if Instant::now() > until {
            return Err(ActError::Lab(format!("the replica of redis-{node} did not copy it within {COPY_LIMIT:?}")));
        }
        sleep(LOOK).await;
    }
    Ok(())
}

/// Let the process in the replica's place follow the one in the primary's.
async fn follow(rig: &Rig, node: u8) -> Result<(), ActError> {
    let primary = rig.arena.upstream(Endpoint::Redis(node)).ok_or(ActError::NotHere("replicas of shared nodes"))?;
    let port = rig.links.add_pair(node, primary).map_err(ActError::lab)?;
    outsider::redis(rig, Endpoint::RedisReplica(node), &["REPLICAOF", "127.0.0.1", &port.to_string()]).await?;
    Ok(())
}

async fn has_copied(rig: &Rig, node: u8) -> Result<bool, ActError> {
    let mut replica = outsider::connect(rig, Endpoint::RedisReplica(node)).await?;
    let info: String = redis::cmd("INFO").arg("replication").query_async(&mut replica).await.map_err(ActError::lab)?;
    Ok(info.lines().any(|line| line.trim() == "master_link_status:up"))
}

/// Does the node count its replica among those that have all it wrote?
async fn is_counted(rig: &Rig, node: u8) -> Result<bool, ActError> {
    let mut primary = outsider::connect(rig, Endpoint::Redis(node)).await?;
    let mut asked = redis::pipe();
    // A connection waits for what was written before its latest command.
    asked.cmd("PING").ignore().cmd("WAIT").arg(1).arg(ACKNOWLEDGED.as_millis() as u64);
    let (replicas,): (u64,) = asked.query_async(&mut primary).await.map_err(ActError::lab)?;
    Ok(replicas > 0)
}

/// Promote the replica of a node. Ends when every running replica that reaches it has its sessions again.
pub async fn fail_over(rig: &Rig, node: u8) -> Result<(), ActError> {
    let (old, new) = (Endpoint::Redis(node), Endpoint::RedisReplica(node));
    let name = old.to_string();
    ready(rig, node).await?;
    rig.stores.check_runs(new)?;
    let begun_us = now_us();
    rig.begin_fault(Fault::Failover { node: old }, begun_us, None);
    let was_cut = rig.links.rules(&name, new).is_some_and(|rules| rules.cut);
    // What has not arrived yet is lost: nothing more passes from here on.
    rig.links.cut(&name, new).map_err(ActError::lab)?;
    outsider::redis(rig, new, &["REPLICAOF", "NO", "ONE"]).await?;

    rig.stores.swap(node).await;
    let promoted = rig.arena.upstream(old).ok_or(ActError::NotHere("replicas of shared nodes"))?;
    rig.links.set_upstream(old, promoted);
    rig.links.reset(old);
    let killed = Fault::Kill { process: ProcessName::Store(old) };
    rig.end_faults(|open| *open == killed);
    // From here on the old primary is behind `redis-1/replica`. Whoever observed it is led to the new one.
    let old_runs = rig.stores.check_runs(new).is_ok();
    if old_runs {
        disconnect(rig, new).await?;
        follow(rig, node).await?;
    }
    if !was_cut {
        rig.links.heal(&name, new, true).map_err(ActError::lab)?;
    }
    rig.stores.has_sessions_again(old, begun_us).await?;
    rig.end_faults(|open| *open == Fault::Failover { node: old });
    Ok(())
}

/// Clients that came past the links look for the node anew.
async fn disconnect(rig: &Rig, endpoint: Endpoint) -> Result<(), ActError> {
    let mut connection = outsider::connect(rig, endpoint).await?;
    for kind in ["pubsub", "normal"] {
        let kill = outsider::command(&["CLIENT", "KILL", "TYPE", kind])?;
        kill.query_async::<i64>(&mut connection).await.map_err(ActError::lab)?;
    }
    Ok(())
}
