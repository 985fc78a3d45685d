//! The matrix page as text: which failure which lock covers, what the learner said of it, and the race. Pure:
//! whoever serves hands over what was predicted and measured, and gets markup. Nothing here runs anything, and
//! the browser's program has none of it: the page works as plain links and one form.
//!
//! | module | what it holds |
//! |---|---|
//! | [`place`] | where on the page one is, as its address |
//! | [`state`] | what a cell shows: predict first, run to reveal, measured; joints and tallies |
//! | `table` | faults by strategies |
//! | `opened` | the cell at the side |
//! | [`picture`] | the small timeline of a run that is over |
//! | [`quorum`] | which nodes had whose token, where a lock is held by several |
//! | [`strip`], `race` | the same script under several strategies, on one scale |
//! | [`page`](page::main) | all of it |

use std::sync::Arc;

use locks::event::Event;
use locks::matrix::{Coverage, Figures};

use crate::stage::Stage;

mod opened;
pub mod page;
pub mod picture;
pub mod place;
pub mod quorum;
mod race;
pub mod state;
pub mod strip;
pub(crate) mod table;

pub use place::{CellName, Place};
use quorum::Quorum;
pub use state::{Joint, State, Tally};

/// What the learner said of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// That it is covered.
    pub covered: bool,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// What a run of a cell, or of a line of a race, came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The one word.
    pub coverage: Coverage,
    /// Why it is inconclusive.
    pub why: Option<String>,
    /// What was counted.
    pub figures: Option<Figures>,
    /// The run behind it, as paths name it.
    pub run: Option<String>,
}

/// A job that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// Others are before it.
    Waits,
    /// Its run goes on.
    Runs,
}

/// One cell of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its column.
    pub strategy: String,
    /// Can the fault happen to the strategy?
    pub applies: bool,
    /// What the learner said.
    pub said: Option<Said>,
    /// What was measured last.
    pub measured: Option<Measured>,
    /// What goes on.
    pub under_way: Option<UnderWay>,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The fault's name, as addresses have it.
    pub fault: String,
    /// Its name for people.
    pub title: String,
    /// The heading that it stands under.
    pub group: String,
    /// Its cells, in the order of columns.
    pub cells: Vec<Cell>,
}

/// A run that is over, folded: its stage, and what its quorum was made of.
#[derive(Clone, Debug)]
pub struct Run {
    stage: Stage,
    /// Which nodes had whose token.
    pub quorum: Quorum,
}

impl Run {
    /// The fold of a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event> + Clone) -> Run {
        let stage = picture::settled(Stage::of(events.clone()));
        Run { quorum: Quorum::of(&stage, events), stage }
    }
}

impl std::ops::Deref for Run {
    type Target = Stage;
    fn deref(&self) -> &Stage {
        &self.stage
    }
}

/// The cell at the side.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its row's name for people.
    pub title: String,
    /// Which.
    pub name: CellName,
    /// What it shows.
    pub cell: Cell,
    /// What the lab expects, and why.
    pub expected: Option<(Coverage, String)>,
    /// The run behind it.
    pub stage: Option<Arc<Run>>,
}

/// One line of the race.
#[derive(Clone, Debug)]
pub struct Line {
    /// Under which strategy.
    pub strategy: String,
    /// What the lock is, in a few words.
    pub summary: String,
    /// Its cell, or what stands for one.
    pub cell: Cell,
    /// The run behind it.
    pub stage: Option<Arc<Run>>,
}

/// The race.
#[derive(Clone, Debug)]
pub struct Race {
    /// What is raced, as the address has it.
    pub script: String,
    /// Its name for people.
    pub title: String,
    /// What all lines have in common, in a few words.
    pub terms: String,
    /// Its lines, from the top.
    pub lines: Vec<Line>,
}

/// Everything that the page shows.
#[derive(Clone, Debug)]
pub struct MatrixPage {
    /// Where on it one is.
    pub place: Place,
    /// The columns.
    pub strategies: Vec<String>,
    /// The rows, in order, those of a group together.
    pub rows: Vec<Row>,
    /// Predictions over all guards, as far as they were measured.
    pub tally: Tally,
    /// The cell at the side.
    pub opened: Option<Opened>,
    /// The race.
    pub race: Race,
}
