//! Grading of what learners wrote for real stores: each submission in a sandbox of its own, under forced schedules and
//! then seeded ones, judged against a model by what the grader itself sent, heard and read. The same
//! submission always gets the same result; nothing of it outlives its grading.
//!
//! | module | what it holds |
//! |---|---|
//! | [`schedule`] | schedules as data |
//! | [`play_sql`], [`play_lua`] | the interpreters, one a store |
//! | [`evidence`] | the event log of a schedule |
//! | [`sql`] | grading of a statement |
//! | [`release`], [`lease`], [`claim`], [`fence`] | exercises 1, 2, 4, 5: schedules, model, names of reasons |
//! | [`sandbox`] | the stores of one attempt |
//! | [`graded`], [`stop`] | what a play comes to, and why it stops |
//! | `kept` | what was handed in is kept |
//! | `arithmetic`, `break_it`, `choose` | exercises 6, 7 and 8, played on a lab |
//! | [`cli`] | `aegis grade` |

mod arithmetic;
mod break_it;
mod choose;
pub mod claim;
pub mod cli;
mod evidence;
pub mod fence;
mod graded;
mod kept;
pub mod lease;
mod play_lua;
mod play_sql;
pub mod release;
mod sandbox;
pub mod schedule;
mod sql;
mod stop;

use std::sync::Arc;

use locks::homework::{Exercise, Graded, Mistake};
use tokio::sync::{OnceCell, Semaphore};

use crate::lab::{Lab, LabError};
pub use kept::keep;
use sandbox::{postgres, redis};

/// So many submissions are graded at a time; the others wait their turn.
const AT_ONCE: usize = 2;
/// So many may be graded or wait.
const MOST: usize = 20;

/// What a lab keeps from one submission to the next: the means to make sandboxes, and whose turn it is.
pub struct Homework {
    turns: Semaphore,
    places: Semaphore,
    postgres: OnceCell<postgres::Workshop>,
    redis: OnceCell<redis::Workshop>,
}

impl Default for Homework {
    fn default() -> Self {
        let (turns, places) = (Semaphore::new(AT_ONCE), Semaphore::new(MOST));
        Homework { turns, places, postgres: OnceCell::new(), redis: OnceCell::new() }
    }
}

/// Grade a submission.
pub async fn grade(lab: &Arc<Lab>, exercise: &'static Exercise, submission: &[u8]) -> Graded {
    let text = match readable(exercise, submission) {
        Ok(text) => text,
        Err(mistake) => return Graded::YourError(mistake),
    };
    // These need no sandbox: nothing that was written is run by a store.
    match exercise.slug {
        "keep" => return locks::homework::keep::grade(text),
        "redlock" => return arithmetic::grade(lab, text).await,
        "break" => return break_it::grade(lab, text).await,
        "choose" => return choose::grade(lab, text).await,
        _ => {}
    }
    let failed = |why: String| Graded::LabFailed { why };
    let Ok(_place) = lab.homework().places.try_acquire() else {
        return failed(format!("{MOST} submissions are being graded or wait already. Try again shortly"));
    };
    let Ok(_turn) = lab.homework().turns.acquire().await else { return failed("the lab is being closed".to_owned()) };
    let (lab, text) = (lab.clone(), text.to_owned());
    // A task of its own, so that whoever gives up leaves no sandbox half made.
    match tokio::spawn(async move { on_stores(&lab, exercise, &text).await }).await {
        Ok(Ok(graded)) => graded,
        Ok(Err(error)) => failed(error.to_string()),
        Err(error) => failed(format!("grading broke off: {error}")),
    }
}

async fn on_stores(lab: &Lab, exercise: &'static Exercise, text: &str) -> Result<Graded, LabError> {
    let homework = lab.homework();
    match exercise.slug {
        "release" => {
            let workshop = homework.redis.get_or_try_init(|| async { redis::Workshop::open() }).await?;
            release::grade(lab, workshop, text).await
        }
        "lease" | "claim" | "fence" => {
            let task = match exercise.slug {
                "lease" => &lease::TASK,
                "claim" => &claim::TASK,
                _ => &fence::TASK,
            };
            let workshop = homework.postgres.get_or_try_init(|| postgres::Workshop::open(lab)).await?;
            sql::grade(lab, workshop, task, text).await
        }
        other => Err(LabError::Lab(format!("the exercise {other} is not graded on stores"))),
    }
}

/// What no store is given: too much, nothing, bytes that are no text, and the byte 0, at which some stop reading.
fn readable<'a>(exercise: &Exercise, submission: &'a [u8]) -> Result<&'a str, Mistake> {
    let refused = |message: String| Err(Mistake { message, ..Mistake::default() });
    let most = exercise.language.longest();
    if submission.len() > most {
        return refused(format!("this is too long: {} bytes, and at most {most} are read", submission.len()));
    }
    let text = match std::str::from_utf8(submission) {
        Ok(text) => text,
        Err(error) => return refused(format!("this is no text (UTF-8) from byte {} on", error.valid_up_to() + 1)),
    };
    if let Some(at) = text.find('\0') {
        return refused(format!("byte {} is 0, and no text has that", at + 1));
    }
    if text.trim().is_empty() {
        return refused("there is nothing here".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use locks::scenario::Scenario;

    use super::evidence::Evidence;
    use super::graded::Watch;
    use super::schedule::Schedule;

    /// Only the one thing is wrong with them that `aegis run` cannot do.
    #[test]
    fn every_schedule_reads_as_a_scenario_file() {
        let mut read = 0;
        let mut check = |exercise, schedules: Vec<Schedule>, about| {
            for schedule in schedules {
                let text = Evidence::new(exercise, &schedule, about, &Watch::default()).steps_as_file();
                let problems = Scenario::parse(&text).err().unwrap_or_default();
                let others: Vec<_> =
                    problems.iter().filter(|problem| !problem.to_string().contains("not supported yet")).collect();
                assert!(others.is_empty(), "{}: {others:?}\n{text}", schedule.name);
                read += 1;
            }
        };
        for task in [&super::lease::TASK, &super::claim::TASK, &super::fence::TASK] {
            check(task.exercise, (task.schedules)(), &task.about);
        }
        check(&locks::homework::release::EXERCISE, super::release::schedules(4), &super::release::ABOUT);
        assert!(read > 300, "{read}");
    }
}
