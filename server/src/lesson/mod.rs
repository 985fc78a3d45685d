//! The guided lesson behind its pages: opens the stages of its steps, looks for what tasks ask in the logs of the
//! learner's own runs while they go on, and keeps what was said and proved. What a task asks is decided in
//! `locks::lesson`, what a page looks like in `app::lesson`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`stages`] | set-ups, and scripts that are played on them; `server/lesson`, one a file |
//! | [`tutor`] | everything that a learner does on a page |
//! | `watch` | looks at a run's log for the tasks of its step |
//! | `own` | scenarios of a learner's own |
//! | `costs` | what strategies cost, from the learner's own runs |
//! | [`progress`] | what is kept of a learner, as a file too |

#[cfg(test)]
mod claims;
mod costs;
mod own;
pub mod progress;
pub mod stages;
pub mod tutor;
mod watch;

pub use tutor::{Tutor, TutorError};
