//! Keeps what was handed in: the log of a schedule that failed as a run of the learner's, which opens and plays like
//! every other, and the submission with its result beside it.

use std::sync::Arc;

use locks::homework::{Exercise, Graded};

use crate::lab::Lab;
use crate::run::shelf::{Shelf, ShelfError};

/// Keep a submission; its number, and the result as it is kept: with the run in the place of the log.
pub async fn keep(
    lab: &Lab,
    shelf: &Shelf,
    learner: &str,
    exercise: &Exercise,
    text: &str,
    graded: Graded,
) -> Result<(i64, Graded), ShelfError> {
    let run = match &graded {
        Graded::Failed(failure) if !failure.evidence.is_empty() => {
            let events: Vec<_> = failure.evidence.iter().cloned().map(Arc::new).collect();
            Some(shelf.save(Some(learner), &events).await?)
        }
        // One that was run as a run of its own is stored already.
        Graded::Failed(failure) => failure.run.clone(),
        _ => None,
    };
    let graded = graded.kept_as(run);
    let run = match &graded {
        Graded::Failed(failure) => failure.run.as_deref(),
        _ => None,
    };
    let id = lab.control().await?.keep_submission(learner, exercise.slug, text, graded.clone(), run).await?;
    Ok((id, graded))
}
