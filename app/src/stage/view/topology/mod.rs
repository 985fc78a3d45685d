//! The map: replicas above, stores below, links between, messages on them. Its geometry depends on the
//! width, the replicas' names and nothing else, so that it never re-arranges while a run goes on or a
//! strategy is changed. All of it is text for an `svg` element, in layers that change at different paces.
//!
//! | module | what it computes |
//! |---|---|
//! | [`geometry`] | where everything stands |
//! | [`links`] | the lines, and what disturbs them |
//! | [`faces`] | stores and replicas, as boxes |
//! | [`packets`] | where messages are at a moment |
//! | [`targets`] | what can be clicked or focused, with its name |

pub mod faces;
pub mod geometry;
pub mod links;
pub mod packets;
mod pills;
pub mod targets;

use locks::ids::{Endpoint, SinkName};

use crate::stage::Stage;
use geometry::Geometry;

/// What the map is drawn for: one moment, looking at one schedule.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// Where everything stands.
    pub geometry: &'a Geometry,
    /// The schedule that it looks at.
    pub schedule: &'a str,
    /// The moment.
    pub now_us: u64,
    /// Messages stand in their places, nothing moves.
    pub still: bool,
}

/// Does anybody need that store under the present set-up?
pub fn is_used(stage: &Stage, endpoint: Endpoint) -> bool {
    let setup = &stage.setup;
    let names = setup.replica.values().filter_map(|own| own.strategy.as_ref()).chain([&setup.strategy]);
    match endpoint {
        // The audit stands there, whatever the strategy.
        Endpoint::Postgres => true,
        Endpoint::Bank => setup.sink == SinkName::Bank,
        Endpoint::Redis(_) => {
            names.filter_map(|name| locks::strategy::info(&name.strategy)).any(|info| info.uses.contains(&endpoint))
        }
        Endpoint::RedisReplica(node) => is_used(stage, Endpoint::Redis(node)),
    }
}
