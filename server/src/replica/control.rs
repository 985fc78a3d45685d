//! What the server tells a replica: one JSON object a line on the replica's standard input. Faults never
//! touch this path. The first line is always [`Control::Hello`]. What the replica says back is
//! [`locks::event::Line`], one JSON object a line on standard output.

use std::collections::BTreeMap;

use locks::ids::{AttemptId, Endpoint, LockName, Slot};
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
    /// The wall clock's offset from the machine's, in milliseconds.
    Clock {
        /// The offset.
        shift_ms: i64,
    },
    /// Give back what is held, then end.
    Shutdown,
}

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
