//! One Redis key a lock: the commands of the strategies that keep it, their texts, and what they mean on a
//! model of the nodes. Every script but a mutant's touches one key, so that it runs on a cluster too.

/// Taken only if it is absent; the node forgets it by itself.
pub(super) const SET: &str = "SET $1 $2 NX PX $3";
/// Given back only while it is still ours.
pub(super) const DELETE_OWN: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0";
/// Kept only while it is still ours.
pub(super) const EXTEND_OWN: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0";

/// Given back as [`DELETE_OWN`] is, and who waits is told by a second key.
pub(super) const DELETE_OWN_AND_SIGNAL: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('RPUSH', KEYS[2], '1')
  redis.call('PEXPIRE', KEYS[2], 1000)
  return redis.call('DEL', KEYS[1])
end
return 0";

/// Given back whosoever it is.
pub(super) const DELETE: &str = "DEL $1";
/// As [`SET`], in whole seconds.
pub(super) const SET_SECONDS: &str = "SET $1 $2 NX EX $3";
/// As [`SET`], and whoever shows the same token is let in again.
pub(super) const SET_OR_SAME: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
/// Whether it is there: the first of two steps ...
pub(super) const LOOK: &str = "GET $1";
/// ... and the second, which asks no more.
pub(super) const SET_OVER: &str = "SET $1 $2 PX $3";
/// Half of [`SET`]: nothing ends it by time ...
pub(super) const SET_FOR_EVER: &str = "SETNX $1 $2";
/// ... but the other half.
pub(super) const EXPIRE: &str = "PEXPIRE $1 $2";
/// So many replicas have everything that this session wrote.
pub(super) const WAIT: &str = "WAIT 1 $1";

#[cfg(feature = "strategies")]
pub use ask::{Ask, Key, KeyAsk, Store, Verb};

#[cfg(feature = "strategies")]
mod ask {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ids::{At, Endpoint, LockName, Token};
    use crate::strategy::lease::{Asked, Hold};
    use crate::strategy::{Language, Op, Param, Reply, Wire, epochs};

