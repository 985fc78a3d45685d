//! The attempt under way: where it stands, and what it must not forget.

use super::ballot::Ballot;
use super::terms::{Asked, Hold, Took};
use crate::ids::{At, CommandId, Endpoint};
use crate::strategy::section::{End, Section};

/// What is under way with the stores for renewing or for giving back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// Nothing, and nothing will be.
    None,
    /// Nothing until then.
    At(At),
    /// These commands.
    Under(Ballot<Took>),
}

/// What was granted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Granted {
    /// When it was asked for.
    pub sent: At,
    pub epoch: Option<u64>,
    pub nodes: Vec<Endpoint>,
}

/// What happens once all is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum After {
    /// The attempt ends so.
    End(End),
    /// The effect's answer decides how it ends.
    Effect,
    /// Another try, if there is time for one; otherwise the attempt ends so.
    Again(End),
}

impl From<Option<End>> for After {
    fn from(end: Option<End>) -> After {
        end.map_or(After::Effect, After::End)
    }
}

/// Where the attempt stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Minting(CommandId),
    Acquiring(Ballot<Asked>),
    /// Granted, but one thing more must be asked.
    Confirming(CommandId, Granted),
    Publishing(CommandId, Granted),
    Waiting(At),
    Inside {
        section: Section,
        renewal: Call,
    },
    Releasing {
        after: After,
        call: Call,
        /// What is under way is the last renewal, not the release.
        renewing: bool,
        /// The stores that have not said that it is given back.
        left: Vec<usize>,
    },
    /// All is done but the effect's answer.
    Settling,
}

/// The attempt under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Job {
    pub hold: Hold,
    pub jitter: u16,
    /// Repetitions of the present kind of call.
    pub tries: u16,
    /// How often it was overtaken by a newer epoch.
    pub overtaken: u16,
    /// The epoch of the present try, where one was minted.
    pub minted: Option<u64>,
    /// What was published when that was minted.
    pub seen: Option<u64>,
    /// No further `acquire` after this.
    pub give_up: At,
    /// No further `release` after this.
    pub lease_end: At,
    pub cancelled: bool,
    pub stage: Stage,
}
