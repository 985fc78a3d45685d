//! `hold`: links keep requests or replies from now on, until they are let go.

use locks::action::{Direction, Links};
use locks::event::Fault;

use crate::clock::now_us;
use crate::run::error::ActError;
use crate::run::rig::Rig;

use super::pairs;

pub(super) async fn run(rig: &Rig, links: &Links, direction: Direction) -> Result<(), ActError> {
    pairs(rig, links).await?;
    rig.each_link(links, |replica, endpoint| {
        rig.links.hold(replica, endpoint, direction)?;
        rig.begin_fault(Fault::Hold { replica: replica.to_owned(), endpoint, direction }, now_us(), None);
        Ok(())
    })
}
