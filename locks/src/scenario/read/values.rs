//! Readers of single values: numbers with limits, names from a list, replicas, endpoints. Each notes what is
//! wrong with its value and then answers `None`; none looks at anything but its value.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::node::{Node, Table, Value};
use crate::action::Links;
use crate::guard::Guard;
use crate::ids::{BadName, Endpoint, Gate};
use crate::scenario::problem::{hint, list};
use crate::scenario::read::problems::Problems;
use crate::setup::StrategyName;
use crate::strategy;

/// The longest time that a scenario may name: a day, in milliseconds.
pub(super) const DAY_MS: u64 = 86_400_000;

/// Text.
pub(super) fn text(node: &Node, name: &str, problems: &mut Problems) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => {
            problems.add(&node.span, format!("`{name}` must be text, not {}", node.kind()), "");
            None
        }
    }
}

/// `true` or `false`.
pub(super) fn flag(node: &Node, name: &str, problems: &mut Problems) -> Option<bool> {
    match node.value {
        Value::Bool(flag) => Some(flag),
        _ => {
            problems.add(&node.span, format!("`{name}` must be a truth value, not {}", node.kind()), "`true`, `false`");
            None
        }
    }
}

/// A whole number within limits.
pub(super) fn number<N>(node: &Node, name: &str, limits: RangeInclusive<N>, problems: &mut Problems) -> Option<N>
where
    N: Copy + Into<i128> + TryFrom<i128> + std::fmt::Display,
{
    let allowed = format!("{} to {}", limits.start(), limits.end());
    match node.value {
        Value::Int(int) if ((*limits.start()).into()..=(*limits.end()).into()).contains(&int) => N::try_from(int).ok(),
        Value::Int(int) => {
            problems.add(&node.span, format!("`{name}` is {int}"), allowed);
            None
        }
        _ => {
            problems.add(&node.span, format!("`{name}` must be a whole number, not {}", node.kind()), allowed);
            None
        }
    }
}

/// One of several words.
pub(super) fn word<T: Copy>(node: &Node, name: &str, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
    let names = || words.iter().map(|(word, _)| *word);
    let Value::Text(text) = &node.value else {
        problems.add(&node.span, format!("`{name}` must be text, not {}", node.kind()), list(names()));
        return None;
    };
    let found = words.iter().find(|(word, _)| word == text).map(|(_, value)| *value);
    if found.is_none() {
        problems.add(&node.span, format!("`{name}` is {text:?}{}", hint(text, names())), list(names()));
    }
    found
}

/// A name that reads itself.
fn parsed<T: FromStr<Err = BadName>>(node: &Node, name: &str, near: &[&str], problems: &mut Problems) -> Option<T> {
    let text = text(node, name, problems)?;
    text.parse()
        .map_err(|bad: BadName| {
            // "a gate: send, enter" is what it should be and what there is.
            let (what, allowed) = bad.wanted.split_once(": ").unwrap_or((bad.wanted, ""));
            let near = hint(&text, near.iter().copied());
            problems.add(&node.span, format!("`{name}`: {text:?} is not {what}{near}"), allowed);
        })
        .ok()
}

/// A gate.
pub(super) fn gate(node: &Node, name: &str, problems: &mut Problems) -> Option<Gate> {
    let near =
        ["enter", "effect", "leave", "done", "send", "send:acquire", "send:renew", "send:release", "send:publish"];
    parsed(node, name, &near, problems)
}

/// One endpoint.
pub(super) fn endpoint(node: &Node, name: &str, problems: &mut Problems) -> Option<Endpoint> {
    let near: Vec<String> = Endpoint::of_replicas().map(|endpoint| endpoint.to_string()).collect();
    parsed(node, name, &near.iter().map(String::as_str).collect::<Vec<_>>(), problems)
}

/// One of the Redis nodes.
pub(super) fn node_name(node: &Node, name: &str, problems: &mut Problems) -> Option<Endpoint> {
    match endpoint(node, name, problems)? {
        redis @ Endpoint::Redis(_) => Some(redis),
        other => {
            problems.add(&node.span, format!("`{name}` must be a Redis node, not {other}"), "redis-1 to redis-5");
            None
        }
    }
}

/// One value or a list of values, each read by `one`; not empty, none twice.
pub(super) fn one_or_list<T: PartialEq>(
    node: &Node,
    name: &str,
    problems: &mut Problems,
    mut one: impl FnMut(&Node, &mut Problems) -> Option<Vec<T>>,
) -> Option<Vec<T>> {
    let Value::List(items) = &node.value else { return one(node, problems) };
    if items.is_empty() {
        problems.add(&node.span, format!("`{name}` is empty"), "a name, or a list of names");
    }
    let mut values = Vec::new();
    let mut whole = !items.is_empty();
    for item in items {
        let Some(found) = one(item, problems) else {
            whole = false;
            continue;
        };
        for value in found {
            if values.contains(&value) {
                let twice = if let Value::Text(text) = &item.value { text } else { "a value" };
                problems.add(&item.span, format!("`{name}` names {twice} twice"), "");
                whole = false;
            } else {
                values.push(value);
            }
        }
    }
    whole.then_some(values)
}

