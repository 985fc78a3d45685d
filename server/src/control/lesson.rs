//! What learners said and proved in the lesson.

use chrono::{DateTime, Utc};
use locks::lesson::Cell;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{FromRow, Postgres};

use super::Control;
use crate::lab::LabError;

/// What a learner said to a question.
#[derive(Clone, Debug, PartialEq, Eq, FromRow, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerRow {
    /// By step and question.
    pub question: String,
    /// As the form has it.
    pub answer: String,
    /// After a run of the step had begun.
    pub late: bool,
    /// When.
    pub said_at: DateTime<Utc>,
}

/// What a run proved.
#[derive(Clone, Debug, PartialEq, Eq, FromRow, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofRow {
    /// By step, task and mark.
    pub mark: String,
    /// The run.
    pub run: String,
    /// The event that completes the proof.
    pub event: i64,
    /// When.
    pub proved_at: DateTime<Utc>,
}

const SEEN: &str = "insert into learners (id) values ($1) on conflict (id) do update set seen_at = now()";

/// Keep a proof, unless its mark was proved before.
fn proof<'a>(learner: &'a str, row: &'a ProofRow) -> Query<'a, Postgres, PgArguments> {
    sqlx::query(
        "insert into lesson_proofs (learner, mark, run, event, proved_at) values ($1, $2, $3, $4, $5) \
         on conflict (learner, mark) do nothing",
    )
    .bind(learner)
    .bind(&row.mark)
    .bind(&row.run)
    .bind(row.event)
    .bind(row.proved_at)
}

impl Control {
    /// Keep what a learner says to a question; what was said to it before is replaced.
    pub async fn keep_answer(&self, learner: &str, row: &AnswerRow) -> Result<(), LabError> {
        sqlx::query(SEEN).bind(learner).execute(self.pool()).await?;
        sqlx::query(
            "insert into lesson_answers (learner, question, answer, late, said_at) values ($1, $2, $3, $4, $5) \
             on conflict (learner, question) do update \
             set answer = excluded.answer, late = excluded.late, said_at = excluded.said_at",
        )
        .bind(learner)
        .bind(&row.question)
        .bind(&row.answer)
        .bind(row.late)
        .bind(row.said_at)
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// Keep a proof; false if the mark was proved before.
    pub async fn keep_proof(&self, learner: &str, row: &ProofRow) -> Result<bool, LabError> {
        sqlx::query(SEEN).bind(learner).execute(self.pool()).await?;
        Ok(proof(learner, row).execute(self.pool()).await?.rows_affected() > 0)
    }

    /// Add what is not there yet: all of it or nothing.
    pub async fn add_lesson(&self, learner: &str, answers: &[AnswerRow], proofs: &[ProofRow]) -> Result<(), LabError> {
        let mut all = self.pool().begin().await?;
        sqlx::query(SEEN).bind(learner).execute(&mut *all).await?;
        for row in answers {
            sqlx::query(
                "insert into lesson_answers (learner, question, answer, late, said_at) values ($1, $2, $3, $4, $5) \
                 on conflict (learner, question) do nothing",
            )
            .bind(learner)
            .bind(&row.question)
            .bind(&row.answer)
            .bind(row.late)
            .bind(row.said_at)
            .execute(&mut *all)
            .await?;
        }
        for row in proofs {
            proof(learner, row).execute(&mut *all).await?;
        }
        Ok(all.commit().await?)
    }

    /// Everything that a learner said.
    pub async fn answers(&self, learner: &str) -> Result<Vec<AnswerRow>, LabError> {
        Ok(sqlx::query_as("select question, answer, late, said_at from lesson_answers where learner = $1 order by 1")
            .bind(learner)
            .fetch_all(self.pool())
            .await?)
    }

    /// The cells of the matrix that a learner predicted or measured, and lines of races.
    pub async fn lesson_cells(&self, learner: &str) -> Result<Vec<Cell>, LabError> {
        let rows: Vec<(String, String, String, Option<String>, bool)> = sqlx::query_as(
            "select coalesce(m.script, p.fault), coalesce(m.strategy, p.strategy), coalesce(m.guard, p.guard), \
                    m.coverage, coalesce(p.said_at < coalesce(m.measured_at, 'infinity'), false) \
             from (select * from measured where learner = $1) m \
             full join (select * from predictions where learner = $1) p \
               on p.fault = m.script and p.strategy = m.strategy and p.guard = m.guard",
        )
        .bind(learner)
        .fetch_all(self.pool())
        .await?;
        let cell = |(script, strategy, guard, coverage, predicted_first): (_, _, _, Option<String>, _)| {
            let covered = match coverage.as_deref() {
                Some("covered") => Some(true),
                Some("not-covered") => Some(false),
                _ => None,
            };
            Cell { script, strategy, guard, covered, predicted_first }
        };
        Ok(rows.into_iter().map(cell).collect())
    }

    /// Everything that a learner's runs proved.
    pub async fn proofs(&self, learner: &str) -> Result<Vec<ProofRow>, LabError> {
        Ok(sqlx::query_as("select mark, run, event, proved_at from lesson_proofs where learner = $1 order by 1")
            .bind(learner)
            .fetch_all(self.pool())
            .await?)
    }
}
