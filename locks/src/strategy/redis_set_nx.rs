//! `redis-set-nx`: one key on one Redis node, set only if it is absent, with a random token as its value and a
//! time to live that the node measures; given back and kept by scripts that compare the token first.
//!
//! What the node forgets (a failover, a restart, a jump of its clock) the lock forgets with it.

use super::{Commands, Epochs, Info, LockAt, LockScope, Mutant, epochs, keys};
use crate::ids::Endpoint;

/// The strategy's name.
pub(super) const NAME: &str = "redis-set-nx";

const WAIT_1: &str = "wait-1";
const PLAIN_DEL: &str = "plain-del";
const LOOK_THEN_TAKE: &str = "look-then-take";
const SETNX_EXPIRE: &str = "setnx-expire";
const WHOLE_SECONDS: &str = "whole-seconds";
const NO_EVAL: &str = "no-eval";
const HOST_TOKEN: &str = "host-token";
const INSISTS: &str = "insists";
const LATE_COUNT: &str = "late-count";
const ANY_POLICY: &str = "any-policy";
const NO_JITTER: &str = "no-jitter";
const LEADS_ON: &str = "leads-on";
const LEAKS_CANCELLED: &str = "leaks-cancelled";
const TWO_KEYS: &str = "two-keys";

const fn broken(name: &'static str, text: &'static str, commands: Commands) -> Mutant {
    Mutant { name, text, broken: true, commands: super::of_machine(commands) }
}

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "One key on one Redis node: SET NX PX with a random token, compared before it is deleted or extended.",
    mutants: &[
        Mutant {
            name: WAIT_1,
            text: "A grant counts only once a replica of the node has it too (WAIT 1); otherwise it is given back.",
            broken: false,
            commands: super::of_machine(&[("confirm", keys::WAIT)]),
        },
        broken(
            PLAIN_DEL,
            "The release is a plain DEL: a late holder frees somebody else's lock.",
            &[("release", keys::DELETE)],
        ),
        broken(
            LOOK_THEN_TAKE,
            "It looks whether the key is there, and takes it in a second command that asks no more: whoever looks in \
             between is let in, too.",
            &[("look", keys::LOOK), ("acquire", keys::SET_OVER)],
        ),
        broken(
            SETNX_EXPIRE,
            "SETNX first, the time to live second: who dies in between leaves a lock that never ends.",
            &[("acquire", keys::SET_FOR_EVER), ("expire", keys::EXPIRE)],
        ),
        broken(
            WHOLE_SECONDS,
            "The lease is cut to whole seconds: half a second becomes none.",
            &[("acquire", keys::SET_SECONDS)],
        ),
        broken(
            NO_EVAL,
            "Scripts are called by their hash only: a node that has forgotten them cannot be asked to release.",
            &[],
        ),
        broken(
            HOST_TOKEN,
            "The token is the host's name, and whoever shows it is let in again: two processes of one name both hold.",
            &[("acquire", keys::SET_OR_SAME)],
        ),
        broken(INSISTS, "A release that is told \"not yours\" is tried again, on and on.", &[]),
        broken(
            LATE_COUNT,
            "A grant's time counts from its answer, not from when it was asked for: an expired grant is entered.",
            &[],
        ),
        broken(ANY_POLICY, "A node that may throw keys away is used all the same: it evicts the lock.", &[]),
        broken(NO_JITTER, "All who wait try again in step: a herd.", &[]),
        broken(
            LEADS_ON,
            "The holder goes on whatever becomes of its renewals, and does not stop at its deadline.",
            &[],
        ),
        broken(LEAKS_CANCELLED, "A cancelled attempt gives nothing back: the lock stands to its end.", &[]),
        broken(
            TWO_KEYS,
            "The release also wakes who waits, by a second key in the same script: a cluster refuses it, and the lock \
             stands to its end.",
            &[("release", keys::DELETE_OWN_AND_SIGNAL)],
        ),
    ],
    scope: LockScope::Schedule,
    has_lease: true,
    epochs: Epochs::Minted,
    lock_at: LockAt::Keys { nodes: 1, quorum: 1 },
    uses: &[Endpoint::Redis(1)],
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

#[cfg(feature = "strategies")]
pub use machine::RedisSetNx;

#[cfg(feature = "strategies")]
mod machine {
    use super::*;
    use crate::ids::Token;
    use crate::setup::Setup;
    use crate::strategy::keys::{Ask, Verb, asked};
    use crate::strategy::lease::{Asked, Hold, Lease, Machine, Quirks};
    use crate::strategy::{Param, Reply, Session};

