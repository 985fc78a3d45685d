//! One step back in a run that is stepped through, and its moves as an address.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::learner::Learner;
use crate::common::served::Served;
use crate::common::until;

/// A gate that was reached is told a moment later.
const SOON: Duration = Duration::from_secs(10);
/// Thirty steps are made once more in a third of it; the machine may be busy.
const BACK: Duration = Duration::from_secs(2);

/// A lab that is stepped through.
struct Stepped<'a> {
    learner: Learner<'a>,
    run: String,
}

impl<'a> Stepped<'a> {
    fn new(lab: &'a Served) -> Stepped<'a> {
        let learner = Learner::new(lab);
        let begun = learner.press("/lab", "gated=true");
        assert_eq!(begun.status, 303, "{}", begun.body);
        let run = present(&learner);
        Stepped { learner, run }
    }

    fn act(&self, action: Value) {
        let done = self.learner.post(&format!("/api/runs/{}/actions", self.run), &action);
        assert_eq!(done.status, 202, "{action}: {}", done.body);
    }

    fn step(&self, name: &str) {
        self.act(json!({ "advance": { "replica": name } }));
    }

    /// What the panel says of everybody.
    fn panel(&self) -> String {
        self.learner.page(&format!("/api/runs/{}/steps?at=1000000&schedule=settle-invoices", self.run))
    }

    async fn is_at(&self, name: &str, gate: &str) {
        let said = format!("data-m=\"g:{name}\">at gate {gate}<");
        until(&format!("{name} is at gate {gate}"), SOON, || self.panel().contains(&said)).await;
    }

    /// Take the latest decision back; what is said of it, and how long it took.
    fn back(&self) -> (Value, Duration) {
        let began = Instant::now();
        let back = self.learner.post(&format!("/api/runs/{}/back", self.run), &json!({}));
        assert_eq!(back.status, 202, "{}", back.body);
        (serde_json::from_str(&back.body).unwrap(), began.elapsed())
    }
}

/// The run of a learner's lab.
fn present(learner: &Learner) -> String {
    let page = learner.page("/lab");
    page.split("href=\"/runs/").nth(1).expect("a link to the run").split('"').next().unwrap().to_owned()
}

const FIRE: &str = "settle-invoices";

#[tokio::test]
async fn the_latest_step_is_taken_back_and_can_be_made_otherwise() {
    let lab = Served::start();
    let run = Stepped::new(&lab);
    assert!(run.panel().contains("Nothing decided yet"));
    run.act(json!({ "set": { "strategy": "redis-set-nx" } }));
    run.act(json!({ "fire": { "schedule": FIRE, "to": ["A", "B"] } }));
    run.is_at("A", "send:acquire").await;
    run.step("A");
    run.is_at("A", "enter").await;
    run.is_at("B", "send:acquire").await;
    run.step("B");
    run.is_at("B", "done").await;
    // One back: B has not asked yet. Another: neither has, and this time B is first.
    let (said, _) = run.back();
    assert_eq!((&said["taken_back"], &said["left"]), (&json!("B"), &json!(3)));
    run.is_at("A", "enter").await;
    run.is_at("B", "send:acquire").await;
    assert!(run.panel().contains("Taken back: <code>B</code>. 3 moves."), "{}", run.panel());
    run.back();
    run.is_at("A", "send:acquire").await;
    run.step("B");
    run.is_at("B", "enter").await;
    run.step("A");
    run.is_at("A", "done").await;

    // What was set is taken back, too, and behind the first move there is nothing.
    for left in (0..4).rev() {
        let (said, _) = run.back();
        assert_eq!(said["left"], left);
    }
    let log = run.learner.page(&format!("/api/runs/{}/log", run.run));
    let log: Vec<Value> = serde_json::from_str(&log).unwrap();
    let set: Vec<&Value> = log.iter().filter(|event| event["kind"] == "set").collect();
    assert_eq!(set.last().unwrap()["setup"]["strategy"], "none", "the strategy is the one of the beginning");
    let nothing = run.learner.post(&format!("/api/runs/{}/back", run.run), &json!({}));
    assert_eq!(nothing.status, 409, "{}", nothing.body);
}

#[tokio::test]
async fn thirty_steps_are_made_once_more_at_once_and_work_is_not_waited_for() {
    let lab = Served::start();
    let run = Stepped::new(&lab);
    run.act(json!({ "set": { "strategy": "pg-lease", "work_ms": 1200 } }));
    for _ in 0..5 {
        run.act(json!({ "fire": { "schedule": FIRE, "to": ["A"] } }));
        run.is_at("A", "send:acquire").await;
        run.step("A");
        run.is_at("A", "enter").await;
        run.step("A");
        // The work takes its time, now.
        run.is_at("A", "effect").await;
        for gate in ["leave", "send:release", "done"] {
            run.step("A");
            run.is_at("A", gate).await;
        }
    }
    let (said, took) = run.back();
    assert_eq!(said["left"], 30);
    run.is_at("A", "send:release").await;
    assert!(took < BACK, "one back took {took:?}: {said}");
}

#[tokio::test]
async fn moves_are_an_address_that_anybody_may_play() {
    let lab = Served::start();
    let run = Stepped::new(&lab);
    run.act(json!({ "set": { "strategy": "redis-set-nx" } }));
    run.act(json!({ "fire": { "schedule": FIRE, "to": ["A", "B"] } }));
    run.step("A");
    run.is_at("A", "enter").await;
    run.step("B");
    let panel = run.panel();
    let address = panel.split("href=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    assert!(address.starts_with("/lab/moves?setup="), "{address}");

    let other = Learner::new(&lab);
    let page = other.page(&address);
    assert!(page.contains("step A") && page.contains("redis-set-nx"), "{page}");
    let query = address.split_once('?').unwrap().1;
    let played = other.press("/lab/moves", query);
    assert_eq!((played.status, played.header("location")), (303, Some("/lab")), "{}", played.body);
    let theirs = Stepped { run: present(&other), learner: other };
    theirs.is_at("A", "enter").await;
    until("all of them are played", SOON, || theirs.panel().contains("4 moves.")).await;
    // A wrong one ends nobody's lab.
    let wrong = theirs.learner.press("/lab/moves", "setup=&do=Z");
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert_eq!(present(&theirs.learner), theirs.run);
}
