//! What a run is set up with. A value of [`Setup`] is complete: defaults are filled in. [`SetupChange`]
//! is what `set` may change while a run is going on.

use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::guard::Guard;
use crate::ids::{Gate, SinkName};

/// A strategy and, perhaps, its mutant: `pg-lease` or `pg-lease/no-owner-check`.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(from = "String", into = "String")]
pub struct StrategyName {
    /// The strategy.
    pub strategy: String,
    /// Its broken (or otherwise varied) part.
    pub mutant: Option<String>,
}

impl fmt::Display for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mutant {
            None => f.write_str(&self.strategy),
            Some(mutant) => write!(f, "{}/{mutant}", self.strategy),
        }
    }
}

impl From<String> for StrategyName {
    fn from(text: String) -> Self {
        match text.split_once('/') {
            None => StrategyName { strategy: text, mutant: None },
            Some((strategy, mutant)) => StrategyName { strategy: strategy.to_owned(), mutant: Some(mutant.to_owned()) },
        }
    }
}

impl From<&str> for StrategyName {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<StrategyName> for String {
    fn from(name: StrategyName) -> String {
        name.to_string()
    }
}

/// What the work does when it is told that the grant is over.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize, Default,
)]
#[serde(rename_all = "snake_case")]
pub enum Handler {
    /// Stops.
    #[default]
    Cooperative,
    /// Goes on, and sends its effect whatever the check says.
    Stubborn,
    /// Blocks the lock's own thread, so that nothing can tell it anything.
    Blocking,
}

/// Whose clock a lease is compared with.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize, Default,
)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The store's, inside the statement.
    #[default]
    Store,
    /// The replica's wall clock, to show why not.
    Replica,
}

/// A broken part that is no strategy: what `mutant` in a set-up can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenPart {
    /// Its name, `part/what`.
    pub name: &'static str,
    /// What differs, for the learner.
    pub text: &'static str,
}

/// Timers that count from when the replica's process was started.
pub const PROCESS_START: &str = "binder/process-start";

/// All of them.
pub const BROKEN_PARTS: &[BrokenPart] = &[BrokenPart {
    name: PROCESS_START,
    text: "Each replica counts a schedule's period from its own start: no two of them ever mean the same slot.",
}];

/// Which gates stand closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gated {
    /// None: everything passes at once.
    No,
    /// The usual ones, and these further ones: those of [`Gate::USUALLY_OPEN`], release retries as `release`.
    Yes(Vec<String>),
}

impl Gated {
    /// Does an attempt wait at that gate? `retry` tells a command's first try from its repetitions.
    pub fn closed_at(&self, gate: &Gate, retry: bool) -> bool {
        let Gated::Yes(further) = self else { return false };
        match gate {
            Gate::Send(Some(command)) if retry || Gate::USUALLY_OPEN.contains(&command.as_str()) => {
                further.iter().any(|name| name == command)
            }
            _ => true,
        }
    }
}

/// What may differ from replica to replica.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(default)]
pub struct ReplicaSetup {
    /// Lease, in milliseconds.
    pub lease_ms: Option<u64>,
    /// How long the work takes, in milliseconds.
    pub work_ms: Option<u64>,
    /// What the work does when told that the grant is over.
    pub handler: Option<Handler>,
    /// Keep the grant alive while working.
    pub renew: Option<bool>,
    /// How long to wait for a busy lock, in milliseconds; 0: skip.
    pub acquire_timeout_ms: Option<u64>,
    /// The strategy that this replica alone runs.
    pub strategy: Option<StrategyName>,
    /// The host name that the replica goes by.
    pub host: Option<String>,
    /// The time zone of its sessions, an IANA name.
    pub time_zone: Option<String>,
    /// The isolation level of its sessions, as Postgres spells it.
    pub isolation: Option<String>,
    /// Offset of its wall clock from the start, in milliseconds.
    pub clock_shift_ms: Option<i64>,
}

/// Settings of one Redis node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(default)]
pub struct NodeSetup {
    /// `maxmemory`, as Redis spells it.
    pub maxmemory: Option<String>,
    /// `maxmemory-policy`, as Redis spells it.
    pub maxmemory_policy: Option<String>,
    /// It is a cluster of one: whatever a cluster refuses, it refuses.
    pub cluster: bool,
}

