//! The homework: eight exercises that are graded by running what the learner wrote. Here is their catalog, one
//! exercise a file, and what grading can come to. The texts of tasks and discussions are pages; grading is the
//! server's.
//!
//! | module | what it holds |
//! |---|---|
//! | [`result`] | the four results of grading, never confused |
//! | [`expression`] | a small language for arithmetic |
//! | [`mod@release`] | 1: release only if it is yours |
//! | [`lease`] | 2: take the lease |
//! | [`keep`] | 3: keep it, or let go |
//! | [`claim`] | 4: claim one slot |
//! | [`fence`] | 5: stop the stale writer |
//! | [`redlock`] | 6: Redlock's arithmetic |
//! | [`break_it`] | 7: break it |
//! | [`choose`] | 8: choose |

pub mod break_it;
pub mod choose;
pub mod claim;
pub mod expression;
pub mod fence;
pub mod keep;
pub mod lease;
pub mod redlock;
pub mod release;
pub mod result;

pub use result::{Failure, Graded, Mistake};

/// What a submission is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Redis scripts.
    Lua,
    /// One statement of Postgres.
    Sql,
    /// A table of values.
    Toml,
    /// Small expressions, one a line.
    Expression,
    /// Moves of a scheduler, one a line.
    Moves,
    /// A choice for each story.
    Choice,
}

impl Language {
    /// How its files end.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Lua => "lua",
            Language::Sql => "sql",
            Language::Toml | Language::Moves | Language::Choice => "toml",
            Language::Expression => "txt",
        }
    }

    /// Does a store run it, in a sandbox?
    pub fn is_run_by_a_store(self) -> bool {
        matches!(self, Language::Lua | Language::Sql)
    }

    /// Longest submission, in bytes.
    pub fn longest(self) -> usize {
        match self {
            Language::Lua => 4 * 1024,
            _ => 16 * 1024,
        }
    }
}

/// One exercise.
#[derive(Debug)]
pub struct Exercise {
    /// Its number, from 1.
    pub number: u8,
    /// Its name in addresses, on the command line and in the database.
    pub slug: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What a submission is written in.
    pub language: Language,
    /// What the learner begins with. It fails.
    pub starter: &'static str,
    /// An answer that passes, shown when the learner has passed.
    pub model: &'static str,
    /// Three hints, each saying more than the one before.
    pub hints: [&'static str; 3],
}

impl Exercise {
    /// The file of its text, below the pages' content: the task, and the discussion for who has passed.
    pub fn text_file(&self) -> String {
        format!("homework/{}.md", self.slug)
    }
}

/// All exercises, in order.
pub const EXERCISES: [&Exercise; 8] = [
    &release::EXERCISE,
    &lease::EXERCISE,
    &keep::EXERCISE,
    &claim::EXERCISE,
    &fence::EXERCISE,
    &redlock::EXERCISE,
    &break_it::EXERCISE,
    &choose::EXERCISE,
];

/// The exercise of that name.
pub fn exercise(slug: &str) -> Option<&'static Exercise> {
    EXERCISES.into_iter().find(|exercise| exercise.slug == slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_and_every_exercise_is_found_by_its_name() {
        for (exercise, number) in EXERCISES.into_iter().zip(1..) {
            assert_eq!(exercise.number, number);
            assert_eq!(super::exercise(exercise.slug).map(|found| found.number), Some(number));
            assert!(exercise.starter.len() <= exercise.language.longest());
            assert_ne!(exercise.starter, exercise.model);
            assert!(exercise.hints.iter().all(|hint| !hint.is_empty()));
        }
    }
}
