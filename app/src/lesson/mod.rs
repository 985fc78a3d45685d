//! The lesson: its text, read once from `app/content/lesson`, and its pages as markup. On the server only: the
//! browser's program has none of it. What a learner said, did and proved is loaded by whoever serves; here is only
//! what it looks like. Everything works as plain links and forms; `lesson.js` saves the jumps.
//!
//! | module | what it holds |
//! |---|---|
//! | [`content`] | the text of all steps and the glossary, read and checked |
//! | `read` | Markdown with typed embeds, as files have it |
//! | `markup` | Markdown to HTML: terms, claims about the matrix, code |
//! | [`state`] | what is known of a learner |
//! | [`page`] | a step's page |
//! | `parts` | what changes on it: predictions, tasks, progress |
//! | `costs` | what strategies cost, measured on the learner's machine, as a plot |
//! | [`agenda`], [`glossary`], [`certificate`] | the pages around the steps |

pub mod agenda;
pub mod certificate;
pub mod content;
mod costs;
pub mod glossary;
pub(crate) mod markup;
pub mod page;
mod parts;
mod read;
pub mod state;
#[cfg(test)]
mod tests;

pub use content::{Lesson, Text};
pub use state::{Answer, Known, OwnRun, OwnState, Progress, ProofAt};

/// A page of the lesson.
#[derive(Clone, Debug)]
pub enum LessonPage {
    /// `/lesson`
    Agenda(Progress),
    /// `/lesson/{n}`
    Step(Box<page::StepPage>),
    /// `/lesson/glossary`
    Glossary,
    /// `/lesson/certificate`
    Certificate(Box<certificate::Proved>),
}
