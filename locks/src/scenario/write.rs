//! Writes scenarios and actions in the short form of files. What is written reads back as what it was,
//! apart from places; defaults are left out. It needs no TOML library, so that pages can show actions too.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AtOnce, Bound, Expect, Homework, LIMIT_MS, Scenario};
use crate::action::{Action, Assert, Direction, EventPattern, Links, NodeAction, PostgresAction, Wait};
use crate::guard::Guard;
use crate::ids::Endpoint;
use crate::machine::LockState;
use crate::setup::{Clock, Gated, Handler, ReplicaSetup, Setup, SetupChange};

impl Scenario {
    /// The scenario as a file.
    pub fn to_toml(&self) -> String {
        let mut file = format!("name = {}\ntitle = {}\n", quoted(&self.name), quoted(&self.title));
        if self.timed {
            file.push_str("timed = true\n");
        }
        if let Some(Homework { exercise, schedule, answer }) = &self.homework {
            let mut lines = Lines::default();
            lines.add("exercise", quoted(exercise));
            lines.add("schedule", quoted(schedule));
            lines.add("answer", block(answer));
            section(&mut file, "[homework]", lines);
        }
        section(&mut file, "[setup]", setup(&self.setup));
        for (name, own) in &self.setup.replica {
            section(&mut file, &format!("[setup.replica.{}]", key(name)), replica(own));
        }
        for (name, own) in &self.setup.node {
            let mut lines = Lines::default();
            lines.some("maxmemory", own.maxmemory.as_deref().map(quoted));
            lines.some("maxmemory_policy", own.maxmemory_policy.as_deref().map(quoted));
            lines.some("cluster", own.cluster.then(|| "true".to_owned()));
            section(&mut file, &format!("[setup.node.{}]", key(name)), lines);
        }
        for step in &self.steps {
            file.push_str(&format!("\n[[step]]\n{}\n", step.action.to_toml_inline()));
        }
        if self.expect != Expect::default() {
            section(&mut file, "[expect]", expect(&self.expect));
        }
        for event in &self.expect.event {
            let mut lines = pattern(&event.event);
            let Bound { min, max } = event.count;
            lines.some("min", (min != if max.is_some() { 0 } else { 1 }).then(|| min.to_string()));
            lines.some("max", max.map(|max| max.to_string()));
            lines.some("within_ms", event.within_ms.map(|ms| ms.to_string()));
            lines.some("at_once", event.at_once.as_ref().map(at_once));
            section(&mut file, "[[expect.event]]", lines);
        }
        file
    }
}

impl Action {
    /// The action as a step's one line: `pause = "A"`.
    pub fn to_toml_inline(&self) -> String {
        format!("{} = {}", self.name(), self.value())
    }

