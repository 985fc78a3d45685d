//! What can go wrong with an action, in words for who asked for it: what happened, whose fault it is and
//! what to do.

use locks::event::{Problem, Whose};
use locks::ids::Endpoint;

use crate::lab::LabError;

/// Why an action was not done, or did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The lab cannot do that yet.
    #[error("{action} is not supported yet")]
    NotSupported {
        /// The action's name.
        action: &'static str,
    },
    /// There is no such replica.
    #[error("there is no replica {name}; there are {}", there.join(", "))]
    NoReplica {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        there: Vec<String>,
    },
    /// There is such a replica already.
    #[error("there is a replica {name} already; name another")]
    ReplicaExists {
        /// The name.
        name: String,
    },
    /// A limit of the lab.
    #[error("{what}; the most is {most}")]
    TooMany {
        /// What there would be too many of.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The replica's process is gone.
    #[error("{name} is not running; start it first")]
    NotRunning {
        /// The replica.
        name: String,
    },
    /// The replica runs.
    #[error("{name} runs already")]
    AlreadyRunning {
        /// The replica.
        name: String,
    },
    /// The replica is stopped.
    #[error("{name} is paused and passes no gate; resume it first")]
    Paused {
        /// The replica.
        name: String,
    },
    /// The replica is not stopped.
    #[error("{name} is not paused")]
    NotPaused {
        /// The replica.
        name: String,
    },
    /// Nothing is under way that could be cancelled.
    #[error("{name} has no attempt under way")]
    NothingUnderWay {
        /// The replica.
        name: String,
    },
    /// Shared stores have no processes of the lab's.
    #[error("not applicable here: {0}")]
    NotHere(&'static str),
    /// A store does not do what it must for that.
    #[error("{store} {what}")]
    StoreIs {
        /// The store.
        store: Endpoint,
        /// What it is, and what to do.
        what: &'static str,
    },
    /// A store ended by itself.
    #[error("{text}; start it again first")]
    Fell {
        /// Which.
        store: Endpoint,
        /// How it ended.
        text: String,
    },
    /// No such schedule in the catalog.
    #[error("there is no schedule {name}; there are {}", there.join(", "))]
    NoSchedule {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        there: Vec<String>,
    },
    /// `again` without a first time, or a lock state before any `fire`.
    #[error("no slot was fired yet; fire one first")]
    NothingFired,
    /// No decision was made that could be taken back.
    #[error("nothing was decided yet that could be taken back")]
    NothingToTakeBack,
    /// A value that makes no sense.
    #[error("{0}")]
    BadValue(String),
    /// A wait's limit ran out, or its precondition was missed: the run proves nothing.
    #[error("{0}")]
    Missed(String),
    /// An `assert` found something else.
    #[error("{0}")]
    Differs(String),
    /// The run is over.
    #[error("this run has ended; open a new one")]
    Ended,
    /// The lab itself failed.
    #[error("the lab failed: {0}")]
    Lab(String),
}

impl ActError {
    /// Whose fault it is.
    pub fn whose(&self) -> Whose {
        match self {
            ActError::Lab(_) | ActError::Fell { .. } => Whose::Lab,
            ActError::Missed(_) => Whose::Fault,
            _ => Whose::Yours,
        }
    }

    /// As the event log carries it.
    pub fn problem(&self) -> Problem {
        Problem { whose: self.whose(), text: self.to_string() }
    }

    /// A failure of the lab, from whatever error.
    pub fn lab(error: impl std::fmt::Display) -> ActError {
        ActError::Lab(error.to_string())
    }

    /// An arena's error: what shared stores cannot do is no failure of the lab.
    pub fn arena(error: LabError) -> ActError {
        match error {
            LabError::NotHere(what) => ActError::NotHere(what),
            error => ActError::lab(error),
        }
    }
}
