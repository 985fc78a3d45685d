//! Live sessions: clicks become a scenario, a session that nobody watches is suspended and stored.

use std::sync::Arc;
use std::time::Duration;

use locks::action::{Action, Fire, Wait};
use locks::event::{EndReason, Kind, ProcessName, ProcessState};
use locks::scenario::Scenario;
use locks::setup::{Setup, SetupChange};
use server::lab::Lab;
use server::run::ActError;
use server::run::live::{Limits, Live, OpenError, Sessions};
use server::run::log::Log;
use server::run::shelf::Shelf;
use tokio::time::timeout;

use super::common::{data_dir, lab};

const OWNER: &str = "learner-1";

fn sessions(lab: &Arc<Lab>, limits: Limits) -> (Sessions, Shelf) {
    let shelf = Shelf::new(lab.clone());
    (Sessions::new(lab.clone(), shelf.clone(), limits), shelf)
}

fn quiet() -> Setup {
    Setup { cron: false, work_ms: 50, ..Setup::live() }
}

/// Wait for an event; every wait has a limit.
async fn logged(log: &Log, what: &str, is: impl Fn(&Kind) -> bool) {
    let found = async {
        loop {
            let mut changed = log.changed();
            if log.after(0).iter().any(|event| is(&event.kind)) {
                return;
            }
            changed.changed().await.unwrap();
        }
    };
    timeout(Duration::from_secs(20), found).await.unwrap_or_else(|_| panic!("there was no {what}"));
}

async fn fire(live: &Live) {
    let fire = Fire { schedule: "settle-invoices".to_owned(), to: None, again: false };
    live.act(Action::Fire(fire)).await.unwrap();
}

fn settled(nth: u32) -> impl Fn(&Kind) -> bool {
    move |kind| matches!(kind, Kind::EffectSettled { nth: n, .. } if *n == nth)
}

#[tokio::test]
async fn a_session_is_a_scenario_being_written() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let (sessions, shelf) = sessions(&lab, Limits::default());
    let live = sessions.open_with(OWNER, quiet()).await.unwrap();
    let _watching = live.watch();
    let log = live.log();

    fire(&live).await;
    logged(&log, "third settlement of one slot under none", settled(3)).await;
    let change = SetupChange { strategy: Some("pg-lease".into()), ..SetupChange::default() };
    live.act(Action::Set(change)).await.unwrap();
    fire(&live).await;
    logged(&log, "grant under pg-lease", |kind| matches!(kind, Kind::Granted { .. })).await;
    live.act(Action::Pause(vec!["A".to_owned()])).await.unwrap();
    let again = live.act(Action::Pause(vec!["A".to_owned()])).await.unwrap_err();
    assert!(matches!(again, ActError::Paused { .. }), "{again}");
    let nobody = live.act(Action::Kill(vec!["Z".to_owned()])).await.unwrap_err();
    assert_eq!(nobody.to_string(), "there is no replica Z; there are A, B, C");

    let text = live.scenario().to_toml();
    let read = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
    assert!(read.timed);
    let names: Vec<_> = read.steps.iter().map(|step| step.action.name()).filter(|name| *name != "wait").collect();
    assert_eq!(names[..4], ["fire", "set", "fire", "pause"]);

    let id = live.id();
    live.close().await;
    assert_eq!(sessions.count(), 0);
    assert_eq!(shelf.log(&id).await.unwrap().newest(), log.newest(), "stored whole");
    let listed = shelf.list(OWNER).await.unwrap();
    assert_eq!((listed.len(), listed[0].counted.unwrap().effects_per_slot), (1, 3));
    assert!(matches!(live.act(Action::Resume(vec!["A".to_owned()])).await, Err(ActError::Ended)));
    lab.close().await;
}

#[tokio::test]
async fn who_is_not_watched_is_suspended_and_makes_room() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let limits = Limits { sessions: 1, unwatched: Duration::from_millis(300), ..Limits::default() };
    let (sessions, shelf) = sessions(&lab, limits);
    let live = sessions.open_with(OWNER, quiet()).await.unwrap();
    let watching = live.watch();
    let same = sessions.open_with(OWNER, quiet()).await.unwrap();
    assert_eq!(same.id(), live.id(), "one learner has one session");
    let full = sessions.open_with("learner-2", quiet()).await.err().unwrap();
    assert!(matches!(full, OpenError::Full { most: 1 }));

    tokio::time::sleep(limits.unwatched * 2).await;
    assert!(!live.is_over(), "it is watched");
    drop(watching);
    let log = live.log();
    logged(&log, "end", |kind| matches!(kind, Kind::Ended { why: EndReason::Closed })).await;
    super::common::until("the session is stored and gone", Duration::from_secs(10), || sessions.count() == 0).await;
    assert_eq!(shelf.log(&live.id()).await.unwrap().newest(), log.newest());
    let mut left = None;
    let told = || {
        left = left.take().or_else(|| sessions.left(OWNER));
        left.is_some()
    };
    super::common::until("its learner can be told of it", Duration::from_secs(10), told).await;
    assert_eq!((left, sessions.left(OWNER)), (Some(live.id()), None), "told once");
    sessions.open_with("learner-2", quiet()).await.unwrap();
    sessions.close_all().await;
    lab.close().await;
}

