//! Reads `[setup]`, its `[setup.replica.*]` and `[setup.node.*]`, and the values of `set`.

use super::node::{Node, Table, Value};
use super::values::{DAY_MS, guards, number, one_or_list, replica, replicas, strategy_name, text, word};
use crate::ids::{Endpoint, SinkName};
use crate::scenario::problem::{hint, list};
use crate::scenario::read::problems::Problems;
use crate::setup::{BROKEN_PARTS, Clock, Gated, Handler, NodeSetup, ReplicaSetup, Setup, SetupChange};

const HANDLERS: &[(&str, Handler)] =
    &[("cooperative", Handler::Cooperative), ("stubborn", Handler::Stubborn), ("blocking", Handler::Blocking)];
const SINKS: &[(&str, SinkName)] = &[("bank", SinkName::Bank), ("ledger", SinkName::Ledger)];
const CLOCKS: &[(&str, Clock)] = &[("store", Clock::Store), ("replica", Clock::Replica)];
const ISOLATIONS: &[(&str, &str)] =
    &[("read committed", "read committed"), ("repeatable read", "repeatable read"), ("serializable", "serializable")];
/// Gates that stand open unless they are named.
const FURTHER_GATES: [&str; 7] = ["renew", "release", "mint", "look", "ensure", "begin", "rollback"];
/// Names of broken parts that wait for what they are parts of.
const PLANNED_PARTS: [&str; 1] = ["session/pooled"];
/// What Redis can do when its memory is full.
const POLICIES: [&str; 8] = [
    "noeviction",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
];
/// Units of memory that Redis knows.
const MEMORY_UNITS: [&str; 8] = ["", "b", "k", "kb", "m", "mb", "g", "gb"];
/// Longest cadence, in seconds.
const MAX_EVERY_S: u64 = 3600;

/// `[setup]`, laid over the defaults.
pub(super) fn setup(node: &Node, problems: &mut Problems) -> Setup {
    let mut setup = Setup::default();
    let Some(mut table) = Table::of(node, "`setup`", problems) else { return setup };
    let change = change(&mut table, problems);
    setup.apply(&change);
    if let Some(names) = table.get("replicas").and_then(|node| replicas(node, "replicas", problems)) {
        setup.replicas = names;
    }
    if let Some(gated) = table.get("gated").and_then(|node| gated(node, problems)) {
        setup.gated = gated;
    }
    if let Some(seed) = table.get("seed").and_then(|node| number(node, "seed", 0..=i64::MAX as u64, problems)) {
        setup.seed = seed;
    }
    setup.end_limit_ms = table.ms("end_limit_ms", 1, problems).unwrap_or(setup.end_limit_ms);
    if let Some(parts) = table.get("mutant").and_then(|node| broken_parts(node, problems)) {
        setup.mutant = parts;
    }
    if let Some(Node { value: Value::Table(entries), .. }) = table.get("replica") {
        for entry in entries {
            let own = of_replica(&entry.node, &entry.key, problems);
            setup.replica.insert(entry.key.clone(), own);
        }
    }
    if let Some(Node { value: Value::Table(entries), .. }) = table.get("node") {
        for entry in entries {
            if !matches!(entry.key.parse(), Ok(Endpoint::Redis(_))) {
                problems.add(&entry.span, format!("no Redis node is called {:?}", entry.key), "redis-1 to redis-5");
            }
            let own = of_node(&entry.node, &entry.key, problems);
            setup.node.insert(entry.key.clone(), own);
        }
    }
    for key in ["replica", "node"] {
        if let Some(node) = table.get(key).filter(|node| !matches!(node.value, Value::Table(_))) {
            let allowed = format!("tables `[setup.{key}.NAME]`");
            problems.add(&node.span, format!("`setup.{key}` must be a table, not {}", node.kind()), allowed);
        }
    }
    table.done(problems);
    setup
}

