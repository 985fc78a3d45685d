//! What the reader takes and what it refuses, message by message.

use insta::assert_snapshot;

use crate::action::Action;
use crate::scenario::{Problem, Scenario};

/// The problems of a whole file.
fn file(text: &str) -> String {
    match Scenario::parse(text) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => Problem::render_all(&problems, "bad.toml"),
    }
}

/// The problems of a file with this set-up and these steps; its first line is the set-up's first, line 4.
fn script(setup: &str, steps: &[&str]) -> String {
    let steps: String = steps.iter().map(|step| format!("[[step]]\n{step}\n")).collect();
    file(&format!("name = \"bad\"\ntitle = \"Bad\"\n[setup]\n{setup}\n{steps}"))
}

/// The problems of the last of these steps, behind a first `fire`.
fn steps(steps: &[&str]) -> String {
    let all: Vec<&str> = ["fire = { schedule = \"settle-invoices\" }"].iter().chain(steps).copied().collect();
    script("", &all)
}

const FIRE: &str = "fire = { schedule = \"settle-invoices\" }";

#[test]
fn the_reference_is_a_scenario_and_says_the_defaults() {
    let reference = include_str!("../format.md");
    let example = reference.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut scenario =
        Scenario::parse(example).unwrap_or_else(|problems| panic!("{}", Problem::render_all(&problems, "")));
    scenario.setup.replica.clear();
    scenario.setup.node.clear();
    assert_eq!(scenario.setup, crate::setup::Setup::default());
}

#[test]
fn what_reads_well() {
    for good in [
        "wait = { lock = [\"free\", \"expired\"], limit_ms = 100 }",
        "wait = { event = { kind = \"entered\", replica = \"B\", epoch = 2 } }",
        "assert = { lock = { holder = \"B\" } }",
        "assert = { sql = \"select 1\", is = 1 }",
        "cut = { replica = [\"A\", \"B\"], endpoint = \"redis\" }",
        "hold = { replica = \"A\", endpoint = [\"postgres\", \"bank\"], what = \"reply\" }",
        "set = { strategy = \"none\", guard = [\"max-seen\", \"unique-slot\"] }",
        "set = { guard = \"none\" }",
        "fire = { schedule = \"settle-invoices\", to = \"A\", again = true }",
        "clock = { replica = \"B\", shift_ms = -4000 }",
    ] {
        assert_eq!(steps(&[good]), "no problem", "{good}");
    }
}

