//! What grading comes to. Four results that are never confused: passed, failed, an error in the learner's code,
//! an error of the lab. Grading never says "correct": it says in how many schedules nothing was violated.

use serde::{Deserialize, Serialize};

use crate::event::Event;

/// What came of one submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Graded {
    /// No violation.
    Passed {
        /// In so many schedules.
        schedules: u32,
        /// How good it is where answers differ (moves); less is better.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<u32>,
        /// What else is to be said of it: how much was explored, under which bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// A schedule was violated.
    Failed(Box<Failure>),
    /// What was written does not run.
    YourError(Mistake),
    /// The lab failed. It is not the learner's fault, and nothing is lost.
    LabFailed {
        /// Why, in words.
        why: String,
    },
}

/// The first schedule that was violated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Its name, stable: `3`, `5-2`, `seed-17`.
    pub schedule: String,
    /// What happens in it, in a line.
    pub title: String,
    /// What went wrong, a stable key: `freed another's`.
    pub reason: String,
    /// The same in a sentence or two, for the learner.
    pub why: String,
    /// What was expected.
    pub expected: String,
    /// What was observed.
    pub observed: String,
    /// The schedule's steps, as a scenario file has them.
    pub steps: String,
    /// The log of a run of the schedule: playable like every other. Empty where the exercise has none, and
    /// where only [`Failure::run`] is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Event>,
    /// The event of that log that broke it; 0: none.
    pub at: u64,
    /// The run as which the evidence is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// What does not run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    /// The store's own words, or the reader's.
    pub message: String,
    /// The line, from 1, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The schedule that was going on, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// What was still running when its time was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_running: Option<String>,
    /// SQLSTATE, or the first word of Redis' error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

#[cfg(feature = "scenario")]
impl Mistake {
    /// What a reader of TOML found.
    pub(super) fn of(problem: crate::scenario::Problem) -> Mistake {
        let message = match problem.allowed.as_str() {
            "" => problem.what,
            allowed => format!("{} (allowed: {allowed})", problem.what),
        };
        let place = |n: usize| u32::try_from(n).ok();
        Mistake { message, line: place(problem.line), column: place(problem.column), ..Mistake::default() }
    }
}

impl Graded {
    /// No violation in so many schedules.
    pub fn passed(schedules: u32) -> Graded {
        Graded::Passed { schedules, score: None, said: None }
    }

    /// Something that does not run, wherever that is.
    pub fn mistake(message: impl Into<String>) -> Graded {
        Graded::YourError(Mistake { message: message.into(), ..Mistake::default() })
    }

    /// Did it pass?
    pub fn is_passed(&self) -> bool {
        matches!(self, Graded::Passed { .. })
    }

    /// The result's name, as it is kept and counted.
    pub fn name(&self) -> &'static str {
        match self {
            Graded::Passed { .. } => "passed",
            Graded::Failed(_) => "failed",
            Graded::YourError(_) => "your_error",
            Graded::LabFailed { .. } => "lab_failed",
        }
    }

    /// The same without the log: as it is kept once the log is stored as that run.
    #[must_use]
    pub fn kept_as(mut self, run: Option<String>) -> Graded {
        if let Graded::Failed(failure) = &mut self {
            failure.evidence.clear();
            failure.run = run;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_read_back_what_is_written() {
        let failure = Failure {
            schedule: "3".to_owned(),
            title: "A's key expired, B holds".to_owned(),
            reason: "freed another's".to_owned(),
            why: "B's key is gone.".to_owned(),
            expected: "0".to_owned(),
            observed: "1".to_owned(),
            steps: String::new(),
            evidence: Vec::new(),
            at: 7,
            run: None,
        };
        for graded in [
            Graded::passed(212),
            Graded::Failed(Box::new(failure)),
            Graded::mistake("syntax error"),
            Graded::LabFailed { why: "no Redis".to_owned() },
        ] {
            let text = serde_json::to_string(&graded).unwrap();
            assert!(text.contains(&format!("\"result\":\"{}\"", graded.name())), "{text}");
            assert_eq!(serde_json::from_str::<Graded>(&text).unwrap(), graded);
        }
    }
}
