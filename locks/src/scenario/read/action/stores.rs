//! Actions on stores: `node`, `failover`, `postgres`, `elapse`, `reset`, `sql`, `redis`.

use crate::action::{Action, NodeAction, PostgresAction};
use crate::ids::Endpoint;
use crate::scenario::read::node::{Node, Table, Value};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{DAY_MS, flag, node_name, number, text, word};

const POSTGRES: &[(&str, PostgresAction)] = &[
    ("restart", PostgresAction::Restart),
    ("kill", PostgresAction::Kill),
    ("start", PostgresAction::Start),
    ("pause", PostgresAction::Pause),
    ("resume", PostgresAction::Resume),
];
type OnNode = fn(Endpoint) -> NodeAction;
const ON_NODE: &[(&str, OnNode)] = &[
    ("kill", NodeAction::Kill),
    ("start", NodeAction::Start),
    ("pause", NodeAction::Pause),
    ("resume", NodeAction::Resume),
    ("script_flush", NodeAction::ScriptFlush),
];

/// `node = { kill = "redis-3" }`, `node = { clock_shift = "redis-3", ms = 1500 }`.
pub(super) fn node(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`node`", problems)?;
    let mut found = Vec::new();
    for (key, act) in ON_NODE {
        if let Some(node) = table.get(key) {
            found.push(node_name(node, key, problems).map(act));
        }
    }
    if let Some(node) = table.get("clock_shift") {
        let clock_shift = node_name(node, "clock_shift", problems);
        let limits = -(DAY_MS as i64)..=DAY_MS as i64;
        let ms = table.need("ms", problems).and_then(|node| number(node, "ms", limits, problems));
        found.push(clock_shift.zip(ms).map(|(clock_shift, ms)| NodeAction::ClockShift { clock_shift, ms }));
    }
    table.done(problems);
    if found.len() != 1 {
        let allowed = "one of `kill`, `start`, `pause`, `resume`, `script_flush`, `clock_shift` with `ms`";
        problems.add(&node.span, "`node` must do one thing", allowed);
        return None;
    }
    found.pop().flatten().map(Action::Node)
}

/// `failover = "redis-1"`.
pub(super) fn failover(node: &Node, problems: &mut Problems) -> Option<Action> {
    node_name(node, "failover", problems).map(Action::Failover)
}

/// `postgres = "restart"`.
pub(super) fn postgres(node: &Node, problems: &mut Problems) -> Option<Action> {
    word(node, "postgres", POSTGRES, problems).map(Action::Postgres)
}

/// `elapse = { ms = 1500 }`.
pub(super) fn elapse(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`elapse`", problems)?;
    table.need("ms", problems);
    let ms = table.ms("ms", 1, problems);
    table.done(problems);
    Some(Action::Elapse { ms: ms? })
}

/// `reset = true`.
pub(super) fn reset(node: &Node, problems: &mut Problems) -> Option<Action> {
    if !flag(node, "reset", problems)? {
        problems.add(&node.span, "`reset = false` does nothing", "`reset = true`");
    }
    Some(Action::Reset)
}

/// `sql = "..."`.
pub(super) fn sql(node: &Node, problems: &mut Problems) -> Option<Action> {
    text(node, "sql", problems).map(Action::Sql)
}

/// `redis = { command = "...", node = "redis-1" }`.
pub(super) fn redis(node: &Node, problems: &mut Problems) -> Option<Action> {
    if let Value::Text(_) = node.value {
        problems.add(
            &node.span,
            "`redis` does not say which node",
            "`redis = { command = \"...\", node = \"redis-1\" }`",
        );
        return None;
    }
    let mut table = Table::of(node, "`redis`", problems)?;
    let command = table.need("command", problems).and_then(|node| text(node, "command", problems));
    let on = table.need("node", problems).and_then(|node| node_name(node, "node", problems));
    table.done(problems);
    Some(Action::Redis { command: command?, node: on? })
}
