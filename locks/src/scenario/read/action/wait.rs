//! `wait = { ms }`, `{ lock, limit_ms }`, `{ blocked, limit_ms }` or `{ event, limit_ms }`.

use crate::action::{Action, Wait};
use crate::machine::LockState;
use crate::scenario::read::expect::pattern;
use crate::scenario::read::node::{Node, Table};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{DAY_MS, number, one_or_list, replica, word};

/// States of a lock, by the names of files.
pub(super) const STATES: &[(&str, LockState)] =
    &[("free", LockState::Free), ("held", LockState::Held), ("expired", LockState::Expired)];

/// So many events a run has at most; whoever waits for more waits in vain.
const MOST_EVENTS: u64 = 1_000_000;

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`wait`", problems)?;
    let named: Vec<&str> = ["ms", "lock", "blocked", "event"].into_iter().filter(|key| table.has(key)).collect();
    if named.len() != 1 {
        let what = match named.is_empty() {
            true => "`wait` does not say for what".to_owned(),
            false => format!("`wait` waits for one thing, not for {}", named.join(" and ")),
        };
        problems.add(&node.span, what, "one of `ms`, `lock`, `blocked`, `event`");
    }
    let ms = table.get("ms").map(|node| number(node, "ms", 1..=DAY_MS, problems));
    let lock = table.get("lock").map(|node| {
        one_or_list(node, "lock", problems, |node, problems| Some(vec![word(node, "lock", STATES, problems)?]))
    });
    let blocked = table.get("blocked").map(|node| replica(node, "blocked", problems));
    let event = table.get("event").map(|node| {
        let mut table = Table::of(node, "`event`", problems)?;
        pattern(&mut table, problems)
    });
    let count = match &event {
        Some(_) => table.get("count").map(|node| number(node, "count", 1..=MOST_EVENTS, problems)),
        None => None,
    };
    let limit_ms = if ms.is_some() { 0 } else { table.limit_ms(problems) };
    table.done(problems);
    Some(Action::Wait(match (ms, lock, blocked, event) {
        (Some(ms), None, None, None) => Wait::Ms(ms?),
        (None, Some(states), None, None) => Wait::Lock { states: states?, limit_ms },
        (None, None, Some(replica), None) => Wait::Blocked { replica: replica?, limit_ms },
        (None, None, None, Some(event)) => Wait::Event { event: event?, count: count.unwrap_or(Some(1))?, limit_ms },
        _ => return None,
    }))
}
