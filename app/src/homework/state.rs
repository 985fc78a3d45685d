//! What is known of a learner: what they handed in, and what grading it came to.

use std::collections::BTreeMap;

use locks::homework::{EXERCISES, Exercise, Graded};

/// How somebody stands with an exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stand {
    /// How often they handed something in that was graded.
    pub attempts: u32,
    /// What passed, if something did.
    pub passed: Option<Passed>,
}

/// The best that somebody passed an exercise with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// When they first passed, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// In how many schedules no violation was seen.
    pub schedules: u32,
    /// Which of all that they handed in, from 1, as the exercise's page is asked for it; `None`: not to be had there.
    pub best: Option<u32>,
    /// The best score, where answers differ; less is better.
    pub score: Option<u32>,
}

/// How somebody stands with all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// By the exercise's name; nothing: not begun.
    pub exercises: BTreeMap<String, Stand>,
}

impl Standing {
    /// With that exercise.
    pub fn of(&self, exercise: &Exercise) -> Stand {
        self.exercises.get(exercise.slug).cloned().unwrap_or_default()
    }

    /// How many are passed.
    pub fn passed(&self) -> usize {
        EXERCISES.into_iter().filter(|exercise| self.of(exercise).passed.is_some()).count()
    }

    /// The exercise to go on with: the first that is not passed.
    pub fn next(&self) -> Option<&'static Exercise> {
        EXERCISES.into_iter().find(|exercise| self.of(exercise).passed.is_none())
    }
}

/// Something that was handed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Which of all that the learner handed in for this exercise, from 1.
    pub number: u32,
    /// Which of those that count, from 1; `None`: the lab failed, and nothing is counted.
    pub counted: Option<u32>,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// What it came to.
    pub graded: Graded,
    /// What was handed in.
    pub text: String,
}

impl Attempt {
    /// What it is called.
    pub fn name(&self) -> String {
        self.counted.map_or_else(|| "not counted".to_owned(), |number| format!("attempt {number}"))
    }
}
