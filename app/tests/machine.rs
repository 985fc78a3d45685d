//! The strategy's machine at each moment of a run: who is where, and which way was taken.

mod sample;

use app::machine::{Trace, html};
use locks::event::Kind;
use locks::setup::{Setup, SetupChange};
use sample::{Go, Log, SETTLE};

fn moves(log: &mut Log, at_ms: f64, go: &Go, states: &[&str]) {
    for (i, two) in states.windows(2).enumerate() {
        let kind = Kind::Strategy {
            attempt: Some(go.id.clone()),
            schedule: SETTLE.to_owned(),
            from: two[0].to_owned(),
            on: "something".to_owned(),
            to: two[1].to_owned(),
            timer_ms: None,
        };
        log.replica(at_ms + i as f64, &go.id.replica, kind);
    }
}

/// A works, B waits and has asked twice, C has not begun.
fn log() -> Log {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    let a = log.due(1000.0, "A", SETTLE);
    let b = log.due(1001.0, "B", SETTLE);
    moves(&mut log, 1002.0, &a, &["idle", "acquiring", "entering", "working"]);
    log.enter(1006.0, &a, Some(1));
    moves(&mut log, 1007.0, &b, &["idle", "acquiring", "waiting", "acquiring", "waiting"]);
    log
}

/// The class of a part, by its name.
fn class(drawn: &str, part: &str) -> String {
    let at = drawn.find(&format!("data-m=\"{part}\"")).unwrap_or_else(|| panic!("{part} in {drawn}"));
    let class = drawn[..at].rfind("class=\"").unwrap() + 7;
    drawn[class..].split('"').next().unwrap().to_owned()
}

fn badges(drawn: &str, state: &str) -> Vec<String> {
    let at = drawn.find(&format!("data-m=\"w:{state}\"")).unwrap();
    let inner = drawn[at..].split("</g>").next().unwrap();
    inner
        .split("</text>")
        .filter_map(|part| part.rsplit('>').next().filter(|name| !name.is_empty()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn everybody_stands_where_the_log_says() {
    let log = log();
    let drawn = html(&log.events, SETTLE, "");
    assert_eq!(badges(&drawn, "working"), ["A"]);
    assert_eq!(badges(&drawn, "waiting"), ["B"]);
    assert_eq!(badges(&drawn, "idle"), ["C"]);
    assert!(badges(&drawn, ".").is_empty());
}

#[test]
fn the_way_taken_is_lit_for_the_one_that_is_shown() {
    let log = log();
    let of_a = html(&log.events, SETTLE, "");
    assert_eq!(class(&of_a, "s:working"), "sm-s lit s-a", "A entered last");
    assert_eq!(class(&of_a, "s:acquiring"), "sm-s took");
    assert_eq!(class(&of_a, "e:entering&gt;working"), "sm-e took");
    assert_eq!(class(&of_a, "e:working&gt;effecting"), "sm-e next");
    assert_eq!(class(&of_a, "e:acquiring&gt;waiting"), "sm-e");

    let of_b = html(&log.events, SETTLE, "B");
    assert_eq!(class(&of_b, "s:waiting"), "sm-s lit s-b");
    assert_eq!(class(&of_b, "e:acquiring&gt;waiting"), "sm-e took");
    assert!(of_b.contains("2×"), "it asked twice");
    assert_eq!(badges(&of_b, "working"), ["A"], "the others stay where they are");
}

#[test]
fn an_earlier_moment_knows_nothing_of_a_later_one() {
    let log = log();
    let entering = log.events.iter().position(|e| matches!(&e.kind, Kind::Strategy { to, .. } if to == "entering"));
    let drawn = html(&log.events[..=entering.unwrap()], SETTLE, "A");
    assert_eq!(class(&drawn, "s:entering"), "sm-s lit s-a");
    assert_eq!(class(&drawn, "e:entering&gt;working"), "sm-e next");
    assert_eq!(badges(&drawn, "idle"), ["B", "C"]);
}

#[test]
fn whoever_came_back_stands_at_the_end_until_the_next_slot() {
    let mut log = log();
    let a = Go { id: "A.1.1".parse().unwrap(), slot: sample::settle_slot(1) };
    moves(&mut log, 1400.0, &a, &["working", "effecting", "effect sent", "leaving", "releasing", "idle"]);
    let drawn = html(&log.events, SETTLE, "A");
    assert_eq!(badges(&drawn, "."), ["A"]);
    assert_eq!((class(&drawn, "s:.").as_str(), class(&drawn, "s:idle").as_str()), ("sm-s lit s-a", "sm-s took"));
    log.due(6000.0, "A", SETTLE);
    assert_eq!(badges(&html(&log.events, SETTLE, "A"), "idle"), ["A", "C"]);
}

/// An attempt goes on under the strategy under which it began; whoever begins later is elsewhere.
#[test]
fn a_changed_strategy_is_another_machine() {
    let mut log = log();
    log.set(2000.0, SetupChange { strategy: Some("redlock".into()), ..SetupChange::default() });
    let drawn = html(&log.events, SETTLE, "A");
    assert!(drawn.contains("State machine of pg-lease") && drawn.contains("idle under redlock"));
    assert_eq!((badges(&drawn, "working"), badges(&drawn, "idle")), (vec!["A".to_owned()], vec![]));
    assert!(html(&log.events, SETTLE, "C").contains("State machine of redlock"));
}

#[test]
fn a_dead_replica_is_not_at_work() {
    let mut log = log();
    log.kill(1500.0, "A");
    assert!(html(&log.events, SETTLE, "A").contains(">dead<"));
    let trace = Trace::of(&log.events, SETTLE);
    assert_eq!(trace.who["A"].process, "dead");
}

#[test]
fn a_mutant_says_what_differs() {
    let log = Log::new(Setup { strategy: "pg-lease/host-token".into(), ..Setup::live() });
    assert!(html(&log.events, SETTLE, "").contains("<b>host-token</b>: The token is the host"));
    assert!(html(&[], SETTLE, "").is_empty());
}
