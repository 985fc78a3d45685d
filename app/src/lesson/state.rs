//! What is known of a learner: what they said, and what their runs proved.

use std::collections::BTreeMap;

use locks::lesson::{STEPS as TASKS, Task};

use super::content::{Lesson, STEPS};

/// What was said to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// As the form has it; several with commas between.
    pub value: String,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// After a run of the step had begun.
    pub late: bool,
}

/// What proved a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofAt {
    /// The run.
    pub run: String,
    /// Its event.
    pub event: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// A scenario of somebody's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRun {
    /// As it was written.
    pub script: String,
    /// Under which strategy.
    pub strategy: String,
    /// What became of it.
    pub state: OwnState,
}

/// What became of a scenario of somebody's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnState {
    /// It was kept, and not run since.
    Kept,
    /// It was not run, for this reason.
    Refused(String),
    /// It runs.
    Runs,
    /// It is over.
    Over {
        /// The exit status that `aegis run` would have.
        exit: u8,
        /// In words.
        outcome: String,
        /// Each expectation: what, expected, observed, whether it holds.
        checks: Vec<(String, String, String, bool)>,
        /// The run behind it.
        run: Option<String>,
    },
}

/// Everything that is kept of a learner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// By step and question: `1/p1`.
    pub answers: BTreeMap<String, Answer>,
    /// By step, task and mark: `1/a/done`.
    pub proofs: BTreeMap<String, ProofAt>,
}

impl Known {
    /// What was said to a question of a step.
    pub fn answer(&self, step: u8, question: &str) -> Option<&Answer> {
        self.answers.get(&format!("{step}/{question}"))
    }

    /// What proved a mark.
    pub fn proof(&self, step: u8, task: &str, mark: &str) -> Option<&ProofAt> {
        self.proofs.get(&format!("{step}/{task}/{mark}"))
    }

    /// Is a task done?
    pub fn is_done(&self, step: u8, task: &Task) -> bool {
        task.marks.iter().all(|mark| self.proof(step, task.id, mark).is_some())
    }

    /// How many of a step's tasks are done, and how many there are.
    pub fn tasks(&self, step: u8) -> (usize, usize) {
        let tasks = TASKS.iter().find(|of| of.number == step).map_or(&[][..], |of| of.tasks);
        (tasks.iter().filter(|task| self.is_done(step, task)).count(), tasks.len())
    }

    /// All steps.
    pub fn progress(&self) -> Progress {
        let ready = |number| Lesson::step(number).is_some();
        let of = |number: u8| {
            let (done, tasks) = self.tasks(number);
            StepProgress { number, ready: ready(number), done, tasks }
        };
        Progress { steps: (1..=STEPS).map(of).collect() }
    }
}

/// How far somebody came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Each step.
    pub steps: Vec<StepProgress>,
}

/// How far somebody came with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepProgress {
    /// Which.
    pub number: u8,
    /// It has a text.
    pub ready: bool,
    /// Tasks that are done.
    pub done: usize,
    /// All its tasks.
    pub tasks: usize,
}

impl StepProgress {
    /// Is all of it done?
    pub fn is_done(&self) -> bool {
        self.tasks > 0 && self.done == self.tasks
    }
}

impl Progress {
    /// How many steps are done.
    pub fn done(&self) -> usize {
        self.steps.iter().filter(|step| step.is_done()).count()
    }

    /// The step to go on with: the first that is not done, of those that can be.
    pub fn next(&self) -> Option<u8> {
        self.steps.iter().find(|step| step.ready && !step.is_done()).map(|step| step.number)
    }
}
