//! Runs: a scenario executed in an arena, everything that happens appended to one event log, judged from
//! that log alone. A file's run, a click in the sandbox and a graded exercise all go this one way.
//!
//! | module | what it holds |
//! |---|---|
//! | [`log`] | the event log, its recorder, its readers |
//! | [`standing`], [`board`] | how a run stands, folded from the log; waiting for how it stands |
//! | [`correlate`], [`traffic`] | which command a link passed; lines and passages on their way to the log |
//! | [`observer`] | what the store says and the ledger took |
//! | [`replicas`], [`stores`] | the replicas' processes, the stores' |
//! | [`outsider`], [`keys`], [`backends`] | statements of somebody who is no replica |
//! | [`pair`] | a Redis node with a replica: replication and failover |
//! | [`rig`], [`faults`], [`catalog`] | everything that a run stands on, put together |
//! | [`actions`] | what a click or a step does; one action a file |
//! | [`runner`], [`cli`], [`report`] | runs of files, and `aegis run` |
//! | [`live`], [`script`] | live sessions, and the scenario that one amounts to |
//! | [`decisions`], [`back`] | what was decided in one, as an address; one decision back |
//! | [`spool`], [`shelf`], [`export`] | a log on disk, in the control plane, as one file |
//! | [`error`] | what can go wrong with an action |

pub mod actions;
pub mod back;
pub mod backends;
pub mod board;
pub mod catalog;
pub mod cli;
pub mod correlate;
pub mod decisions;
pub mod error;
pub mod export;
pub mod faults;
pub mod keys;
pub mod live;
pub mod log;
pub mod observer;
pub mod outsider;
pub mod pair;
pub mod replicas;
pub mod report;
pub mod rig;
pub mod runner;
pub mod script;
pub mod shelf;
pub mod spool;
pub mod standing;
pub mod stores;
pub mod traffic;

pub use error::ActError;
