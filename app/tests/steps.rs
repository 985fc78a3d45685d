//! What each replica is about to do, in a run that is stepped through.

mod sample;

use app::steps::{Decided, html};
use locks::event::{Kind, Param};
use locks::ids::Gate;
use locks::setup::{Gated, Setup};
use sample::{Log, SETTLE};

#[test]
fn every_replica_says_what_it_is_about_to_do() {
    let mut log = Log::new(Setup { gated: Gated::Yes(Vec::new()), cron: false, ..Setup::live() });
    let a = log.due(1000.0, "A", SETTLE);
    let gate = Gate::Send(Some("acquire".to_owned()));
    let reached = Kind::GateReached {
        attempt: a.id.clone(),
        gate: gate.clone(),
        text: "SET $1 $2 NX".to_owned(),
        params: vec![Param::Text("lock".to_owned()), Param::Int(7)],
    };
    log.replica(1001.0, "A", reached);
    log.pause(1002.0, "B");
    let drawn = html(log.events.iter(), SETTLE, None);
    assert!(drawn.contains("at gate send:acquire") && drawn.contains("SET $1 $2 NX -- $1 = lock, $2 = 7"), "{drawn}");
    assert!(drawn.contains("stopped") && drawn.contains("Fire one: f"));
    assert_eq!(drawn.matches("btn-s off").count(), 2, "only A may step");
    assert_eq!(drawn.matches("aria-disabled=\"true\"").count(), 2, "and who does not see it is told");

    log.replica(1003.0, "A", Kind::GatePassed { attempt: a.id, gate });
    let drawn = html(log.events.iter(), SETTLE, None);
    assert_eq!(drawn.matches("btn-s off").count(), 3, "nobody waits at a gate");

    let decided = Decided { moves: 2, address: "/lab/moves?setup=&do=A".to_owned(), taken_back: "B".to_owned() };
    let drawn = html(log.events.iter(), SETTLE, Some(&decided));
    assert!(drawn.contains("Taken back: <code>B</code>. 2 moves.") && drawn.contains("&amp;do=A"), "{drawn}");
    let drawn = html(log.events.iter(), SETTLE, Some(&Decided::default()));
    assert!(drawn.contains("btn-s off\" data-m=\"back\""), "nothing can be taken back: {drawn}");
}
