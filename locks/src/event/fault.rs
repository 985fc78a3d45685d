//! Faults as the log names them: real disturbances that last from one event to another.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

use super::ProcessName;
use crate::action::Direction;
use crate::ids::Endpoint;

/// A fault, as the log names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case", tag = "fault_kind")]
pub enum Fault {
    /// A process is stopped.
    Pause {
        /// Which.
        process: ProcessName,
    },
    /// A process was killed; the fault ends with its next start.
    Kill {
        /// Which.
        process: ProcessName,
    },
    /// A link is cut.
    Cut {
        /// Whose.
        replica: String,
        /// Where it leads.
        endpoint: Endpoint,
    },
    /// A link is slow.
    Delay {
        /// Whose.
        replica: String,
        /// Where it leads.
        endpoint: Endpoint,
        /// By how much, in milliseconds.
        ms: u64,
        /// Most that a random part adds, in milliseconds.
        jitter_ms: u64,
    },
    /// A link holds messages of one direction.
    Hold {
        /// Whose.
        replica: String,
        /// Where it leads.
        endpoint: Endpoint,
        /// Which way.
        direction: Direction,
    },
    /// A replica's wall clock is shifted.
    Clock {
        /// Whose.
        replica: String,
        /// By how much, in milliseconds.
        shift_ms: i64,
    },
    /// A store was ended and started again: its sessions are lost. Over when it answers.
    Restart {
        /// Which.
        process: ProcessName,
    },
    /// A Redis node's clock jumped. Over at once: what it did to the keys stays.
    NodeClock {
        /// The node.
        node: Endpoint,
        /// By how much, in milliseconds.
        shift_ms: i64,
    },
    /// A Redis pair fails over to its replica. Over when the promoted node answers in the old one's place.
    Failover {
        /// The node.
        node: Endpoint,
    },
    /// The Postgres backends of a replica were terminated. Over at once.
    Terminate {
        /// The replica.
        replica: String,
    },
}
