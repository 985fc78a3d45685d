//! `let_go`: deliver what links hold, and hold no more.

use locks::action::{Direction, Links};
use locks::event::Fault;

use crate::run::error::ActError;
use crate::run::rig::Rig;

use super::pairs;

pub(super) async fn run(rig: &Rig, links: &Links, what: Option<Direction>) -> Result<(), ActError> {
    let directions = what.map_or(vec![Direction::Request, Direction::Reply], |one| vec![one]);
    pairs(rig, links).await?;
    rig.each_link(links, |replica, endpoint| {
        for &direction in &directions {
            let held = Fault::Hold { replica: replica.to_owned(), endpoint, direction };
            rig.end_faults(|open| *open == held);
            rig.links.let_go(replica, endpoint, direction)?;
        }
        Ok(())
    })
}
