//! Reads scenario files and, in the same short form, single actions as JSON. What is read is complete and
//! possible, or refused with every problem that was found; nothing is ever ignored.
//!
//! `node` is the one tree under TOML and JSON, `values` reads single values, the other modules a part of a
//! scenario each. Readers look at shapes; [`super::Stage`] then plays the script through.

mod action;
mod expect;
mod homework;
mod kinds;
pub(crate) mod node;
pub(crate) mod problems;
mod setup;
#[cfg(test)]
mod tests;
mod values;

use self::node::{Node, Table, Value};
use self::problems::Problems;
use super::problem::{hint, list};
use super::{Expect, MAX_BYTES, Problem, Scenario, Stage, Step};
use crate::action::Action;
use crate::setup::{Gated, Setup};

/// Most steps of a scenario.
const MAX_STEPS: usize = 1000;

impl Scenario {
    /// Read a scenario file.
    pub fn parse(text: &str) -> Result<Scenario, Vec<Problem>> {
        let mut problems = Problems::default();
        if text.len() > MAX_BYTES {
            let what = format!("this file has {} bytes; here it is too long", text.len());
            let end = text.floor_char_boundary(MAX_BYTES);
            problems.add(&(end..end), what, format!("{MAX_BYTES} bytes at most"));
            return Err(problems.in_text(text));
        }
        let root = Node::of_toml(text, &mut problems);
        if !problems.is_empty() {
            return Err(problems.in_text(text));
        }
        let scenario = scenario(&root, &mut problems);
        match (scenario, problems.is_empty()) {
            (Some(scenario), true) => Ok(scenario),
            _ => Err(problems.in_text(text)),
        }
    }
}

impl Action {
    /// Read an action from JSON, in the short form of files: `{"pause": "A"}`. Whether it is possible in a
    /// run is not asked: see [`Stage`].
    pub fn read_json(json: &serde_json::Value) -> Result<Action, Problem> {
        let mut problems = Problems::default();
        let action = action::action(&Node::of_json(json), &mut problems);
        if let Some(action) = action.as_ref().filter(|action| !action.is_for_a_lab()) {
            problems.add(&(0..0), format!("`{}` is a step of homework, which no lab has", action.name()), "");
        }
        match (action, problems.first()) {
            (Some(action), None) => Ok(action),
            (_, Some(problem)) => Err(problem),
            // A reader that gives up says why; should one not, that is still no action.
            (None, None) => {
                Err(Problem { span: 0..0, line: 0, column: 0, what: "no action".into(), allowed: String::new() })
            }
        }
    }
}

fn scenario(root: &Node, problems: &mut Problems) -> Option<Scenario> {
    let mut table = Table::of(root, "a scenario", problems)?;
    let name = table.need("name", problems).and_then(|node| name(node, problems));
    let title = table.need("title", problems).and_then(|node| values::text(node, "title", problems));
    let timed = table.flag("timed", problems).unwrap_or(false);
    let setup_node = table.get("setup");
    let setup = setup_node.map_or_else(Setup::default, |node| setup::setup(node, problems));
    if let Some(node) = setup_node {
        setup::check_together(&setup, node, problems);
    }
    let step_nodes = match table.get("step") {
        None => &[],
        Some(Node { value: Value::List(items), .. }) => items.as_slice(),
        Some(other) => {
            problems.add(&other.span, "`step` must be a list of tables", "`[[step]]`");
            &[]
        }
    };
    if let Some(first) = step_nodes.get(MAX_STEPS) {
        let what = format!("this scenario has {} steps; here it is too long", step_nodes.len());
        problems.add(&first.extent(), what, format!("{MAX_STEPS} steps at most"));
    }
    let step_nodes = &step_nodes[..step_nodes.len().min(MAX_STEPS)];
    let homework_node = table.get("homework");
    let homework = homework_node.and_then(|node| homework::homework(node, problems));
    let expect_entry = table.entry("expect");
    let expect = expect_entry.map_or_else(Expect::default, |entry| expect::expect(&entry.node, problems));
    let span = table.span.clone();
    table.done(problems);

    let steps = steps(step_nodes, problems);
    for (step, node) in &steps {
        homework::belongs(&step.action, homework_node.is_some(), node, problems);
    }
    if step_nodes.is_empty() && !setup.cron {
        problems.add(&span, "this scenario does nothing", "steps, or `cron = true` with `gated = false`");
    }
    let stage = play(&setup, &steps, problems);
    if let Some(entry) = expect_entry {
        if setup.gated == Gated::No || timed {
            let what = "only gated runs end the same way each time: this one can expect nothing";
            problems.add(&entry.span, what, "`gated = true` in `[setup]`, and no `timed`");
        }
        let named = expect.outcomes.keys().chain(expect.event.iter().filter_map(|event| event.event.replica.as_ref()));
        for name in named {
            known(&stage, name, &entry.node, problems);
        }
    }
    if let Some(node) = setup_node {
        for name in setup.replica.keys() {
            known(&stage, name, node, problems);
        }
    }
    let steps = steps.into_iter().map(|(step, _)| step).collect();
    Some(Scenario { name: name?, title: title?, timed, setup, steps, expect, homework })
}

/// A scenario's name, which becomes a file's.
fn name(node: &Node, problems: &mut Problems) -> Option<String> {
    let name = values::text(node, "name", problems)?;
    let good = !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !good {
        problems.add(&node.span, format!("`name` is {name:?}"), "lower-case letters, digits and `-`, 64 at most");
    }
    good.then_some(name)
}

fn steps<'n>(nodes: &'n [Node], problems: &mut Problems) -> Vec<(Step, &'n Node)> {
    nodes
        .iter()
        .filter_map(|node| Some((Step { span: node.extent(), action: action::action(node, problems)? }, node)))
        .collect()
}

/// Play the script through: what is impossible where it stands is a problem.
fn play(setup: &Setup, steps: &[(Step, &Node)], problems: &mut Problems) -> Stage {
    let mut stage = Stage::new(setup, Setup::MAX_REPLICAS);
    for (step, node) in steps {
        for impossible in stage.play(&step.action) {
            let span = impossible.about.and_then(|about| node.find(&about));
            let key = || node.find(step.action.name()).unwrap_or_else(|| node.span.clone());
            problems.add(&span.unwrap_or_else(key), impossible.what, impossible.allowed);
        }
    }
    stage
}

/// Note a name that no replica ever has.
fn known(stage: &Stage, name: &str, node: &Node, problems: &mut Problems) {
    if !stage.knows(name) {
        let names: Vec<&str> = stage.names().collect();
        let near = hint(name, names.iter().copied());
        let span = node.find(name).unwrap_or_else(|| node.span.clone());
        problems.add(&span, format!("no replica is called `{name}`{near}"), list(names));
    }
}
