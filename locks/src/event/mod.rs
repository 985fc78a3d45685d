//! The event log: the only truth of a run. `seq` is order of arrival and only identifies; everything
//! drawn or judged is ordered by (`at_us`, source, `seq`), where `at_us` is the machine's monotonic time
//! at the origin. Each source says only what it can know: a replica what it believes, a store what it
//! says, a sink what it took, a link what passed.

mod catalog;
mod command;
mod effect;
mod fault;
mod kind;
mod problem;
mod process;
mod source;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

pub use catalog::Schedule;
pub use command::{Param, Reply, StoreCommand};
pub use effect::{EffectAnswer, WorkEnd};
pub use fault::Fault;
pub use kind::{EndReason, Kind};
pub use problem::{Problem, Whose};
pub use process::{ProcessName, ProcessState};
pub use source::Source;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Event {
    /// Number, gap-free from 1, in order of arrival.
    pub seq: u64,
    /// When, in microseconds of the machine's monotonic clock; the earliest, where only an interval is known.
    pub at_us: u64,
    /// The latest time, where only an interval is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_us: Option<u64>,
    /// Who says so.
    pub source: Source,
    /// What happened.
    #[serde(flatten)]
    pub kind: Kind,
}

impl Event {
    /// The order in which events are drawn and judged.
    pub fn order(&self) -> (u64, &Source, u64) {
        (self.at_us, &self.source, self.seq)
    }

    /// The replica that the event is of or about, if any.
    pub fn replica(&self) -> Option<&str> {
        match &self.source {
            Source::Replica { name, .. } | Source::Link { replica: name, .. } => Some(name),
            _ => match &self.kind {
                Kind::EffectSettled { attempt, .. } | Kind::Audited { attempt, .. } => Some(&attempt.replica),
                Kind::Process { process: ProcessName::Replica(name), .. } => Some(name),
                Kind::StoreSays { owner, .. } => owner.as_ref().map(|attempt| attempt.replica.as_str()),
                _ => None,
            },
        }
    }
}

/// What a replica's process writes, one JSON object a line; `seq` and `source` are added on arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Line {
    /// When, in microseconds of the machine's monotonic clock.
    pub at_us: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: Kind,
}