#[tokio::test]
async fn a_long_session_goes_on_in_a_new_segment() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let (sessions, shelf) = sessions(&lab, Limits { segment: 150, ..Limits::default() });
    let live = sessions.open_with(OWNER, quiet()).await.unwrap();
    let _watching = live.watch();
    let (first, first_id) = (live.log(), live.id());
    let grow = async {
        while !first.is_ended() {
            fire(&live).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(Duration::from_secs(20), grow).await.unwrap();
    assert!(matches!(first.after(0).last().unwrap().kind, Kind::Ended { why: EndReason::Segment }));
    assert_ne!(live.id(), first_id);
    fire(&live).await;
    logged(&live.log(), "settlement in the new segment", settled(1)).await;
    assert!(matches!(live.log().after(0)[0].kind, Kind::Began { .. }));
    sessions.close_all().await;
    assert_eq!(shelf.list(OWNER).await.unwrap().len(), 2);
    lab.close().await;
}

#[tokio::test]
async fn replicas_come_and_go_and_the_cadence_changes() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let (sessions, _) = sessions(&lab, Limits::default());
    let live = sessions.open_with(OWNER, Setup { every_s: 1, ..Setup::live() }).await.unwrap();
    let _watching = live.watch();
    let log = live.log();
    live.act(Action::Add(vec!["D".to_owned()])).await.unwrap();
    live.act(Action::Remove(vec!["A".to_owned()])).await.unwrap();
    assert_eq!(live.setup().replicas, ["B", "C", "D"]);
    // Another process of a name that there was: its attempts must not be taken for those of the first.
    live.act(Action::Remove(vec!["D".to_owned()])).await.unwrap();
    live.act(Action::Add(vec!["D".to_owned()])).await.unwrap();
    logged(&log, "the second D", |kind| {
        let Kind::Process { process: ProcessName::Replica(name), incarnation, state, .. } = kind else { return false };
        name == "D" && *incarnation == 2 && *state == ProcessState::Started
    })
    .await;
    logged(
        &log,
        "timer of D",
        |kind| matches!(kind, Kind::SlotDue { attempt, by_timer: true, .. } if attempt.replica == "D"),
    )
    .await;
    let change = SetupChange { every_s: Some(2), ..SetupChange::default() };
    live.act(Action::Set(change)).await.unwrap();
    logged(&log, "new cadence", |kind| {
        matches!(kind, Kind::CatalogChanged { catalog } if catalog.iter().any(|schedule| schedule.cron.starts_with("*/2")))
    })
    .await;
    let names: Vec<String> = ('E'..='J').map(String::from).collect();
    let many = live.act(Action::Add(names[..6].to_vec())).await.unwrap();
    assert!(many > 0);
    let more = live.act(Action::Add(vec!["K".to_owned()])).await.unwrap_err();
    assert!(matches!(more, ActError::TooMany { most: 9, .. }), "{more}");
    sessions.close_all().await;
    lab.close().await;
}

/// Closing does not stand behind an action that waits: it breaks the action off.
#[tokio::test]
async fn closing_breaks_off_what_is_under_way() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let (sessions, _) = sessions(&lab, Limits::default());
    let live = sessions.open_with(OWNER, quiet()).await.unwrap();
    let log = live.log();
    let waiting = tokio::spawn({
        let live = live.clone();
        async move { live.act(Action::Wait(Wait::Ms(600_000))).await }
    });
    logged(&log, "step", |kind| matches!(kind, Kind::StepBegan { .. })).await;
    timeout(Duration::from_secs(20), live.close()).await.expect("it waits for the action");
    assert_eq!(waiting.await.unwrap(), Err(ActError::Ended));
    logged(&log, "end of the step", |kind| matches!(kind, Kind::StepEnded { problem: Some(_), .. })).await;
    assert_eq!(live.act(Action::Wait(Wait::Ms(1))).await, Err(ActError::Ended));
    lab.close().await;
}
