//! `assert = { lock = "free" }`, `{ lock = { holder } }`, `{ sql, is }` or `{ redis, node, is }`.

use super::wait::STATES;
use crate::action::{Action, Assert};
use crate::scenario::read::node::{Node, Table, Value};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{node_name, replica, text, word};

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`assert`", problems)?;
    let named: Vec<&str> = ["lock", "sql", "redis"].into_iter().filter(|key| table.has(key)).collect();
    let assert = match named.as_slice() {
        ["lock"] => table.get("lock").and_then(|node| lock(node, problems)),
        ["sql"] => {
            let sql = table.get("sql").and_then(|node| text(node, "sql", problems));
            let is = is(&mut table, problems);
            sql.zip(is).map(|(sql, is)| Assert::Sql { sql, is })
        }
        ["redis"] => {
            let redis = table.get("redis").and_then(|node| text(node, "redis", problems));
            let node = table.need("node", problems).and_then(|node| node_name(node, "node", problems));
            let is = is(&mut table, problems);
            redis.zip(node).zip(is).map(|((redis, node), is)| Assert::Redis { redis, node, is })
        }
        _ => {
            let allowed = "one of `lock`, `sql` with `is`, `redis` with `node` and `is`";
            problems.add(&node.span, "`assert` must say one thing", allowed);
            return None;
        }
    };
    table.done(problems);
    Some(Action::Assert(assert?))
}

fn lock(node: &Node, problems: &mut Problems) -> Option<Assert> {
    if !matches!(node.value, Value::Table(_)) {
        return word(node, "lock", STATES, problems).map(Assert::Lock);
    }
    let mut table = Table::of(node, "`lock`", problems)?;
    let holder = table.need("holder", problems).and_then(|node| replica(node, "holder", problems));
    table.done(problems);
    holder.map(Assert::Holder)
}

fn is(table: &mut Table<'_>, problems: &mut Problems) -> Option<serde_json::Value> {
    let node = table.need("is", problems)?;
    let value = node.to_json();
    if value.is_none() {
        problems.add(&node.span, format!("`is` cannot be {}", node.kind()), "text, a number, a truth value, a list");
    }
    value
}
