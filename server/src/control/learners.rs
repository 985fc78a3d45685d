//! Learners and their progress.

use serde_json::Value;

use super::Control;
use crate::lab::LabError;

impl Control {
    /// Take note that this learner is here.
    pub async fn see_learner(&self, learner: &str) -> Result<(), LabError> {
        sqlx::query("insert into learners (id) values ($1) on conflict (id) do update set seen_at = now()")
            .bind(learner)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// Everything that is kept of a learner, by key.
    pub async fn progress(&self, learner: &str) -> Result<Vec<(String, Value)>, LabError> {
        Ok(sqlx::query_as("select key, value from progress where learner = $1 order by key")
            .bind(learner)
            .fetch_all(self.pool())
            .await?)
    }

    /// Keep a value of a learner.
    pub async fn set_progress(&self, learner: &str, key: &str, value: &Value) -> Result<(), LabError> {
        sqlx::query(
            "with seen as (insert into learners (id) values ($1) on conflict (id) do update set seen_at = now()) \
             insert into progress (learner, key, value) values ($1, $2, $3) \
             on conflict (learner, key) do update set value = excluded.value, updated_at = now()",
        )
        .bind(learner)
        .bind(key)
        .bind(value)
        .execute(self.pool())
        .await?;
        Ok(())
    }
}
