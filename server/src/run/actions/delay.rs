//! `delay`: what passes links takes longer; 0 ends it.

use locks::action::Links;
use locks::event::Fault;

use crate::clock::now_us;
use crate::link::Delay;
use crate::run::error::ActError;
use crate::run::rig::Rig;

use super::pairs;

pub(super) async fn run(rig: &Rig, links: &Links, ms: u64, jitter_ms: u64) -> Result<(), ActError> {
    let seed = rig.state().setup.seed;
    pairs(rig, links).await?;
    rig.each_link(links, |replica, endpoint| {
        rig.end_faults(
            |open| matches!(open, Fault::Delay { replica: r, endpoint: e, .. } if r == replica && *e == endpoint),
        );
        rig.links.delay(replica, endpoint, Delay { ms, jitter_ms, seed })?;
        if ms > 0 || jitter_ms > 0 {
            let what = Fault::Delay { replica: replica.to_owned(), endpoint, ms, jitter_ms };
            rig.begin_fault(what, now_us(), None);
        }
        Ok(())
    })
}
