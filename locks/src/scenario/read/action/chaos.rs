//! `chaos = { seed, faults, limit_ms }`.

use crate::action::Action;
use crate::scenario::read::node::{Node, Table};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::number;

/// Most faults that one series may have.
const MAX_FAULTS: u64 = 1000;

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`chaos`", problems)?;
    let seeds = 0..=i64::MAX as u64;
    let seed = table.need("seed", problems).and_then(|node| number(node, "seed", seeds, problems));
    let faults = table.need("faults", problems).and_then(|node| number(node, "faults", 1..=MAX_FAULTS, problems));
    let limit_ms = table.limit_ms(problems);
    table.done(problems);
    Some(Action::Chaos { seed: seed?, faults: faults?, limit_ms })
}
