//! Actions: what a learner's click or a scenario's step does to a run. This is their canonical form, as
//! the event log carries it; the short forms of files are read by [`crate::scenario`].

use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{Endpoint, Gate};
use crate::machine::LockState;
use crate::setup::SetupChange;

/// One action. Names are those of scenario files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Give replicas one slot at once.
    Fire(Fire),
    /// Let replicas pass the gate at which they wait, or all gates up to one.
    Advance(Advance),
    /// Wait for time, a lock state or an event.
    Wait(Wait),
    /// Check the store now; a difference is a failed expectation.
    Assert(Assert),
    /// Stop processes (SIGSTOP).
    Pause(Vec<String>),
    /// Continue stopped processes (SIGCONT).
    Resume(Vec<String>),
    /// Kill processes (SIGKILL).
    Kill(Vec<String>),
    /// Start killed replicas again, as new incarnations.
    Start(Vec<String>),
    /// Cancel the running attempt of replicas.
    Cancel(Vec<String>),
    /// Add replicas.
    Add(Vec<String>),
    /// Remove replicas: shut them down and forget them.
    Remove(Vec<String>),
    /// Change set-up values.
    Set(SetupChange),
    /// Stop reading both sides of links; bytes wait.
    Cut(Links),
    /// Let cut links go on; with `drop`, reset their connections instead.
    Heal {
        /// Which links.
        #[serde(flatten)]
        links: Links,
        /// Reset connections instead of delivering what waited.
        #[serde(default)]
        drop: bool,
    },
    /// Delay what passes links; 0 ends it.
    Delay {
        /// Which links.
        #[serde(flatten)]
        links: Links,
        /// Delay, in milliseconds.
        ms: u64,
        /// Most that a seeded random part adds, in milliseconds.
        #[serde(default)]
        jitter_ms: u64,
    },
    /// Hold requests or replies from now on, until let go.
    Hold {
        /// Which links.
        #[serde(flatten)]
        links: Links,
        /// Requests or replies.
        what: Direction,
    },
    /// Deliver what is held, and hold no more.
    LetGo {
        /// Which links.
        #[serde(flatten)]
        links: Links,
        /// Requests or replies; `None`: both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<Direction>,
    },
    /// Shift replicas' wall clocks.
    Clock {
        /// Which replicas.
        replica: Vec<String>,
        /// Offset from the machine's clock, in milliseconds.
        shift_ms: i64,
    },
    /// Kill, start, pause, resume a Redis node, flush its scripts, or let its clock jump.
    Node(NodeAction),
    /// Fail over a Redis pair to its replica.
    Failover(Endpoint),
    /// Restart, kill, start, pause or resume Postgres.
    Postgres(PostgresAction),
    /// Terminate the Postgres backends of replicas.
    TerminateBackend(Vec<String>),
    /// Move every store's expiries and every replica's lease clock together, in milliseconds.
    Elapse {
        /// By how much.
        ms: u64,
    },
    /// Empty the stores and start replicas anew.
    Reset,
    /// A bounded, seeded series of gate moves and faults.
    Chaos {
        /// The same seed makes the same series.
        seed: u64,
        /// How many faults.
        faults: u64,
        /// Limit, in milliseconds.
        limit_ms: u64,
    },
    /// A SQL statement, sent as an outsider.
    Sql(String),
    /// A Redis command, sent as an outsider.
    Redis {
        /// The command's text.
        command: String,
        /// On which node.
        node: Endpoint,
    },
    /// A named session of homework: begin, commit, rollback, set.
    Session(
        #[borsh(serialize_with = "crate::packed::fields::write", deserialize_with = "crate::packed::fields::read")]
        BTreeMap<String, Value>,
    ),
}

/// See [`Action::Fire`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Fire {
    /// The schedule's name.
    pub schedule: String,
    /// To which replicas; `None`: all that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Vec<String>>,
    /// The schedule's latest slot once more, not a new one.
    #[serde(default)]
    pub again: bool,
}

/// See [`Action::Advance`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Advance {
    /// Which replicas.
    pub replica: Vec<String>,
    /// Pass gates up to this one and wait there; `None`: pass one gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Gate>,
    /// Limit, in milliseconds; over it the run is inconclusive.
    pub limit_ms: u64,
}

/// See [`Action::Wait`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// For a time.
    Ms(u64),
    /// Until the store says that the lock of the latest `fire` is in one of these states.
    Lock {
        /// Any of these.
        states: Vec<LockState>,
        /// Limit, in milliseconds.
        limit_ms: u64,
    },
    /// Until a replica waits for somebody else's lock inside Postgres, as Postgres itself says.
    Blocked {
        /// The replica.
        replica: String,
        /// Limit, in milliseconds.
        limit_ms: u64,
    },
    /// Until an event stands in the log; true if it already does.
    Event {
        /// Which.
        event: EventPattern,
        /// How many of them.
        count: u64,
        /// Limit, in milliseconds.
        limit_ms: u64,
    },
}

