//! Runs on the real stores of this machine: scenario files through the runner, `aegis run` by its exit
//! status, live sessions. Races are forced with gates and holds.

#[path = "../common/mod.rs"]
mod common;

mod chaos;
mod cli;
mod fallen;
mod gates;
mod links;
mod live;
mod nodes;
mod outsider;
mod postgres;
mod time;

use std::sync::Arc;

use locks::event::{Event, Kind};
use locks::scenario::Scenario;
use server::run::runner::{Finished, Outcome, run};

/// Run a scenario in a lab of its own.
async fn run_text(text: &str) -> Finished {
    let scenario = Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let data = common::data_dir();
    let lab = common::lab(data.path()).await;
    let finished = run(&lab, &scenario, None).await;
    lab.close().await;
    assert_eq!(common::processes_of(data.path()), [], "nothing is left of the run");
    finished
}

/// It held; where it did not, what was found instead.
fn assert_held(finished: &Finished) {
    assert_eq!(finished.outcome, Outcome::Held, "{}", server::run::report::text("test", finished));
}

/// How many events are so.
fn count(events: &[Arc<Event>], is: impl Fn(&Kind) -> bool) -> usize {
    events.iter().filter(|event| is(&event.kind)).count()
}
