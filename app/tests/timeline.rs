//! The timeline's geometry: what is drawn where, as text.

mod sample;

use app::stage::Stage;
use app::stage::view::timeline::{Lanes, Look, clashes, ground, marks, scale, table};
use locks::machine::{Outcome, TaskState};
use locks::setup::Setup;
use sample::{Log, SETTLE, collision, paused_holder, rejected_effect};

const WIDTH: f64 = 1314.0;
const ZOOM: f64 = 300.0;

fn look() -> Look {
    Look::One(SETTLE.to_owned())
}

fn drawn(log: &Log) -> String {
    let stage = Stage::of(&log.events);
    let now = stage.at_us;
    let scale = scale(&stage, &look(), now, ZOOM, WIDTH);
    let lanes = Lanes::new(&stage, &look());
    let marks = marks(&stage, &look(), &scale, &lanes, (0.0, scale.x(now)), now);
    marks.into_iter().map(|mark| format!("{} {}\n", mark.id, mark.svg)).collect()
}

#[test]
fn three_inside_are_one_clash() {
    let stage = Stage::of(&collision().events);
    let clashes = clashes(&stage, &look());
    assert_eq!(clashes.len(), 4);
    assert!(clashes.iter().all(|clash| clash.replicas == ["A", "B", "C"]));
    assert_eq!(clashes[3].until_us, None, "the last one goes on");
}

/// A long run that is seen whole: stripes close together, each with its title, and no word over another.
#[test]
fn what_is_said_of_many_clashes_stands_side_by_side() {
    let mut log = Log::new(Setup { strategy: "none".into(), ..Setup::live() });
    for n in 0..60 {
        let at = 1000.0 + f64::from(n) * 700.0;
        let (a, b) = (log.due(at, "A", SETTLE), log.due(at, "B", SETTLE));
        log.enter(at + 1.0, &a, None);
        log.enter(at + 2.0, &b, None);
        for go in [&a, &b] {
            log.leave(at + 100.0, go, "done");
            log.finish(at + 101.0, go, TaskState::Releasing, Outcome::Executed, "done");
        }
    }
    let stage = Stage::of(&log.events);
    let now = stage.at_us;
    let lanes = Lanes::new(&stage, &look());
    for zoom in [10.0, 30.0, 60.0, 120.0, 300.0, 1200.0] {
        let scale = scale(&stage, &look(), now, zoom, WIDTH);
        let marks = marks(&stage, &look(), &scale, &lanes, (0.0, scale.x(now)), now);
        let chips = marks.iter().filter(|mark| mark.id.starts_with('w')).map(|mark| {
            let number = |name: &str| -> f64 {
                let rest = mark.svg.split_once(&format!(" {name}=\"")).unwrap().1;
                rest.split('"').next().unwrap().parse().unwrap()
            };
            (number("x"), number("x") + number("width"))
        });
        let mut chips: Vec<(f64, f64)> = chips.collect();
        chips.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(!chips.is_empty(), "at {zoom} nothing is said at all");
        assert!(chips.windows(2).all(|pair| pair[0].1 <= pair[1].0), "at {zoom}: {chips:?}");
        assert_eq!(marks.iter().filter(|mark| mark.id.starts_with('v')).count(), 60);
    }
}

#[test]
fn duplicates_are_ringed_and_counted() {
    let drawn = drawn(&collision());
    assert!(drawn.contains("class=\"twice\"") && drawn.contains(">3×<"));
}

#[test]
fn a_denied_section_is_hollow_from_when_the_store_denies_it() {
    let log = paused_holder();
    let stage = Stage::of(&log.events);
    let section = stage.track.sections.iter().find(|section| section.epoch == Some(8)).unwrap();
    assert_eq!(section.denied.len(), 1);
    let denied_from = section.denied[0].0 - stage.origin_us;
    assert_eq!(denied_from, 17_504_000, "when the store said that it expired");
    let drawn = drawn(&log);
    assert!(drawn.contains("class=\"hollow s-a\"") && drawn.contains("store denies"));
    assert!(drawn.contains("class=\"frost\""), "the stopped process");
    assert!(drawn.contains("class=\"lk-exp\""), "expired, not yet free");
}

