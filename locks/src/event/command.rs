//! Commands of strategies to stores, and what became of them: verbatim, as they were sent and answered.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

use crate::ids::{CommandId, Endpoint, LockName};

/// A command of a strategy, as sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct StoreCommand {
    /// Its number.
    pub command: CommandId,
    /// Its name; `send:<name>` is its gate.
    pub name: String,
    /// Where it goes.
    pub to: Endpoint,
    /// On which session, as `session_opened` names it.
    pub session: String,
    /// Verbatim SQL or Redis text.
    pub text: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its timeout, in milliseconds.
    pub timeout_ms: u64,
}

/// A parameter of a command, or a value of an answer.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Param {
    /// SQL null, Redis nil.
    Null,
    /// An integer.
    Int(i64),
    /// Text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// An instant, in microseconds since the Unix epoch (`timestamptz`).
    Time(i64),
    /// The sending replica's wall clock at the time of sending; the driver binds it as `timestamptz` and
    /// logs it as `Time`.
    WallClock,
    /// The Redis key of that lock; the driver puts the arena's prefix before [`Param::KEY`] and the name, and
    /// logs it as `Text`.
    Key(LockName),
}

impl Param {
    /// What stands before a lock's name in its Redis key, behind the arena's prefix.
    pub const KEY: &'static str = "lock:";
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Postgres answered: rows affected or returned, and the first row.
    Rows {
        /// How many.
        affected: u64,
        /// The first row's values, if there is one.
        row: Vec<Param>,
    },
    /// Redis answered.
    Redis(Param),
    /// A lost race: serialisation failure (40001), deadlock, lock timeout, lock not available.
    Busy,
    /// The store refused it.
    Refused {
        /// SQLSTATE, or the first word of Redis' error.
        code: String,
        /// The store's own words.
        message: String,
    },
    /// Certainly not executed: no byte of it was written.
    NotSent,
    /// Neither success nor failure: timeout, or connection lost.
    Unknown,
}