#[test]
fn keys_and_values() {
    assert_snapshot!(file("name = \"x\ntitle = 3"), @r#"bad.toml:1:10: not TOML: invalid basic string, expected `"`"#);
    assert_snapshot!(file("name = \"Bad Name\"\n"), @r#"
    bad.toml:1:1: a scenario needs `title`
    bad.toml:1:1: this scenario does nothing
        allowed: steps, or `cron = true` with `gated = false`
    bad.toml:1:8: `name` is "Bad Name"
        allowed: lower-case letters, digits and `-`, 64 at most
    "#);
    assert_snapshot!(script("strateg = \"none\"", &[FIRE]), @r#"
    bad.toml:4:1: `setup` has no key `strateg`, did you mean `strategy`?
        allowed: `strategy`, `lease_ms`, `work_ms`, `handler`, `renew`, `acquire_timeout_ms`, `guard`, `sink`, `clock`, `cron`, `every_s`, `store_timeout_ms`, `node_timeout_ms`, `margin_ms`, `replicas`, `gated`, `seed`, `end_limit_ms`, `mutant`, `replica`, `node`
    "#);
    assert_snapshot!(script("handler = \"stuborn\"\nsink = 3\nrenew = \"yes\"", &[FIRE]), @r#"
    bad.toml:4:11: `handler` is "stuborn", did you mean `stubborn`?
        allowed: `cooperative`, `stubborn`, `blocking`
    bad.toml:5:8: `sink` must be text, not a number
        allowed: `bank`, `ledger`
    bad.toml:6:9: `renew` must be a truth value, not text
        allowed: `true`, `false`
    "#);
    assert_snapshot!(script("guard = [\"max-seen\", \"none\"]", &[FIRE]), @r#"
    bad.toml:4:22: `guard`: "none" stands alone
        allowed: `max-seen`, `current-epoch`, `unique-slot`
    "#);
    assert_snapshot!(script("guard = \"current-epoc\"", &[FIRE]), @r#"
    bad.toml:4:9: `guard`: "current-epoc" is not a guard, did you mean `current-epoch`?
        allowed: none, max-seen, current-epoch or unique-slot
    "#);
    assert_snapshot!(script("lease_ms = 0", &[FIRE]), @r#"
    bad.toml:4:12: `lease_ms` is 0
        allowed: 1 to 86400000
    "#);
    assert_snapshot!(script("lease_ms = 50", &[FIRE]), @r#"
    bad.toml:4:1: `margin_ms` 50 leaves nothing of `lease_ms` 50
        allowed: a margin below the lease
    "#);
    assert_snapshot!(script("lease_ms = 1.5\nmargin_ms = -1", &[FIRE]), @r#"
    bad.toml:4:12: `lease_ms` must be a whole number, not a fraction
        allowed: 1 to 86400000
    bad.toml:5:13: `margin_ms` is -1
        allowed: 0 to 86400000
    "#);
    assert_snapshot!(script("gated = [\"renewal\"]", &[FIRE]), @r#"
    bad.toml:4:10: `gated` is "renewal", did you mean `renew`?
        allowed: `renew`, `release`, `mint`, `look`, `ensure`, `begin`, `rollback`
    "#);
    assert_snapshot!(script("cron = true", &[FIRE]), @r#"
    bad.toml:4:1: a gated run has no timers
        allowed: `gated = false`, or `cron = false` and action `fire`
    "#);
    assert_snapshot!(script("replicas = [\"A\", \"A\", \"b c\"]", &[FIRE]), @r#"
    bad.toml:4:18: `replicas` names A twice
    bad.toml:4:23: `replicas`: "b c" is no replica's name
        allowed: a letter, then letters, digits, `-` and `_`, 20 at most
    "#);
    assert_snapshot!(script("replicas = []", &[FIRE]), @r#"
    bad.toml:4:12: `replicas` is empty
        allowed: a name, or a list of names
    "#);
    assert_snapshot!(script("mutant = [\"session/pooled\", \"binder/proces-start\"]", &[FIRE]), @r#"
    bad.toml:4:11: `session/pooled` is not supported yet
        allowed: `binder/process-start`; mutants of a strategy, as `strategy = "strategy/mutant"`
    bad.toml:4:29: no part is called "binder/proces-start", did you mean `binder/process-start`?
        allowed: `binder/process-start`; mutants of a strategy, as `strategy = "strategy/mutant"`
    "#);
    assert_snapshot!(script("[setup.replica.C]\nlease_ms = 10", &[FIRE]), @r#"
    bad.toml:4:16: `margin_ms` 50 leaves nothing of the lease of `C`
        allowed: a margin below the lease
    bad.toml:4:16: no replica is called `C`
        allowed: `A`, `B`
    "#);
    assert_snapshot!(script("[setup.node.redis-6]\nmemory = 1", &[FIRE]), @r#"
    bad.toml:4:13: no Redis node is called "redis-6"
        allowed: redis-1 to redis-5
    bad.toml:5:1: `setup.node.redis-6` has no key `memory`
        allowed: `maxmemory`, `maxmemory_policy`, `cluster`
    "#);
}

/// Strategies are added often: what is allowed is all there are, whichever those are.
#[test]
fn strategies_that_do_not_exist() {
    let problems = script("strategy = \"nine\"", &[FIRE]);
    assert!(problems.starts_with("bad.toml:4:12: no strategy is called \"nine\", did you mean `none`?"), "{problems}");
    let all = crate::strategy::ALL.iter().map(|info| format!("`{}`", info.name)).collect::<Vec<_>>().join(", ");
    assert!(problems.ends_with(&format!("allowed: {all}")), "{problems}");
    assert_snapshot!(script("strategy = \"none/plain-del\"", &[FIRE]), @r#"
    bad.toml:4:12: `none` has no mutant "plain-del"
        allowed: the strategy as it is
    "#);
}

#[test]
fn too_many_replicas() {
    let names = (0..51).map(|n| format!("\"R{n}\"")).collect::<Vec<_>>().join(", ");
    assert_snapshot!(script(&format!("replicas = [{names}]"), &["fire = { schedule = \"send-digests\" }"]), @r#"
    bad.toml:4:1: 51 replicas are too many
        allowed: 50 at most
    "#);
}

#[test]
fn shapes_of_steps() {
    assert_snapshot!(script("", &[]), @r#"
    bad.toml:1:1: this scenario does nothing
        allowed: steps, or `cron = true` with `gated = false`
    "#);
    assert_snapshot!(steps(&[""]), @r#"
    bad.toml:7:1: this step has no action
        allowed: `fire`, `advance`, `wait`, `assert`, `pause`, `resume`, `kill`, `start`, `cancel`, `add`, `remove`, `clock`, `terminate_backend`, `set`, `cut`, `heal`, `delay`, `hold`, `let_go`, `node`, `failover`, `postgres`, `elapse`, `reset`, `sql`, `redis`, `chaos`, `session`
    "#);
    assert_snapshot!(steps(&["pause = \"A\"\nresume = \"A\""]), @r#"
    bad.toml:9:1: a second action, `resume`, in the step of `pause`
        allowed: one action a step: begin a `[[step]]` of its own
    "#);
    assert_snapshot!(steps(&["puase = \"A\""]), @r#"
    bad.toml:8:1: no action is called `puase`, did you mean `pause`?
        allowed: `fire`, `advance`, `wait`, `assert`, `pause`, `resume`, `kill`, `start`, `cancel`, `add`, `remove`, `clock`, `terminate_backend`, `set`, `cut`, `heal`, `delay`, `hold`, `let_go`, `node`, `failover`, `postgres`, `elapse`, `reset`, `sql`, `redis`, `chaos`, `session`
    "#);
    assert_snapshot!(steps(&["pause = 1"]), @r#"
    bad.toml:8:9: `pause` must be a replica's name, not a number
        allowed: a name, or a list of names
    "#);
    assert_snapshot!(steps(&["fire = { schedule = \"settle-invoice\" }"]), @r#"
    bad.toml:8:21: `schedule` is "settle-invoice", did you mean `settle-invoices`?
        allowed: `settle-invoices`, `dispatch-orders`, `send-digests`
    "#);
    assert_snapshot!(steps(&["fire = { schedul = \"settle-invoices\" }"]), @r#"
    bad.toml:8:8: `fire` needs `schedule`
    bad.toml:8:10: `fire` has no key `schedul`, did you mean `schedule`?
        allowed: `schedule`, `to`, `again`
    "#);
    assert_snapshot!(steps(&["advance = { replica = \"A\", until = \"efect\" }"]), @r#"
    bad.toml:8:36: `until`: "efect" is not a gate, did you mean `effect`?
        allowed: send, send:<command>, enter, effect, leave or done; commands: acquire, renew, release, mint, publish, complete, rescue, look, key, ensure, begin, rollback, expire, confirm
    "#);
    assert_snapshot!(steps(&["advance = { replica = \"A\", until = \"send:drop\", limit_ms = 0 }"]), @r#"
    bad.toml:8:36: `until`: "send:drop" is not a gate
        allowed: send, send:<command>, enter, effect, leave or done; commands: acquire, renew, release, mint, publish, complete, rescue, look, key, ensure, begin, rollback, expire, confirm
    bad.toml:8:60: `limit_ms` is 0
        allowed: 1 to 86400000
    "#);
    assert_snapshot!(steps(&["wait = { ms = 3, lock = \"free\" }"]), @r#"
    bad.toml:8:8: `wait` waits for one thing, not for ms and lock
        allowed: one of `ms`, `lock`, `blocked`, `event`
    "#);
    assert_snapshot!(steps(&["wait = { lock = \"gone\" }"]), @r#"
    bad.toml:8:17: `lock` is "gone"
        allowed: `free`, `held`, `expired`
    "#);
    assert_snapshot!(steps(&["wait = { event = { kind = \"entred\" } }"]), @r#"
    bad.toml:8:27: no event is of kind "entred", did you mean `entered`?
        allowed: `began`, `set`, `catalog_changed`, `step_began`, `step_ended`, `slot_fired`, `process`, `fault_began`, `fault_ended`, `outsider`, `trouble`, `ended`, `ready`, `clock_set`, `session_opened`, `session_closed`, `slot_due`, `task`, `strategy`, `gate_reached`, `gate_passed`, `sent`, `answered`, `granted`, `extended`, `entered`, `stop_asked`, `work_ended`, `effect_sent`, `effect_answered`, `left`, `finished`, `link_passed`, `store_says`, `row`, `key`, `audited`, `effect_settled`
    "#);
    assert_snapshot!(steps(&["wait = { event = { kind = \"entered\", epok = 1 } }"]), @r#"
    bad.toml:8:38: events of kind `entered` have no field `epok`
        allowed: `replica`, `attempt`, `lock`, `epoch`
    "#);
    assert_snapshot!(steps(&["assert = { lock = { owner = \"A\" } }"]), @r#"
    bad.toml:8:19: `lock` needs `holder`
    bad.toml:8:21: `lock` has no key `owner`
        allowed: `holder`
    "#);
    assert_snapshot!(steps(&["cut = { replica = \"A\", endpoint = \"redis-7\" }"]), @r#"
    bad.toml:8:35: `endpoint`: "redis-7" is not an endpoint, did you mean `redis-1`?
        allowed: postgres, redis-1 to redis-5, redis-1/replica or bank
    "#);
    assert_snapshot!(steps(&["hold = { replica = \"A\" }"]), @r#"
    bad.toml:8:8: `hold` needs `endpoint`
    bad.toml:8:8: `hold` needs `what`
    "#);
    assert_snapshot!(steps(&["set = {}"]), @r#"
    bad.toml:8:7: `set` changes nothing
        allowed: set-up values, as `set = { lease_ms = 2000 }`
    "#);
    assert_snapshot!(steps(&["set = { replicas = [\"A\"], lease_ms = 40 }"]), @r#"
    bad.toml:8:9: `replicas` cannot be changed while a run goes on
        allowed: actions `add` and `remove`
    bad.toml:8:27: `margin_ms` 50 leaves nothing of `lease_ms` 40
        allowed: a margin below the lease
    "#);
}

#[test]
fn steps_that_are_impossible_where_they_stand() {
    let advance = "advance = { replica = \"A\" }";
    assert_snapshot!(steps(&["pause = \"C\""]), @r#"
    bad.toml:8:9: no replica is called `C`
        allowed: `A`, `B`
    "#);
    assert_snapshot!(steps(&["pause = \"A\"", advance, "resume = \"A\"", advance]), @r#"
    bad.toml:10:23: `A` is paused and passes no gate
        allowed: `resume` it first
    "#);
    assert_snapshot!(steps(&["resume = \"A\""]), @r#"bad.toml:8:10: `A` is not paused"#);
    assert_snapshot!(steps(&["start = \"A\""]), @r#"bad.toml:8:9: `A` was not killed"#);
    assert_snapshot!(steps(&["kill = \"A\"", "pause = \"A\"", "kill = \"A\"", advance]), @r#"
    bad.toml:10:9: `A` is killed
        allowed: `B`
    bad.toml:12:8: `A` is killed
        allowed: `B`
    bad.toml:14:23: `A` is killed
        allowed: `start` it first
    "#);
    assert_snapshot!(steps(&["kill = \"A\"", "start = \"A\"", advance]), @r#"
    bad.toml:12:23: `A` was given no slot
        allowed: `fire` first
    "#);
    assert_snapshot!(steps(&["heal = { replica = \"A\", endpoint = \"postgres\" }"]), @r#"bad.toml:8:36: the link of `A` to postgres is not cut"#);
    assert_snapshot!(
        steps(&["hold = { replica = \"A\", endpoint = \"bank\", what = \"reply\" }",
                "let_go = { replica = \"A\", endpoint = \"bank\", what = \"request\" }"]), @r#"
    bad.toml:10:38: the link of `A` to bank holds no request
        allowed: `hold` first
    "#);
    assert_snapshot!(steps(&["add = \"A\"", "remove = \"C\"", "remove = \"B\"", "pause = \"B\""]), @r#"
    bad.toml:8:7: there is a replica `A` already
        allowed: another name
    bad.toml:10:10: no replica is called `C`
        allowed: `A`, `B`
    bad.toml:14:9: `B` was removed
        allowed: `A`
    "#);
    assert_snapshot!(steps(&["advance = { replica = \"A\", until = \"send:renew\" }"]), @r#"
    bad.toml:8:36: gate `send:renew` stands open in this set-up
        allowed: `gated = ["renew"]` in `[setup]`
    "#);
    assert_snapshot!(script("", &["wait = { lock = \"free\" }"]), @r#"
    bad.toml:6:10: `lock` means that of the latest `fire`, and nothing was fired yet
        allowed: `fire` first
    "#);
    assert_snapshot!(script("", &[advance]), @r#"
    bad.toml:6:23: `A` was given no slot
        allowed: `fire` first
    "#);
    assert_snapshot!(script("gated = false", &[FIRE, advance]), @r#"
    bad.toml:8:1: nothing waits at a gate in a run that is not gated
        allowed: `gated = true` in `[setup]`, or `wait`
    "#);
    assert_snapshot!(script("", &["fire = { schedule = \"send-digests\", again = true }"]), @r#"
    bad.toml:6:37: `send-digests` has no slot to fire again
        allowed: `fire` it once without `again` first
    "#);
    assert_snapshot!(steps(&["set = { cron = true }"]), @r#"
    bad.toml:8:9: a gated run has no timers
        allowed: `gated = false` in `[setup]`
    "#);
}

#[test]
fn expectations() {
    let expect = |text: &str| file(&format!("name = \"bad\"\ntitle = \"Bad\"\n[[step]]\n{FIRE}\n[expect]\n{text}\n"));
    assert_snapshot!(expect("overlap = 1"), @r#"
    bad.toml:6:1: `expect` has no key `overlap`, did you mean `overlaps`?
        allowed: `overlaps`, `effects_per_slot`, `stale_effects`, `foreign_releases`, `missed_slots`, `takeover_ms`, `outcomes`, `event`
    "#);
    assert_snapshot!(expect("overlaps = { min = 2, max = 1 }\nstale_effects = {}\nmissed_slots = true"), @r#"
    bad.toml:6:12: overlaps: no number is at least 2 and at most 1
    bad.toml:7:17: `stale_effects` needs `min` or `max`
    bad.toml:8:16: `missed_slots` must be a number or a table, not a truth value
        allowed: a number, `{ min, max }`
    "#);
    assert_snapshot!(expect("outcomes = { A = [\"done\"], C = [\"lost\"], B = \"lost\" }"), @r#"
    bad.toml:6:19: `outcomes.A` is "done"
        allowed: `executed`, `skipped`, `lost`, `failed`, `open`
    bad.toml:6:28: no replica is called `C`
        allowed: `A`, `B`
    bad.toml:6:46: `outcomes.B` must be a list, not text
        allowed: outcomes by slot, as `["executed", "skipped"]`
    "#);
    assert_snapshot!(expect("[[expect.event]]\nreplica = \"A\""), @r#"bad.toml:6:1: `expect.event` needs `kind`"#);
    assert_snapshot!(expect("[[expect.event]]\nkind = \"entered\"\nreplica = \"Z\"\nminimum = 1"), @r#"
    bad.toml:8:11: no replica is called `Z`
        allowed: `A`, `B`
    bad.toml:9:1: events of kind `entered` have no field `minimum`
        allowed: `replica`, `attempt`, `lock`, `epoch`
    "#);
    assert_snapshot!(
        file("name = \"bad\"\ntitle = \"Bad\"\ntimed = true\n[[step]]\npause = \"A\"\n[expect]\noverlaps = 0\n"), @r#"
    bad.toml:6:2: only gated runs end the same way each time: this one can expect nothing
        allowed: `gated = true` in `[setup]`, and no `timed`
    "#);
}

#[test]
fn actions_on_stores_name_what_they_do_to_which() {
    assert_snapshot!(steps(&["elapse = { s = 1 }"]), @r"
    bad.toml:8:10: `elapse` needs `ms`
    bad.toml:8:12: `elapse` has no key `s`
        allowed: `ms`
    ");
    assert_snapshot!(steps(&["node = { clock_shift = \"redis-3\" }"]), @r#"bad.toml:8:8: `node` needs `ms`"#);
    assert_snapshot!(steps(&["node = { kill = \"bank\" }"]), @r#"
    bad.toml:8:17: `kill` must be a Redis node, not bank
        allowed: redis-1 to redis-5
    "#);
    assert_snapshot!(steps(&["postgres = \"reboot\""]), @r#"
    bad.toml:8:12: `postgres` is "reboot"
        allowed: `restart`, `kill`, `start`, `pause`, `resume`
    "#);
    assert_snapshot!(steps(&["postgres = \"kill\"", "postgres = \"pause\""]), @"bad.toml:10:1: postgres is killed");
    assert_snapshot!(steps(&["cut = { replica = \"A\", endpoint = \"redis-1/replica\" }"]), @r#"
    bad.toml:8:19: a replication link is no replica's
        allowed: `{ endpoint = "redis-1/replica" }` alone
    "#);
    for good in [
        "node = { script_flush = \"redis-3\" }",
        "node = { clock_shift = \"redis-3\", ms = 1500 }",
        "failover = \"redis-1\"",
        "postgres = \"restart\"",
        "terminate_backend = \"A\"",
        "elapse = { ms = 1500 }",
        "reset = true",
        "chaos = { seed = 1, faults = 3, limit_ms = 1000 }",
        "sql = \"select 1\"",
        "redis = { command = \"GET x\", node = \"redis-1\" }",
        "cut = { endpoint = \"redis-1/replica\" }",
    ] {
        assert_eq!(steps(&[good]), "no problem", "{good}");
    }
}

/// A file of homework with these steps, written by people.
fn homework(head: &str, steps: &[&str]) -> String {
    let steps: Vec<String> = steps.iter().map(|step| format!("\n[[step]]\n{step}\n")).collect();
    format!("name = \"mine\"\ntitle = \"Mine\"\n\n[homework]\n{head}\n[setup]\ngated = false\n{}", steps.concat())
}

const OF_HOMEWORK: &[&str] = &[
    "session = { replica = \"A\", do = \"begin\" }",
    "session = { replica = \"A\", set = { TimeZone = \"Asia/Tokyo\" } }",
    "session = { replica = \"A\", do = \"send\", with = [\"settle\", 1, { clock_ms = -5 }], until = \"write\" }",
    "session = { replica = \"B\", own = true, do = \"send\", sql = \"select 1\" }",
    "wait = { blocked = \"B\" }",
];

#[test]
fn steps_of_homework_stand_in_files_of_homework() {
    for answer in ["select 'a',\n  \"b\"\n", "return 1", "select '''x'''\n'", "a\r\nb\u{1}"] {
        let head = "exercise = \"lease\"\nschedule = \"3\"\nanswer = \"\"\n";
        let mut scenario = Scenario::parse(&homework(head, OF_HOMEWORK)).unwrap();
        answer.clone_into(&mut scenario.homework.as_mut().unwrap().answer);
        let text = scenario.to_toml();
        let back = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
        assert_eq!((back.homework.clone(), back.to_toml()), (scenario.homework, text));
        assert!(back.expects_something(), "the exercise has rules");
    }
}

#[test]
fn steps_of_homework_and_of_a_lab_do_not_mix() {
    for step in &OF_HOMEWORK[..4] {
        let problems = steps(&[step]);
        let told = "bad.toml:8:1: `session` is a step of homework, and this file has no `[homework]`\n    allowed: \
                    `[homework]` with `exercise`, `schedule` and `answer`";
        assert_eq!(problems.trim(), told);
    }
    let read = |head: &str, step| {
        let problems = Scenario::parse(&homework(head, &[step])).unwrap_err();
        Problem::render_all(&problems, "bad.toml")
    };
    assert_snapshot!(read("exercise = \"keep\"\nschedule = 3\n", "pause = \"A\""), @r#"
    bad.toml:4:1: [homework] needs `answer`
    bad.toml:5:12: `exercise` is "keep"
        allowed: `release`, `lease`, `claim`, `fence`
    bad.toml:6:12: `schedule` must be text, not a number
    bad.toml:12:1: `pause` is no step of homework
        allowed: `session`, `wait` for `ms` or `blocked`, `elapse`, `sql`, `redis`
    "#);
}

#[test]
fn settings_of_a_node_are_as_redis_spells_them() {
    assert_snapshot!(script("[setup.node.redis-1]\nmaxmemory = \"4 megs\"\nmaxmemory_policy = \"lru\"", &[FIRE]), @r#"
    bad.toml:5:13: `maxmemory` is "4 megs"
        allowed: as Redis spells it: `4mb`, `512kb`, `1048576`
    bad.toml:6:20: `maxmemory_policy` is "lru"
        allowed: `noeviction`, `allkeys-lru`, `allkeys-lfu`, `allkeys-random`, `volatile-lru`, `volatile-lfu`, `volatile-random`, `volatile-ttl`
    "#);
}

#[test]
fn json_is_read_like_files() {
    let read = |json: serde_json::Value| match Action::read_json(&json) {
        Ok(action) => action.to_toml_inline(),
        Err(problem) => problem.to_string(),
    };
    use serde_json::json;
    assert_snapshot!(read(json!({"pause": "A"})), @r#"pause = "A""#);
    assert_snapshot!(read(json!({"set": {"strategy": "none", "guard": "unique-slot"}})), @r#"set = { strategy = "none", guard = "unique-slot" }"#);
    assert_snapshot!(read(json!({"fire": {"schedule": "settle-invoices"}})), @r#"fire = { schedule = "settle-invoices" }"#);
    assert_snapshot!(read(json!({"fire": {"schedule": "settle"}})), @r#"`schedule` is "settle" (allowed: `settle-invoices`, `dispatch-orders`, `send-digests`)"#);
    assert_snapshot!(read(json!({"pause": "A", "kill": "B"})), @r#"a second action, `pause`, in the step of `kill` (allowed: one action a step: begin a `[[step]]` of its own)"#);
    assert_snapshot!(read(json!("pause")), @r#"a step must be a table with one action, not text (allowed: as `{ pause = "A" }`)"#);
    assert_snapshot!(read(json!({"elapse": {"ms": 3}})), @"elapse = { ms = 3 }");
    assert_snapshot!(read(json!({"pause": null})), @r#"`pause` must be a replica's name, not null (allowed: a name, or a list of names)"#);
}

#[test]
fn a_scenario_has_a_largest_size() {
    let steps = |n: usize| {
        let step = "[[step]]\nfire = { schedule = \"settle-invoices\" }\n";
        format!("name = \"long\"\ntitle = \"Long\"\n{}", step.repeat(n))
    };
    assert!(Scenario::parse(&steps(1000)).is_ok());
    let problems = Scenario::parse(&steps(1001)).unwrap_err();
    let (line, allowed) = (problems[0].line, &*problems[0].allowed);
    assert_eq!((problems.len(), line, allowed), (1, 2 + 2 * 1000 + 1, "1000 steps at most"), "{problems:#?}");
    let problems = Scenario::parse(&format!("{}\n#{}", steps(1), "ü".repeat(300_000))).unwrap_err();
    assert_eq!((problems.len(), problems[0].line, &*problems[0].allowed), (1, 6, "524288 bytes at most"));
}
