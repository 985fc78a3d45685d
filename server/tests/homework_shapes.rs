//! Answers of other shapes to the exercises that are played on a lab, which are as right as ours; and what is put to five
//! real nodes.

mod common;

use common::{data_dir, lab};
use locks::homework::{Graded, choose, exercise, redlock};
use server::homework::grade;

/// What is chosen for a story: strategy, guard, lease, renewed or not.
type Choice = (&'static str, &'static str, u64, bool);

fn answer(choices: [Choice; 6]) -> String {
    let story = |(number, (strategy, guard, lease_ms, renew)): (usize, Choice)| {
        format!(
            "[story{number}]\nstrategy = \"{strategy}\"\nguard = \"{guard}\"\nlease_ms = {lease_ms}\nrenew = {renew}\n\n"
        )
    };
    (1..).zip(choices).map(story).collect()
}

/// With our own answer these are three accepted choices for each story.
#[tokio::test(flavor = "multi_thread")]
async fn other_choices_are_as_good() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let texts = [
        answer([
            ("redis-set-nx", "none", 500, false),
            ("pg-lease", "current-epoch", 1500, false),
            ("redis-set-nx", "unique-slot", 1500, false),
            ("redis-set-nx", "none", 1500, true),
            ("pg-claim", "none", 1500, false),
            ("redlock", "unique-slot", 5000, false),
        ]),
        answer([
            ("redis-set-nx", "unique-slot", 1500, false),
            ("pg-row-lock", "none", 1500, false),
            ("pg-claim", "unique-slot", 1500, false),
            ("pg-lease", "unique-slot", 1500, true),
            ("pg-claim", "unique-slot", 5000, false),
            ("redlock", "none", 30_000, false),
        ]),
    ];
    assert!(texts.iter().all(|text| text != choose::EXERCISE.model));
    let exercise = exercise("choose").unwrap();
    let graded = futures_util::future::join_all(texts.iter().map(|text| grade(&lab, exercise, text.as_bytes()))).await;
    lab.close().await;
    for (text, graded) in texts.iter().zip(graded) {
        match graded {
            Graded::Passed { .. } => {}
            Graded::Failed(failure) => panic!("{text}\n{}: {}; {}", failure.title, failure.reason, failure.observed),
            other => panic!("{text}\n{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_comes_too_late_is_put_to_real_nodes() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let exercise = exercise("redlock").unwrap();
    let blind = redlock::EXERCISE.model.replace("lease - elapsed - lease / 100 - 2", "lease - lease / 100 - 2");
    let (right, wrong) = tokio::join!(
        grade(&lab, exercise, redlock::EXERCISE.model.as_bytes()),
        grade(&lab, exercise, blind.as_bytes())
    );
    lab.close().await;
    let Graded::Passed { said: Some(said), .. } = &right else { panic!("{right:?}") };
    assert!(said.contains("of five real nodes granted it") && said.contains("not acquired"), "{said}");
    let Graded::Failed(failure) = &wrong else { panic!("{wrong:?}") };
    assert_eq!(failure.reason, "trusted too long");
    assert!(failure.at > 0 && !failure.evidence.is_empty(), "a run in which A enters on dead keys");
}
