//! Property: a scenario that is written reads back as what it was, apart from places.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::{AtOnce, Bound, CATALOG, Expect, ExpectEvent, Problem, Scenario, Stage, Step};
use crate::action::{Action, Advance, Assert, Direction, EventPattern, Fire, Links, NodeAction, PostgresAction, Wait};
use crate::guard::Guard;
use crate::ids::{Endpoint, Gate, SinkName};
use crate::machine::{LockState, Outcome};
use crate::setup::{BROKEN_PARTS, Clock, Gated, Handler, NodeSetup, ReplicaSetup, Setup, SetupChange, StrategyName};
use crate::strategy;

const NAMES: [&str; 4] = ["A", "B", "C", "worker-1"];

fn names() -> impl Strategy<Value = Vec<String>> {
    subsequence(NAMES.to_vec(), 1..=3).prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("a \"quoted\\ \u{7} line\n\tof ünicode".to_owned()), "\\PC{0,12}"]
}

fn ms() -> impl Strategy<Value = u64> {
    1_u64..=86_400_000
}

fn strategy_name() -> impl Strategy<Value = StrategyName> {
    let all: Vec<StrategyName> = strategy::ALL
        .iter()
        .flat_map(|info| {
            let mutants = info.mutants.iter().map(|mutant| format!("{}/{}", info.name, mutant.name));
            [info.name.to_owned()].into_iter().chain(mutants).map(StrategyName::from)
        })
        .collect();
    select(all)
}

fn handler() -> impl Strategy<Value = Handler> {
    select(vec![Handler::Cooperative, Handler::Stubborn, Handler::Blocking])
}

fn guards() -> impl Strategy<Value = Vec<Guard>> {
    subsequence(Guard::LADDER.to_vec(), 0..=3)
}

fn json_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| json!(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
        vec(any::<u8>().prop_map(Value::from), 0..3).prop_map(Value::from),
        btree_map(text(), any::<bool>().prop_map(Value::from), 0..3).prop_map(|map| json!(map)),
    ]
}

prop_compose! {
    fn change()(
        strategy in of(strategy_name()), lease_ms in of(60_u64..=86_400_000), work_ms in of(0..=ms_max()),
        handler in of(handler()), renew in of(any::<bool>()), acquire_timeout_ms in of(0..=ms_max()),
        guard in of(guards()), sink in of(select(vec![SinkName::Bank, SinkName::Ledger])),
        clock in of(select(vec![Clock::Store, Clock::Replica])), every_s in of(1_u64..=3600),
        timeouts in of((ms(), ms())),
    ) -> SetupChange {
        SetupChange {
            strategy, lease_ms, work_ms, handler, renew, acquire_timeout_ms, guard, sink, clock, cron: None, every_s,
            store_timeout_ms: timeouts.map(|both| both.0), node_timeout_ms: timeouts.map(|both| both.1),
            margin_ms: lease_ms.map(|lease_ms| lease_ms - 10),
        }
    }
}

fn ms_max() -> u64 {
    86_400_000
}

prop_compose! {
    fn of_replica()(
        lease_ms in of(Just(86_400_000)), work_ms in of(ms()), handler in of(handler()), renew in of(any::<bool>()),
        acquire_timeout_ms in of(ms()), strategy in of(strategy_name()), host in of(select(NAMES.to_vec())),
        time_zone in of(Just("America/New_York".to_owned())), isolation in of(Just("serializable".to_owned())),
        clock_shift_ms in of(-1000_i64..1000),
    ) -> ReplicaSetup {
        let host = host.map(str::to_owned);
        ReplicaSetup { lease_ms, work_ms, handler, renew, acquire_timeout_ms, strategy, host, time_zone, isolation, clock_shift_ms }
    }
}

