//! What `aegis grade` prints of a failure is a scenario file, and playing that file comes to the same finding: for every
//! wrong answer that is known, from the printed file and from the run as which the failure is kept.

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use common::{aegis, data_dir, lab};
use futures_util::StreamExt;
use futures_util::stream::iter;
use locks::homework::{Exercise, Failure, Graded, exercise};
use locks::scenario::{Problem, Scenario};
use serde::Deserialize;
use server::homework::grade;
use server::lab::Lab;
use server::run::runner::{Outcome, run};
use server::run::script::of_log;

/// So many answers are looked at side by side.
const AT_ONCE: usize = 3;

#[derive(Deserialize)]
struct Answers {
    wrong: Vec<Wrong>,
}

/// Those without a reason are refused by the store, and print no schedule.
#[derive(Deserialize)]
struct Wrong {
    name: String,
    text: String,
    reason: Option<String>,
}

fn read(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|problems| panic!("{}\n{text}", Problem::render_all(&problems, "the file")))
}

async fn failure(lab: &Arc<Lab>, exercise: &'static Exercise, text: &str) -> Failure {
    match grade(lab, exercise, text.as_bytes()).await {
        Graded::Failed(failure) => *failure,
        other => panic!("{text}\n{other:?}"),
    }
}

/// What is wrong with the file of an answer, if anything is.
async fn compare(lab: &Arc<Lab>, exercise: &'static Exercise, wrong: &Wrong) -> Option<String> {
    let failure = failure(lab, exercise, &wrong.text).await;
    let printed = read(&failure.steps);
    let events: Vec<_> = failure.evidence.iter().cloned().map(Arc::new).collect();
    // The run ends where the rule was broken, and the file of it too.
    let kept = read(&of_log(&events).to_toml());
    let actions = |scenario: &Scenario| scenario.steps.iter().map(|step| step.action.clone()).collect::<Vec<_>>();
    assert!(actions(&printed).starts_with(&actions(&kept)), "{}", wrong.name);
    let played = run(lab, &kept, None).await;
    let found = played.checks.first().map(|check| (check.what.as_str(), check.holds, check.first_event));
    let wanted = (failure.reason.as_str(), false, Some(failure.at));
    let same = played.outcome == Outcome::Failed && found == Some(wanted);
    (!same).then(|| format!("{}: {:?}, {found:?} and not {wanted:?}", wrong.name, played.outcome))
}

async fn every_file_plays(name: &str, answers: &str) {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let exercise = exercise(name).unwrap();
    let mut answers = toml::from_str::<Answers>(answers).unwrap().wrong;
    answers.retain(|wrong| wrong.reason.is_some());
    let told = iter(&answers).map(|wrong| compare(&lab, exercise, wrong)).buffer_unordered(AT_ONCE);
    let told: Vec<String> = told.filter_map(async |told| told).collect().await;
    lab.close().await;
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_releases() {
    every_file_plays("release", include_str!("../homework/release/answers.toml")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_leases() {
    every_file_plays("lease", include_str!("../homework/lease/answers.toml")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_claims() {
    every_file_plays("claim", include_str!("../homework/claim/answers.toml")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_fences() {
    every_file_plays("fence", include_str!("../homework/fence/answers.toml")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_may_be_changed_but_not_run_what_it_likes() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let fence = exercise("fence").unwrap();
    let printed = failure(&lab, fence, fence.starter).await.steps;
    let scenario = read(&printed);
    // The model instead of what was written: no rule is broken.
    let mut mended = scenario.clone();
    fence.model.clone_into(&mut mended.homework.as_mut().unwrap().answer);
    let played = run(&lab, &read(&mended.to_toml()), None).await;
    assert_eq!((&played.outcome, played.checks[0].holds), (&Outcome::Held, true), "{:?}", played.checks);
    assert!(!played.events.is_empty() && mended.expects_something());

    let answers_twice = "session = { do = \"answer\", replica = \"A\" }";
    for (from, to, says) in [
        ("sql = \"insert into lock (", "sql = \"copy lock to program 'id'; insert into lock (", "own statements"),
        ("replica = \"B\"", "replica = \"Z\"", "Z"),
        ("2, 1202", "2, \"1202\"", "parameters"),
        ("do = \"submit\"", "do = \"send\", until = \"effect\"", "no gate effect"),
        ("[[step]]\nsession", &format!("[[step]]\n{answers_twice}\n\n[[step]]\nsession"), "was sent nothing"),
        (
            "[[step]]\nsession",
            "[[step]]\nredis = { command = \"FLUSHALL\", node = \"redis-1\" }\n\n[[step]]\nsession",
            "own statements",
        ),
    ] {
        let text = printed.replacen(from, to, 1);
        assert_ne!(text, printed, "{from}\n{printed}");
        let why = match Scenario::parse(&text) {
            Ok(scenario) => match run(&lab, &scenario, None).await.outcome {
                Outcome::BadScenario(why) => why,
                other => panic!("{to}: {other:?}"),
            },
            Err(problems) => Problem::render_all(&problems, "the file"),
        };
        assert!(why.contains(says), "{to}: {why}");
    }
    lab.close().await;
}

#[test]
fn what_is_printed_is_a_file_that_plays() {
    let folder = data_dir();
    let (answer, printed) = (folder.path().join("answer.lua"), folder.path().join("printed.toml"));
    std::fs::write(&answer, exercise("release").unwrap().starter).unwrap();
    let ask = |verb: &[&str], file: &Path| {
        Command::new(aegis()).args(verb).arg(file).arg("--data-dir").arg(folder.path()).output().unwrap()
    };
    let graded = ask(&["grade", "release"], &answer);
    assert_eq!(graded.status.code(), Some(1), "{graded:?}");
    std::fs::write(&printed, &graded.stdout).unwrap();
    let played = ask(&["run"], &printed);
    let told = String::from_utf8(played.stdout).unwrap();
    assert_eq!(played.status.code(), Some(1), "{told}");
    assert!(told.starts_with("FAILED") && told.contains("FAIL freed another's"), "{told}");
}
