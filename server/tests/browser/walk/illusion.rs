//! Steps 1 to 4: one replica too many, where a lock sits, a slot gate by gate, and what it leaves where.

use std::time::Duration;

use crate::common::served::Served;
use crate::learner::{Learner, at, ticked};

/// Several slots, five seconds apart, on a busy machine.
const SLOTS: Duration = Duration::from_secs(60);

/// Step 1, from the first page on: two slots, a second replica, a guard.
pub async fn one_replica_too_many(one: &Learner, lab: &Served) {
    one.client.goto(&lab.url).await.unwrap();
    one.until("the start page", "return document.querySelector('main h1') !== null").await;
    one.press("Begin the lesson").await;
    one.until("step 1", "return document.querySelector('main.lesson')?.dataset.step === '1'").await;
    one.answer("p1", "one").await;
    one.press("Start one replica").await;
    one.until("one replica", "return document.querySelectorAll('#stage article.card').length === 1 && hydrated()")
        .await;
    one.until_within(SLOTS, "two slots, each once", &ticked("a")).await;
    one.misses("b", "alone").await;
    // Hints unfold.
    one.press_by("#t-b .hints summary").await;
    one.until("a nudge", "return document.querySelector('#t-b details[open]') !== null").await;
    one.reload().await;

    one.press("Add replica B").await;
    one.until_within(SLOTS, "a slot that was settled twice", &ticked("b")).await;
    one.until("a wrong guess is ink", "return document.querySelector('#q-p1 .joint')?.ariaLabel === 'disagrees with'")
        .await;
    one.keep("lesson-b").await;
    one.press("Set guard unique-slot").await;
    one.until_within(SLOTS, "three slots kept by the guard", &ticked("c")).await;
    one.step_is_done().await;

    // The proof is a link to the event.
    one.press_by("#t-b .ev a").await;
    one.until("the run", "return location.pathname.startsWith('/runs/') && hydrated()").await;
    one.client.back().await.unwrap();
    one.until("back at the step", "return document.querySelectorAll('#l-tasks li.done').length === 3").await;
}

/// Step 2: nine cells, and the pair that comes through all three moves.
pub async fn boundaries(one: &Learner, lab: &Served) {
    one.to_step(lab, 2).await;
    one.answer("p1", "handler").await;
    let cells = ["pg-claim", "pg-lease", "none+unique-slot"].into_iter();
    let cells = cells.flat_map(|under| ["m1", "m2", "m3"].map(|moves| format!("{moves}@{under}")));
    for (n, stage) in cells.enumerate() {
        one.play(&stage, "a", n + 1).await;
    }
    one.until("the kept lock with two settlements was among them", &ticked("b")).await;
    let other = "return document.querySelector('#q-p1 .joint')?.ariaLabel === 'disagrees with'";
    one.until("a wrong guess is shown as one", other).await;
    one.reload().await;

    one.open_stage("m3@pg-claim+unique-slot").await;
    one.misses("c", "together").await;
    for (n, moves) in ["m1", "m2", "m3"].into_iter().enumerate() {
        one.play(&format!("{moves}@pg-lease+unique-slot"), "c", n + 1).await;
    }
    one.step_is_done().await;
}

/// Step 3: A through a whole slot, a wrong order, the right one with a step taken back, and the other lock.
pub async fn tick_to_release(one: &Learner, lab: &Served) {
    one.to_step(lab, 3).await;
    one.answer("p1", "1").await;
    one.open_stage("look-then-take").await;
    one.steps("A", "a").await;

    // Too late first: A does both of its commands before B looks.
    one.move_by("Reset, fire to both").await;
    one.move_by("Step A").await;
    one.move_by("Step A").await;
    one.move_by("Step B").await;
    one.misses("b", "too-late").await;
    one.move_by("Reset, fire to both").await;
    one.move_by("Step A").await;
    one.move_by("Step B").await;
    one.reload().await;

    // From here on the stage: both take. The last take is taken back, and made again.
    for (nth, replica) in [(1, "A"), (2, "B")] {
        one.until("it is about to take", &at(replica, "send:acquire")).await;
        one.step_on_stage(nth, replica, "enter").await;
    }
    one.step_back().await;
    one.until("B is about to take once more", &at("B", "send:acquire")).await;
    one.until("and A is where it was", &at("A", "enter")).await;
    for (nth, replica, gate) in [(2, "B", "enter"), (1, "A", "effect"), (2, "B", "effect")] {
        one.step_on_stage(nth, replica, gate).await;
    }
    one.until("both are inside", &ticked("b")).await;
    one.keep("lesson-3b").await;

    one.open_stage("look-then-take@redis-set-nx").await;
    one.move_by("Reset, fire to both").await;
    one.move_by("Step A").await;
    one.move_by("Step B").await;
    one.steps("A", "c").await;
    one.step_is_done().await;
}

/// Step 4: one clean slot, and three lost messages.
pub async fn data_flow(one: &Learner, lab: &Served) {
    one.to_step(lab, 4).await;
    one.answer("p1", "a").await;
    one.play("clean-slot", "a", 1).await;
    one.misses("b", "answered").await;
    one.play("lost-reply", "b", 1).await;
    one.reload().await;
    one.play("late-request", "c", 1).await;
    one.play("lost-answer", "d", 1).await;
    one.step_is_done().await;
}
