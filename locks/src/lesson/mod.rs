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
//! | `step1` … | the tasks of each step, one step a file |

pub mod record;
mod step1;

pub use record::Record;

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
    /// The event that completes the proof.
    pub event: u64,
}

impl Look {
    /// It misses that.
    fn misses(what: &'static str) -> Look {
        Look { proved: Vec::new(), misses: Some(what) }
    }

    /// It proves that, by this event.
    fn proves(mark: &'static str, event: u64) -> Look {
        Look { proved: vec![Proof { mark, event }], misses: None }
    }
}

/// All steps.
pub const STEPS: &[Step] = &[Step { number: 1, tasks: step1::TASKS }];

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
