//! `session = { replica, do = "begin" | "commit" | "rollback" }` or `{ replica, set = { TimeZone = "..." } }`; in
//! homework also `do = "submit" | "send" | "pass" | "answer"`: the learner's statement, `with` its parameters, `until` a gate.

use std::collections::BTreeMap;

use crate::action::Action;
use crate::scenario::read::node::{Node, Table, Value};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{replica, word};

/// What is said of a statement that is sent, and of what kind it is.
const OF_STATEMENTS: &[(&str, &str)] =
    &[("with", "a list"), ("until", "text"), ("sql", "text"), ("own", "a truth value")];

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut table = Table::of(node, "`session`", problems)?;
    let mut session = BTreeMap::new();
    let name = table.need("replica", problems).and_then(|node| replica(node, "replica", problems));
    session.insert("replica".to_owned(), name?.into());
    if table.has("do") == table.has("set") {
        problems.add(&node.span, "`session` must do one thing", "one of `do`, `set`");
    }
    if let Some(node) = table.get("do") {
        let words = ["begin", "commit", "rollback", "submit", "send", "pass", "answer"].map(|word| (word, word));
        session.insert("do".to_owned(), word(node, "do", &words, problems)?.into());
    }
    if let Some(node) = table.get("set") {
        Table::of(node, "`set`", problems)?;
        if let Value::Table(entries) = &node.value {
            for entry in entries.iter().filter(|entry| !matches!(entry.node.value, Value::Text(_))) {
                let what = format!("`{}` must be text, not {}", entry.key, entry.node.kind());
                problems.add(&entry.node.span, what, "as `{ TimeZone = \"Asia/Tokyo\" }`");
            }
        }
        session.insert("set".to_owned(), node.to_json()?);
    }
    for (key, wanted) in OF_STATEMENTS {
        if let Some(node) = table.get(key) {
            if node.kind() != *wanted {
                problems.add(&node.span, format!("`{key}` must be {wanted}, not {}", node.kind()), "");
            }
            session.insert((*key).to_owned(), node.to_json()?);
        }
    }
    table.done(problems);
    Some(Action::Session(session))
}
