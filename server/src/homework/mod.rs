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
//! | [`graded`], [`stop`], `starved` | what a play comes to, why it stops, and whose fault that is |
//! | `kept` | what was handed in is kept |
//! | `searched` | exercise 3: the search's shortest way, as a log |
//! | `arithmetic`, `break_it`, `choose` | exercises 6, 7 and 8, played on a lab |
//! | `from_file`, `replay` | a schedule that stands in a scenario file |
//! | [`cli`] | `aegis grade` |

mod arithmetic;
mod break_it;
mod choose;
pub mod claim;
pub mod cli;
mod evidence;
pub mod fence;
mod from_file;
mod graded;
mod kept;
pub mod lease;
mod play_lua;
mod play_sql;
pub mod release;
mod replay;
mod sandbox;
pub mod schedule;
mod searched;
mod sql;
mod starved;
mod stop;

use std::sync::Arc;

use locks::homework::{Exercise, Graded, Mistake};
use tokio::sync::{OnceCell, Semaphore};

use crate::lab::{Lab, LabError};
pub use kept::keep;
pub use replay::replay;
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
        "keep" => return searched::grade(text),
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

/// The exercises in SQL.
const IN_SQL: [&sql::Task; 3] = [&lease::TASK, &claim::TASK, &fence::TASK];

fn in_sql(exercise: &Exercise) -> Option<&'static sql::Task> {
    IN_SQL.into_iter().find(|task| task.exercise.slug == exercise.slug)
}

async fn on_stores(lab: &Lab, exercise: &'static Exercise, text: &str) -> Result<Graded, LabError> {
    match in_sql(exercise) {
        Some(task) => sql::grade(lab, lab.homework().for_sql(lab).await?, task, text).await,
        None => release::grade(lab, lab.homework().for_lua().await?, text).await,
    }
}

impl Homework {
    async fn for_sql(&self, lab: &Lab) -> Result<&postgres::Workshop, LabError> {
        self.postgres.get_or_try_init(|| postgres::Workshop::open(lab)).await
    }

    async fn for_lua(&self) -> Result<&redis::Workshop, LabError> {
        self.redis.get_or_try_init(|| async { redis::Workshop::open() }).await
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
    use app::homework::content::Text;
    use locks::scenario::{Problem, Scenario};

    use super::evidence::{About, Evidence};
    use super::from_file::{self, Known};
    use super::graded::Watch;
    use super::play_lua::Scripts;
    use super::schedule::Schedule;

    /// What is printed is played as what it was.
    #[test]
    fn every_schedule_reads_back_from_its_file() {
        let mut read = 0;
        let mut check = |exercise, schedules: Vec<Schedule>, about: &About| {
            let known = Known { about, schedules: &schedules };
            for schedule in &schedules {
                let text = Evidence::new(exercise, schedule, about, "answer", &Watch::default()).steps_as_file();
                let back = Scenario::parse(&text).unwrap_or_else(|problems| {
                    panic!("{}\n{text}", Problem::render_all(&problems, &schedule.name));
                });
                let steps = from_file::steps(&back, &known).unwrap_or_else(|what| panic!("{what}\n{text}"));
                assert_eq!(steps, schedule.steps, "{text}");
                read += 1;
            }
        };
        for task in super::IN_SQL {
            check(task.exercise, (task.schedules)(), &task.about);
        }
        check(&locks::homework::release::EXERCISE, super::release::schedules(Scripts::MOST), &super::release::ABOUT);
        assert!(read > 300, "{read}");
    }

    /// A line of the list may stand for several: one number is told, and it is what a submission that passes is told.
    #[test]
    fn the_text_says_how_many_schedules_there_are() {
        let says = |slug: &str, count: usize| {
            let text = Text::of(slug).unwrap();
            let (_, last) = text.schedules.last().unwrap();
            assert!(last.contains(&format!(" {count} schedules")), "{slug}: {count}, and it says {last:?}");
        };
        for task in super::IN_SQL {
            says(task.exercise.slug, (task.schedules)().len());
        }
        says(locks::homework::release::EXERCISE.slug, super::release::schedules(1).len());
        assert_eq!(super::release::schedules(3).len(), super::release::schedules(1).len() + 2);
    }
}