    /// What stands behind the action's name.
    fn value(&self) -> String {
        let mut lines = Lines::default();
        match self {
            Action::Pause(names)
            | Action::Resume(names)
            | Action::Kill(names)
            | Action::Start(names)
            | Action::Cancel(names)
            | Action::Add(names)
            | Action::Remove(names)
            | Action::TerminateBackend(names) => return one_or_list(names),
            Action::Fire(fire) => {
                lines.add("schedule", quoted(&fire.schedule));
                lines.some("to", fire.to.as_deref().map(list));
                lines.some("again", fire.again.then(|| "true".to_owned()));
            }
            Action::Advance(advance) => {
                lines.add("replica", one_or_list(&advance.replica));
                lines.some("until", advance.until.as_ref().map(|gate| quoted(&gate.to_string())));
                lines.limit(advance.limit_ms);
            }
            Action::Wait(Wait::Ms(ms)) => lines.add("ms", ms.to_string()),
            Action::Wait(Wait::Lock { states, limit_ms }) => {
                lines.add("lock", one_or_list(&states.iter().copied().map(state).collect::<Vec<_>>()));
                lines.limit(*limit_ms);
            }
            Action::Wait(Wait::Blocked { replica, limit_ms }) => {
                lines.add("blocked", quoted(replica));
                lines.limit(*limit_ms);
            }
            Action::Wait(Wait::Event { event, count, limit_ms }) => {
                lines.add("event", pattern(event).inline());
                lines.some("count", (*count != 1).then(|| count.to_string()));
                lines.limit(*limit_ms);
            }
            Action::Assert(assert) => match assert {
                Assert::Lock(lock) => lines.add("lock", quoted(state(*lock))),
                Assert::Holder(name) => lines.add("lock", format!("{{ holder = {} }}", quoted(name))),
                Assert::Sql { sql, is } => {
                    lines.add("sql", quoted(sql));
                    lines.add("is", json(is));
                }
                Assert::Redis { redis, node, is } => {
                    lines.add("redis", quoted(redis));
                    lines.add("node", quoted(&node.to_string()));
                    lines.add("is", json(is));
                }
            },
            Action::Set(change) => set(&mut lines, change),
            Action::Cut(of) => links(&mut lines, of),
            Action::Heal { links: of, drop } => {
                links(&mut lines, of);
                lines.some("drop", drop.then(|| "true".to_owned()));
            }
            Action::Delay { links: of, ms, jitter_ms } => {
                links(&mut lines, of);
                lines.add("ms", ms.to_string());
                lines.some("jitter_ms", (*jitter_ms > 0).then(|| jitter_ms.to_string()));
            }
            Action::Hold { links: of, what } => {
                links(&mut lines, of);
                lines.add("what", quoted(direction(*what)));
            }
            Action::LetGo { links: of, what } => {
                links(&mut lines, of);
                lines.some("what", what.map(|what| quoted(direction(what))));
            }
            Action::Clock { replica, shift_ms } => {
                lines.add("replica", one_or_list(replica));
                lines.add("shift_ms", shift_ms.to_string());
            }
            Action::Node(node) => match node {
                NodeAction::Kill(node) => lines.add("kill", quoted(&node.to_string())),
                NodeAction::Start(node) => lines.add("start", quoted(&node.to_string())),
                NodeAction::Pause(node) => lines.add("pause", quoted(&node.to_string())),
                NodeAction::Resume(node) => lines.add("resume", quoted(&node.to_string())),
                NodeAction::ScriptFlush(node) => lines.add("script_flush", quoted(&node.to_string())),
                NodeAction::ClockShift { clock_shift, ms } => {
                    lines.add("clock_shift", quoted(&clock_shift.to_string()));
                    lines.add("ms", ms.to_string());
                }
            },
            Action::Failover(node) => return quoted(&node.to_string()),
            Action::Postgres(what) => {
                return quoted(match what {
                    PostgresAction::Restart => "restart",
                    PostgresAction::Kill => "kill",
                    PostgresAction::Start => "start",
                    PostgresAction::Pause => "pause",
                    PostgresAction::Resume => "resume",
                });
            }
            Action::Elapse { ms } => lines.add("ms", ms.to_string()),
            Action::Reset => return "true".to_owned(),
            Action::Chaos { seed, faults, limit_ms } => {
                lines.add("seed", seed.to_string());
                lines.add("faults", faults.to_string());
                lines.limit(*limit_ms);
            }
            Action::Sql(sql) => return quoted(sql),
            Action::Redis { command, node } => {
                lines.add("command", quoted(command));
                lines.add("node", quoted(&node.to_string()));
            }
            Action::Session(session) => session.iter().for_each(|(name, value)| lines.add(name, json(value))),
        }
        lines.inline()
    }
}

/// Keys and values, to be written below one another or inline.
#[derive(Default)]
struct Lines(Vec<(String, String)>);

