//! What the matrix proves in steps 6 and 8: cells said before they are shown, races, a pair behind a guard, what it
//! all costs. And the rest of step 8: four guards, and the quiz.

use std::time::Duration;

use crate::common::served::Served;
use crate::learner::{Learner, marked, ticked};

/// A race, or a few cells, on a busy machine.
const MEASURED: Duration = Duration::from_secs(120);

/// Races of step 6, and cells of step 8.
pub async fn matrix(one: &Learner, lab: &Served) {
    one.client.goto(&format!("{}/matrix", lab.url)).await.unwrap();
    // Twelve cells that a fault can happen to: what coordinates nothing holds nothing that could be lost.
    let twice =
        ["none", "pg-lease", "pg-claim", "pg-row-lock", "redis-set-nx", "redlock"].map(|of| (of, "two-at-once"));
    let crash = twice[1..].iter().map(|(of, _)| (*of, "crash-while-holding"));
    for (strategy, fault) in twice.into_iter().chain(crash).chain([("pg-lease", "pause-past-lease")]) {
        said(one, strategy, fault).await;
    }
    for (n, race) in ["two-at-once", "crash-while-holding", "pause-past-lease"].into_iter().enumerate() {
        one.on_to(6).await;
        one.press_by(&format!("#task-a a[href='/matrix?race={race}']")).await;
        one.press_by("button[name=race]").await;
        let busy = "return document.getElementById('main').dataset.busy === 'true'";
        one.until("it runs", busy).await;
        let over = "return document.getElementById('main').dataset.busy === 'false'";
        one.until_within(MEASURED, &format!("the race {race}"), over).await;
        one.on_to(6).await;
        one.until("the race counts", &marked("a", n + 1)).await;
    }
    one.until("three races", &ticked("a")).await;

    one.on_to(8).await;
    one.until("twelve cells were said first", &ticked("a")).await;
    let bars = "return document.querySelectorAll('#l-costs tbody tr').length === 6
        && document.querySelectorAll('#l-costs rect').length > 10";
    one.until("what they cost, as bars", bars).await;
    one.keep("lesson-costs").await;

    one.press_by("#task-c a[href='/matrix']").await;
    one.press_by("#main a[href*='guard=current-epoch']").await;
    one.until("behind a guard", "return location.search.includes('guard=current-epoch')").await;
    let faults = ["crash-while-holding", "pause-past-lease", "work-longer-than-lease", "cut-off"];
    for fault in faults {
        said(one, "pg-lease", fault).await;
        one.press_by(&format!("button[name=run][value='pg-lease/{fault}']")).await;
    }
    let shown = faults.map(|fault| format!("a.mx-b[href*='cell=pg-lease/{fault}']")).join(",");
    let shown = format!("return document.querySelectorAll(\"{shown}\").length === 4");
    one.until_within(MEASURED, "four cells behind the guard", &shown).await;
    one.on_to(8).await;
    one.until("a pair to sign", &ticked("c")).await;
}

/// Say that a strategy covers a fault, before anything is shown.
async fn said(one: &Learner, strategy: &str, fault: &str) {
    one.press_by(&format!("button[name=predict][value='{strategy}/{fault}/covered']")).await;
    let kept = format!("return document.querySelector(\"button[name=run][value='{strategy}/{fault}']\") !== null");
    one.until("it is kept", &kept).await;
}

/// The rest of step 8: four guards, and the quiz.
pub async fn guards(one: &Learner, lab: &Served) {
    one.to_step(lab, 8).await;
    one.answer("p1", "b").await;
    for (n, guard) in ["", "+max-seen", "+current-epoch", "+unique-slot"].into_iter().enumerate() {
        one.play(&format!("stale-first@pg-lease{guard}"), "b", n + 1).await;
    }
    let questions = [("yes", "no"), ("yes", "no"), ("2", "4"), ("held", "nothing"), ("answer", "start")];
    let more = [("pg", "none"), ("3", "2"), ("overlap", "wait"), ("fine", "none"), ("max", "current")];
    for (n, (wrong, right)) in (1..).zip(questions.into_iter().chain(more)) {
        // Three wrong ones are too many; each may be mended.
        if n <= 3 {
            one.answer(&format!("quiz-{n}"), wrong).await;
        }
        if n == 9 {
            one.misses("d", "too-few").await;
        }
        if n != 2 {
            one.answer(&format!("quiz-{n}"), right).await;
        }
    }
    one.until("the quiz", &ticked("d")).await;
    one.reload().await;
    one.step_is_done().await;
}
