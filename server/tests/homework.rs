//! The graded exercises on real stores: the model passes, the starter fails, every answer of another shape passes,
//! and every wrong one fails in the schedule and for the reason that it is known for.

mod common;

use std::sync::Arc;

use common::{data_dir, lab};
use futures_util::{StreamExt, future, stream};
use locks::homework::{Exercise, Graded, exercise};
use serde::Deserialize;
use server::homework::grade;
use server::lab::Lab;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    right: Vec<Right>,
    wrong: Vec<Wrong>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Right {
    name: String,
    text: String,
}

/// It fails for a reason, or the store refuses it with a code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrong {
    name: String,
    text: String,
    schedule: String,
    reason: Option<String>,
    code: Option<String>,
}

/// What came of it in a word, to be compared and read.
fn word(graded: &Graded) -> String {
    match graded {
        Graded::Passed { .. } => "passed".to_owned(),
        Graded::Failed(failure) => format!("{} in {}", failure.reason, failure.schedule),
        Graded::YourError(mistake) => {
            let code = mistake.code.as_deref().unwrap_or(&mistake.message);
            format!("{code} in {}", mistake.schedule.as_deref().unwrap_or("none"))
        }
        Graded::LabFailed { why } => format!("the lab failed: {why}"),
    }
}

/// So many answers are graded side by side: as many as a lab grades at a time.
const SIDE_BY_SIDE: usize = 2;

async fn check(name: &str, answers: &str, starter_fails: &str) {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let exercise = exercise(name).unwrap();
    let answers: Answers = toml::from_str(answers).unwrap();
    assert!(answers.right.len() >= 3 && answers.wrong.len() >= 6);
    let right = |Right { name, text }| Wanted { name, text, word: "passed".to_owned() };
    let wrong = |Wrong { name, text, schedule, reason, code }| Wanted {
        name,
        text,
        word: format!("{} in {schedule}", reason.or(code).unwrap()),
    };
    // Twice over: the same submission always gets the same result.
    let own = (1..=2).flat_map(|time| {
        let wanted = |who: &str, text: &str, word: &str| Wanted {
            name: format!("{who}, time {time}"),
            text: text.to_owned(),
            word: word.to_owned(),
        };
        [wanted("the model", exercise.model, "passed"), wanted("the starter", exercise.starter, starter_fails)]
    });
    let all = own.chain(answers.right.into_iter().map(right)).chain(answers.wrong.into_iter().map(wrong));
    let told: Vec<String> = stream::iter(all)
        .map(|wanted| compare(&lab, exercise, wanted))
        .buffer_unordered(SIDE_BY_SIDE)
        .filter_map(future::ready)
        .collect()
        .await;
    lab.close().await;
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// An answer, and the word that is wanted for it.
struct Wanted {
    name: String,
    text: String,
    word: String,
}

/// What is to be told when another word came of it.
async fn compare(lab: &Arc<Lab>, exercise: &'static Exercise, wanted: Wanted) -> Option<String> {
    let graded = grade(lab, exercise, wanted.text.as_bytes()).await;
    if let Graded::Failed(failure) = &graded {
        assert!(failure.evidence.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        assert!(failure.at > 0 && failure.at <= failure.evidence.len() as u64);
        assert!(failure.steps.contains("[[step]]"), "{}", failure.steps);
    }
    let more = match &graded {
        Graded::Failed(failure) => format!("expected {}; observed {}", failure.expected, failure.observed),
        other => format!("{other:?}"),
    };
    let Wanted { name, word: wanted, .. } = wanted;
    (word(&graded) != wanted).then(|| format!("{name}: {} and not {wanted} ({more})", word(&graded)))
}

#[tokio::test(flavor = "multi_thread")]
async fn release_only_if_it_is_yours() {
    check("release", include_str!("../homework/release/answers.toml"), "freed another's in 3").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn take_the_lease() {
    check("lease", include_str!("../homework/lease/answers.toml"), "application clock in 5").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_one_slot() {
    check("claim", include_str!("../homework/claim/answers.toml"), "waited in 3").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_the_stale_writer() {
    check("fence", include_str!("../homework/fence/answers.toml"), "stale accepted in 3").await;
}