impl Lines {
    fn add(&mut self, name: &str, value: String) {
        self.0.push((key(name), value));
    }
    fn some(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
    fn limit(&mut self, limit_ms: u64) {
        self.some("limit_ms", (limit_ms != LIMIT_MS).then(|| limit_ms.to_string()));
    }
    fn inline(&self) -> String {
        match self.0.is_empty() {
            true => "{}".to_owned(),
            false => {
                format!("{{ {} }}", self.0.iter().map(|(k, v)| format!("{k} = {v}")).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn section(file: &mut String, head: &str, lines: Lines) {
    file.push_str(&format!("\n{head}\n"));
    for (key, value) in lines.0 {
        file.push_str(&format!("{key} = {value}\n"));
    }
}

/// What differs from the defaults; strategy and replicas always.
fn setup(setup: &Setup) -> Lines {
    let default = Setup::default();
    let mut lines = Lines::default();
    let number = |now: u64, default: u64| (now != default).then(|| now.to_string());
    let flag = |now: bool, default: bool| (now != default).then(|| now.to_string());
    lines.add("strategy", quoted(&setup.strategy.to_string()));
    lines.add("replicas", list(&setup.replicas));
    lines.some("lease_ms", number(setup.lease_ms, default.lease_ms));
    lines.some("work_ms", number(setup.work_ms, default.work_ms));
    lines.some("handler", (setup.handler != default.handler).then(|| handler(setup.handler)));
    lines.some("renew", flag(setup.renew, default.renew));
    lines.some("acquire_timeout_ms", number(setup.acquire_timeout_ms, default.acquire_timeout_ms));
    lines.some("guard", (setup.guard != default.guard).then(|| guard(&setup.guard)));
    lines.some("sink", (setup.sink != default.sink).then(|| quoted(&setup.sink.to_string())));
    lines.some("clock", (setup.clock != default.clock).then(|| clock(setup.clock)));
    lines.some("cron", flag(setup.cron, default.cron));
    lines.some("every_s", number(setup.every_s, default.every_s));
    lines.some(
        "gated",
        (setup.gated != default.gated).then(|| match &setup.gated {
            Gated::No => "false".to_owned(),
            Gated::Yes(further) => list(further),
        }),
    );
    lines.some("seed", number(setup.seed, default.seed));
    lines.some("store_timeout_ms", number(setup.store_timeout_ms, default.store_timeout_ms));
    lines.some("node_timeout_ms", number(setup.node_timeout_ms, default.node_timeout_ms));
    lines.some("margin_ms", number(setup.margin_ms, default.margin_ms));
    lines.some("end_limit_ms", number(setup.end_limit_ms, default.end_limit_ms));
    lines.some("mutant", (!setup.mutant.is_empty()).then(|| list(&setup.mutant)));
    lines
}

fn replica(own: &ReplicaSetup) -> Lines {
    let mut lines = Lines::default();
    lines.some("lease_ms", own.lease_ms.map(|ms| ms.to_string()));
    lines.some("work_ms", own.work_ms.map(|ms| ms.to_string()));
    lines.some("handler", own.handler.map(handler));
    lines.some("renew", own.renew.map(|renew| renew.to_string()));
    lines.some("acquire_timeout_ms", own.acquire_timeout_ms.map(|ms| ms.to_string()));
    lines.some("strategy", own.strategy.as_ref().map(|name| quoted(&name.to_string())));
    lines.some("host", own.host.as_deref().map(quoted));
    lines.some("time_zone", own.time_zone.as_deref().map(quoted));
    lines.some("isolation", own.isolation.as_deref().map(quoted));
    lines.some("clock_shift_ms", own.clock_shift_ms.map(|ms| ms.to_string()));
    lines
}

fn set(lines: &mut Lines, change: &SetupChange) {
    lines.some("strategy", change.strategy.as_ref().map(|name| quoted(&name.to_string())));
    lines.some("lease_ms", change.lease_ms.map(|ms| ms.to_string()));
    lines.some("work_ms", change.work_ms.map(|ms| ms.to_string()));
    lines.some("handler", change.handler.map(handler));
    lines.some("renew", change.renew.map(|renew| renew.to_string()));
    lines.some("acquire_timeout_ms", change.acquire_timeout_ms.map(|ms| ms.to_string()));
    lines.some("guard", change.guard.as_deref().map(guard));
    lines.some("sink", change.sink.map(|sink| quoted(&sink.to_string())));
    lines.some("clock", change.clock.map(clock));
    lines.some("cron", change.cron.map(|cron| cron.to_string()));
    lines.some("every_s", change.every_s.map(|seconds| seconds.to_string()));
    lines.some("store_timeout_ms", change.store_timeout_ms.map(|ms| ms.to_string()));
    lines.some("node_timeout_ms", change.node_timeout_ms.map(|ms| ms.to_string()));
    lines.some("margin_ms", change.margin_ms.map(|ms| ms.to_string()));
}

fn expect(expect: &Expect) -> Lines {
    let mut lines = Lines::default();
    lines.some("overlaps", expect.overlaps.map(bound));
    lines.some("effects_per_slot", expect.effects_per_slot.map(bound));
    lines.some("stale_effects", expect.stale_effects.map(bound));
    lines.some("foreign_releases", expect.foreign_releases.map(bound));
    lines.some("missed_slots", expect.missed_slots.map(bound));
    lines.some("takeover_ms", expect.takeover_ms.map(bound));
    if !expect.outcomes.is_empty() {
        let mut outcomes = Lines::default();
        for (name, of) in &expect.outcomes {
            outcomes.add(name, list(&of.iter().map(|outcome| outcome.name()).collect::<Vec<_>>()));
        }
        lines.add("outcomes", outcomes.inline());
    }
    lines
}

fn bound(bound: Bound) -> String {
    match bound {
        Bound { min, max: Some(max) } if min == max => min.to_string(),
        Bound { min: 0, max: Some(max) } => format!("{{ max = {max} }}"),
        Bound { min, max: Some(max) } => format!("{{ min = {min}, max = {max} }}"),
        Bound { min, max: None } => format!("{{ min = {min} }}"),
    }
}

fn at_once(of: &AtOnce) -> String {
    let by = of.by.as_deref().map_or(String::new(), |field| format!("by = {}, ", quoted(field)));
    format!("{{ ms = {}, {by}count = {} }}", of.ms, bound(of.count))
}

fn pattern(event: &EventPattern) -> Lines {
    let mut lines = Lines::default();
    lines.add("kind", quoted(&event.kind));
    lines.some("replica", event.replica.as_deref().map(quoted));
    fields(&mut lines, &event.fields);
    lines
}

fn fields(lines: &mut Lines, fields: &BTreeMap<String, Value>) {
    fields.iter().for_each(|(name, value)| lines.add(name, json(value)));
}

fn links(lines: &mut Lines, of: &Links) {
    lines.some("replica", (!of.replica.is_empty()).then(|| one_or_list(&of.replica)));
    let all_redis = (1..=Endpoint::REDIS_NODES).map(Endpoint::Redis);
    let endpoint = match of.endpoint.iter().copied().eq(all_redis) {
        true => quoted("redis"),
        false => one_or_list(&of.endpoint.iter().map(Endpoint::to_string).collect::<Vec<_>>()),
    };
    lines.add("endpoint", endpoint);
}

fn handler(handler: Handler) -> String {
    quoted(match handler {
        Handler::Cooperative => "cooperative",
        Handler::Stubborn => "stubborn",
        Handler::Blocking => "blocking",
    })
}

fn clock(clock: Clock) -> String {
    quoted(match clock {
        Clock::Store => "store",
        Clock::Replica => "replica",
    })
}

fn guard(guards: &[Guard]) -> String {
    match guards {
        [] => quoted("none"),
        guards => one_or_list(&guards.iter().map(Guard::to_string).collect::<Vec<_>>()),
    }
}

fn state(state: LockState) -> &'static str {
    match state {
        LockState::Free => "free",
        LockState::Held => "held",
        LockState::Expired => "expired",
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Request => "request",
        Direction::Reply => "reply",
    }
}

fn one_or_list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [one] => quoted(one.as_ref()),
        names => list(names),
    }
}

fn list<S: AsRef<str>>(names: &[S]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name.as_ref())).collect::<Vec<_>>().join(", "))
}

/// A JSON value in TOML. TOML has no null, and readers never produce one.
fn json(value: &Value) -> String {
    match value {
        Value::Null => quoted("null"),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let mut lines = Lines::default();
            entries.iter().for_each(|(name, value)| lines.add(name, json(value)));
            lines.inline()
        }
    }
}

/// A key, quoted where it must be.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { name.to_owned() } else { quoted(name) }
}

/// Text as TOML's basic string.
/// Text of several lines as people read it, where TOML lets it stand as it is.
fn block(text: &str) -> String {
    let plain = text.contains('\n') && !text.contains("'''") && !text.ends_with('\'');
    match plain && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        true => format!("'''\n{text}'''"),
        false => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
