//! `heal`: cut links go on, and what waited arrives; with `drop`, their connections are reset instead.

use locks::action::Links;
use locks::event::Fault;

use crate::run::error::ActError;
use crate::run::rig::Rig;

use super::pairs;

pub(super) async fn run(rig: &Rig, links: &Links, drop: bool) -> Result<(), ActError> {
    pairs(rig, links).await?;
    rig.each_link(links, |replica, endpoint| {
        let what = Fault::Cut { replica: replica.to_owned(), endpoint };
        rig.end_faults(|open| *open == what);
        rig.links.heal(replica, endpoint, drop)
    })
}
