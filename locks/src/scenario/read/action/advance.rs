//! `advance = { replica, until, limit_ms }`.

use crate::action::{Action, Advance};
use crate::scenario::read::node::{Node, Table};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{gate, replicas};

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`advance`", problems)?;
    let replica = table.need("replica", problems).and_then(|node| replicas(node, "replica", problems));
    let until = table.get("until").map(|node| gate(node, "until", problems));
    let limit_ms = table.limit_ms(problems);
    table.done(problems);
    let until = until.map_or(Some(None), |gate| gate.map(Some))?;
    Some(Action::Advance(Advance { replica: replica?, until, limit_ms }))
}