    /// A command on a node, or a statement about epochs.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Ask {
        /// About the lock's key.
        Key(KeyAsk),
        /// About its epoch.
        Epoch(epochs::Ask),
    }

    /// A command about a lock's key, with its meaning.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct KeyAsk {
        /// What it does.
        pub verb: Verb,
        /// At which node.
        pub node: Endpoint,
        /// The lock's name.
        pub lock: LockName,
        /// The token that it shows.
        pub token: Token,
        /// Scripts are never sent whole.
        pub by_hash: bool,
    }

    /// What a command does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Verb {
        /// Take the lock if it is free.
        Set {
            /// For how long, in milliseconds.
            lease_ms: u64,
        },
        /// The same, in whole seconds.
        SetSeconds {
            /// For how long, in seconds.
            lease_s: u64,
        },
        /// The same, also if the same token stands.
        SetOrSame {
            /// For how long, in milliseconds.
            lease_ms: u64,
        },
        /// Look whether it is there.
        Look,
        /// Take it, whoever has it.
        SetOver {
            /// For how long, in milliseconds.
            lease_ms: u64,
        },
        /// Take it for ever.
        SetForEver,
        /// Let it end by time, whosoever it is.
        Expire {
            /// For how long from now on, in milliseconds.
            lease_ms: u64,
        },
        /// Keep it while it is ours.
        ExtendOwn {
            /// For how long from now on, in milliseconds.
            lease_ms: u64,
        },
        /// Give it back while it is ours.
        DeleteOwn,
        /// The same, and leave a signal for those who wait, under a second key.
        DeleteOwnAndSignal,
        /// Give it back, whosoever it is.
        Delete,
        /// Wait until a replica has it.
        Wait {
            /// How long at most, in milliseconds.
            most_ms: u64,
        },
    }

    impl Verb {
        /// About that hold, at that node.
        pub(in crate::strategy) fn ask(self, hold: &Hold, node: Endpoint) -> KeyAsk {
            KeyAsk { verb: self, node, lock: hold.lock.clone(), token: hold.token.clone(), by_hash: false }
        }
    }

    /// The model of the nodes, and of Postgres as far as epochs go.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Store {
        /// The keys that stand, or have ended by time.
        pub keys: BTreeMap<(Endpoint, LockName), Key>,
        /// How many replicas acknowledge what is written.
        pub acknowledge: i64,
        /// Epochs.
        pub epochs: epochs::Store,
    }

    /// A lock's key on one node.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Key {
        /// Its value.
        pub token: Token,
        /// When it ends, in milliseconds of the node's clock; `None`: never.
        pub expires_at: Option<At>,
    }

    impl Store {
        /// The key as the node shows it at that time.
        pub fn key(&self, node: Endpoint, lock: &str, now: At) -> Option<&Key> {
            self.keys.get(&(node, lock.to_owned())).filter(|key| key.expires_at.is_none_or(|at| at > now))
        }
    }

    impl Op for Ask {
        type Store = Store;

        fn wire(&self) -> Wire {
            match self {
                Ask::Key(ask) => ask.wire(),
                Ask::Epoch(ask) => ask.wire(),
            }
        }

        fn apply(&self, store: &mut Store, store_now: At) -> Reply {
            match self {
                Ask::Key(ask) => ask.apply(store, store_now),
                Ask::Epoch(ask) => ask.apply(&mut store.epochs),
            }
        }
    }

    impl KeyAsk {
        fn wire(&self) -> Wire {
            let ms = |ms: u64| Param::Int(i64::try_from(ms).unwrap_or(i64::MAX));
            let (key, token) = (Param::Key(self.lock.clone()), Param::Text(self.token.0.clone()));
            let lua = if self.by_hash { Language::LuaByHash } else { Language::Lua };
            let (name, language, text, params) = match self.verb {
                Verb::Set { lease_ms } => ("acquire", Language::Redis, SET, vec![key, token, ms(lease_ms)]),
                Verb::SetSeconds { lease_s } => {
                    ("acquire", Language::Redis, SET_SECONDS, vec![key, token, ms(lease_s)])
                }
                Verb::SetOrSame { lease_ms } => ("acquire", lua, SET_OR_SAME, vec![key, token, ms(lease_ms)]),
                Verb::Look => ("look", Language::Redis, LOOK, vec![key]),
                Verb::SetOver { lease_ms } => ("acquire", Language::Redis, SET_OVER, vec![key, token, ms(lease_ms)]),
                Verb::SetForEver => ("acquire", Language::Redis, SET_FOR_EVER, vec![key, token]),
                Verb::Expire { lease_ms } => ("expire", Language::Redis, EXPIRE, vec![key, ms(lease_ms)]),
                Verb::ExtendOwn { lease_ms } => ("renew", lua, EXTEND_OWN, vec![key, token, ms(lease_ms)]),
                Verb::DeleteOwn => ("release", lua, DELETE_OWN, vec![key, token]),
                Verb::DeleteOwnAndSignal => {
                    let signal = Param::Key(format!("{}:signal", self.lock));
                    ("release", lua, DELETE_OWN_AND_SIGNAL, vec![key, signal, token])
                }
                Verb::Delete => ("release", Language::Redis, DELETE, vec![key]),
                Verb::Wait { most_ms } => ("confirm", Language::Redis, WAIT, vec![ms(most_ms)]),
            };
            Wire { name, language, text, params }
        }

        fn apply(&self, store: &mut Store, now: At) -> Reply {
            let place = (self.node, self.lock.clone());
            let standing = store.key(self.node, &self.lock, now).cloned();
            let same = standing.as_ref().is_some_and(|key| key.token == self.token);
            let count = |yes: bool| Reply::Redis(Param::Int(i64::from(yes)));
            let ok = || Reply::Redis(Param::Text("OK".to_owned()));
            let mut put = |ms: Option<u64>| {
                let key = Key { token: self.token.clone(), expires_at: ms.map(|ms| now.plus(ms)) };
                store.keys.insert(place.clone(), key);
            };
            match self.verb {
                Verb::Set { lease_ms: 0 }
                | Verb::SetOver { lease_ms: 0 }
                | Verb::SetSeconds { lease_s: 0 }
                | Verb::SetOrSame { lease_ms: 0 } => {
                    let message = "invalid expire time in 'set' command".to_owned();
                    Reply::Refused { code: "ERR".to_owned(), message }
                }
                Verb::Set { .. } | Verb::SetSeconds { .. } if standing.is_some() => Reply::Redis(Param::Null),
                Verb::SetOrSame { .. } if standing.is_some() && !same => Reply::Redis(Param::Null),
                Verb::Set { lease_ms } | Verb::SetOver { lease_ms } | Verb::SetOrSame { lease_ms } => {
                    put(Some(lease_ms));
                    ok()
                }
                Verb::Look => Reply::Redis(standing.map_or(Param::Null, |key| Param::Text(key.token.0))),
                Verb::SetSeconds { lease_s } => {
                    put(Some(lease_s * 1000));
                    ok()
                }
                Verb::SetForEver => {
                    if standing.is_none() {
                        put(None);
                    }
                    count(standing.is_none())
                }
                Verb::Expire { lease_ms } => {
                    if let Some(key) = store.keys.get_mut(&place).filter(|_| standing.is_some()) {
                        key.expires_at = Some(now.plus(lease_ms));
                    }
                    count(standing.is_some())
                }
                Verb::ExtendOwn { lease_ms } => {
                    if same {
                        put(Some(lease_ms));
                    }
                    count(same)
                }
                // Nobody reads the signal, and no model keeps it.
                Verb::DeleteOwn | Verb::DeleteOwnAndSignal => {
                    if same {
                        store.keys.remove(&place);
                    }
                    count(same)
                }
                Verb::Delete => {
                    store.keys.remove(&place);
                    count(standing.is_some())
                }
                Verb::Wait { .. } => Reply::Redis(Param::Int(store.acknowledge)),
            }
        }
    }

    /// What a node's answer to one of the ways of taking a lock means.
    pub(in crate::strategy) fn asked(reply: &Reply) -> Asked {
        match reply {
            Reply::Redis(Param::Null | Param::Int(0)) | Reply::Busy => Asked::NotGranted("busy"),
            Reply::Redis(_) => Asked::Granted(None),
            Reply::Refused { .. } => Asked::NotGranted("the store refused"),
            Reply::NotSent => Asked::NotSent,
            Reply::Unknown | Reply::Rows { .. } => Asked::Unknown,
        }
    }
}
#[cfg(feature = "strategies")]
pub(in crate::strategy) use ask::asked;