/// The complete set-up of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(default)]
pub struct Setup {
    /// How replicas coordinate.
    pub strategy: StrategyName,
    /// Names of the replicas at the start.
    pub replicas: Vec<String>,
    /// Lease, in milliseconds.
    pub lease_ms: u64,
    /// How long the work takes, in milliseconds.
    pub work_ms: u64,
    /// What the work does when told that the grant is over.
    pub handler: Handler,
    /// Keep the grant alive while working.
    pub renew: bool,
    /// How long to wait for a busy lock, in milliseconds; 0: skip.
    pub acquire_timeout_ms: u64,
    /// What the sink checks; empty: nothing.
    pub guard: Vec<Guard>,
    /// Where effects land.
    pub sink: SinkName,
    /// Whose clock a lease is compared with.
    pub clock: Clock,
    /// Do replicas fire slots by their own timers?
    pub cron: bool,
    /// The cadence of the catalog's schedules, in seconds (live sessions: each fires every so often).
    pub every_s: u64,
    /// Which gates stand closed.
    pub gated: Gated,
    /// Seed of every random number of the run.
    pub seed: u64,
    /// A command's timeout, in milliseconds.
    pub store_timeout_ms: u64,
    /// The timeout of one Redlock node, in milliseconds.
    pub node_timeout_ms: u64,
    /// How long before the lease's end a replica stops trusting its grant, in milliseconds.
    pub margin_ms: u64,
    /// How long a run may take to end after its last step, in milliseconds.
    pub end_limit_ms: u64,
    /// Broken parts that are no strategy, of [`BROKEN_PARTS`].
    pub mutant: Vec<String>,
    /// What differs from replica to replica.
    #[borsh(deserialize_with = "crate::packed::map::read")]
    pub replica: BTreeMap<String, ReplicaSetup>,
    /// Settings of single Redis nodes, by `redis-1` to `redis-5`.
    #[borsh(deserialize_with = "crate::packed::map::read")]
    pub node: BTreeMap<String, NodeSetup>,
}

impl Default for Setup {
    /// The defaults of scenario files.
    fn default() -> Self {
        Setup {
            strategy: "none".into(),
            replicas: vec!["A".to_owned(), "B".to_owned()],
            lease_ms: 3000,
            work_ms: 200,
            handler: Handler::Cooperative,
            renew: false,
            acquire_timeout_ms: 0,
            guard: Vec::new(),
            sink: SinkName::Bank,
            clock: Clock::Store,
            cron: false,
            every_s: 5,
            gated: Gated::Yes(Vec::new()),
            seed: 1,
            store_timeout_ms: 200,
            node_timeout_ms: 100,
            margin_ms: 50,
            end_limit_ms: 20_000,
            mutant: Vec::new(),
            replica: BTreeMap::new(),
            node: BTreeMap::new(),
        }
    }
}

impl Setup {
    /// Most replicas that one run may have.
    pub const MAX_REPLICAS: usize = 50;
    /// Most replicas of a live session.
    pub const MAX_LIVE_REPLICAS: usize = 9;

    /// The set-up of a live session: three replicas, cron on, no gates.
    pub fn live() -> Self {
        Setup {
            replicas: ["A", "B", "C"].map(str::to_owned).to_vec(),
            lease_ms: 1500,
            work_ms: 350,
            cron: true,
            gated: Gated::No,
            ..Setup::default()
        }
    }

    /// The set-up as one replica sees it: its own values laid over the common ones.
    pub fn of_replica(&self, name: &str) -> Setup {
        let mut setup = self.clone();
        let Some(own) = self.replica.get(name) else { return setup };
        setup.lease_ms = own.lease_ms.unwrap_or(setup.lease_ms);
        setup.work_ms = own.work_ms.unwrap_or(setup.work_ms);
        setup.handler = own.handler.unwrap_or(setup.handler);
        setup.renew = own.renew.unwrap_or(setup.renew);
        setup.acquire_timeout_ms = own.acquire_timeout_ms.unwrap_or(setup.acquire_timeout_ms);
        if let Some(strategy) = &own.strategy {
            setup.strategy = strategy.clone();
        }
        setup
    }