/// The values of `set`.
pub(super) fn set(node: &Node, problems: &mut Problems) -> Option<SetupChange> {
    const FIXED: [&str; 7] = ["replicas", "gated", "seed", "end_limit_ms", "mutant", "replica", "node"];
    let mut table = Table::of(node, "`set`", problems)?;
    let change = change(&mut table, problems);
    for key in FIXED {
        if let Some(entry) = table.has(key).then(|| table.entry(key)).flatten() {
            let allowed = if key == "replicas" { "actions `add` and `remove`" } else { "set it in `[setup]`" };
            problems.add(&entry.span, format!("`{key}` cannot be changed while a run goes on"), allowed);
        }
    }
    table.done(problems);
    if matches!(&node.value, Value::Table(entries) if entries.is_empty()) {
        problems.add(&node.span, "`set` changes nothing", "set-up values, as `set = { lease_ms = 2000 }`");
    }
    Some(change)
}

/// The values that `[setup]` and `set` share.
fn change(table: &mut Table<'_>, problems: &mut Problems) -> SetupChange {
    SetupChange {
        strategy: table.get("strategy").and_then(|node| strategy_name(node, problems)),
        lease_ms: table.ms("lease_ms", 1, problems),
        work_ms: table.ms("work_ms", 0, problems),
        handler: table.get("handler").and_then(|node| word(node, "handler", HANDLERS, problems)),
        renew: table.flag("renew", problems),
        acquire_timeout_ms: table.ms("acquire_timeout_ms", 0, problems),
        guard: table.get("guard").and_then(|node| guards(node, problems)),
        sink: table.get("sink").and_then(|node| word(node, "sink", SINKS, problems)),
        clock: table.get("clock").and_then(|node| word(node, "clock", CLOCKS, problems)),
        cron: table.flag("cron", problems),
        every_s: table.get("every_s").and_then(|node| number(node, "every_s", 1..=MAX_EVERY_S, problems)),
        store_timeout_ms: table.ms("store_timeout_ms", 1, problems),
        node_timeout_ms: table.ms("node_timeout_ms", 1, problems),
        margin_ms: table.ms("margin_ms", 0, problems),
    }
}

/// `gated`: a truth value, or the further gates that are closed too.
fn gated(node: &Node, problems: &mut Problems) -> Option<Gated> {
    match &node.value {
        Value::Bool(true) => Some(Gated::Yes(Vec::new())),
        Value::Bool(false) => Some(Gated::No),
        Value::List(items) if items.is_empty() => Some(Gated::Yes(Vec::new())),
        Value::List(_) => one_or_list(node, "gated", problems, |node, problems| {
            let words = FURTHER_GATES.map(|name| (name, name));
            Some(vec![word(node, "gated", &words, problems)?.to_owned()])
        })
        .map(Gated::Yes),
        _ => {
            let what = format!("`gated` must be a truth value or a list of further gates, not {}", node.kind());
            problems.add(&node.span, what, format!("`true`, `false`, a list of {}", list(FURTHER_GATES)));
            None
        }
    }
}

/// `mutant`: broken parts that are no strategy.
fn broken_parts(node: &Node, problems: &mut Problems) -> Option<Vec<String>> {
    let known = || BROKEN_PARTS.iter().map(|part| part.name);
    one_or_list(node, "mutant", problems, |node, problems| {
        let name = text(node, "mutant", problems)?;
        if known().any(|part| part == name) {
            return Some(vec![name]);
        }
        let what = match PLANNED_PARTS.contains(&name.as_str()) {
            true => format!("`{name}` is not supported yet"),
            false => format!("no part is called {name:?}{}", hint(&name, known().chain(PLANNED_PARTS))),
        };
        let of_strategy = "mutants of a strategy, as `strategy = \"strategy/mutant\"`";
        problems.add(&node.span, what, format!("{}; {of_strategy}", list(known())));
        None
    })
}

