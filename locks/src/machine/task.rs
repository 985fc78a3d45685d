//! The task's machine, as the replica sees it.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

/// Where an attempt stands.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    BorshSerialize,
    BorshDeserialize,
    Default,
)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// The timer is set.
    #[default]
    Scheduled,
    /// The slot is due, nothing was asked yet.
    Due,
    /// The lock was asked for.
    Acquiring,
    /// Inside the critical section.
    Running,
    /// Outside again; the lock is being given back.
    Releasing,
    /// Final: the effect was accepted, whatever became of the release.
    Executed,
    /// Final: never entered (busy, no quorum, no answer in time).
    Skipped,
    /// Final: entered, and stopped without effect because the grant was over.
    Lost,
    /// Final: the handler failed, a guard rejected the effect, or its answer is unknown.
    Failed,
}

/// How an attempt ended; `Open` if it did not.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The effect was accepted.
    Executed,
    /// Never entered.
    Skipped,
    /// Entered, stopped without effect because the grant was over.
    Lost,
    /// The handler failed, a guard rejected the effect, or its answer is unknown.
    Failed,
    /// Not final when the run ended.
    Open,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Outcome; 5] = [Outcome::Executed, Outcome::Skipped, Outcome::Lost, Outcome::Failed, Outcome::Open];

    /// The name in scenario files and logs.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Executed => "executed",
            Outcome::Skipped => "skipped",
            Outcome::Lost => "lost",
            Outcome::Failed => "failed",
            Outcome::Open => "open",
        }
    }

    /// The task state that an attempt with this outcome ended in; `None` for an open one.
    pub fn state(self) -> Option<TaskState> {
        match self {
            Outcome::Executed => Some(TaskState::Executed),
            Outcome::Skipped => Some(TaskState::Skipped),
            Outcome::Lost => Some(TaskState::Lost),
            Outcome::Failed => Some(TaskState::Failed),
            Outcome::Open => None,
        }
    }
}

impl TaskState {
    /// The name that pages show.
    pub fn name(self) -> &'static str {
        match self {
            TaskState::Scheduled => "Scheduled",
            TaskState::Due => "Due",
            TaskState::Acquiring => "Acquiring",
            TaskState::Running => "Running",
            TaskState::Releasing => "Releasing",
            TaskState::Executed => "Executed",
            TaskState::Skipped => "Skipped",
            TaskState::Lost => "Lost",
            TaskState::Failed => "Failed",
        }
    }

    /// Is this the end of an attempt?
    pub fn is_final(self) -> bool {
        matches!(self, TaskState::Executed | TaskState::Skipped | TaskState::Lost | TaskState::Failed)
    }

    /// May an attempt move from this state to that one?
    pub fn may_become(self, to: TaskState) -> bool {
        TASK_TRANSITIONS.iter().any(|(from, _, into)| *from == self && *into == to)
    }
}

/// Legal moves of a task: from, on, to.
pub const TASK_TRANSITIONS: &[(TaskState, &str, TaskState)] = &[
    (TaskState::Scheduled, "timer fires", TaskState::Due),
    (TaskState::Due, "lock asked for", TaskState::Acquiring),
    (TaskState::Due, "no lock needed", TaskState::Running),
    (TaskState::Due, "cancelled, or the slot before still runs", TaskState::Skipped),
    (TaskState::Acquiring, "granted", TaskState::Running),
    (TaskState::Acquiring, "busy, no quorum or no answer", TaskState::Skipped),
    (TaskState::Running, "left", TaskState::Releasing),
    (TaskState::Releasing, "effect accepted", TaskState::Executed),
    (TaskState::Releasing, "grant over, no effect", TaskState::Lost),
    (TaskState::Releasing, "handler failed, effect rejected or unanswered", TaskState::Failed),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_states_have_no_way_out() {
        for (from, on, to) in TASK_TRANSITIONS {
            assert!(!from.is_final(), "{from:?} --{on}--> {to:?}");
        }
    }

    #[test]
    fn every_state_but_the_first_is_reached() {
        use TaskState::*;
        for state in [Due, Acquiring, Running, Releasing, Executed, Skipped, Lost, Failed] {
            assert!(TASK_TRANSITIONS.iter().any(|(_, _, to)| *to == state), "{state:?}");
        }
    }
}
