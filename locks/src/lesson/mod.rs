//! The lesson's tasks: what a learner brings about, as predicates over the event log of their own run. Pure:
//! whoever keeps the log asks, and what is proved is proved by an event. A task never believes a replica where
//! the store or the sink is to be asked, and only what is certain counts.
//!
//! A task is done when every one of its marks was proved; marks of one task may come from several runs. What the
//! latest run still misses is one of the task's named conditions, the first in their order: hints are kept by
//! these names.
//!
//! | module | what it holds |
//! |---|---|
//! | [`record`] | a run's log, gathered by attempts, slots and faults |
//! | [`cost`] | what a strategy costs in a run |
//! | `step1` … | the tasks of each step, one step a file |

pub mod cost;
pub mod record;
mod step1;
mod step2;
mod step3;
mod step4;
mod step5;
mod step6;
mod step7;
mod step8;

pub use cost::Cost;
pub use record::Record;
use serde::{Deserialize, Serialize};

/// One step of the lesson.
#[derive(Debug)]
pub struct Step {
    /// Its number, from 1.
    pub number: u8,
    /// Its tasks, in order.
    pub tasks: &'static [Task],
}

/// One task.
#[derive(Debug)]
pub struct Task {
    /// Its letter within the step.
    pub id: &'static str,
    /// What must be proved, each at any time.
    pub marks: &'static [&'static str],
    /// What a run may miss, in the order in which it is looked for.
    pub misses: &'static [&'static str],
    /// Where it is looked for.
    pub by: By,
}

/// Where a task's proof is looked for.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// In the log of a run of the step.
    Log(fn(&Record) -> Look),
    /// Among the cells of the failure matrix that were predicted or measured.
    Cells(fn(&[Cell]) -> Look),
    /// Among the scenarios of their own that somebody ran.
    Tried(fn(&[Tried]) -> Look),
    /// In how many questions of the step's quiz were answered right.
    Answers(fn(usize) -> Look),
}

/// A scenario of somebody's own that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// What tells the script from all others, whatever its strategy.
    pub script: String,
    /// Under which strategy.
    pub strategy: String,
    /// As `aegis run` says it: 0 all held, 1 an expectation failed, 2 no scenario, 3 inconclusive.
    pub exit: u8,
    /// How many replicas it had.
    pub replicas: usize,
    /// A fault began while the store said that somebody held, or struck who held.
    pub hit: bool,
    /// It has a seeded series of moves and faults.
    pub chaos: bool,
    /// What the judge counted, in words.
    pub figures: String,
    /// It was run from the command line, and brought here as a file.
    pub imported: bool,
    /// The run.
    pub run: String,
    /// The run's last event.
    pub event: u64,
}

/// A cell of the failure matrix, or a line of a race, as far as somebody came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The fault, or the run whose script is raced.
    pub script: String,
    /// The strategy.
    pub strategy: String,
    /// The guard, or `none`.
    pub guard: String,
    /// What was measured; `None`: nothing, or nothing conclusive.
    pub covered: Option<bool>,
    /// Something was said of it before it was measured.
    pub predicted_first: bool,
}

/// What a run shows of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Marks that it proves.
    pub proved: Vec<Proof>,
    /// The first condition that it misses, if it does not prove all.
    pub misses: Option<&'static str>,
}

/// A mark, and what proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The mark.
    pub mark: &'static str,
    /// The event that completes the proof; 0: it stands in no log.
    pub event: u64,
    /// The run, where several were looked at.
    pub run: Option<String>,
}

impl Proof {
    fn new(mark: &'static str, event: u64) -> Proof {
        Proof { mark, event, run: None }
    }
}

impl Look {
    /// It misses that.
    fn misses(what: &'static str) -> Look {
        Look { proved: Vec::new(), misses: Some(what) }
    }

    /// It proves that, by this event.
    fn proves(mark: &'static str, event: u64) -> Look {
        Look { proved: vec![Proof::new(mark, event)], misses: None }
    }
}

/// All steps.
pub const STEPS: &[Step] = &[
    Step { number: 1, tasks: step1::TASKS },
    Step { number: 2, tasks: step2::TASKS },
    Step { number: 3, tasks: step3::TASKS },
    Step { number: 4, tasks: step4::TASKS },
    Step { number: 5, tasks: step5::TASKS },
    Step { number: 6, tasks: step6::TASKS },
    Step { number: 7, tasks: step7::TASKS },
    Step { number: 8, tasks: step8::TASKS },
];

/// The mark of a task that has only one.
const DONE: &str = "done";
const ONE: &[&str] = &[DONE];

/// The step of that number.
pub fn step(number: u8) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.number == number)
}

impl Step {
    /// The task of that letter.
    pub fn task(&self, id: &str) -> Option<&'static Task> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

#[cfg(test)]
mod tests;