prop_compose! {
    fn setup()(
        change in change(), gated in subsequence(vec!["renew", "release", "mint"], 0..=3), is_gated in any::<bool>(),
        cron in any::<bool>(), seed in 0..=i64::MAX as u64, end_limit_ms in ms(),
        replica in btree_map(select(NAMES.to_vec()), of_replica(), 0..3),
        maxmemory in of(select(vec!["4mb", "512KB", "1048576"])),
        maxmemory_policy in of(select(vec!["noeviction", "allkeys-lru"])), cluster in any::<bool>(),
        mutant in subsequence(BROKEN_PARTS.iter().map(|part| part.name).collect::<Vec<_>>(), 0..=1),
    ) -> Setup {
        let mut setup = Setup { seed, end_limit_ms, ..Setup::default() };
        setup.apply(&change);
        setup.replicas = NAMES.map(str::to_owned).to_vec();
        setup.gated = if is_gated { Gated::Yes(gated.into_iter().map(str::to_owned).collect()) } else { Gated::No };
        setup.cron = cron && !is_gated;
        setup.replica = replica.into_iter().map(|(name, own)| (name.to_owned(), own)).collect();
        if maxmemory.is_some() {
            let own = [maxmemory, maxmemory_policy].map(|value| value.map(str::to_owned));
            let [maxmemory, maxmemory_policy] = own;
            setup.node.insert("redis-2".to_owned(), NodeSetup { maxmemory, maxmemory_policy, cluster });
        }
        setup.mutant = mutant.into_iter().map(str::to_owned).collect();
        setup
    }
}

fn links() -> impl Strategy<Value = Links> {
    let redis: Vec<Endpoint> = (1..=5).map(Endpoint::Redis).collect();
    let endpoints = prop_oneof![Just(redis), subsequence(Endpoint::of_replicas().collect::<Vec<_>>(), 1..=3)];
    let of_replicas = (names(), endpoints).prop_map(|(replica, endpoint)| Links { replica, endpoint });
    let of_a_pair = Just(Links { replica: Vec::new(), endpoint: vec![Endpoint::RedisReplica(1)] });
    prop_oneof![4 => of_replicas, 1 => of_a_pair]
}

fn on_stores() -> impl Strategy<Value = Action> {
    let node = || (1..=5_u8).prop_map(Endpoint::Redis);
    let on_node = vec![
        NodeAction::Kill,
        NodeAction::Start,
        NodeAction::Pause,
        NodeAction::Resume,
        NodeAction::ScriptFlush as fn(Endpoint) -> NodeAction,
    ];
    let postgres = vec![
        PostgresAction::Restart,
        PostgresAction::Kill,
        PostgresAction::Start,
        PostgresAction::Pause,
        PostgresAction::Resume,
    ];
    prop_oneof![
        (select(on_node), node()).prop_map(|(act, node)| Action::Node(act(node))),
        (node(), -9000_i64..9000)
            .prop_map(|(clock_shift, ms)| Action::Node(NodeAction::ClockShift { clock_shift, ms })),
        node().prop_map(Action::Failover),
        select(postgres).prop_map(Action::Postgres),
        names().prop_map(Action::TerminateBackend),
        (1..1000_u64).prop_map(|ms| Action::Elapse { ms }),
        Just(Action::Reset),
        (0..99_u64, 1..9_u64, ms()).prop_map(|(seed, faults, limit_ms)| Action::Chaos { seed, faults, limit_ms }),
        text().prop_map(Action::Sql),
        (text(), node()).prop_map(|(command, node)| Action::Redis { command, node }),
    ]
}

