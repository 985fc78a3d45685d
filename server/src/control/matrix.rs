//! What learners said of cells of the matrix, and what was measured for them.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::FromRow;

use super::Control;
use crate::lab::LabError;

/// What a learner said of a cell.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct Prediction {
    /// Its row.
    pub fault: String,
    /// Its column.
    pub strategy: String,
    /// What the sink checks, or `none`.
    pub guard: String,
    /// That it is covered.
    pub covered: bool,
    /// When.
    pub said_at: DateTime<Utc>,
}

/// What was measured of a cell, or of a line of a race.
#[derive(Clone, Debug, PartialEq, FromRow)]
pub struct MeasuredRow {
    /// A fault by its name, or the run whose scenario is raced.
    pub script: String,
    /// Under which strategy.
    pub strategy: String,
    /// Behind which guard, or `none`.
    pub guard: String,
    /// The word, in kebab-case.
    pub coverage: String,
    /// Why it is inconclusive.
    pub why: Option<String>,
    /// What was counted.
    pub figures: Option<Value>,
    /// The run behind it.
    pub run: Option<String>,
}

impl Control {
    /// Keep what a learner says of a cell; what was said of it before is replaced. False: the cell was shown to
    /// them already, and what they said before that stays.
    pub async fn predict(
        &self,
        learner: &str,
        fault: &str,
        strategy: &str,
        guard: &str,
        covered: bool,
    ) -> Result<bool, LabError> {
        let kept = sqlx::query(
            "with seen as (insert into learners (id) values ($1) on conflict (id) do update set seen_at = now()) \
             insert into predictions (learner, fault, strategy, guard, covered) \
             select $1, $2, $3, $4, $5 where not exists ( \
                 select from measured where learner = $1 and script = $2 and strategy = $3 and guard = $4 \
                                        and coverage <> 'inconclusive') \
             on conflict (learner, fault, strategy, guard) do update \
             set covered = excluded.covered, said_at = excluded.said_at",
        )
        .bind(learner)
        .bind(fault)
        .bind(strategy)
        .bind(guard)
        .bind(covered)
        .execute(self.pool())
        .await?;
        Ok(kept.rows_affected() > 0)
    }

    /// Everything that a learner said.
    pub async fn predictions(&self, learner: &str) -> Result<Vec<Prediction>, LabError> {
        Ok(sqlx::query_as("select fault, strategy, guard, covered, said_at from predictions where learner = $1")
            .bind(learner)
            .fetch_all(self.pool())
            .await?)
    }

    /// Keep what was measured, in the place of what was before.
    pub async fn keep_measured(&self, learner: &str, row: &MeasuredRow) -> Result<(), LabError> {
        sqlx::query(
            "with seen as (insert into learners (id) values ($1) on conflict (id) do update set seen_at = now()) \
             insert into measured (learner, script, strategy, guard, coverage, why, figures, run) \
             values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (learner, script, strategy, guard) do update \
             set coverage = excluded.coverage, why = excluded.why, figures = excluded.figures, run = excluded.run, \
                 measured_at = excluded.measured_at",
        )
        .bind(learner)
        .bind(&row.script)
        .bind(&row.strategy)
        .bind(&row.guard)
        .bind(&row.coverage)
        .bind(&row.why)
        .bind(&row.figures)
        .bind(&row.run)
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// Everything that was measured for a learner.
    pub async fn measured(&self, learner: &str) -> Result<Vec<MeasuredRow>, LabError> {
        Ok(sqlx::query_as(
            "select script, strategy, guard, coverage, why, figures, run from measured where learner = $1",
        )
        .bind(learner)
        .fetch_all(self.pool())
        .await?)
    }
}
