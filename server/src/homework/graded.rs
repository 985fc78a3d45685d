//! From where a play stopped to what the learner is told.

use std::time::Duration;

use locks::homework::{Failure, Graded, Mistake};
use tokio::time::timeout;

use super::evidence::Evidence;
use super::schedule::Schedule;
use super::stop::{Reason, Violation};

/// How long all schedules of a submission may take together. A right answer needs a few seconds.
pub const WHOLE_LIMIT: Duration = Duration::from_secs(60);

/// A schedule was violated.
pub fn failed(schedule: Schedule, reason: Reason, violation: Violation, evidence: Evidence) -> Graded {
    let (reason, why) = reason;
    let steps = evidence.steps_as_file();
    let (at, evidence) = evidence.violated(why);
    Graded::Failed(Box::new(Failure {
        schedule: schedule.name,
        title: schedule.title,
        reason: reason.to_owned(),
        why: why.to_owned(),
        expected: violation.expected,
        observed: violation.observed,
        steps,
        evidence,
        at,
        run: None,
    }))
}

/// Grade within the limit of all schedules.
pub async fn within<E>(grading: impl Future<Output = Result<Graded, E>>) -> Result<Graded, E> {
    timeout(WHOLE_LIMIT, grading).await.unwrap_or_else(|_| {
        Ok(Graded::YourError(Mistake {
            message: format!("all schedules together took more than {} s", WHOLE_LIMIT.as_secs()),
            still_running: Some("your submission, again and again: each time it took long".to_owned()),
            ..Mistake::default()
        }))
    })
}
