//! What strategies cost, read from the runs behind a learner's own cells of the matrix.

use std::sync::PoisonError;

use locks::lesson::{Cost, Record};
use locks::strategy;

use super::tutor::Tutor;
use crate::lab::LabError;
use crate::run::shelf::ShelfError;

/// The cells that show it: two at once without a fault, and a holder that dies.
const SHOWN_BY: [&str; 2] = ["two-at-once", "crash-while-holding"];
/// So many runs are remembered.
const REMEMBERED: usize = 512;

impl Tutor {
    /// By strategy, as far as it was measured for that learner.
    pub(super) async fn costs(&self, learner: &str) -> Result<Vec<(String, Cost)>, LabError> {
        let measured = self.0.lab.control().await?.measured(learner).await?;
        let mut costs = Vec::new();
        for info in strategy::ALL {
            let mut cost = Cost::default();
            for script in SHOWN_BY {
                let is_it = |row: &&crate::control::matrix::MeasuredRow| {
                    row.script == script && row.strategy == info.name && row.guard == "none"
                };
                if let Some(run) = measured.iter().find(is_it).and_then(|row| row.run.as_ref()) {
                    cost = cost.or(self.cost_of(run, script).await);
                }
            }
            costs.push((info.name.to_owned(), cost));
        }
        Ok(costs)
    }

    async fn cost_of(&self, run: &str, script: &str) -> Cost {
        if let Some(cost) = self.0.costs.lock().unwrap_or_else(PoisonError::into_inner).get(run) {
            return *cost;
        }
        let cost = match self.0.shelf.log(run).await {
            Ok(log) => Cost::of(&Record::of(log.after(0).iter().map(|event| &**event))),
            // Deleted since: then nothing is known of it any more.
            Err(ShelfError::NotFound) => Cost::default(),
            Err(error) => {
                tracing::warn!(%error, run, "what a run cost cannot be read");
                return Cost::default();
            }
        };
        // How many commands a slot takes is told by the run without a fault only.
        let cost = if script == SHOWN_BY[0] { cost } else { Cost { commands: None, ..cost } };
        let mut costs = self.0.costs.lock().unwrap_or_else(PoisonError::into_inner);
        if costs.len() >= REMEMBERED {
            costs.clear();
        }
        costs.insert(run.to_owned(), cost);
        cost
    }
}
