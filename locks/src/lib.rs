//! The pure heart of Aegis: what a lock is, what can happen to it, and how a run is judged.
//!
//! Nothing here does I/O, waits, reads a clock or draws a random number: time and randomness arrive
//! as data. The server performs what these types say; the browser draws it; the judge counts it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ids`] | names: slots, attempts, locks, tokens, endpoints |
//! | [`setup`] | what a run is set up with, and what may be changed while it runs |
//! | [`sorted`] | a map for few entries, small as code |
//! | [`homework`] | the homework's exercises, and what grading comes to |
//! | [`lesson`] | the lesson's tasks: predicates over a log |
//! | [`machine`] | the two state machines that every picture shows, as transition tables |
//! | [`guard`] | what a sink checks before it accepts an effect |
//! | [`strategy`] | how replicas coordinate; one strategy a file |
//! | [`action`] | what a learner or a scenario does to a run |
//! | [`event`] | the event log, the only truth of a run |
//! | [`packed`] | the log between server and page, in fewer bytes than its JSON |
//! | [`judge`] | the fold of a log into a verdict |
//! | [`matrix`] | what a run under a fault says about a lock: covered or not |
//! | [`scenario`] | the scenario: set-up, steps, expectations; its TOML under feature `scenario` |

pub mod action;
pub mod event;
pub mod guard;
pub mod homework;
pub mod ids;
pub mod judge;
pub mod lesson;
pub mod machine;
pub mod matrix;
pub mod packed;
mod pattern;
pub mod scenario;
pub mod setup;
pub mod sorted;
pub mod strategy;