fn of_replica(node: &Node, name: &str, problems: &mut Problems) -> ReplicaSetup {
    let Some(mut table) = Table::of(node, format!("`setup.replica.{name}`"), problems) else {
        return ReplicaSetup::default();
    };
    let shift = -(DAY_MS as i64)..=DAY_MS as i64;
    let own = ReplicaSetup {
        lease_ms: table.ms("lease_ms", 1, problems),
        work_ms: table.ms("work_ms", 0, problems),
        handler: table.get("handler").and_then(|node| word(node, "handler", HANDLERS, problems)),
        renew: table.flag("renew", problems),
        acquire_timeout_ms: table.ms("acquire_timeout_ms", 0, problems),
        strategy: table.get("strategy").and_then(|node| strategy_name(node, problems)),
        host: table.get("host").and_then(|node| replica(node, "host", problems)),
        time_zone: table.get("time_zone").and_then(|node| time_zone(node, problems)),
        isolation: table
            .get("isolation")
            .and_then(|node| word(node, "isolation", ISOLATIONS, problems))
            .map(str::to_owned),
        clock_shift_ms: table.get("clock_shift_ms").and_then(|node| number(node, "clock_shift_ms", shift, problems)),
    };
    table.done(problems);
    own
}

/// A time zone by its form: the zones themselves are Postgres' business.
fn time_zone(node: &Node, problems: &mut Problems) -> Option<String> {
    let zone = text(node, "time_zone", problems)?;
    let good = zone.starts_with(|c: char| c.is_ascii_alphabetic())
        && zone.chars().all(|c| c.is_ascii_alphanumeric() || "/_+-".contains(c));
    if !good {
        problems.add(&node.span, format!("`time_zone` is {zone:?}"), "an IANA name, as `Europe/Berlin`");
    }
    good.then_some(zone)
}

/// An amount of memory as Redis spells it.
fn memory(node: &Node, problems: &mut Problems) -> Option<String> {
    let amount = text(node, "maxmemory", problems)?;
    let unit = amount.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &amount[..amount.len() - unit.len()];
    let good = number.parse::<u32>().is_ok() && MEMORY_UNITS.iter().any(|known| known.eq_ignore_ascii_case(unit));
    if !good {
        problems.add(&node.span, format!("`maxmemory` is {amount:?}"), "as Redis spells it: `4mb`, `512kb`, `1048576`");
    }
    good.then_some(amount)
}

fn of_node(node: &Node, name: &str, problems: &mut Problems) -> NodeSetup {
    let Some(mut table) = Table::of(node, format!("`setup.node.{name}`"), problems) else {
        return NodeSetup::default();
    };
    let own = NodeSetup {
        maxmemory: table.get("maxmemory").and_then(|node| memory(node, problems)),
        maxmemory_policy: table
            .get("maxmemory_policy")
            .and_then(|node| word(node, "maxmemory_policy", &POLICIES.map(|name| (name, name)), problems))
            .map(str::to_owned),
        cluster: table.flag("cluster", problems).unwrap_or_default(),
    };
    table.done(problems);
    own
}

/// Values that are right alone but not together.
pub(super) fn check_together(setup: &Setup, node: &Node, problems: &mut Problems) {
    let at = |name: &str| node.find(name).unwrap_or_else(|| node.span.clone());
    if setup.margin_ms >= setup.lease_ms {
        let what = format!("`margin_ms` {} leaves nothing of `lease_ms` {}", setup.margin_ms, setup.lease_ms);
        let span = node.find("margin_ms").unwrap_or_else(|| at("lease_ms"));
        problems.add(&span, what, "a margin below the lease");
    }
    for (name, own) in &setup.replica {
        if own.lease_ms.is_some_and(|lease_ms| setup.margin_ms >= lease_ms) {
            let what = format!("`margin_ms` {} leaves nothing of the lease of `{name}`", setup.margin_ms);
            problems.add(&at(name), what, "a margin below the lease");
        }
    }
    if setup.replicas.len() > Setup::MAX_REPLICAS {
        let what = format!("{} replicas are too many", setup.replicas.len());
        problems.add(&at("replicas"), what, format!("{} at most", Setup::MAX_REPLICAS));
    }
    if setup.cron && setup.gated != Gated::No {
        problems.add(&at("cron"), "a gated run has no timers", "`gated = false`, or `cron = false` and action `fire`");
    }
}