/// Any event of a kind, of a replica if named, with those field values if named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct EventPattern {
    /// The kind, in snake_case.
    pub kind: String,
    /// The replica that it is of or about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<String>,
    /// Field values that must be equal.
    #[serde(default, flatten)]
    #[borsh(serialize_with = "crate::packed::fields::write", deserialize_with = "crate::packed::fields::read")]
    pub fields: BTreeMap<String, Value>,
}

/// See [`Action::Assert`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assert {
    /// The lock of the latest `fire` is in this state.
    Lock(LockState),
    /// The lock of the latest `fire` is held by this replica.
    Holder(String),
    /// A statement's first value.
    Sql {
        /// The statement.
        sql: String,
        /// What it must be.
        #[borsh(serialize_with = "crate::packed::value::write", deserialize_with = "crate::packed::value::read")]
        is: Value,
    },
    /// A Redis command's answer.
    Redis {
        /// The command.
        redis: String,
        /// On which node.
        node: Endpoint,
        /// What it must be.
        #[borsh(serialize_with = "crate::packed::value::write", deserialize_with = "crate::packed::value::read")]
        is: Value,
    },
}

/// Which links: every pair of a replica and an endpoint named. The replication link of a Redis pair is the
/// pair's own, whatever replicas are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Links {
    /// Replicas; none where only replication links are meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replica: Vec<String>,
    /// Endpoints.
    pub endpoint: Vec<Endpoint>,
}

impl Links {
    /// Every link that is meant: whose it is and where it leads. A replication link is that of its node.
    pub fn each(&self) -> Vec<(String, Endpoint)> {
        let own = self.endpoint.iter().filter_map(|endpoint| match endpoint {
            Endpoint::RedisReplica(node) => Some((Endpoint::Redis(*node).to_string(), *endpoint)),
            _ => None,
        });
        let of_replicas = self.endpoint.iter().filter(|endpoint| !matches!(endpoint, Endpoint::RedisReplica(_)));
        let of_replicas = of_replicas.flat_map(|end| self.replica.iter().map(|name| (name.clone(), *end)));
        own.chain(of_replicas).collect()
    }

    /// Nodes whose replication links are meant.
    pub fn pairs(&self) -> impl Iterator<Item = u8> + '_ {
        self.endpoint.iter().filter_map(|endpoint| match endpoint {
            Endpoint::RedisReplica(node) => Some(*node),
            _ => None,
        })
    }
}

/// Which way a message goes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the replica.
    Request,
    /// To the replica.
    Reply,
}

/// See [`Action::Node`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeAction {
    /// Kill it; without persistence it forgets.
    Kill(Endpoint),
    /// Start it again.
    Start(Endpoint),
    /// Stop it (SIGSTOP).
    Pause(Endpoint),
    /// Continue it (SIGCONT).
    Resume(Endpoint),
    /// Forget its scripts.
    ScriptFlush(Endpoint),
    /// Let its clock jump: expiries of lock keys come nearer by `ms`.
    ClockShift {
        /// The node.
        clock_shift: Endpoint,
        /// By how much, in milliseconds.
        ms: i64,
    },
}

/// See [`Action::Postgres`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostgresAction {
    /// Immediate shutdown and start.
    Restart,
    /// Kill the postmaster and all backends.
    Kill,
    /// Start it again.
    Start,
    /// Stop it and all backends.
    Pause,
    /// Continue.
    Resume,
}

impl Action {
    /// The action's name in scenario files.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Fire(_) => "fire",
            Action::Advance(_) => "advance",
            Action::Wait(_) => "wait",
            Action::Assert(_) => "assert",
            Action::Pause(_) => "pause",
            Action::Resume(_) => "resume",
            Action::Kill(_) => "kill",
            Action::Start(_) => "start",
            Action::Cancel(_) => "cancel",
            Action::Add(_) => "add",
            Action::Remove(_) => "remove",
            Action::Set(_) => "set",
            Action::Cut(_) => "cut",
            Action::Heal { .. } => "heal",
            Action::Delay { .. } => "delay",
            Action::Hold { .. } => "hold",
            Action::LetGo { .. } => "let_go",
            Action::Clock { .. } => "clock",
            Action::Node(_) => "node",
            Action::Failover(_) => "failover",
            Action::Postgres(_) => "postgres",
            Action::TerminateBackend(_) => "terminate_backend",
            Action::Elapse { .. } => "elapse",
            Action::Reset => "reset",
            Action::Chaos { .. } => "chaos",
            Action::Sql(_) => "sql",
            Action::Redis { .. } => "redis",
            Action::Session(_) => "session",
        }
    }

    /// Can a lab perform it? What only homework's sandboxes play is refused, never ignored.
    pub fn is_for_a_lab(&self) -> bool {
        !matches!(self, Action::Session(_))
    }
}
