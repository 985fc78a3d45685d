//! The map: what the fold keeps of links, stores and messages, where things stand, and what menus offer.

mod sample;

use locks::action::{Action, Direction, Links};
use locks::event::{EffectAnswer, Fault, Kind, ProcessName, ProcessState, Reply, Source};
use locks::ids::{CommandId, Endpoint};
use locks::setup::Setup;

use app::stage::Stage;
use app::stage::menu::{Deed, Entry, Target, entries};
use app::stage::reel::Reel;
use app::stage::replica::Process;
use app::stage::topology::{Back, Packet};
use app::stage::view::topology::geometry::Geometry;
use app::stage::view::topology::packets::{self, place};
use app::stage::view::topology::{Look, faces, links, targets};
use sample::{Go, Log, SETTLE, paused_holder, rejected_effect};

const POSTGRES: Endpoint = Endpoint::Postgres;

fn log_of(names: &[&str], strategy: &str) -> Log {
    let replicas = names.iter().map(|name| (*name).to_owned()).collect();
    Log::new(Setup { strategy: strategy.into(), replicas, ..Setup::default() })
}

fn began(log: &mut Log, at_ms: f64, what: Fault) {
    log.say(at_ms, Source::Runner, Kind::FaultBegan { fault: 1, what });
}

fn ended(log: &mut Log, at_ms: f64, what: Fault) {
    log.say(at_ms, Source::Runner, Kind::FaultEnded { fault: 1, what });
}

fn store(log: &mut Log, at_ms: f64, endpoint: Endpoint, state: ProcessState) {
    let process = ProcessName::Store(endpoint);
    log.say(at_ms, Source::Runner, Kind::Process { process, pid: 7, incarnation: 1, state });
}

fn passed(log: &mut Log, at_ms: f64, go: &Go, direction: Direction) {
    let source = Source::Link { replica: go.id.replica.clone(), endpoint: POSTGRES };
    let (command, name) = (Some(CommandId(1)), Some("acquire".to_owned()));
    let attempt = Some(go.id.clone());
    log.say(at_ms, source, Kind::LinkPassed { session: None, command, name, attempt, direction, kept_us: 100 });
}

fn cut() -> Fault {
    Fault::Cut { replica: "A".to_owned(), endpoint: POSTGRES }
}