/// A replica's name: what may stand in file names, event sources and tables.
pub(super) fn replica(node: &Node, name: &str, problems: &mut Problems) -> Option<String> {
    let Value::Text(text) = &node.value else {
        let what = format!("`{name}` must be a replica's name, not {}", node.kind());
        problems.add(&node.span, what, "a name, or a list of names");
        return None;
    };
    let good = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 20
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !good {
        let allowed = "a letter, then letters, digits, `-` and `_`, 20 at most";
        problems.add(&node.span, format!("`{name}`: {text:?} is no replica's name"), allowed);
    }
    good.then(|| text.clone())
}

/// A replica or a list of replicas.
pub(super) fn replicas(node: &Node, name: &str, problems: &mut Problems) -> Option<Vec<String>> {
    one_or_list(node, name, problems, |node, problems| Some(vec![replica(node, name, problems)?]))
}

/// An endpoint or a list of endpoints; `redis` means all five.
fn endpoints(node: &Node, name: &str, problems: &mut Problems) -> Option<Vec<Endpoint>> {
    one_or_list(node, name, problems, |node, problems| match &node.value {
        Value::Text(text) if text == "redis" => Some((1..=Endpoint::REDIS_NODES).map(Endpoint::Redis).collect()),
        _ => Some(vec![endpoint(node, name, problems)?]),
    })
}

/// The links that a table names with `replica` and `endpoint`; a replication link is no replica's.
pub(super) fn links(table: &mut Table<'_>, problems: &mut Problems) -> Option<Links> {
    let endpoint = table.need("endpoint", problems).and_then(|node| endpoints(node, "endpoint", problems));
    let of_pair = |endpoint: &Endpoint| matches!(endpoint, Endpoint::RedisReplica(_));
    if let Some(all) = endpoint.as_ref().filter(|all| all.iter().all(of_pair)) {
        if let Some(node) = table.get("replica") {
            let what = "a replication link is no replica's";
            problems.add(&node.span, what, "`{ endpoint = \"redis-1/replica\" }` alone");
        }
        return Some(Links { replica: Vec::new(), endpoint: all.clone() });
    }
    let replica = table.need("replica", problems).and_then(|node| replicas(node, "replica", problems));
    Some(Links { replica: replica?, endpoint: endpoint? })
}

/// `none`, a guard, or a list of guards.
pub(super) fn guards(node: &Node, problems: &mut Problems) -> Option<Vec<Guard>> {
    const NAMES: [&str; 4] = ["none", "max-seen", "current-epoch", "unique-slot"];
    if let Value::Text(text) = &node.value
        && text == "none"
    {
        return Some(Vec::new());
    }
    if let Value::List(items) = &node.value {
        if items.is_empty() {
            return Some(Vec::new());
        }
        if let [only] = items.as_slice() {
            return guards(only, problems);
        }
        if let Some(item) = items.iter().find(|item| matches!(&item.value, Value::Text(text) if text == "none")) {
            problems.add(&item.span, "`guard`: \"none\" stands alone", list(NAMES[1..].iter().copied()));
            return None;
        }
    }
    one_or_list(node, "guard", problems, |node, problems| Some(vec![parsed(node, "guard", &NAMES, problems)?]))
}

/// A strategy, perhaps with a mutant, that exists.
pub(super) fn strategy_name(node: &Node, problems: &mut Problems) -> Option<StrategyName> {
    let text = text(node, "strategy", problems)?;
    let name = StrategyName::from(text.as_str());
    match strategy::find(&name) {
        Ok(_) => Some(name),
        Err(unknown) => {
            let (what, names): (_, Vec<&str>) = match &unknown {
                strategy::Unknown::Strategy { name } => {
                    (format!("no strategy is called {name:?}"), strategy::ALL.iter().map(|info| info.name).collect())
                }
                strategy::Unknown::Mutant { strategy, name, allowed } => {
                    (format!("`{strategy}` has no mutant {name:?}"), allowed.clone())
                }
            };
            let written = name.mutant.as_deref().filter(|_| strategy::info(&name.strategy).is_some());
            let near = hint(written.unwrap_or(&name.strategy), names.iter().copied());
            let allowed = if names.is_empty() { "the strategy as it is".to_owned() } else { list(names) };
            problems.add(&node.span, format!("{what}{near}"), allowed);
            None
        }
    }
}

impl Table<'_> {
    /// A time in milliseconds under an optional key.
    pub(super) fn ms(&mut self, key: &'static str, least: u64, problems: &mut Problems) -> Option<u64> {
        self.get(key).and_then(|node| number(node, key, least..=DAY_MS, problems))
    }

    /// A truth value under an optional key.
    pub(super) fn flag(&mut self, key: &'static str, problems: &mut Problems) -> Option<bool> {
        self.get(key).and_then(|node| flag(node, key, problems))
    }

    /// `limit_ms`, or five seconds.
    pub(super) fn limit_ms(&mut self, problems: &mut Problems) -> u64 {
        self.ms("limit_ms", 1, problems).unwrap_or(crate::scenario::LIMIT_MS)
    }
}
