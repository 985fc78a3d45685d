//! What is chosen for each story, read from TOML, whole and possible, or refused with line and column.

use crate::guard::Guard;
use crate::homework::Mistake;
use crate::scenario::read::node::{Node, Table, Value};
use crate::scenario::read::problems::Problems;
use crate::setup::StrategyName;
use crate::strategy;

/// How many stories there are.
pub const STORIES: usize = 6;

const NAMES: [&str; STORIES] = ["story1", "story2", "story3", "story4", "story5", "story6"];

/// The leases that can be chosen.
const LEASES: [u64; 4] = [500, 1500, 5000, 30_000];

/// What is chosen for a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How replicas coordinate.
    pub strategy: StrategyName,
    /// What the sink checks; `None`: nothing.
    pub guard: Option<Guard>,
    /// How long a grant lasts.
    pub lease_ms: u64,
    /// It is extended while the work goes on.
    pub renew: bool,
}

impl Choice {
    /// In a few words.
    pub fn words(&self) -> String {
        let guard = self.guard.map_or_else(|| "none".to_owned(), |guard| guard.to_string());
        let renewed = if self.renew { ", renewed" } else { "" };
        format!("{}, guard {guard}, a lease of {} ms{renewed}", self.strategy, self.lease_ms)
    }
}

/// Read what is chosen for all stories, in their order. The first thing that is wrong with it is told.
pub fn read(text: &str) -> Result<Vec<Choice>, Mistake> {
    let mut problems = Problems::default();
    let root = Node::of_toml(text, &mut problems);
    let read = if problems.is_empty() { all(&root, &mut problems) } else { None };
    match (read, problems.in_text(text).into_iter().next()) {
        (Some(read), None) => Ok(read),
        (_, Some(problem)) => Err(Mistake::of(problem)),
        // A reader that gives up says why; should one not, that is still no choice.
        (None, None) => Err(Mistake { message: "nothing is chosen".to_owned(), ..Mistake::default() }),
    }
}

fn all(root: &Node, problems: &mut Problems) -> Option<Vec<Choice>> {
    let mut top = Table::of(root, "the file", problems)?;
    let mut choices = Vec::new();
    for name in NAMES {
        let table = top.need(name, problems).and_then(|node| Table::of(node, format!("[{name}]"), problems));
        choices.extend(table.and_then(|table| choice(table, problems)));
    }
    top.done(problems);
    (choices.len() == STORIES).then_some(choices)
}

fn choice(mut table: Table, problems: &mut Problems) -> Option<Choice> {
    let strategy = table.need("strategy", problems).and_then(|node| self::strategy(node, problems));
    let guard = table.need("guard", problems).and_then(|node| self::guard(node, problems));
    let lease_ms = table.need("lease_ms", problems).and_then(|node| lease(node, problems));
    let renew = table.need("renew", problems).and_then(|node| match node.value {
        Value::Bool(renew) => Some(renew),
        _ => {
            problems.add(&node.span, "`renew` is a truth value", "`true`, `false`");
            None
        }
    });
    table.done(problems);
    Some(Choice { strategy: strategy?, guard: guard?, lease_ms: lease_ms?, renew: renew? })
}

fn strategy(node: &Node, problems: &mut Problems) -> Option<StrategyName> {
    let names = || strategy::ALL.iter().map(|info| info.name).filter(|name| *name != "none");
    let found = match &node.value {
        Value::Text(text) => names().find(|name| name == text),
        _ => None,
    };
    if found.is_none() {
        let names: Vec<String> = names().map(|name| format!("`\"{name}\"`")).collect();
        problems.add(&node.span, "`strategy` names a strategy", names.join(", "));
    }
    found.map(StrategyName::from)
}

fn guard(node: &Node, problems: &mut Problems) -> Option<Option<Guard>> {
    let found = match &node.value {
        Value::Text(text) if text == "none" => Some(None),
        Value::Text(text) => text.parse().ok().map(Some),
        _ => None,
    };
    if found.is_none() {
        let allowed = "`\"none\"`, `\"max-seen\"`, `\"current-epoch\"`, `\"unique-slot\"`";
        problems.add(&node.span, "`guard` says what the sink checks", allowed);
    }
    found
}

fn lease(node: &Node, problems: &mut Problems) -> Option<u64> {
    let found = match node.value {
        Value::Int(n) => LEASES.into_iter().find(|lease| i128::from(*lease) == n),
        _ => None,
    };
    if found.is_none() {
        let leases: Vec<String> = LEASES.iter().map(u64::to_string).collect();
        problems.add(&node.span, "`lease_ms` is one of four", leases.join(", "));
    }
    found
}
