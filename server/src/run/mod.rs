//! Runs: a scenario executed in an arena, everything that happens appended to one event log, judged from
//! that log alone. A file's run, a click in the sandbox and a graded exercise all go this one way.
//!
//! | module | what it holds |
//! |---|---|
//! | [`log`] | the event log, its recorder, its readers |
//! | [`standing`] | how a run stands, folded from the log |
//! | [`board`] | waiting for how it stands |
//! | [`script`] | the scenario that a live session amounts to |
//! | [`live`] | live sessions |
//! | [`error`] | what can go wrong with an action |

pub mod board;
pub mod error;
pub mod live;
pub mod log;
pub mod script;
pub mod shelf;
pub mod standing;

pub use error::ActError;
