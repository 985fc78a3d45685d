//! Reads `[expect]` and `[[expect.event]]`, and patterns of events wherever they stand.

use super::kinds::{KINDS, fields_of};
use super::node::{Node, Table, Value};
use super::values::{DAY_MS, number, replica, text, word};
use crate::action::EventPattern;
use crate::machine::Outcome;
use crate::scenario::problem::{hint, list};
use crate::scenario::read::problems::Problems;
use crate::scenario::{AtOnce, Bound, Expect, ExpectEvent};

/// `[expect]`.
pub(super) fn expect(node: &Node, problems: &mut Problems) -> Expect {
    let mut expect = Expect::default();
    let Some(mut table) = Table::of(node, "`expect`", problems) else { return expect };
    let mut bound_of = |key| table.get(key).and_then(|node| bound(node, key, problems));
    expect.overlaps = bound_of("overlaps");
    expect.effects_per_slot = bound_of("effects_per_slot");
    expect.stale_effects = bound_of("stale_effects");
    expect.foreign_releases = bound_of("foreign_releases");
    expect.missed_slots = bound_of("missed_slots");
    expect.takeover_ms = bound_of("takeover_ms");
    if let Some(node) = table.get("outcomes")
        && Table::of(node, "`outcomes`", problems).is_some()
        && let Value::Table(entries) = &node.value
    {
        for entry in entries {
            let outcomes = outcomes(&entry.node, &entry.key, problems);
            expect.outcomes.insert(entry.key.clone(), outcomes);
        }
    }
    if let Some(node) = table.get("event") {
        match &node.value {
            Value::List(items) => expect.event = items.iter().filter_map(|item| event(item, problems)).collect(),
            _ => problems.add(&node.span, "`expect.event` must be a list of tables", "`[[expect.event]]`"),
        }
    }
    table.done(problems);
    expect
}

/// A number, or `{ min, max }`.
fn bound(node: &Node, name: &str, problems: &mut Problems) -> Option<Bound> {
    const MOST: u64 = 1_000_000_000;
    let Value::Table(_) = node.value else {
        if !matches!(node.value, Value::Int(_)) {
            let what = format!("`{name}` must be a number or a table, not {}", node.kind());
            problems.add(&node.span, what, "a number, `{ min, max }`");
            return None;
        }
        return number(node, name, 0..=MOST, problems).map(Bound::exactly);
    };
    let mut table = Table::of(node, format!("`{name}`"), problems)?;
    if !table.has("min") && !table.has("max") {
        problems.add(&node.span, format!("`{name}` needs `min` or `max`"), "");
    }
    let min = table.get("min").map(|node| number(node, "min", 0..=MOST, problems));
    let max = table.get("max").map(|node| number(node, "max", 0..=MOST, problems));
    table.done(problems);
    let bound = Bound { min: min.unwrap_or(Some(0))?, max: max.map_or(Some(None), |max| max.map(Some))? };
    ordered(bound, node, name, problems)
}

/// The bound, if some number lies within.
fn ordered(bound: Bound, node: &Node, name: &str, problems: &mut Problems) -> Option<Bound> {
    if let Some(max) = bound.max.filter(|max| *max < bound.min) {
        problems.add(&node.span, format!("{name}: no number is at least {} and at most {max}", bound.min), "");
        return None;
    }
    Some(bound)
}

fn outcomes(node: &Node, replica: &str, problems: &mut Problems) -> Vec<Outcome> {
    let words = Outcome::ALL.map(|outcome| (outcome.name(), outcome));
    match &node.value {
        Value::List(items) => {
            items.iter().filter_map(|item| word(item, &format!("outcomes.{replica}"), &words, problems)).collect()
        }
        _ => {
            let what = format!("`outcomes.{replica}` must be a list, not {}", node.kind());
            problems.add(&node.span, what, "outcomes by slot, as `[\"executed\", \"skipped\"]`");
            Vec::new()
        }
    }
}

/// One `[[expect.event]]`: at least one such event unless `min` or `max` say otherwise.
fn event(node: &Node, problems: &mut Problems) -> Option<ExpectEvent> {
    let mut table = Table::of(node, "`expect.event`", problems)?;
    let number = |node: &Node, name, problems: &mut Problems| number(node, name, 0..=1_000_000, problems);
    let max = table.get("max").and_then(|node| number(node, "max", problems));
    let min = table.get("min").and_then(|node| number(node, "min", problems));
    let min = min.unwrap_or(if max.is_some() { 0 } else { 1 });
    let within_ms = table.ms("within_ms", 1, problems);
    let at_once_node = table.get("at_once");
    let event = pattern(&mut table, problems);
    let kind = event.as_ref().map(|event| event.kind.as_str());
    let at_once = at_once_node.map(|node| at_once(node, kind, problems));
    let count = ordered(Bound { min, max }, node, "`expect.event`", problems);
    let at_once = at_once.map_or(Some(None), |at_once| at_once.map(Some));
    Some(ExpectEvent { event: event?, count: count?, within_ms, at_once: at_once? })
}

/// `at_once = { ms, by, count }`, of events of that kind.
fn at_once(node: &Node, kind: Option<&str>, problems: &mut Problems) -> Option<AtOnce> {
    let mut table = Table::of(node, "`at_once`", problems)?;
    let ms = table.need("ms", problems).and_then(|node| number(node, "ms", 1..=DAY_MS, problems));
    let by = table.get("by").map(|node| field(node, kind, problems));
    let count = table.need("count", problems).and_then(|node| bound(node, "count", problems));
    table.done(problems);
    Some(AtOnce { ms: ms?, by: by.map_or(Some(None), |by| by.map(Some))?, count: count? })
}

/// The name of a field of events of that kind; of an unknown kind it is told elsewhere.
fn field(node: &Node, kind: Option<&str>, problems: &mut Problems) -> Option<String> {
    let name = text(node, "by", problems)?;
    if let Some(known) = kind.and_then(fields_of).filter(|known| !known.contains(&name.as_str())) {
        let kind = kind.unwrap_or_default();
        let near = hint(&name, known.iter().copied());
        problems.add(
            &node.span,
            format!("events of kind `{kind}` have no field `{name}`{near}"),
            list(known.iter().copied()),
        );
        return None;
    }
    Some(name)
}

/// `kind`, `replica`, and fields of that kind.
pub(super) fn pattern(table: &mut Table<'_>, problems: &mut Problems) -> Option<EventPattern> {
    let kind_node = table.need("kind", problems);
    let of = table.get("replica").map(|node| replica(node, "replica", problems));
    let kind_node = kind_node?;
    let kind = text(kind_node, "kind", problems)?;
    let Some(known) = fields_of(&kind) else {
        let kinds = || KINDS.iter().map(|(kind, _)| *kind);
        let what = format!("no event is of kind {kind:?}{}", hint(&kind, kinds()));
        problems.add(&kind_node.span, what, list(kinds()));
        return None;
    };
    let mut fields = std::collections::BTreeMap::new();
    for entry in table.rest() {
        if !known.contains(&entry.key.as_str()) {
            let near = hint(&entry.key, known.iter().copied());
            let what = format!("events of kind `{kind}` have no field `{}`{near}", entry.key);
            let allowed = list(["replica"].iter().chain(known).copied());
            problems.add(&entry.span, what, allowed);
            continue;
        }
        match entry.node.to_json() {
            Some(value) => {
                fields.insert(entry.key.clone(), value);
            }
            None => problems.add(&entry.node.span, format!("no field is {}", entry.node.kind()), ""),
        }
    }
    Some(EventPattern { kind, replica: of.map_or(Some(None), |name| name.map(Some))?, fields })
}
