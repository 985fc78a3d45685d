//! `failover`: the replica of a Redis node takes its place, without what had not reached it.

use locks::ids::Endpoint;

use crate::run::error::ActError;
use crate::run::pair;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, node: Endpoint) -> Result<(), ActError> {
    match node {
        Endpoint::Redis(node) => pair::fail_over(rig, node).await,
        other => Err(ActError::BadValue(format!("{other} is no Redis node"))),
    }
}
