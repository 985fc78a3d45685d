//! What the lab must know of each strategy's commands and of the model of their store, and may do to that.

use locks::ids::{At, Endpoint};
use locks::strategy::pg_claim::{Ended, State};
use locks::strategy::{Op, Param, Reply, Session, keys, none, pg_claim, pg_lease, pg_row_lock};

use crate::world::LOCK;

/// What a command that took effect did, in an onlooker's eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The store granted the lock, or its vote for it.
    Grants,
    /// It was kept.
    Keeps,
    /// It was given back.
    GivesBack,
    /// None of these.
    Nothing,
}

/// See the module.
pub trait Command: Op {
    /// The session in whose connection the lock lives, so that nothing on it can touch another's.
    const LIVES_IN: Option<Session> = None;

    /// The published epoch: what the sink reads.
    fn epoch(store: &Self::Store) -> Option<u64>;

    /// It is executed, beside a replica of the store, if there is one.
    fn answer(&self, store: &mut Self::Store, _standby: Option<&Self::Store>, now: At) -> Reply {
        self.apply(store, now)
    }

    /// What it did, by the store's answer.
    fn meaning(&self, reply: &Reply) -> Meaning {
        let took_effect = match reply {
            Reply::Rows { affected, .. } => *affected > 0,
            Reply::Redis(value) => !matches!(value, Param::Null | Param::Int(0)),
            _ => false,
        };
        match self.wire().name {
            "acquire" | "rescue" if took_effect => Meaning::Grants,
            "renew" if took_effect => Meaning::Keeps,
            "release" | "complete" if took_effect => Meaning::GivesBack,
            _ => Meaning::Nothing,
        }
    }

    /// What a store would never show again is dropped, so that states that are alike are one.
    fn tidy(_store: &mut Self::Store, _now: At) {}

    /// A node's expiries come nearer by so much; `None`: it forgets its keys. Says whether there were any.
    fn disturb(_store: &mut Self::Store, _node: Endpoint, _by_ms: Option<u64>) -> bool {
        false
    }

    /// A node's replica takes its place. Says whether that makes any difference.
    fn promote(_store: &mut Self::Store, _standby: Self::Store, _node: Endpoint) -> bool {
        false
    }

    /// Is there still a connection at the store's end on which this can arrive?
    fn is_heard(&self, _store: &Self::Store, _now: At) -> bool {
        true
    }

    /// The store hears that a host's connection of that session was closed.
    fn close(_store: &mut Self::Store, _host: &str) {}
}

impl Command for none::Never {
    fn epoch(_: &()) -> Option<u64> {
        None
    }
}

impl Command for pg_lease::Ask {
    fn epoch(store: &pg_lease::Store) -> Option<u64> {
        store.epochs.get(LOCK).copied()
    }
}

impl Command for keys::Ask {
    fn epoch(store: &keys::Store) -> Option<u64> {
        store.epochs.published.get(LOCK).copied()
    }

    /// `WAIT` counts replicas that have what its session wrote: here, the key with its token.
    fn answer(&self, store: &mut keys::Store, standby: Option<&keys::Store>, now: At) -> Reply {
        let keys::Ask::Key(ask) = self else { return self.apply(store, now) };
        let has =
            |standby: &keys::Store| standby.key(ask.node, &ask.lock, now).is_some_and(|key| key.token == ask.token);
        store.acknowledge = i64::from(standby.is_some_and(has));
        let reply = self.apply(store, now);
        store.acknowledge = 0;
        reply
    }

    fn promote(store: &mut keys::Store, mut standby: keys::Store, node: Endpoint) -> bool {
        let before = store.keys.clone();
        standby.keys.retain(|(at, _), _| *at == node);
        store.keys.retain(|(at, _), _| *at != node);
        store.keys.append(&mut standby.keys);
        store.keys != before
    }

    fn tidy(store: &mut keys::Store, now: At) {
        store.keys.retain(|_, key| key.expires_at.is_none_or(|at| at > now));
    }

    fn disturb(store: &mut keys::Store, node: Endpoint, by_ms: Option<u64>) -> bool {
        let there = store.keys.keys().any(|(at, _)| *at == node);
        match by_ms {
            None => store.keys.retain(|(at, _), _| *at != node),
            Some(ms) => {
                for (_, key) in store.keys.iter_mut().filter(|((at, _), _)| *at == node) {
                    key.expires_at = key.expires_at.map(|at| at.minus(ms));
                }
            }
        }
        there
    }
}

impl Command for pg_claim::Ask {
    fn epoch(store: &pg_claim::Store) -> Option<u64> {
        store.epochs.get(LOCK).copied()
    }

    /// A rescue that ends a slot as doubtful grants nothing.
    fn meaning(&self, reply: &Reply) -> Meaning {
        let doubtful = Param::Text(State::Ended(Ended::Doubtful).name().to_owned());
        match (&self.verb, reply) {
            (_, Reply::Rows { affected: 0, .. }) => Meaning::Nothing,
            (pg_claim::Verb::Rescue { .. }, Reply::Rows { row, .. }) if row.get(1) == Some(&doubtful) => {
                Meaning::Nothing
            }
            (pg_claim::Verb::Claim { .. } | pg_claim::Verb::Rescue { .. }, Reply::Rows { .. }) => Meaning::Grants,
            (pg_claim::Verb::Renew { .. }, Reply::Rows { .. }) => Meaning::Keeps,
            (pg_claim::Verb::Release { .. } | pg_claim::Verb::Complete { .. }, Reply::Rows { .. }) => {
                Meaning::GivesBack
            }
            _ => Meaning::Nothing,
        }
    }
}

impl Command for pg_row_lock::Ask {
    const LIVES_IN: Option<Session> = Some(Session("lock"));

    fn epoch(store: &pg_row_lock::Store) -> Option<u64> {
        store.epochs.published.get(LOCK).copied()
    }

    /// The end of a transaction counts no rows.
    fn meaning(&self, reply: &Reply) -> Meaning {
        match (&self.verb, reply) {
            (pg_row_lock::Verb::Acquire { .. }, Reply::Rows { affected: 1.., .. }) => Meaning::Grants,
            (pg_row_lock::Verb::Confirm, Reply::Rows { affected: 1.., .. }) => Meaning::Keeps,
            (pg_row_lock::Verb::Commit | pg_row_lock::Verb::Undo | pg_row_lock::Verb::Rollback, Reply::Rows { .. }) => {
                Meaning::GivesBack
            }
            _ => Meaning::Nothing,
        }
    }

    /// The server has closed the connection of a transaction that was idle for too long.
    fn is_heard(&self, store: &pg_row_lock::Store, now: At) -> bool {
        let is_open = |held: &pg_row_lock::Held| held.bound_ms.is_none_or(|bound_ms| held.since.plus(bound_ms) > now);
        match self.verb {
            pg_row_lock::Verb::Ensure | pg_row_lock::Verb::Begin { .. } | pg_row_lock::Verb::Epoch(_) => true,
            _ => store.open.get(&self.on).is_some_and(is_open),
        }
    }

    fn close(store: &mut pg_row_lock::Store, host: &str) {
        store.open.remove(host);
    }
}
