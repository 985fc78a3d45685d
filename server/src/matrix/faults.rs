//! The faults of the matrix, in the order of its rows, each with the script that causes it. A script names
//! the stores in which the lock stands as `@lock`; where one text cannot serve every kind of store there is
//! one for each, and a strategy for which there is none is not concerned.

use locks::scenario::{Problem, Scenario};
use locks::strategy::{Info, LockAt};

/// Where a strategy's lock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: there is none.
    Nowhere,
    /// In Postgres.
    Postgres,
    /// On one Redis node.
    OneNode,
    /// On a quorum of five.
    Quorum,
}

impl Place {
    /// Where this strategy's lock stands.
    pub fn of(info: &Info) -> Place {
        match info.lock_at {
            LockAt::Nowhere => Place::Nowhere,
            LockAt::Keys { nodes: 1, .. } => Place::OneNode,
            LockAt::Keys { .. } => Place::Quorum,
            LockAt::LocksRow | LockAt::SlotRow | LockAt::RowLock => Place::Postgres,
        }
    }

    /// What `@lock` means there.
    fn endpoint(self) -> &'static str {
        match self {
            Place::Nowhere | Place::Postgres => "postgres",
            Place::OneNode => "redis-1",
            Place::Quorum => "redis",
        }
    }
}

/// One row of the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The heading that it stands under.
    pub group: &'static str,
    /// Does it say anything without a lock?
    pub without_lock: bool,
    /// Takes so many processes that it has the machine to itself.
    pub heavy: bool,
    /// The replica whose effects it leaves without an answer on purpose.
    pub cuts_off: Option<&'static str>,
    /// Its scripts, by the places that they are for.
    scripts: &'static [(&'static [Place], &'static str)],
}

impl Fault {
    /// The script for a strategy; `None` if the fault cannot happen to it.
    pub fn script(&self, info: &Info) -> Option<Result<Scenario, Vec<Problem>>> {
        let place = Place::of(info);
        if place == Place::Nowhere && !self.without_lock {
            return None;
        }
        let (_, text) = self.scripts.iter().find(|(places, _)| places.contains(&place))?;
        Some(Scenario::parse(&text.replace("@lock", place.endpoint())))
    }
}

const PROCESSES: &str = "Processes";
const NETWORK: &str = "Network";
const STORES: &str = "Stores and clocks";
const LOAD: &str = "Load";

const ANY: &[Place] = &[Place::Nowhere, Place::Postgres, Place::OneNode, Place::Quorum];

macro_rules! script {
    ($file:literal) => {
        include_str!(concat!("../../matrix/", $file, ".toml"))
    };
}

const fn fault(
    name: &'static str,
    title: &'static str,
    group: &'static str,
    scripts: &'static [(&'static [Place], &'static str)],
) -> Fault {
    Fault { name, title, group, without_lock: false, heavy: false, cuts_off: None, scripts }
}

/// All of them.
pub const ALL: &[Fault] = &[
    Fault {
        without_lock: true,
        ..fault("two-at-once", "Two replicas at once", PROCESSES, &[(ANY, script!("two-at-once"))])
    },
    fault("crash-while-holding", "Crash while holding", PROCESSES, &[(ANY, script!("crash-while-holding"))]),
    fault("pause-past-lease", "Pause past the lease", PROCESSES, &[(ANY, script!("pause-past-lease"))]),
    fault("pause-while-acquiring", "Pause while acquiring", PROCESSES, &[(ANY, script!("pause-while-acquiring"))]),
    fault(
        "work-longer-than-lease",
        "Work longer than the lease",
        PROCESSES,
        &[(ANY, script!("work-longer-than-lease"))],
    ),
    Fault {
        cuts_off: Some("A"),
        ..fault("cut-off", "Cut from the store and the sink", NETWORK, &[(ANY, script!("cut-off"))])
    },
    fault(
        "cut-from-store-only",
        "Cut from the store, not from the sink",
        NETWORK,
        &[(ANY, script!("cut-from-store-only"))],
    ),
    fault("lost-reply-to-acquire", "Reply to acquire is lost", NETWORK, &[(ANY, script!("lost-reply-to-acquire"))]),
    fault("lost-reply-to-release", "Reply to release is lost", NETWORK, &[(ANY, script!("lost-reply-to-release"))]),
    fault(
        "node-memory-loss",
        "A Redis node loses its memory",
        STORES,
        &[(&[Place::OneNode], script!("node-memory-loss.one")), (&[Place::Quorum], script!("node-memory-loss.quorum"))],
    ),
    fault("failover", "Redis fails over", STORES, &[(&[Place::OneNode], script!("failover.one"))]),
    fault(
        "clock-jump",
        "A Redis node’s clock jumps",
        STORES,
        &[(&[Place::OneNode], script!("clock-jump.one")), (&[Place::Quorum], script!("clock-jump.quorum"))],
    ),
    fault(
        "postgres-restart",
        "Postgres restarts",
        STORES,
        &[(&[Place::Postgres], script!("postgres-restart.postgres"))],
    ),
    fault("clock-ahead", "A replica’s clock is ahead", STORES, &[(ANY, script!("clock-ahead"))]),
    Fault {
        without_lock: true,
        heavy: true,
        ..fault("fifty-waiters", "50 waiters", LOAD, &[(ANY, script!("fifty-waiters"))])
    },
];

/// The fault of that name.
pub fn find(name: &str) -> Option<&'static Fault> {
    ALL.iter().find(|fault| fault.name == name)
}

#[cfg(test)]
mod tests {
    use locks::scenario::Problem;

    use super::*;

    #[test]
    fn every_script_can_be_read_for_every_strategy() {
        for fault in ALL {
            for info in locks::strategy::ALL {
                if let Some(Err(problems)) = fault.script(info) {
                    panic!("{}", Problem::render_all(&problems, fault.name));
                }
            }
        }
    }

    #[test]
    fn a_script_is_called_as_its_fault() {
        for fault in ALL {
            for info in locks::strategy::ALL {
                if let Some(Ok(scenario)) = fault.script(info) {
                    assert_eq!(scenario.name, fault.name);
                }
            }
        }
    }
}
