//! What the server tells a replica: one JSON object a line on the replica's standard input. Faults never
//! touch this path. The first line is always [`Control::Hello`]. What the replica says back is
//! [`locks::event::Line`], one JSON object a line on standard output.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use locks::ids::{AttemptId, BadName, Endpoint, Gate, LockName, Slot};
use locks::setup::Setup;
use serde::{Deserialize, Serialize};

/// One control line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "control", rename_all = "snake_case")]
pub enum Control {
    /// Who the replica is. It connects, prepares, binds the catalog, and answers with `ready`.
    Hello {
        /// Its name.
        name: String,
        /// Which process of that name, from 1.
        incarnation: u32,
        /// The set-up of the run; the replica lays its own values over it.
        setup: Box<Setup>,
        /// Ports of its links on 127.0.0.1.
        ports: BTreeMap<Endpoint, u16>,
        /// Postgres user and database behind the link.
        postgres: PostgresLogin,
        /// Keys and users of the Redis nodes behind the links.
        redis: RedisLogin,
    },
    /// A slot is due now, whatever the timers say.
    Fire {
        /// The slot.
        slot: Slot,
        /// The lock that its attempt competes for.
        lock: LockName,
    },
    /// The attempt may pass the gate at which it waits. Ignored if it waits at none.
    Pass {
        /// The attempt.
        attempt: AttemptId,
        /// Only that gate, wherever it may wait by now; `None`: any.
        gate: Option<Gate>,
    },
    /// The set-up from now on; attempts under way keep theirs.
    Set {
        /// The complete set-up of the run.
        setup: Box<Setup>,
    },
    /// The catalog was changed: load it again and set timers anew.
    Rebind,
    /// Cancel whatever attempts are under way.
    Cancel,
    /// Work that is under way has taken its time: it is done. For moves that are made once more.
    EndWork,
    /// The wall clock's offset from the machine's, in milliseconds.
    Clock {
        /// The offset.
        shift_ms: i64,
    },
    /// So much time is over on the lease clock, in milliseconds from the start.
    Elapsed {
        /// How far the clock is ahead from now on.
        elapsed_ms: u64,
    },
    /// Give back what is held, then end.
    Shutdown,
}

/// What a replica exits with when it has said, as trouble, why it refuses to work.
pub const REFUSED: u8 = 3;

/// How a replica logs in to Postgres through its link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostgresLogin {
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// Password, where one is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// What a replica must know of the Redis nodes behind its links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedisLogin {
    /// What stands before every key of the arena.
    pub key_prefix: String,
    /// How to log in, where a node wants that.
    pub nodes: BTreeMap<Endpoint, RedisUser>,
}

/// How to log in to one Redis node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedisUser {
    /// User; `None`: the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Number of the database.
    pub database: i64,
}

/// Why a session was closed that is not opened again.
pub const NOT_NEEDED: &str = "no longer needed";

/// What a replica's connection is called by its link. Prints as `A.1/settle-invoices/lock`: replica,
/// incarnation, and the session's name within the replica. It travels as `application_name` in Postgres'
/// startup message, as `CLIENT SETNAME` to Redis, as [`SESSION_HEADER`](crate::bank::wire::SESSION_HEADER)
/// to the bank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionName {
    /// The replica's name.
    pub replica: String,
    /// Which process of that name, from 1.
    pub incarnation: u32,
    /// Its name within the replica, as events call it: `settle-invoices/lock`, `audit`.
    pub session: String,
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}/{}", self.replica, self.incarnation, self.session)
    }
}

impl FromStr for SessionName {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = || BadName { text: text.to_owned(), wanted: "a session, as `replica.incarnation/name`" };
        let (process, session) = text.split_once('/').ok_or_else(bad)?;
        let (replica, incarnation) = process.rsplit_once('.').ok_or_else(bad)?;
        let incarnation = incarnation.parse().map_err(|_| bad())?;
        Ok(SessionName { replica: replica.to_owned(), incarnation, session: session.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_read_back_what_they_print() {
        for text in ["A.1/settle-invoices/lock", "a.b.2/audit"] {
            assert_eq!(text.parse::<SessionName>().unwrap().to_string(), text);
        }
        assert!("psql".parse::<SessionName>().is_err());
    }
}
