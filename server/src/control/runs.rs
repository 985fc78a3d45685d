//! Runs that ended, with verdict and log. A run is saved whole or not at all.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::FromRow;

use super::Control;
use crate::lab::LabError;

/// About how many bytes of a log go into one part: small enough to be read in pages.
const PART_BYTES: usize = 1 << 20;

/// A run, without its log.
#[derive(Clone, Debug, PartialEq, FromRow)]
pub struct StoredRun {
    /// 128 random bits, hexadecimal.
    pub id: String,
    /// The learner whose run it was.
    pub owner: Option<String>,
    /// The scenario's name, or `live`.
    pub name: String,
    /// The scenario's title.
    pub title: String,
    /// The lesson step, exercise or matrix cell that it belongs to.
    pub tag: Option<String>,
    /// SHA-256 of the scenario, hexadecimal.
    pub script: String,
    /// How replicas coordinated and what the sink checked, in order: `none, then pg-lease`.
    pub strategy: String,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: DateTime<Utc>,
    /// Why it ended.
    pub reason: String,
    /// What the judge found.
    pub verdict: Value,
    /// The set-up at its end.
    pub setup: Value,
    /// How many events its log has.
    pub events: i64,
    /// The scenario as a file.
    pub scenario: String,
}

impl Control {
    /// Save a run with its log, one JSON object a line. Saving one that is there already changes nothing.
    pub async fn save_run(&self, run: &StoredRun, log: &str) -> Result<(), LabError> {
        let mut transaction = self.pool().begin().await?;
        if let Some(owner) = &run.owner {
            sqlx::query("insert into learners (id) values ($1) on conflict (id) do nothing")
                .bind(owner)
                .execute(&mut *transaction)
                .await?;
        }
        let saved = sqlx::query(
            "insert into runs (id, owner, name, title, tag, script, strategy, started_at, ended_at, reason, verdict, \
                               setup, events, scenario) \
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
             on conflict (id) do nothing",
        )
        .bind(&run.id)
        .bind(&run.owner)
        .bind(&run.name)
        .bind(&run.title)
        .bind(&run.tag)
        .bind(&run.script)
        .bind(&run.strategy)
        .bind(run.started_at)
        .bind(run.ended_at)
        .bind(&run.reason)
        .bind(&run.verdict)
        .bind(&run.setup)
        .bind(run.events)
        .bind(&run.scenario)
        .execute(&mut *transaction)
        .await?;
        if saved.rows_affected() == 1 {
            for (part, events) in (1i32..).zip(parts(log)) {
                sqlx::query("insert into run_logs (run, part, events) values ($1, $2, $3)")
                    .bind(&run.id)
                    .bind(part)
                    .bind(events)
                    .execute(&mut *transaction)
                    .await?;
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    /// A run, without its log.
    pub async fn load_run(&self, id: &str) -> Result<Option<StoredRun>, LabError> {
        Ok(sqlx::query_as("select * from runs where id = $1").bind(id).fetch_optional(self.pool()).await?)
    }

    /// A run's log, one JSON object a line; `None` if there is no such run.
    pub async fn load_log(&self, id: &str) -> Result<Option<String>, LabError> {
        Ok(sqlx::query_scalar(
            "select coalesce((select string_agg(events, '' order by part) from run_logs where run = runs.id), '') \
             from runs where id = $1",
        )
        .bind(id)
        .fetch_optional(self.pool())
        .await?)
    }

    /// A learner's runs, the one that began last first, as the list says when each began.
    pub async fn list_runs(&self, owner: &str, limit: u32) -> Result<Vec<StoredRun>, LabError> {
        Ok(sqlx::query_as("select * from runs where owner = $1 order by started_at desc, ended_at desc, id limit $2")
            .bind(owner)
            .bind(i64::from(limit))
            .fetch_all(self.pool())
            .await?)
    }

    /// Delete a learner's run with its log. False: there is none of that number that is theirs.
    pub async fn delete_run(&self, owner: &str, id: &str) -> Result<bool, LabError> {
        let deleted = sqlx::query("delete from runs where id = $1 and owner = $2").bind(id).bind(owner);
        Ok(deleted.execute(self.pool()).await?.rows_affected() == 1)
    }
}

/// Cut a log at line ends.
fn parts(log: &str) -> Vec<&str> {
    let mut rest = log;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let most = rest.len().min(PART_BYTES);
        // A line longer than a part stays whole.
        let end = rest.as_bytes()[..most].iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        let end = end.or_else(|| rest.find('\n').map(|at| at + 1)).unwrap_or(rest.len());
        let end = if most == rest.len() { rest.len() } else { end };
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_at_lines_and_lose_nothing() {
        let line = format!("{}ä\n", "x".repeat(1000));
        let log = line.repeat(3000) + "the last, unterminated";
        let parts = parts(&log);
        assert!(parts.len() > 2);
        assert!(parts[..parts.len() - 1].iter().all(|part| part.ends_with('\n') && part.len() <= PART_BYTES));
        assert_eq!(parts.concat(), log);
        assert!(super::parts("").is_empty());
        let long = "y".repeat(PART_BYTES + 5) + "\nz\n";
        assert_eq!(super::parts(&long).concat(), long);
    }
}
