//! Steps 5 and 6: the state machines of lock and task, and what each strategy does not cover.

use crate::common::served::Served;
use crate::learner::{Learner, at, ticked};

/// Step 5: every state by hand, two pauses, two releases.
pub async fn states(one: &Learner, lab: &Served) {
    one.to_step(lab, 5).await;
    one.answer("p1", "1").await;
    one.open_stage("by-hand").await;
    let is = |name: &str, state: &str| format!("return state('{name}') === '{state}'");
    for _ in 0..2 {
        one.move_by("Step A").await;
    }
    one.until("A works", &is("A", "Running")).await;
    // A wrong move: B was given nothing and comes to no gate, and the page says so.
    one.move_by("Step B").await;
    one.until("it says why", "return document.getElementById('l-said').textContent.includes('did not come to')").await;
    one.move_by("Fire the same slot to B").await;
    for _ in 0..2 {
        one.move_by("Step B").await;
    }
    one.until("B was turned away", &is("B", "Skipped")).await;
    one.until("A is through with its work", &at("A", "effect")).await;
    for _ in 0..4 {
        if one.script(&is("A", "Executed")).await != true {
            one.move_by("Step A").await;
        }
    }
    one.until("A was executed", &is("A", "Executed")).await;
    one.reload().await;
    one.move_by("Fire to A").await;
    for _ in 0..2 {
        one.move_by("Step A").await;
    }
    one.until("A works again", &is("A", "Running")).await;
    one.move_by("Let a lease go by").await;
    for _ in 0..3 {
        if one.script(&ticked("a")).await != true {
            one.move_by("Step A").await;
        }
    }
    one.until("every state was there", &ticked("a")).await;

    one.play("pause-at-enter", "b", 1).await;
    one.play("pause-at-effect", "b", 2).await;
    one.play("late-release@pg-lease/no-owner-check", "c", 1).await;
    one.play("late-release", "c", 2).await;
    one.step_is_done().await;
}

/// Step 6, but for its races.
pub async fn strategies(one: &Learner, lab: &Served) {
    one.to_step(lab, 6).await;
    one.answer("p1", "never").await;
    one.answer("p2", "no").await;
    one.play("quorum-of-three", "b", 1).await;
    one.play("quorum-of-four", "b", 2).await;
    one.reload().await;
    one.play("pause-while-acquiring", "c", 1).await;
    one.play("pause-at-effect@redlock", "c", 2).await;
    one.play("row-lock-cut@pg-row-lock/no-bound", "d", 1).await;
    one.play("row-lock-cut", "d", 2).await;
}
