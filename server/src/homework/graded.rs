//! From where a play stopped to what the learner is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use locks::homework::{Failure, Graded, Mistake};
use tokio::time::timeout;

use super::evidence::Evidence;
use super::schedule::Schedule;
use super::stop::{Reason, Stop, Violation};

/// How long all schedules of a submission may take together. A right answer needs a few seconds.
const WHOLE_LIMIT: Duration = Duration::from_secs(90);
/// Of a right answer's time, this share at most passes while what was written runs, in percent; the rest is the
/// grader's own. Whoever takes more is slow, and not the machine.
const SLOW_PERCENT: u64 = 70;

/// How long what was written ran, of all schedules together.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<AtomicU64>);

impl Watch {
    /// It ran so many microseconds more.
    pub fn add(&self, us: u64) {
        self.0.fetch_add(us, Ordering::Relaxed);
    }
}

/// What playing a schedule came to: `None` if the next one is to be played. `Err`: its server ended.
pub fn came_to(
    played: Result<(), Stop>,
    schedule: Schedule,
    evidence: Evidence,
    reason: fn(&str, &str) -> Reason,
) -> Result<Option<Graded>, Schedule> {
    match played {
        Ok(()) => Ok(None),
        Err(Stop::Violated(violation)) => {
            let reason = reason(&schedule.name, violation.rule);
            Ok(Some(failed(schedule, reason, violation, evidence)))
        }
        Err(Stop::Mistake(mistake)) => {
            Ok(Some(Graded::YourError(Mistake { schedule: Some(schedule.name), ..mistake })))
        }
        Err(Stop::Died) => Err(schedule),
        Err(Stop::Lab(why)) => Ok(Some(Graded::LabFailed { why })),
    }
}

/// A schedule was violated.
fn failed(schedule: Schedule, reason: Reason, violation: Violation, evidence: Evidence) -> Graded {
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

/// Grade within the limit of all schedules. A machine that is too busy is nobody's mistake.
pub async fn within<E>(watch: &Watch, grading: impl Future<Output = Result<Graded, E>>) -> Result<Graded, E> {
    timeout(WHOLE_LIMIT, grading).await.unwrap_or_else(|_| Ok(overdue(watch.0.load(Ordering::Relaxed))))
}

/// The limit is over, and what was written ran for so many microseconds of it.
fn overdue(ran_us: u64) -> Graded {
    let whole = WHOLE_LIMIT.as_secs();
    if ran_us < WHOLE_LIMIT.as_micros() as u64 * SLOW_PERCENT / 100 {
        let why = format!("the machine is too busy: not all schedules were played within {whole} s");
        return Graded::LabFailed { why };
    }
    Graded::YourError(Mistake {
        message: format!("all schedules together took more than {whole} s"),
        still_running: Some("what you wrote, again and again: each time it took long".to_owned()),
        ..Mistake::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_nobodys_mistake() {
        assert_eq!(overdue(1_000_000).name(), "lab_failed");
        assert_eq!(overdue(80_000_000).name(), "your_error");
    }
}
