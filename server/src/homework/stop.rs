//! Why the play of a schedule stops before its end.

use locks::homework::Mistake;

use crate::lab::LabError;

/// A rule of the exercise was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule; with the schedule it names the reason.
    pub rule: &'static str,
    /// What was expected.
    pub expected: String,
    /// What was observed.
    pub observed: String,
}

impl Violation {
    /// That rule, what was expected, what was observed.
    pub fn new(rule: &'static str, expected: impl Into<String>, observed: impl Into<String>) -> Violation {
        Violation { rule, expected: expected.into(), observed: observed.into() }
    }
}

/// See the module.
#[derive(Debug)]
pub enum Stop {
    /// A rule was broken.
    Violated(Violation),
    /// What was written does not run.
    Mistake(Mistake),
    /// The store ended, and what was written was running.
    Died,
    /// The lab failed.
    Lab(String),
}

impl From<LabError> for Stop {
    fn from(error: LabError) -> Stop {
        Stop::Lab(error.to_string())
    }
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Stop {
        Stop::Violated(violation)
    }
}

/// A schedule's name for a rule: a stable key, and a sentence for the learner.
pub type Reason = (&'static str, &'static str);
