//! Epochs for strategies whose store has none: minted from a sequence in Postgres before each try, published
//! in the lock's row of `lock_epochs` after the store's grant. Minting orders nothing by itself: the newer
//! grant is the one whose epoch was published later, and who finds a higher one there was overtaken.

/// Draws a number that is higher than all before.
pub(super) const MINT: &str = "select nextval('lock_epochs_minted')";

/// The row is made by whoever comes first, and never goes back.
pub(super) const PUBLISH: &str = "\
insert into lock_epochs as published (name, epoch)
values ($1::text, $2::bigint)
on conflict (name) do update
   set epoch = excluded.epoch
 where published.epoch < excluded.epoch";

#[cfg(feature = "strategies")]
pub use ask::{Ask, Store};

#[cfg(feature = "strategies")]
mod ask {
    use std::collections::BTreeMap;

    use super::{MINT, PUBLISH};
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
            vec![MINT, PUBLISH]
        }

        /// See `Op::wire`.
        pub fn wire(&self) -> Wire {
            let (name, text, params) = match self {
                Ask::Mint => ("mint", MINT, Vec::new()),
                Ask::Publish { lock, epoch } => {
                    let epoch = i64::try_from(*epoch).unwrap_or(i64::MAX);
                    ("publish", PUBLISH, vec![Param::Text(lock.clone()), Param::Int(epoch)])
                }
            };
            Wire { name, language: Language::Sql, text, params }
        }

        /// See `Op::apply`.
        pub fn apply(&self, store: &mut Store) -> Reply {
            match self {
                Ask::Mint => {
                    store.minted += 1;
                    let minted = i64::try_from(store.minted).unwrap_or(i64::MAX);
                    Reply::Rows { affected: 1, row: vec![Param::Int(minted)] }
                }
                Ask::Publish { lock, epoch } => {
                    let newer = store.published.get(lock).is_none_or(|published| published < epoch);
                    if newer {
                        store.published.insert(lock.clone(), *epoch);
                    }
                    Reply::Rows { affected: u64::from(newer), row: Vec::new() }
                }
            }
        }
    }

    /// The epoch that an answer to [`Ask::Mint`] brought.
    pub(in crate::strategy) fn minted(reply: &Reply) -> Option<u64> {
        match reply {
            Reply::Rows { row, .. } => match row.first() {
                Some(Param::Int(epoch)) => u64::try_from(*epoch).ok(),
                _ => None,
            },
            _ => None,
        }
    }
}
#[cfg(feature = "strategies")]
pub(in crate::strategy) use ask::minted;
