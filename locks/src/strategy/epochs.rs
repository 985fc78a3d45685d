//! Epochs for strategies whose store has none: minted from a sequence in Postgres before each try, published
//! in the lock's row of `lock_epochs` after the store's grant. Minting orders nothing by itself: the newer
//! grant is the one whose epoch was published later, and who finds a higher one there was overtaken.
//!
//! Whoever publishes within the lock's own transaction publishes nothing when that is over. A lease has no
//! such transaction, and what it published may arrive when its grant was long given back: so it publishes
//! over the epoch that it saw when it minted, and over no other.

/// Draws a number that is higher than all before.
pub(super) const MINT: &str = "select nextval('lock_epochs_minted')";

/// The same, and what is published now.
pub(super) const MINT_SEEING: &str = "\
select nextval('lock_epochs_minted'),
       (select epoch from lock_epochs where name = $1::text) as seen";

/// The row is made by whoever comes first, and never goes back.
pub(super) const PUBLISH: &str = "\
insert into lock_epochs as published (name, epoch)
values ($1::text, $2::bigint)
on conflict (name) do update
   set epoch = excluded.epoch
 where published.epoch < excluded.epoch";

/// The same over what was seen, and over nothing else.
pub(super) const PUBLISH_OVER: &str = "\
insert into lock_epochs as published (name, epoch)
values ($1::text, $2::bigint)
on conflict (name) do update
   set epoch = excluded.epoch
 where published.epoch = $3::bigint
   and published.epoch < excluded.epoch";

#[cfg(feature = "strategies")]
pub use ask::{Ask, Store};

#[cfg(feature = "strategies")]
mod ask {
    use std::collections::BTreeMap;

    use super::{MINT, MINT_SEEING, PUBLISH, PUBLISH_OVER};
    use crate::ids::LockName;
    use crate::strategy::{Language, Param, Reply, Wire};

    /// A statement about epochs, with its meaning.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Ask {
        /// Draw a number that is higher than all before.
        Mint,
        /// Make it the lock's, unless a higher one is.
        Publish {
            /// The lock's name.
            lock: LockName,
            /// The number.
            epoch: u64,
        },
        /// Draw a number, and see what is published.
        MintSeeing {
            /// The lock's name.
            lock: LockName,
        },
        /// Make it the lock's, if what was seen is still published, and lower.
        PublishOver {
            /// The lock's name.
            lock: LockName,
            /// The number.
            epoch: u64,
            /// What was published when it was minted; `None`: nothing.
            seen: Option<u64>,
        },
    }

    /// The model of the sequence and of table `lock_epochs`.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Store {
        /// The number drawn last.
        pub minted: u64,
        /// Published epochs.
        pub published: BTreeMap<LockName, u64>,
    }

    impl Ask {
        /// All texts, to prepare.
        pub fn texts() -> Vec<&'static str> {
            vec![MINT, PUBLISH, MINT_SEEING, PUBLISH_OVER]
        }

        /// See `Op::wire`.
        pub fn wire(&self) -> Wire {
            let name_of = |lock: &LockName| Param::Text(lock.clone());
            let (name, text, params) = match self {
                Ask::Mint => ("mint", MINT, Vec::new()),
                Ask::MintSeeing { lock } => ("mint", MINT_SEEING, vec![name_of(lock)]),
                Ask::Publish { lock, epoch } => ("publish", PUBLISH, vec![name_of(lock), int(*epoch)]),
                Ask::PublishOver { lock, epoch, seen } => {
                    ("publish", PUBLISH_OVER, vec![name_of(lock), int(*epoch), seen.map_or(Param::Null, int)])
                }
            };
            Wire { name, language: Language::Sql, text, params }
        }

        /// See `Op::apply`.
        pub fn apply(&self, store: &mut Store) -> Reply {
            match self {
                Ask::Mint => Reply::Rows { affected: 1, row: vec![store.mint()] },
                Ask::MintSeeing { lock } => {
                    let seen = store.published.get(lock).map_or(Param::Null, |epoch| int(*epoch));
                    Reply::Rows { affected: 1, row: vec![store.mint(), seen] }
                }
                Ask::Publish { lock, epoch } => store.publish(lock, *epoch, |_| true),
                Ask::PublishOver { lock, epoch, seen } => {
                    store.publish(lock, *epoch, |published| Some(published) == *seen)
                }
            }
        }
    }

    impl Store {
        fn mint(&mut self) -> Param {
            self.minted += 1;
            int(self.minted)
        }

        fn publish(&mut self, lock: &LockName, epoch: u64, over: impl Fn(u64) -> bool) -> Reply {
            let newer = self.published.get(lock).is_none_or(|&published| over(published) && published < epoch);
            if newer {
                self.published.insert(lock.clone(), epoch);
            }
            Reply::Rows { affected: u64::from(newer), row: Vec::new() }
        }
    }

    fn int(epoch: u64) -> Param {
        Param::Int(i64::try_from(epoch).unwrap_or(i64::MAX))
    }

    /// The epoch that an answer to [`Ask::Mint`] brought.
    pub(in crate::strategy) fn minted(reply: &Reply) -> Option<u64> {
        epoch(reply, 0)
    }

    /// What an answer to [`Ask::MintSeeing`] says is published.
    pub(in crate::strategy) fn seen(reply: &Reply) -> Option<u64> {
        epoch(reply, 1)
    }

    fn epoch(reply: &Reply, column: usize) -> Option<u64> {
        match reply {
            Reply::Rows { row, .. } => match row.get(column) {
                Some(Param::Int(epoch)) => u64::try_from(*epoch).ok(),
                _ => None,
            },
            _ => None,
        }
    }
}
#[cfg(feature = "strategies")]
pub(in crate::strategy) use ask::{minted, seen};
