//! Grades a statement: every schedule of an exercise, forced ones first, to the first that stops.

use locks::event::Event;
use locks::homework::{Exercise, Graded, Mistake};

use super::evidence::{About, Evidence};
use super::graded::{Watch, came_to, within};
use super::play_sql::{Oracle, Tables, play};
use super::sandbox::postgres::{Sandbox, Workshop};
use super::schedule::Schedule;
use super::stop::{Reason, Stop};
use crate::lab::{Lab, LabError};

/// An exercise in SQL.
pub struct Task {
    /// As the catalog has it.
    pub exercise: &'static Exercise,
    /// How its schedules are shown.
    pub about: About,
    /// Its tables.
    pub tables: Tables,
    /// All schedules, in order.
    pub schedules: fn() -> Vec<Schedule>,
    /// A model that nothing has happened to yet.
    pub oracle: fn() -> Box<dyn Oracle>,
    /// What it is called that a schedule breaks a rule.
    pub reason: fn(&str, &str) -> Reason,
}

/// Grade a submission.
pub async fn grade(lab: &Lab, workshop: &Workshop, task: &Task, text: &str) -> Result<Graded, LabError> {
    let watch = Watch::default();
    let mut sandbox = Sandbox::open(lab, workshop, task.tables.schema).await?;
    let graded = within(&watch, all(&mut sandbox, task, text, &watch)).await;
    sandbox.close().await;
    match graded {
        Ok(graded) => Ok(graded),
        Err(schedule) => model_lives(lab, workshop, task, &schedule).await,
    }
}

/// Play that schedule alone; the log too if no rule was broken.
pub async fn alone(
    lab: &Lab,
    workshop: &Workshop,
    task: &Task,
    text: &str,
    schedule: Schedule,
) -> Result<(Graded, Vec<Event>), LabError> {
    let mut sandbox = Sandbox::open(lab, workshop, task.tables.schema).await?;
    let (played, evidence) = one(&mut sandbox, task, text, &schedule, &Watch::default()).await;
    sandbox.close().await;
    if played.is_ok() {
        return Ok((Graded::passed(1), evidence.ended()));
    }
    Ok(match came_to(played, schedule, evidence, task.reason) {
        Ok(graded) => (graded.unwrap_or(Graded::passed(1)), Vec::new()),
        Err(schedule) => (model_lives(lab, workshop, task, &schedule).await?, Vec::new()),
    })
}

/// `Err`: in that schedule the server ended.
async fn all(sandbox: &mut Sandbox, task: &Task, text: &str, watch: &Watch) -> Result<Graded, Schedule> {
    let schedules = (task.schedules)();
    let count = schedules.len() as u32;
    for schedule in schedules {
        let (played, evidence) = one(sandbox, task, text, &schedule, watch).await;
        if let Some(graded) = came_to(played, schedule, evidence, task.reason)? {
            return Ok(graded);
        }
    }
    Ok(Graded::passed(count))
}

/// Play a schedule against a model of its own.
async fn one(
    sandbox: &mut Sandbox,
    task: &Task,
    text: &str,
    schedule: &Schedule,
    watch: &Watch,
) -> (Result<(), Stop>, Evidence) {
    let mut evidence = Evidence::new(task.exercise, schedule, &task.about, text, watch);
    let mut oracle = (task.oracle)();
    let played = play(sandbox, &task.tables, text, &schedule.steps, &mut *oracle, &mut evidence).await;
    (played, evidence)
}

/// A server ended, or lost its sessions. It was the statement's doing if the model's plays through the same
/// schedule on another.
async fn model_lives(lab: &Lab, workshop: &Workshop, task: &Task, schedule: &Schedule) -> Result<Graded, LabError> {
    let mut sandbox = Sandbox::open(lab, workshop, task.tables.schema).await?;
    let (played, _) = one(&mut sandbox, task, task.exercise.model, schedule, &Watch::default()).await;
    sandbox.close().await;
    Ok(match played {
        Ok(()) => Graded::YourError(Mistake {
            message: "your statement ended its session or the whole server".to_owned(),
            schedule: Some(schedule.name.clone()),
            ..Mistake::default()
        }),
        Err(stop) => Graded::LabFailed { why: format!("the attempt's Postgres ends whatever runs in it: {stop:?}") },
    })
}

/// The part of a schedule's name before a dash: several of one kind are told apart behind it.
pub fn kind(schedule: &str) -> &str {
    schedule.split('-').next().unwrap_or(schedule)
}

/// A schedule.
pub fn schedule(name: impl Into<String>, title: impl Into<String>, steps: Vec<super::schedule::Step>) -> Schedule {
    Schedule { name: name.into(), title: title.into(), steps }
}
