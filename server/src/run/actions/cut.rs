//! `cut`: links are read no more, on both sides; bytes wait.

use locks::action::Links;
use locks::event::Fault;

use crate::clock::now_us;
use crate::run::error::ActError;
use crate::run::rig::Rig;

use super::pairs;

pub(super) async fn run(rig: &Rig, links: &Links) -> Result<(), ActError> {
    pairs(rig, links).await?;
    rig.each_link(links, |replica, endpoint| {
        rig.links.cut(replica, endpoint)?;
        rig.begin_fault(Fault::Cut { replica: replica.to_owned(), endpoint }, now_us(), None);
        Ok(())
    })
}
