//! Exercise 3: renewal and concession as a table of transitions, checked in every interleaving up to a bound.
//! Nothing is random and nothing is timed: the same table always comes to the same result, and a failure shows a
//! shortest way to it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`table`] | the learner's table, read from TOML |
//! | [`world`] | what may happen next, in every order |
//! | [`search`] | the search, and what must hold |
//! | [`story`] | a violation in words |

#[cfg(feature = "scenario")]
pub mod search;
#[cfg(feature = "scenario")]
pub mod story;
#[cfg(feature = "scenario")]
pub mod table;
#[cfg(all(test, feature = "scenario"))]
mod tests;
#[cfg(feature = "scenario")]
pub mod world;

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 3,
    slug: "keep",
    title: "Keep it, or let go",
    language: Language::Toml,
    starter: "\
margin = 1
renew_every = 2
timeout = 2
base = \"sent\"

[Holding]
renew_due = \"Renewing\"
deadline = \"-\"

[Renewing]
ok = \"Holding+\"
zero = \"Holding\"
error = \"Holding+\"
timeout = \"Holding+\"
deadline = \"-\"
",
    model: "\
margin = 1
renew_every = 2
timeout = 2
base = \"sent\"

[Holding]
renew_due = \"Renewing\"
deadline = \"Stopped\"

[Renewing]
ok = \"Holding+\"
zero = \"Stopped\"
error = \"Holding\"
timeout = \"Holding\"
deadline = \"Stopped\"
",
    hints: [
        "A renewal timed out. What do you know about the lease now?",
        "Count a lease from before you asked for it, not from when you heard of it.",
        "Both states need the deadline, or the time-out must fit into the margin.",
    ],
};

/// Grade a table.
#[cfg(feature = "scenario")]
pub fn grade(text: &str) -> super::Graded {
    use super::Graded;

    let table = match table::Table::read(text) {
        Ok(table) => table,
        Err(mistake) => return Graded::YourError(mistake),
    };
    match search::search(&table) {
        search::Found::Nothing(worlds) => {
            Graded::Passed { schedules: worlds, score: None, said: Some(story::said(worlds)) }
        }
        search::Found::Violation(broken, trace) => Graded::Failed(Box::new(story::failure(broken, &trace, &table))),
    }
}
