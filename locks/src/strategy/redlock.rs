//! `redlock`: the same key on five independent Redis nodes, asked at once, each with a short timeout. The lock
//! is held where three nodes granted and enough of the lease is left: the lease less the time that the asking
//! took, less what the nodes' clocks may drift. Whatever is no grant is unlocked everywhere.

use super::{Commands, Epochs, Info, LockAt, LockScope, Mutant, epochs, keys};
use crate::ids::Endpoint;
use crate::setup::{Setup, StrategyName};

/// The strategy's name.
pub(super) const NAME: &str = "redlock";

const DELAYED_RESTART: &str = "delayed-restart";
const ELAPSED_UNCHECKED: &str = "elapsed-unchecked";
const LEAKS_ON_FAILURE: &str = "leaks-on-failure";
const ALL_NODES_NEEDED: &str = "all-nodes-needed";
const PLAIN_DEL: &str = "plain-del";

const NODES: [Endpoint; 5] =
    [Endpoint::Redis(1), Endpoint::Redis(2), Endpoint::Redis(3), Endpoint::Redis(4), Endpoint::Redis(5)];
const QUORUM: u8 = 3;

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "One key on five Redis nodes at once: held where three of them granted it and time enough is left.",
    mutants: &[
        Mutant {
            name: DELAYED_RESTART,
            text: "A node that lost its memory stays away longer than the lease: no vote is given twice.",
            broken: false,
            commands: &[],
        },
        Mutant {
            name: ELAPSED_UNCHECKED,
            text: "The time that the asking took is not taken off the lease: an expired grant is entered.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: LEAKS_ON_FAILURE,
            text: "A failed try leaves the keys that it did get: they stand in everybody's way to their end.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: ALL_NODES_NEEDED,
            text: "All five nodes must grant: one dead node stops everybody.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: PLAIN_DEL,
            text: "The release is a plain DEL: a late holder frees somebody else's lock.",
            broken: true,
            commands: super::of_machine(&[("release", keys::DELETE)]),
        },
    ],
    scope: LockScope::Schedule,
    has_lease: true,
    epochs: Epochs::Minted,
    lock_at: LockAt::Keys { nodes: NODES.len() as u8, quorum: QUORUM },
    uses: &NODES,
    transitions: super::of_machine(super::lease::MINTING),
    commands: super::of_machine(COMMANDS),
};

const COMMANDS: Commands = &[
    ("acquire", keys::SET),
    ("renew", keys::EXTEND_OWN),
    ("release", keys::DELETE_OWN),
    ("mint", epochs::MINT_SEEING),
    ("publish", epochs::PUBLISH_OVER),
];

/// How long a node that was started again must not answer: longer than any lease that it may have forgotten.
pub(super) fn restart_delay_ms(setup: &Setup) -> u64 {
    let delayed = |name: &StrategyName| name.strategy == NAME && name.mutant.as_deref() == Some(DELAYED_RESTART);
    let of_replica = |replica: &String| {
        let own = setup.of_replica(replica);
        delayed(&own.strategy).then(|| own.lease_ms.saturating_add(own.margin_ms))
    };
    setup.replicas.iter().filter_map(of_replica).max().unwrap_or(0)
}

#[cfg(feature = "strategies")]
pub use machine::Redlock;

#[cfg(feature = "strategies")]
mod machine {
    use super::*;
    use crate::strategy::keys::{Ask, Verb, asked};
    use crate::strategy::lease::{Asked, Hold, Lease, Machine, Quirks, Rules};
    use crate::strategy::{Reply, Session};

    /// The machine of `redlock`.
    pub type Redlock = Machine<Texts>;

    /// Which commands are sent, and what is made of their answers.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Texts {
        mutant: Option<&'static str>,
    }

    impl Texts {
        fn is(&self, mutant: &str) -> bool {
            self.mutant == Some(mutant)
        }
    }

    impl Lease for Texts {
        type Op = Ask;
        const INFO: &'static Info = &INFO;
        const STORES: &'static [(Endpoint, Session)] = &[
            (NODES[0], Session("lock-1")),
            (NODES[1], Session("lock-2")),
            (NODES[2], Session("lock-3")),
            (NODES[3], Session("lock-4")),
            (NODES[4], Session("lock-5")),
        ];

        fn new(_: &Setup, mutant: Option<&'static str>, _: &str) -> Self {
            Texts { mutant }
        }

        /// Clocks may drift by a hundredth of the lease, and nodes round expiries to milliseconds.
        fn rules(&self, setup: &Setup) -> Rules {
            let drift_ms = setup.lease_ms / 100 + 2;
            let quorum = if self.is(ALL_NODES_NEEDED) { NODES.len() } else { usize::from(QUORUM) };
            Rules {
                timeout_ms: setup.node_timeout_ms,
                margin_ms: setup.margin_ms + drift_ms,
                quorum,
                ..Rules::of(setup)
            }
        }

        fn texts(&self) -> Vec<&'static str> {
            vec![keys::EXTEND_OWN, keys::DELETE_OWN]
        }

        fn needs_all_keys(&self) -> bool {
            true
        }

        fn acquire(&self, hold: &Hold, lease_ms: u64, at: Endpoint) -> Ask {
            Ask::Key(Verb::Set { lease_ms }.ask(hold, at))
        }

        fn renew(&self, hold: &Hold, lease_ms: u64, at: Endpoint) -> Ask {
            Ask::Key(Verb::ExtendOwn { lease_ms }.ask(hold, at))
        }

        fn release(&self, hold: &Hold, at: Endpoint) -> Ask {
            let verb = if self.is(PLAIN_DEL) { Verb::Delete } else { Verb::DeleteOwn };
            Ask::Key(verb.ask(hold, at))
        }

        fn asked(&self, reply: &Reply) -> Asked {
            asked(reply)
        }

        fn epoch(&self, ask: epochs::Ask) -> Option<Ask> {
            Some(Ask::Epoch(ask))
        }

        fn quirks(&self) -> Quirks {
            Quirks {
                counts_from_answer: self.is(ELAPSED_UNCHECKED),
                leaks_tries: self.is(LEAKS_ON_FAILURE),
                ..Quirks::default()
            }
        }
    }
}