#[test]
fn a_store_that_nobody_asks_denies_nobody() {
    use locks::machine::LockState;
    let mut log = collision();
    let go = sample::Go { id: "A.1.6".parse().unwrap(), slot: sample::settle_slot(11) };
    log.store_says(11_360.0, &go, LockState::Free, None);
    let stage = Stage::of(&log.events);
    assert!(stage.track.sections.iter().all(|section| section.denied.is_empty()));
}

#[test]
fn a_rejected_effect_names_its_guard() {
    assert!(drawn(&rejected_effect()).contains("rejected by current-epoch"));
}

#[test]
fn marks_that_cannot_be_seen_are_not_drawn() {
    let log = collision();
    let stage = Stage::of(&log.events);
    let now = stage.at_us;
    let scale = scale(&stage, &look(), now, ZOOM, WIDTH);
    let lanes = Lanes::new(&stage, &look());
    let end = scale.x(now);
    let all = marks(&stage, &look(), &scale, &lanes, (0.0, end), now);
    let few = marks(&stage, &look(), &scale, &lanes, (end - 100.0, end), now);
    assert!(few.len() < all.len() / 2);
    assert!(few.iter().all(|mark| all.iter().any(|other| other.id == mark.id)));
}

#[test]
fn closed_marks_are_drawn_the_same_while_time_goes_on() {
    let log = collision();
    let stage = Stage::of(&log.events);
    let lanes = Lanes::new(&stage, &look());
    let at = |now: u64| {
        let scale = scale(&stage, &look(), now, ZOOM, WIDTH);
        marks(&stage, &look(), &scale, &lanes, (0.0, 2000.0), now)
    };
    let (early, late) = (at(stage.at_us), at(stage.at_us + 5_000_000));
    let open = stage.track.sections.iter().filter(|section| section.span.1.is_none());
    let open: Vec<String> = open.map(|section| format!("s{}", section.seq)).collect();
    let is_closed = |id: &String| id.starts_with(['s', 'e', 'c']) && !open.contains(id);
    let closed: Vec<_> = early.iter().filter(|mark| is_closed(&mark.id)).collect();
    let same = closed.iter().filter(|mark| late.contains(mark)).count();
    assert_eq!(same, closed.len());
}

#[test]
fn the_table_says_in_words_what_the_picture_shows() {
    let stage = Stage::of(&paused_holder().events);
    let rows = table(&stage, &look(), stage.at_us, 60);
    assert!(rows.iter().any(|row| row.what == "inside, store denies" && row.lane == "A"));
    assert!(rows.iter().any(|row| row.harm && row.what == "overlap of A, B"));
    assert!(rows.windows(2).all(|pair| pair[0].from.parse::<f64>().unwrap() >= pair[1].from.parse::<f64>().unwrap()));
}