fn drawn(stage: &Stage, what: fn(&Look<'_>) -> String, width: i32) -> String {
    let geometry = Geometry::new(stage, width);
    what(&Look { stage, geometry: &geometry, schedule: SETTLE, now_us: stage.at_us, still: true })
}

#[test]
fn every_fault_of_a_link_begins_ends_and_is_told() {
    let link = || ("A".to_owned(), POSTGRES);
    let faults = [
        (cut(), "cut"),
        (Fault::Delay { replica: link().0, endpoint: POSTGRES, ms: 1750, jitter_ms: 0 }, "delayed 1,750 ms"),
        (Fault::Hold { replica: link().0, endpoint: POSTGRES, direction: Direction::Request }, "requests held"),
        (Fault::Hold { replica: link().0, endpoint: POSTGRES, direction: Direction::Reply }, "replies held"),
    ];
    for (fault, words) in faults {
        let mut log = log_of(&["A", "B"], "pg-lease");
        began(&mut log, 100.0, fault.clone());
        let stage = Stage::of(&log.events);
        assert_eq!(links::link_words(stage.topology.link("A", POSTGRES)), words);
        assert_eq!(stage.topology.link("B", POSTGRES), None);
        let targets = drawn(&stage, targets::svg, 1000);
        assert!(targets.contains(&format!("aria-label=\"Link from A to postgres: {words}\"")), "{targets}");
        assert!(!drawn(&stage, links::labels, 1000).is_empty());
        ended(&mut log, 200.0, fault);
        assert_eq!(Stage::of(&log.events).topology.links, Vec::new(), "{words} is over");
    }
}

#[test]
fn a_reset_shows_until_something_passes_and_takes_messages_with_it() {
    let mut log = log_of(&["A"], "pg-lease");
    let go = log.due(100.0, "A", SETTLE);
    began(&mut log, 100.5, cut());
    log.acquire(101.0, &go, None);
    let links = Links { replica: vec!["A".to_owned()], endpoint: vec![POSTGRES] };
    log.step(300.0, Action::Heal { links, drop: true });
    ended(&mut log, 300.5, cut());
    let stage = Stage::of(&log.events);
    assert_eq!(links::link_words(stage.topology.link("A", POSTGRES)), "reset");
    assert_eq!(stage.topology.packets, Vec::new());
    passed(&mut log, 400.0, &go, Direction::Request);
    assert_eq!(Stage::of(&log.events).topology.link("A", POSTGRES), None);
}

#[test]
fn a_store_is_paused_dead_and_back_with_or_without_its_memory() {
    let node = Endpoint::Redis(1);
    let mut log = log_of(&["A"], "redis-set-nx");
    store(&mut log, 1.0, node, ProcessState::Started);
    store(&mut log, 1.0, POSTGRES, ProcessState::Started);
    let fresh = Stage::of(&log.events);
    assert_eq!(fresh.topology.store(node).unwrap().back, None, "its first start is no coming back");
    assert!(fresh.topology.has_own_stores());
    store(&mut log, 50.0, node, ProcessState::Stopped);
    assert_eq!(Stage::of(&log.events).topology.process(node), Process::Stopped);
    assert!(drawn(&Stage::of(&log.events), faces::svg, 1000).contains("paused"));
    store(&mut log, 60.0, node, ProcessState::Gone);
    assert!(drawn(&Stage::of(&log.events), targets::svg, 1000).contains("aria-label=\"redis-1: dead\""));
    store(&mut log, 70.0, node, ProcessState::Started);
    store(&mut log, 70.0, POSTGRES, ProcessState::Started);
    let stage = Stage::of(&log.events);
    assert_eq!(stage.topology.store(node).unwrap().back.unwrap().0, Back::Empty);
    assert_eq!(stage.topology.store(POSTGRES).unwrap().back.unwrap().0, Back::Kept);
    assert!(drawn(&stage, faces::svg, 1000).contains("restarted empty"));
}

#[test]
fn after_a_failover_the_replica_stands_in_its_nodes_place() {
    let node = Endpoint::Redis(1);
    let mut log = log_of(&["A"], "redis-set-nx");
    store(&mut log, 1.0, node, ProcessState::Started);
    assert_eq!(Geometry::new(&Stage::of(&log.events), 1000).store(Endpoint::RedisReplica(1)), None);
    store(&mut log, 5.0, Endpoint::RedisReplica(1), ProcessState::Started);
    store(&mut log, 50.0, node, ProcessState::Gone);
    let failover = Fault::Failover { node };
    began(&mut log, 60.0, failover.clone());
    store(&mut log, 61.0, node, ProcessState::Started);
    store(&mut log, 61.0, Endpoint::RedisReplica(1), ProcessState::Gone);
    ended(&mut log, 62.0, failover);
    let stage = Stage::of(&log.events);
    assert_eq!(stage.topology.store(node).unwrap().back.unwrap().0, Back::Promoted);
    assert!(drawn(&stage, targets::svg, 1000).contains("Replication link of redis-1"));
    assert!(Geometry::new(&stage, 1000).curve("redis-1", Endpoint::RedisReplica(1)).is_some());
}

/// A message that is sent at 101.1 ms and answered at 102.7 ms, of which the log has so much.
fn message(until: usize) -> (Packet, u64) {
    let mut log = log_of(&["A"], "pg-lease");
    let go = log.due(100.0, "A", SETTLE);
    log.acquire(101.0, &go, None);
    let answered = log.events.pop().unwrap();
    if until >= 1 {
        passed(&mut log, 101.3, &go, Direction::Request);
    }
    if until >= 2 {
        passed(&mut log, 102.5, &go, Direction::Reply);
    }
    if until >= 3 {
        log.say(102.7, answered.source, answered.kind);
    }
    let stage = Stage::of(&log.events);
    let packet = stage.topology.packets[0].clone();
    let sent = packet.sent_us;
    (packet, sent)
}

#[test]
fn a_message_takes_its_time_each_way_however_fast_it_really_was() {
    let (packet, sent) = message(3);
    let part = |ms: u64| place(&packet, None, false, sent + ms * 1000, false).map(|p| (p.direction, p.part));
    assert_eq!(part(0), Some((Direction::Request, 0.0)));
    assert_eq!(part(150), Some((Direction::Request, 0.5)));
    assert_eq!(part(300), Some((Direction::Reply, 1.0)));
    assert_eq!(part(450), Some((Direction::Reply, 0.5)));
    assert_eq!(part(600), None, "it arrived");
    // It moves on and on, never back.
    let request: Vec<f64> = (0..300).map(|ms| part(ms).unwrap().1).collect();
    assert!(request.is_sorted());
}

#[test]
fn a_message_waits_where_the_log_says_that_it_is() {
    let (kept, sent) = message(0);
    let at = |packet: &Packet, ms: u64, stopped| place(packet, None, stopped, sent + ms * 1000, false).unwrap();
    let waits = at(&kept, 5000, false);
    assert_eq!((waits.part, waits.waits_us), (0.5, Some(sent + 150_000)), "before its link");
    let (unanswered, _) = message(1);
    assert!(at(&unanswered, 5000, false).part > 0.8, "at the store");
    let (unread, _) = message(2);
    let unread = at(&unread, 5000, true);
    assert_eq!(unread.direction, Direction::Reply);
    assert!(unread.part < 0.2 && unread.waits_us.is_some(), "before a stopped replica");
    let slow = Packet { delay_ms: 1750, ..kept };
    assert!(at(&slow, 300, false).part < 0.5, "a slow one takes longer");
    assert_eq!(at(&slow, 900, false).part, 0.5, "and then waits");
}

#[test]
fn a_message_that_was_given_up_is_there_only_while_its_link_keeps_it() {
    let mut log = log_of(&["A"], "pg-lease");
    let go = log.due(100.0, "A", SETTLE);
    began(&mut log, 100.5, cut());
    log.acquire(101.0, &go, None);
    if let Kind::Answered { reply, .. } = &mut log.events.last_mut().unwrap().kind {
        *reply = Reply::Unknown;
    }
    let stage = Stage::of(&log.events);
    let later = stage.at_us + 1_000_000;
    let packet = &stage.topology.packets[0];
    assert!(place(packet, stage.topology.link("A", POSTGRES), false, later, false).is_some());
    assert!(place(packet, None, false, later, false).is_none());
    let labels = drawn(&stage, links::labels, 1000);
    assert!(labels.contains("INSERT") && labels.contains("#i-cut"), "{labels}");
}

#[test]
fn a_late_effect_is_called_stale_until_it_is_accepted() {
    let log = paused_holder();
    let mut stage = Stage::of(&log.events);
    let sent = Packet {
        to: Endpoint::Bank,
        command: None,
        epoch: Some(8),
        attempt: Some(stage.replicas["A"].attempts[SETTLE].id.clone()),
        passed_us: None,
        replied_us: None,
        answered_us: None,
        answer: None,
        verb: "POST".to_owned(),
        ..stage.topology.packets[0].clone()
    };
    stage.topology.packets = vec![Packet { replica: "A".to_owned(), sent_us: stage.at_us, ..sent }];
    let svg = drawn(&stage, packets::svg, 1000);
    assert!(svg.contains(">stale<") && svg.contains("epoch 8"), "{svg}");
    let packet = &mut stage.topology.packets[0];
    packet.passed_us = Some(packet.sent_us);
    packet.answer = Some(app::stage::wire::Result_::Sink(EffectAnswer::Accepted));
    assert!(!drawn(&stage, packets::svg, 1000).contains(">stale<"));
}

#[test]
fn scrubbing_to_an_event_is_folding_so_many() {
    for log in [paused_holder(), rejected_effect()] {
        let mut reel = Reel::default();
        log.events.iter().cloned().for_each(|event| reel.push(event));
        for seq in 1..=reel.len() {
            let folded = Stage::of(&log.events[..seq as usize]);
            let (scrubbed, folded) = (reel.at(seq), folded);
            assert_eq!(scrubbed.topology, folded.topology);
            for what in [links::lines, links::labels, faces::svg, targets::svg, packets::svg] {
                assert_eq!(drawn(&scrubbed, what, 1040), drawn(&folded, what, 1040));
            }
        }
    }
}

#[test]
fn nothing_overlaps_from_one_replica_to_nine_and_no_strategy_moves_anything() {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    for width in [342, 560, 740, 1040, 1400] {
        for count in 1..=9 {
            let stage = |strategy| Stage::of(&log_of(&names[..count], strategy).events);
            let geometry = Geometry::new(&stage("none"), width);
            for strategy in ["pg-lease", "redlock", "redis-set-nx"] {
                assert_eq!(Geometry::new(&stage(strategy), width), geometry);
            }
            let mut areas: Vec<_> = geometry.stores.iter().map(|(_, area)| *area).collect();
            if geometry.ports {
                areas.extend(geometry.replicas.iter().map(|(_, area)| *area));
            }
            for (at, area) in areas.iter().enumerate() {
                assert!(area.x >= 0 && area.x + area.w <= width && area.y + area.h <= geometry.height, "{area:?}");
                assert!(areas[at + 1..].iter().all(|other| !area.meets(*other)), "{count} at {width}: {area:?}");
            }
        }
    }
}

#[test]
fn idle_stores_stay_and_say_so() {
    let count =
        |strategy| drawn(&Stage::of(&log_of(&["A"], strategy).events), faces::svg, 1000).matches("not used").count();
    assert_eq!((count("none"), count("redis-set-nx"), count("redlock")), (5, 4, 0));
}

fn names(list: &[Entry]) -> Vec<&str> {
    list.iter().map(|entry| entry.name.as_str()).collect()
}

fn all_actions(list: &[Entry], out: &mut Vec<serde_json::Value>) {
    for entry in list {
        match &entry.deed {
            Deed::Act(action) => out.push(action.clone()),
            Deed::Open(inner) => all_actions(inner, out),
            Deed::NotHere => {}
        }
    }
}

#[test]
fn menus_offer_what_is_possible_now() {
    let mut log = log_of(&["A", "B"], "redis-set-nx");
    store(&mut log, 1.0, Endpoint::Redis(1), ProcessState::Started);
    let a = Target::Replica("A".to_owned());
    let runs = entries(&Stage::of(&log.events), &a);
    assert!(names(&runs).starts_with(&["Pause", "Kill", "Cut from"]), "{:?}", names(&runs));
    log.process(50.0, "A", ProcessState::Stopped);
    let stopped = entries(&Stage::of(&log.events), &a);
    assert!(names(&stopped).starts_with(&["Continue", "Kill"]));
    log.process(60.0, "A", ProcessState::Gone);
    let dead = entries(&Stage::of(&log.events), &a);
    assert_eq!(dead[0].name, "Start");
    assert!(!names(&dead).contains(&"Kill") && !names(&dead).contains(&"Shift its clock"));

    let link = Target::Link("A".to_owned(), POSTGRES);
    assert!(names(&entries(&Stage::of(&log.events), &link)).starts_with(&["Cut", "Hold requests", "Hold replies"]));
    began(&mut log, 70.0, cut());
    let held = Fault::Hold { replica: "A".to_owned(), endpoint: POSTGRES, direction: Direction::Reply };
    began(&mut log, 71.0, held);
    let list = entries(&Stage::of(&log.events), &link);
    assert_eq!(names(&list), ["Heal", "Heal with a reset", "Let replies go", "Hold requests", "Delay"]);

    let node = Target::Store(Endpoint::Redis(1));
    let list = entries(&Stage::of(&log.events), &node);
    assert!(names(&list).starts_with(&["Pause", "Kill", "Let its clock jump", "Forget its scripts"]));
    store(&mut log, 80.0, Endpoint::Redis(1), ProcessState::Gone);
    assert_eq!(entries(&Stage::of(&log.events), &node)[0].by, "with empty memory");
}

#[test]
fn shared_stores_say_what_does_not_apply() {
    let stage = Stage::of(&log_of(&["A"], "redis-set-nx").events);
    let list = entries(&stage, &Target::Store(POSTGRES));
    assert_eq!((list[0].name.as_str(), &list[0].deed), ("Pause", &Deed::NotHere));
    assert!(matches!(list[1].deed, Deed::Act(_)), "its sessions can be ended");
    assert!(
        matches!(entries(&stage, &Target::Store(Endpoint::Redis(2)))[1].deed, Deed::Act(_)),
        "a node can be cut off"
    );
}

#[test]
fn targets_are_read_back_and_their_actions_are_actions() {
    let mut log = log_of(&["A", "B"], "redis-set-nx");
    for endpoint in [Endpoint::Redis(1), Endpoint::RedisReplica(1), POSTGRES] {
        store(&mut log, 1.0, endpoint, ProcessState::Started);
    }
    began(&mut log, 70.0, cut());
    let stage = Stage::of(&log.events);
    let targets = [
        Target::Replica("A".to_owned()),
        Target::Link("A".to_owned(), POSTGRES),
        Target::Link("redis-1".to_owned(), Endpoint::RedisReplica(1)),
        Target::Store(Endpoint::Redis(1)),
        Target::Store(Endpoint::RedisReplica(1)),
        Target::Store(POSTGRES),
        Target::Store(Endpoint::Bank),
    ];
    for target in targets {
        assert_eq!(Target::of(&target.to_string()), Some(target.clone()));
        let mut actions = Vec::new();
        all_actions(&entries(&stage, &target), &mut actions);
        assert!(!actions.is_empty());
        for action in actions {
            Action::read_json(&action).unwrap_or_else(|problem| panic!("{action}: {problem}"));
        }
    }
}
