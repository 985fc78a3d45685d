//! Actions that name replicas: `pause`, `resume`, `kill`, `start`, `cancel`, `add`, `remove`, `clock`,
//! `terminate_backend`.

use crate::action::Action;
use crate::scenario::read::node::{Node, Table};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{DAY_MS, number, replicas};

/// One reader for each action that is nothing but names.
macro_rules! names_only {
    ($($reader:ident => $variant:ident),* $(,)?) => {
        $(pub(super) fn $reader(node: &Node, problems: &mut Problems) -> Option<Action> {
            replicas(node, stringify!($reader), problems).map(Action::$variant)
        })*
    };
}

names_only! {
    pause => Pause,
    resume => Resume,
    kill => Kill,
    start => Start,
    cancel => Cancel,
    add => Add,
    remove => Remove,
    terminate_backend => TerminateBackend,
}

/// `clock = { replica, shift_ms }`.
pub(super) fn clock(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`clock`", problems)?;
    let replica = table.need("replica", problems).and_then(|node| replicas(node, "replica", problems));
    let limits = -(DAY_MS as i64)..=DAY_MS as i64;
    let shift_ms = table.need("shift_ms", problems).and_then(|node| number(node, "shift_ms", limits, problems));
    table.done(problems);
    Some(Action::Clock { replica: replica?, shift_ms: shift_ms? })
}