    /// The machine of `redis-set-nx`.
    pub type RedisSetNx = Machine<Texts>;

    /// Which commands are sent, and what is made of their answers.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Texts {
        mutant: Option<&'static str>,
        host: Token,
        /// How long `WAIT` may wait: it must have answered before its own timeout is over.
        wait_ms: u64,
    }

    impl Texts {
        fn is(&self, mutant: &str) -> bool {
            self.mutant == Some(mutant)
        }

        fn ask(&self, verb: Verb, hold: &Hold, at: Endpoint) -> Ask {
            let mut ask = verb.ask(hold, at);
            ask.by_hash = self.is(NO_EVAL);
            Ask::Key(ask)
        }
    }

    impl Lease for Texts {
        type Op = Ask;
        const INFO: &'static Info = &INFO;
        const STORES: &'static [(Endpoint, Session)] = &[(Endpoint::Redis(1), Session("lock"))];

        fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self {
            Texts { mutant, host: Token(host.to_owned()), wait_ms: (setup.store_timeout_ms / 2).max(1) }
        }

        fn texts(&self) -> Vec<&'static str> {
            let mut scripts = vec![keys::EXTEND_OWN, keys::DELETE_OWN];
            scripts.extend(self.is(HOST_TOKEN).then_some(keys::SET_OR_SAME));
            scripts.extend(self.is(TWO_KEYS).then_some(keys::DELETE_OWN_AND_SIGNAL));
            scripts
        }

        fn needs_all_keys(&self) -> bool {
            !self.is(ANY_POLICY)
        }

        fn token(&self, fresh: Token) -> Token {
            if self.is(HOST_TOKEN) { self.host.clone() } else { fresh }
        }

        fn acquire(&self, hold: &Hold, lease_ms: u64, at: Endpoint) -> Ask {
            let verb = match self.mutant {
                Some(LOOK_THEN_TAKE) => Verb::Look,
                Some(SETNX_EXPIRE) => Verb::SetForEver,
                Some(WHOLE_SECONDS) => Verb::SetSeconds { lease_s: lease_ms / 1000 },
                Some(HOST_TOKEN) => Verb::SetOrSame { lease_ms },
                _ => Verb::Set { lease_ms },
            };
            self.ask(verb, hold, at)
        }

        fn confirm(&self, hold: &Hold, lease_ms: u64) -> Option<Ask> {
            let verb = match self.mutant {
                Some(LOOK_THEN_TAKE) => Verb::SetOver { lease_ms },
                Some(SETNX_EXPIRE) => Verb::Expire { lease_ms },
                Some(WAIT_1) => Verb::Wait { most_ms: self.wait_ms },
                _ => return None,
            };
            Some(self.ask(verb, hold, Self::STORES[0].0))
        }

        fn renew(&self, hold: &Hold, lease_ms: u64, at: Endpoint) -> Ask {
            self.ask(Verb::ExtendOwn { lease_ms }, hold, at)
        }

        fn release(&self, hold: &Hold, at: Endpoint) -> Ask {
            let verb = match self.mutant {
                Some(PLAIN_DEL) => Verb::Delete,
                Some(TWO_KEYS) => Verb::DeleteOwnAndSignal,
                _ => Verb::DeleteOwn,
            };
            self.ask(verb, hold, at)
        }

        fn asked(&self, reply: &Reply) -> Asked {
            match reply {
                // It only looked: nil is the good news.
                Reply::Redis(Param::Null) if self.is(LOOK_THEN_TAKE) => Asked::Granted(None),
                Reply::Redis(_) if self.is(LOOK_THEN_TAKE) => Asked::NotGranted("busy"),
                reply => asked(reply),
            }
        }

        fn confirmed(&self, reply: &Reply) -> Asked {
            match reply {
                Reply::Redis(Param::Int(0)) if self.is(WAIT_1) => Asked::NotGranted("no replica has it"),
                reply => asked(reply),
            }
        }

        fn epoch(&self, ask: epochs::Ask) -> Option<Ask> {
            Some(Ask::Epoch(ask))
        }

        fn quirks(&self) -> Quirks {
            Quirks {
                trusts_for_ever: self.is(LEADS_ON),
                counts_from_answer: self.is(LATE_COUNT),
                insists: self.is(INSISTS),
                in_step: self.is(NO_JITTER),
                leaks_cancelled: self.is(LEAKS_CANCELLED),
                ..Quirks::default()
            }
        }
    }
}
