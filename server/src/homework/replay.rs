//! Plays a schedule of homework that stands in a scenario file, as grading does: in a sandbox of its own, with the
//! same model for a judge. What comes of it is told as that of every other run.

use std::sync::Arc;

use locks::event::Event;
use locks::homework::{Exercise, Graded, exercise};
use locks::scenario::{Checked, Homework, Scenario};

use super::from_file::{self, Known};
use super::play_lua::Scripts;
use super::schedule::Schedule;
use super::{in_sql, readable, release, sql};
use crate::lab::{Lab, LabError};
use crate::run::export::judged;
use crate::run::runner::{Finished, Outcome};

/// Play it.
pub async fn replay(lab: &Lab, scenario: &Scenario, homework: &Homework) -> Finished {
    let (outcome, checks, events) = match schedule(scenario, homework) {
        Ok((exercise, schedule)) => match played(lab, exercise, &homework.answer, schedule).await {
            Ok((graded, log)) => came_out(exercise, graded, log),
            Err(error) => (Outcome::LabFailed(error.to_string()), Vec::new(), Vec::new()),
        },
        Err(what) => (Outcome::BadScenario(what), Vec::new(), Vec::new()),
    };
    let events: Vec<_> = events.into_iter().map(Arc::new).collect();
    Finished { scenario: scenario.clone(), outcome, verdict: judged(&events), checks, events }
}

/// What is to be played, or why it cannot be.
fn schedule(scenario: &Scenario, homework: &Homework) -> Result<(&'static Exercise, Schedule), String> {
    let exercise = exercise(&homework.exercise).ok_or("there is no such exercise")?;
    readable(exercise, homework.answer.as_bytes()).map_err(|mistake| mistake.message)?;
    let (about, schedules) = match in_sql(exercise) {
        Some(task) => (&task.about, (task.schedules)()),
        None => (&release::ABOUT, release::schedules(Scripts::MOST)),
    };
    let steps = from_file::steps(scenario, &Known { about, schedules: &schedules })?;
    Ok((exercise, Schedule { name: homework.schedule.clone(), title: scenario.title.clone(), steps }))
}

/// What came of it, and the log if no rule was broken.
async fn played(
    lab: &Lab,
    exercise: &'static Exercise,
    answer: &str,
    schedule: Schedule,
) -> Result<(Graded, Vec<Event>), LabError> {
    let homework = lab.homework();
    // It is never closed while the lab is open.
    let _turn = homework.turns.acquire().await;
    match in_sql(exercise) {
        Some(task) => sql::alone(lab, homework.for_sql(lab).await?, task, answer, schedule).await,
        None => release::alone(lab, homework.for_lua().await?, answer, schedule).await,
    }
}

fn came_out(exercise: &Exercise, graded: Graded, log: Vec<Event>) -> (Outcome, Vec<Checked>, Vec<Event>) {
    let rules = format!("the rules of {:?}", exercise.title);
    match graded {
        Graded::Passed { .. } => {
            let (expected, observed) = ("none is broken".to_owned(), "none was".to_owned());
            let held = Checked { what: rules, expected, observed, holds: true, first_event: None };
            (Outcome::Held, vec![held], log)
        }
        Graded::Failed(failure) => {
            let broken = Checked {
                what: failure.reason,
                expected: failure.expected,
                observed: failure.observed,
                holds: false,
                first_event: Some(failure.at),
            };
            (Outcome::Failed, vec![broken], failure.evidence)
        }
        Graded::YourError(mistake) => {
            let place = mistake.line.map_or(String::new(), |line| format!(" in line {line}"));
            (Outcome::BadScenario(format!("an error in the answer{place}: {}", mistake.message)), Vec::new(), log)
        }
        Graded::LabFailed { why } => (Outcome::LabFailed(why), Vec::new(), log),
    }
}
