//! Takes in what learners hand in: one submission of a learner at a time, graded by whoever grades that exercise, and
//! kept with what it came to. The log of a schedule that failed is stored as a run, so that it opens like any other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use locks::homework::Exercise;

use crate::control::Control;
use crate::homework;
use crate::lab::{Lab, LabError};
use crate::run::shelf::{Shelf, ShelfError};

/// See the module.
pub struct Desk {
    lab: Arc<Lab>,
    /// Who waits for a result.
    waiting: Mutex<BTreeSet<String>>,
}

/// Why nothing was graded.
#[derive(Debug, thiserror::Error)]
pub enum HandInError {
    /// One at a time.
    #[error("Your last submission is still being graded. Wait for its result.")]
    UnderWay,
    /// The lab failed, and nothing could be kept.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The result could not be stored.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
}

/// A place in the set of who waits; given up however grading ends.
struct Waiting<'a>(&'a Desk, String);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

impl Desk {
    /// The desk of that lab.
    pub fn new(lab: Arc<Lab>) -> Desk {
        Desk { lab, waiting: Mutex::default() }
    }

    /// Where drafts and results are kept.
    pub async fn control(&self) -> Result<&Control, LabError> {
        self.lab.control().await
    }

    /// Grade something and keep it. The draft is what was handed in.
    pub async fn hand_in(
        &self,
        shelf: &Shelf,
        learner: &str,
        exercise: &'static Exercise,
        text: &str,
    ) -> Result<(), HandInError> {
        let first = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(learner.to_owned());
        if !first {
            return Err(HandInError::UnderWay);
        }
        let _waiting = Waiting(self, learner.to_owned());
        self.control().await?.save_draft(learner, exercise.slug, text).await?;
        let graded = homework::grade(&self.lab, exercise, text.as_bytes()).await;
        homework::keep(&self.lab, shelf, learner, exercise, text, graded).await?;
        Ok(())
    }
}