#[test]
fn a_picture_is_well_formed() {
    // Every tag that opens closes: pictures are put into the page as they are.
    for log in [collision(), paused_holder(), rejected_effect()] {
        let drawn = drawn(&log);
        assert_eq!(drawn.matches("<text").count(), drawn.matches("</text>").count());
        assert_eq!(drawn.matches("<svg").count(), drawn.matches("</svg>").count());
        assert_eq!(drawn.matches("<title").count(), drawn.matches("</title>").count());
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}

#[test]
fn where_all_schedules_are_shown_each_row_and_mark_names_its_own() {
    let stage = Stage::of(&collision().events);
    let all = Look::All(stage.catalog.iter().map(|schedule| schedule.name.clone()).collect());
    let rows = table(&stage, &all, stage.at_us, 200);
    assert!(rows.iter().all(|row| stage.catalog.iter().any(|one| row.what.starts_with(&one.name))), "{rows:?}");
    let scale = scale(&stage, &all, stage.at_us, ZOOM, WIDTH);
    let end = scale.x(stage.at_us);
    let drawn = marks(&stage, &all, &scale, &Lanes::new(&stage, &all), (0.0, end), stage.at_us);
    assert!(drawn.iter().any(|mark| mark.svg.contains("<title>dispatch-orders: B inside")));
}

#[test]
fn who_was_not_told_busy_is_not_said_to_be_told_so_no_times() {
    let stage = Stage::of(&paused_holder().events);
    let rows = table(&stage, &look(), stage.at_us, 200);
    assert!(rows.iter().any(|row| row.what == "asked for the lock"));
    assert!(rows.iter().all(|row| !row.what.contains("0 ×")));
}

#[test]
fn ticks_stay_within_their_stretch() {
    let log = collision();
    let stage = Stage::of(&log.events);
    let scale = scale(&stage, &look(), stage.at_us, ZOOM, WIDTH);
    let lanes = Lanes::new(&stage, &look());
    let ground = ground(&stage, &scale, &lanes, (0.0, scale.x(stage.at_us)));
    let places =
        ground.split("class=\"ax\"").filter_map(|before| before.rsplit_once("<text x=\"")?.1.split('"').next());
    let gaps: Vec<_> = scale.pieces.iter().filter(|piece| piece.gap).collect();
    assert!(!gaps.is_empty());
    for x in places.map(|x| x.parse::<f64>().unwrap()) {
        assert!(gaps.iter().all(|gap| x + 18.0 < gap.x || x - 18.0 > gap.x_to), "a label at {x} lies on a gap");
    }
}

#[test]
fn a_stale_effect_is_drawn_and_told_as_one() {
    let mut log = paused_holder();
    let a = sample::Go { id: "A.1.5".parse().unwrap(), slot: sample::settle_slot(16) };
    log.settled(18_300.0, &a, Some(8), locks::event::EffectAnswer::Accepted, 2);
    assert!(drawn(&log).contains("2× stale"));
    let stage = Stage::of(&log.events);
    let rows = table(&stage, &look(), stage.at_us, 60);
    assert!(rows.iter().any(|row| row.harm && row.what.starts_with("stale, accepted")));
}

/// A command that its link has kept is drawn from lane to lane; others are only while somebody looks at them.
#[test]
fn a_held_message_is_drawn_across_the_lanes_and_a_quick_one_only_when_it_is_picked() {
    use app::stage::view::timeline::scheduled;
    use app::stage::wire::Wire;
    use locks::action::Direction;
    use locks::event::{Kind, Source};
    use locks::ids::Endpoint;
    let mut log = paused_holder();
    let (at, sent) = (log.events.len() as u64 + 1, 18_000.0);
    let go = log.due(sent, "C", SETTLE);
    log.acquire(sent + 1.0, &go, None);
    let command = log.events.iter().rev().find_map(|event| match &event.kind {
        Kind::Sent { command, .. } => Some(command.command),
        _ => None,
    });
    let passed = |kept_us| Kind::LinkPassed {
        session: None,
        command,
        name: Some("acquire".to_owned()),
        attempt: Some(go.id.clone()),
        direction: Direction::Request,
        kept_us,
    };
    let link = || Source::Link { replica: "C".to_owned(), endpoint: Endpoint::Postgres };
    let quick = log.events.clone();
    log.say(sent + 400.0, link(), passed(398_000));
    assert!(drawn(&log).contains("acquire from C to postgres, kept by its link for 398 ms"));
    log.events = quick;
    log.say(sent + 2.0, link(), passed(100));
    assert!(!drawn(&log).contains("acquire from C"), "nothing held it");

    let stage = Stage::of(&log.events);
    let scale = scale(&stage, &look(), stage.at_us, ZOOM, WIDTH);
    let lanes = Lanes::new(&stage, &look());
    let sending = log.events.iter().position(|e| e.seq > at && matches!(e.kind, Kind::Sent { .. })).unwrap();
    let picked = Wire::message(&log.events[sending..]);
    assert!(picked.as_ref().is_some_and(|row| row.answer.is_some() && row.replica == "C"));
    let shown = scheduled(&stage, &look(), &scale, &lanes, stage.at_us, picked.as_ref());
    assert!(shown.contains("acquire from C to postgres"), "{shown}");
    assert_eq!(Wire::message(&log.events[..1]), None, "the run's beginning sends nothing");
}