fn pattern() -> impl Strategy<Value = EventPattern> {
    (of(select(NAMES.to_vec())), of(json_value()), of(json_value())).prop_map(|(replica, lock, epoch)| {
        let fields: BTreeMap<String, Value> = [("lock", lock), ("epoch", epoch)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect();
        EventPattern { kind: "entered".to_owned(), replica: replica.map(str::to_owned), fields }
    })
}

fn action() -> impl Strategy<Value = Action> {
    let direction = || select(vec![Direction::Request, Direction::Reply]);
    let state = || select(vec![LockState::Free, LockState::Held, LockState::Expired]);
    let gates = vec![Gate::Send(None), Gate::Send(Some("acquire".to_owned())), Gate::Enter, Gate::Effect, Gate::Done];
    let wait = prop_oneof![
        ms().prop_map(Wait::Ms),
        (subsequence(vec![LockState::Free, LockState::Held, LockState::Expired], 1..=3), ms())
            .prop_map(|(states, limit_ms)| Wait::Lock { states, limit_ms }),
        (select(NAMES.to_vec()), ms())
            .prop_map(|(name, limit_ms)| Wait::Blocked { replica: name.to_owned(), limit_ms }),
        (pattern(), 1..99_u64, ms()).prop_map(|(event, count, limit_ms)| Wait::Event { event, count, limit_ms }),
    ];
    let assert = prop_oneof![
        state().prop_map(Assert::Lock),
        select(NAMES.to_vec()).prop_map(|name| Assert::Holder(name.to_owned())),
        (text(), json_value()).prop_map(|(sql, is)| Assert::Sql { sql, is }),
        (text(), json_value()).prop_map(|(redis, is)| Assert::Redis { redis, node: Endpoint::Redis(4), is }),
    ];
    prop_oneof![
        (select(CATALOG.to_vec()), of(names()), any::<bool>()).prop_map(|(schedule, to, again)| Action::Fire(Fire {
            schedule: schedule.to_owned(),
            to,
            again
        })),
        (names(), of(select(gates)), ms()).prop_map(|(replica, until, limit_ms)| Action::Advance(Advance {
            replica,
            until,
            limit_ms
        })),
        wait.prop_map(Action::Wait),
        assert.prop_map(Action::Assert),
        names().prop_map(Action::Pause),
        names().prop_map(Action::Resume),
        names().prop_map(Action::Kill),
        names().prop_map(Action::Start),
        names().prop_map(Action::Cancel),
        names().prop_map(Action::Add),
        names().prop_map(Action::Remove),
        change().prop_filter("changes something", |change| *change != SetupChange::default()).prop_map(Action::Set),
        links().prop_map(Action::Cut),
        (links(), any::<bool>()).prop_map(|(links, drop)| Action::Heal { links, drop }),
        (links(), 0..1000_u64, 0..10_u64).prop_map(|(links, ms, jitter_ms)| Action::Delay { links, ms, jitter_ms }),
        (links(), direction()).prop_map(|(links, what)| Action::Hold { links, what }),
        (links(), of(direction())).prop_map(|(links, what)| Action::LetGo { links, what }),
        (names(), -9000_i64..9000).prop_map(|(replica, shift_ms)| Action::Clock { replica, shift_ms }),
        on_stores(),
    ]
}

fn bound() -> impl Strategy<Value = Option<Bound>> {
    of((0_u64..5, of(0_u64..5)).prop_map(|(min, more)| Bound { min, max: more.map(|more| min + more) }))
}

fn at_once() -> impl Strategy<Value = Option<AtOnce>> {
    let by = of(Just("epoch".to_owned()));
    (ms(), by, bound()).prop_map(|(ms, by, count)| count.map(|count| AtOnce { ms, by, count }))
}

prop_compose! {
    fn expect()(
        bounds in [bound(), bound(), bound(), bound(), bound(), bound()],
        outcomes in btree_map(select(NAMES.to_vec()), vec(select(Outcome::ALL.to_vec()), 0..3), 0..3),
        event in vec((pattern(), bound(), of(ms()), at_once()), 0..3),
    ) -> Expect {
        let [overlaps, effects_per_slot, stale_effects, foreign_releases, missed_slots, takeover_ms] = bounds;
        let event = event
            .into_iter()
            .map(|(event, count, within_ms, at_once)| {
                ExpectEvent { event, count: count.unwrap_or(Bound { min: 1, max: None }), within_ms, at_once }
            })
            .collect();
        let outcomes = outcomes.into_iter().map(|(name, of)| (name.to_owned(), of)).collect();
        Expect { overlaps, effects_per_slot, stale_effects, foreign_releases, missed_slots, takeover_ms, outcomes, event }
    }
}

prop_compose! {
    fn scenario()(
        title in text(), setup in setup(), actions in vec(action(), 1..20), expect in expect(), timed in any::<bool>(),
    ) -> Scenario {
        // Only what is possible: a copy of the stage tries each action first.
        let mut stage = Stage::new(&setup, Setup::MAX_REPLICAS);
        let mut steps: Vec<Step> = Vec::new();
        for action in actions {
            let mut next = stage.clone();
            if next.play(&action).is_empty() {
                stage = next;
                steps.push(Step { span: 0..0, action });
            }
        }
        if steps.is_empty() {
            steps.push(Step { span: 0..0, action: Action::Wait(Wait::Ms(1)) });
        }
        let gated = setup.gated != Gated::No;
        let expect = if gated { expect } else { Expect::default() };
        Scenario { name: "round-trip".to_owned(), title, timed: timed && !gated, setup, steps, expect, homework: None }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_written_reads_back(scenario in scenario()) {
        let text = scenario.to_toml();
        let mut back = Scenario::parse(&text)
            .map_err(|problems| TestCaseError::fail(format!("{}\n{text}", Problem::render_all(&problems, ""))))?;
        for step in &mut back.steps {
            prop_assert!(text[step.span.clone()].starts_with("[[step]]"), "{:?}", &text[step.span.clone()]);
            step.span = 0..0;
        }
        prop_assert_eq!(back, scenario, "{}", text);
    }
}
