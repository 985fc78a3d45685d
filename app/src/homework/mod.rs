//! The homework: its text, read once from `app/content/homework`, and its pages as markup. On the server only: the
//! browser's program has none of it. What a learner wrote and what grading it came to is loaded by whoever serves;
//! here is only what it looks like. Everything works as plain links and forms; `homework.js` saves the jumps, colours
//! what is written and keeps it as it is typed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`content`] | the text of all exercises, read and checked |
//! | [`state`] | what is known of a learner |
//! | `list` | `/homework` |
//! | [`page`] | an exercise's page |
//! | `editor` | where the answer is written |
//! | `result` | what grading came to, the four results never confused |
//! | `schedules` | what is checked, and how far a submission came |
//! | `trace` | a violation found by search, as a picture and move by move |

pub mod content;
mod editor;
pub(crate) mod list;
pub mod page;
mod result;
mod schedules;
pub mod state;
#[cfg(test)]
mod tests;
mod trace;

pub use page::ExercisePage;
pub(crate) use result::passed_in_a_line;
pub use state::{Attempt, Passed, Stand, Standing};

/// A page of the homework.
#[derive(Clone, Debug)]
pub enum HomeworkPage {
    /// `/homework`
    List(Standing),
    /// `/homework/{slug}`
    Exercise(Box<ExercisePage>),
}

/// Words in which what stands between backticks is code.
fn worded(html: &mut crate::html::Html, words: &str) {
    for (at, part) in words.split('`').enumerate() {
        match at % 2 {
            0 => html.text(part),
            _ => html.element("code", "", part),
        };
    }
}