    /// Is that part broken? One of [`BROKEN_PARTS`].
    pub fn has_broken(&self, part: &str) -> bool {
        self.mutant.iter().any(|name| name == part)
    }

    /// Does any guard look at epochs?
    pub fn needs_epochs(&self) -> bool {
        self.guard.iter().any(|guard| guard.needs_epoch())
    }

    /// The host name that a replica goes by: its own, or its replica name.
    pub fn host_of(&self, name: &str) -> String {
        self.replica.get(name).and_then(|own| own.host.clone()).unwrap_or_else(|| name.to_owned())
    }

    /// Apply a change. Values that the change does not name stay.
    pub fn apply(&mut self, change: &SetupChange) {
        if let Some(strategy) = &change.strategy {
            self.strategy = strategy.clone();
        }
        self.lease_ms = change.lease_ms.unwrap_or(self.lease_ms);
        self.work_ms = change.work_ms.unwrap_or(self.work_ms);
        self.handler = change.handler.unwrap_or(self.handler);
        self.renew = change.renew.unwrap_or(self.renew);
        self.acquire_timeout_ms = change.acquire_timeout_ms.unwrap_or(self.acquire_timeout_ms);
        if let Some(guard) = &change.guard {
            self.guard = guard.clone();
        }
        self.sink = change.sink.unwrap_or(self.sink);
        self.clock = change.clock.unwrap_or(self.clock);
        self.cron = change.cron.unwrap_or(self.cron);
        self.every_s = change.every_s.unwrap_or(self.every_s);
        self.store_timeout_ms = change.store_timeout_ms.unwrap_or(self.store_timeout_ms);
        self.node_timeout_ms = change.node_timeout_ms.unwrap_or(self.node_timeout_ms);
        self.margin_ms = change.margin_ms.unwrap_or(self.margin_ms);
    }

    /// The change that makes this set-up that one, as far as a change can; nothing if it is that one already.
    pub fn change_to(&self, to: &Setup) -> SetupChange {
        fn of<T: PartialEq + Clone>(from: &T, to: &T) -> Option<T> {
            (from != to).then(|| to.clone())
        }
        SetupChange {
            strategy: of(&self.strategy, &to.strategy),
            lease_ms: of(&self.lease_ms, &to.lease_ms),
            work_ms: of(&self.work_ms, &to.work_ms),
            handler: of(&self.handler, &to.handler),
            renew: of(&self.renew, &to.renew),
            acquire_timeout_ms: of(&self.acquire_timeout_ms, &to.acquire_timeout_ms),
            guard: of(&self.guard, &to.guard),
            sink: of(&self.sink, &to.sink),
            clock: of(&self.clock, &to.clock),
            cron: of(&self.cron, &to.cron),
            every_s: of(&self.every_s, &to.every_s),
            store_timeout_ms: of(&self.store_timeout_ms, &to.store_timeout_ms),
            node_timeout_ms: of(&self.node_timeout_ms, &to.node_timeout_ms),
            margin_ms: of(&self.margin_ms, &to.margin_ms),
        }
    }
}

/// What `set` may change while a run is going on. Attempts under way keep what they began with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetupChange {
    /// See [`Setup::strategy`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<StrategyName>,
    /// See [`Setup::lease_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// See [`Setup::work_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_ms: Option<u64>,
    /// See [`Setup::handler`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<Handler>,
    /// See [`Setup::renew`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew: Option<bool>,
    /// See [`Setup::acquire_timeout_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acquire_timeout_ms: Option<u64>,
    /// See [`Setup::guard`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<Vec<Guard>>,
    /// See [`Setup::sink`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sink: Option<SinkName>,
    /// See [`Setup::clock`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// See [`Setup::cron`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<bool>,
    /// See [`Setup::every_s`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_s: Option<u64>,
    /// See [`Setup::store_timeout_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_timeout_ms: Option<u64>,
    /// See [`Setup::node_timeout_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_timeout_ms: Option<u64>,
    /// See [`Setup::margin_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_ms: Option<u64>,
}
