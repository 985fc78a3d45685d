//! The graded exercises on real stores: the model passes, the starter fails, every answer of another shape passes,
//! and every wrong one fails in the schedule and for the reason that it is known for.

mod common;

use std::sync::Arc;

use common::{data_dir, lab};
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

async fn check(name: &str, answers: &str, starter_fails: &str) {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let exercise = exercise(name).unwrap();
    let answers: Answers = toml::from_str(answers).unwrap();
    assert!(answers.right.len() >= 3 && answers.wrong.len() >= 6);
    let mut told: Vec<String> = Vec::new();
    for time in 1..=2 {
        compare(&lab, exercise, &format!("the model, time {time}"), exercise.model, "passed", &mut told).await;
    }
    for _ in 0..2 {
        compare(&lab, exercise, "the starter", exercise.starter, starter_fails, &mut told).await;
    }
    for Right { name, text } in &answers.right {
        compare(&lab, exercise, name, text, "passed", &mut told).await;
    }
    for Wrong { name, text, schedule, reason, code } in &answers.wrong {
        let why = reason.as_ref().or(code.as_ref()).unwrap();
        compare(&lab, exercise, name, text, &format!("{why} in {schedule}"), &mut told).await;
    }
    lab.close().await;
    assert!(told.is_empty(), "{}", told.join("\n"));
}

async fn compare(
    lab: &Arc<Lab>,
    exercise: &'static Exercise,
    name: &str,
    text: &str,
    wanted: &str,
    told: &mut Vec<String>,
) {
    let graded = grade(lab, exercise, text.as_bytes()).await;
    if word(&graded) != wanted {
        let more = match &graded {
            Graded::Failed(failure) => format!(" (expected {}; observed {})", failure.expected, failure.observed),
            other => format!(" ({other:?})"),
        };
        told.push(format!("{name}: {} and not {wanted}{more}", word(&graded)));
    }
    if let Graded::Failed(failure) = &graded {
        assert!(failure.evidence.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        assert!(failure.at > 0 && failure.at <= failure.evidence.len() as u64);
        assert!(failure.steps.contains("[[step]]"), "{}", failure.steps);
    }
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
