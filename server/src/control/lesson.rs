//! What learners said and proved in the lesson.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::FromRow;

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
        let kept = sqlx::query(
            "insert into lesson_proofs (learner, mark, run, event, proved_at) values ($1, $2, $3, $4, $5) \
             on conflict (learner, mark) do nothing",
        )
        .bind(learner)
        .bind(&row.mark)
        .bind(&row.run)
        .bind(row.event)
        .bind(row.proved_at)
        .execute(self.pool())
        .await?;
        Ok(kept.rows_affected() > 0)
    }

    /// Everything that a learner said.
    pub async fn answers(&self, learner: &str) -> Result<Vec<AnswerRow>, LabError> {
        Ok(sqlx::query_as("select question, answer, late, said_at from lesson_answers where learner = $1 order by 1")
            .bind(learner)
            .fetch_all(self.pool())
            .await?)
    }

    /// Everything that a learner's runs proved.
    pub async fn proofs(&self, learner: &str) -> Result<Vec<ProofRow>, LabError> {
        Ok(sqlx::query_as("select mark, run, event, proved_at from lesson_proofs where learner = $1 order by 1")
            .bind(learner)
            .fetch_all(self.pool())
            .await?)
    }
}
