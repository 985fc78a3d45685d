//! The scenario: a set-up, a script of actions, expectations. Here are its types, the [`Stage`] on which a
//! script is played through, and the writer; reading stands under feature `scenario`.
#![doc = include_str!("format.md")]

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::action::{Action, EventPattern};
use crate::machine::Outcome;
use crate::setup::{Setup, StrategyName};

mod check;
mod problem;
#[cfg(feature = "scenario")]
pub(crate) mod read;
#[cfg(all(test, feature = "scenario"))]
mod round_trip;
mod stage;
mod write;

pub use check::Checked;
pub use problem::Problem;
pub use stage::{Impossible, Stage};

/// Schedules of the catalog that every arena begins with.
pub const CATALOG: [&str; 3] = ["settle-invoices", "dispatch-orders", "send-digests"];

/// The reference of the format, for people.
pub const FORMAT: &str = include_str!("format.md");

/// Longest file, in bytes: a thousand steps, none of them short.
pub const MAX_BYTES: usize = 512 * 1024;

/// The limit of a step that names none, in milliseconds.
pub const LIMIT_MS: u64 = 5000;

/// A scenario, read and validated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Short name, as file names are: lower case, digits and `-`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Saved from a live session: it replays the actions and promises no verdict.
    #[serde(default)]
    pub timed: bool,
    /// The set-up.
    pub setup: Setup,
    /// The script.
    pub steps: Vec<Step>,
    /// What must hold in the end.
    pub expect: Expect,
    /// It is a schedule of homework: it is played in a sandbox, and never on a lab's stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homework: Option<Homework>,
}

/// A schedule of homework, with the answer that it is played against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Homework {
    /// The exercise, by name.
    pub exercise: String,
    /// The schedule's name: `3`, `5-2`, `seed-17`.
    pub schedule: String,
    /// What was written.
    pub answer: String,
}

impl Scenario {
    /// Does it say anywhere what must hold? Without, a run of it proves nothing.
    pub fn expects_something(&self) -> bool {
        // An exercise has rules of its own.
        self.homework.is_some()
            || self.expect != Expect::default()
            || self.steps.iter().any(|step| matches!(step.action, Action::Assert(_)))
    }

    /// Every strategy under which the script runs, in order.
    pub fn strategies(&self) -> Vec<&StrategyName> {
        let set = self.steps.iter().filter_map(|step| match &step.action {
            Action::Set(change) => change.strategy.as_ref(),
            _ => None,
        });
        let mut all: Vec<&StrategyName> = std::iter::once(&self.setup.strategy).chain(set).collect();
        all.dedup();
        all
    }
}

/// One step of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Where it stands in the file, in bytes.
    pub span: Range<usize>,
    /// What it does.
    pub action: Action,
}

/// What must hold in the end; each is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expect {
    /// Certain overlaps.
    pub overlaps: Option<Bound>,
    /// The largest number of accepted effects of any one slot.
    pub effects_per_slot: Option<Bound>,
    /// Certain stale effects.
    pub stale_effects: Option<Bound>,
    /// Certain foreign releases.
    pub foreign_releases: Option<Bound>,
    /// Slots without an accepted effect.
    pub missed_slots: Option<Bound>,
    /// Every takeover, in milliseconds.
    pub takeover_ms: Option<Bound>,
    /// Per replica, its outcomes by slot.
    pub outcomes: BTreeMap<String, Vec<Outcome>>,
    /// Events that must, or must not, stand in the log.
    pub event: Vec<ExpectEvent>,
}

/// A number that must lie between two others, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Least.
    pub min: u64,
    /// Most; `None`: no limit.
    pub max: Option<u64>,
}

impl Bound {
    /// Exactly this number.
    pub fn exactly(n: u64) -> Bound {
        Bound { min: n, max: Some(n) }
    }
    /// Does a number lie within?
    pub fn holds(&self, n: u64) -> bool {
        n >= self.min && self.max.is_none_or(|max| n <= max)
    }
}

/// How often a kind of event must stand in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectEvent {
    /// Which events.
    #[serde(flatten)]
    pub event: EventPattern,
    /// How many.
    pub count: Bound,
    /// All that many must lie within so many milliseconds of one another.
    pub within_ms: Option<u64>,
    /// How close together they may come.
    pub at_once: Option<AtOnce>,
}

/// How many events may stand in any one stretch of time: the most that any has must lie within the bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtOnce {
    /// How long the stretch is, in milliseconds.
    pub ms: u64,
    /// The field that tells the time of each, in milliseconds; without one it is when the event happened.
    pub by: Option<String>,
    /// How many.
    pub count: Bound,
}
