//! What learners write in the homework: the last draft of each exercise, and everything that was handed in, with
//! its result. The log of a schedule that failed is a run like every other, and is kept as one.

use chrono::{DateTime, Utc};
use locks::homework::Graded;
use serde_json::Value;
use sqlx::FromRow;

use super::Control;
use crate::lab::LabError;

/// A draft, as it was saved last.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct Draft {
    /// The exercise, by name.
    pub exercise: String,
    /// What was written.
    pub text: String,
    /// When.
    pub saved_at: DateTime<Utc>,
}

/// Something that was handed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Its number, which grows with time.
    pub id: i64,
    /// The exercise, by name.
    pub exercise: String,
    /// What was written.
    pub text: String,
    /// What came of it; without a log.
    pub graded: Graded,
    /// When.
    pub submitted_at: DateTime<Utc>,
}

/// How far somebody is with an exercise.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct Standing {
    /// The exercise, by name.
    pub exercise: String,
    /// How often something was handed in.
    pub submissions: i64,
    /// How many of them count: all but those at which the lab failed.
    pub attempts: i64,
    /// The best that passed: the least score, the first of those. Which of all submissions it is, from 1.
    pub best: Option<i64>,
    /// In how many schedules no violation of it was seen.
    pub schedules: Option<i32>,
    /// Its score, where answers have one.
    pub score: Option<i32>,
    /// When it was first passed.
    pub passed_at: Option<DateTime<Utc>>,
}

#[derive(FromRow)]
struct Stored {
    id: i64,
    exercise: String,
    text: String,
    graded: Value,
    run: Option<String>,
    submitted_at: DateTime<Utc>,
}

const SEEN: &str = "insert into learners (id) values ($1) on conflict (id) do update set seen_at = now()";

impl Control {
    /// Save what a learner is writing, in the place of what was before.
    pub async fn save_draft(&self, learner: &str, exercise: &str, text: &str) -> Result<(), LabError> {
        sqlx::query(SEEN).bind(learner).execute(self.pool()).await?;
        sqlx::query(
            "insert into homework_drafts (learner, exercise, text) values ($1, $2, $3) \
             on conflict (learner, exercise) do update set text = excluded.text, saved_at = now()",
        )
        .bind(learner)
        .bind(exercise)
        .bind(storable(text))
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// A learner's draft of an exercise.
    pub async fn draft(&self, learner: &str, exercise: &str) -> Result<Option<Draft>, LabError> {
        let draft = "select exercise, text, saved_at from homework_drafts where learner = $1 and exercise = $2";
        Ok(sqlx::query_as(draft).bind(learner).bind(exercise).fetch_optional(self.pool()).await?)
    }

    /// Keep what was handed in with what came of it; its number. `run` is the run as which the log of a failure was
    /// stored, and is stored before.
    pub async fn keep_submission(
        &self,
        learner: &str,
        exercise: &str,
        text: &str,
        graded: Graded,
        run: Option<&str>,
    ) -> Result<i64, LabError> {
        let score = match &graded {
            Graded::Passed { score, .. } => score.and_then(|score| i32::try_from(score).ok()),
            _ => None,
        };
        let result = graded.name();
        let graded = serde_json::to_string(&graded.kept_as(None)).map_err(|error| LabError::Lab(error.to_string()))?;
        sqlx::query(SEEN).bind(learner).execute(self.pool()).await?;
        Ok(sqlx::query_scalar(
            "insert into homework_submissions (learner, exercise, text, result, graded, run, score) \
             values ($1, $2, $3, $4, $5::jsonb, $6, $7) returning id",
        )
        .bind(learner)
        .bind(exercise)
        .bind(storable(text))
        .bind(result)
        // A database's JSON holds every character but this one.
        .bind(graded.replace("\\u0000", "\\ufffd"))
        .bind(run)
        .bind(score)
        .fetch_one(self.pool())
        .await?)
    }

    /// What a learner handed in for an exercise, the latest first.
    pub async fn submissions(&self, learner: &str, exercise: &str, limit: u32) -> Result<Vec<Submission>, LabError> {
        let rows = sqlx::query_as::<_, Stored>(
            "select id, exercise, text, graded, run, submitted_at from homework_submissions \
             where learner = $1 and exercise = $2 order by id desc limit $3",
        );
        let rows = rows.bind(learner).bind(exercise).bind(i64::from(limit)).fetch_all(self.pool()).await?;
        rows.into_iter().map(read).collect()
    }

    /// One of them, by number.
    pub async fn submission(&self, learner: &str, id: i64) -> Result<Option<Submission>, LabError> {
        let row = sqlx::query_as::<_, Stored>(
            "select id, exercise, text, graded, run, submitted_at from homework_submissions \
             where learner = $1 and id = $2",
        );
        row.bind(learner).bind(id).fetch_optional(self.pool()).await?.map(read).transpose()
    }

    /// How far a learner is with each exercise that they handed something in for.
    pub async fn homework(&self, learner: &str) -> Result<Vec<Standing>, LabError> {
        Ok(sqlx::query_as(
            "with numbered as ( \
                 select *, row_number() over (partition by exercise order by id) as number \
                 from homework_submissions where learner = $1 \
             ), \
             top as ( \
                 select distinct on (exercise) exercise, number as best, (graded->>'schedules')::int as schedules, score \
                 from numbered where result = 'passed' order by exercise, score nulls last, id \
             ) \
             select exercise, count(*) as submissions, \
                    count(*) filter (where result <> 'lab_failed') as attempts, \
                    best, schedules, top.score, \
                    min(submitted_at) filter (where result = 'passed') as passed_at \
             from numbered left join top using (exercise) \
             group by exercise, best, schedules, top.score order by exercise",
        )
        .bind(learner)
        .fetch_all(self.pool())
        .await?)
    }
}

fn read(stored: Stored) -> Result<Submission, LabError> {
    let Stored { id, exercise, text, graded, run, submitted_at } = stored;
    let graded: Graded = serde_json::from_value(graded).map_err(|error| LabError::Lab(error.to_string()))?;
    Ok(Submission { id, exercise, text, graded: graded.kept_as(run), submitted_at })
}

/// A database's text holds every character but the byte 0, which no submission that is graded has.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
