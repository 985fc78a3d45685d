//! `fire = { schedule, to, again }`.

use crate::action::{Action, Fire};
use crate::scenario::CATALOG;
use crate::scenario::read::node::{Node, Table};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{replicas, word};

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`fire`", problems)?;
    let names = CATALOG.map(|name| (name, name));
    let schedule = table.need("schedule", problems).and_then(|node| word(node, "schedule", &names, problems));
    let to = table.get("to").map(|node| replicas(node, "to", problems));
    let again = table.flag("again", problems).unwrap_or(false);
    table.done(problems);
    let to = to.map_or(Some(None), |to| to.map(Some))?;
    Some(Action::Fire(Fire { schedule: schedule?.to_owned(), to, again }))
}
