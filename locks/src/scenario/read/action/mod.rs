//! Reads actions in the short form of files, one reader a file. Adding an action touches its file and
//! [`READERS`].

mod advance;
mod assert;
mod chaos;
mod fire;
mod links;
mod replicas;
mod session;
mod stores;
mod wait;

use super::node::{Node, Value};
use super::setup;
use crate::action::Action;
use crate::scenario::problem::{hint, list};
use crate::scenario::read::problems::Problems;

type Reader = fn(&Node, &mut Problems) -> Option<Action>;

const READERS: &[(&str, Reader)] = &[
    ("fire", fire::read),
    ("advance", advance::read),
    ("wait", wait::read),
    ("assert", assert::read),
    ("pause", replicas::pause),
    ("resume", replicas::resume),
    ("kill", replicas::kill),
    ("start", replicas::start),
    ("cancel", replicas::cancel),
    ("add", replicas::add),
    ("remove", replicas::remove),
    ("clock", replicas::clock),
    ("terminate_backend", replicas::terminate_backend),
    ("set", |node, problems| setup::set(node, problems).map(Action::Set)),
    ("cut", links::cut),
    ("heal", links::heal),
    ("delay", links::delay),
    ("hold", links::hold),
    ("let_go", links::let_go),
    ("node", stores::node),
    ("failover", stores::failover),
    ("postgres", stores::postgres),
    ("elapse", stores::elapse),
    ("reset", stores::reset),
    ("sql", stores::sql),
    ("redis", stores::redis),
    ("chaos", chaos::read),
    ("session", session::read),
];

/// The one action of a step.
pub(super) fn action(node: &Node, problems: &mut Problems) -> Option<Action> {
    let names = || READERS.iter().map(|(name, _)| *name);
    let Value::Table(entries) = &node.value else {
        let what = format!("a step must be a table with one action, not {}", node.kind());
        problems.add(&node.span, what, "as `{ pause = \"A\" }`");
        return None;
    };
    let Some((entry, further)) = entries.split_first() else {
        problems.add(&node.span, "this step has no action", list(names()));
        return None;
    };
    for extra in further {
        let what = format!("a second action, `{}`, in the step of `{}`", extra.key, entry.key);
        problems.add(&extra.span, what, "one action a step: begin a `[[step]]` of its own");
    }
    let Some((_, read)) = READERS.iter().find(|(name, _)| *name == entry.key) else {
        let what = format!("no action is called `{}`{}", entry.key, hint(&entry.key, names()));
        problems.add(&entry.span, what, list(names()));
        return None;
    };
    read(&entry.node, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// serde names the variants of `Action` when it meets one that does not exist.
    #[test]
    fn every_action_has_a_reader() {
        let error = serde_json::from_str::<Action>(r#"{"?":1}"#).unwrap_err().to_string();
        let mut actions: Vec<&str> = error.split('`').skip(1).step_by(2).skip(1).collect();
        let mut readers: Vec<&str> = READERS.iter().map(|(name, _)| *name).collect();
        actions.sort_unstable();
        readers.sort_unstable();
        assert_eq!(actions, readers, "{error}");
    }
}
