//! The statements of `pg-row-lock`, with their meaning on a model: rows that are there, open transactions,
//! and who has locked which row in one.

use std::collections::{BTreeMap, BTreeSet};

use super::{ACQUIRE, ACQUIRE_WAITING, BEGIN, BEGIN_REPEATABLE, COMMIT, CONFIRM, ENSURE, ROLLBACK};
use crate::ids::{At, LockName};
use crate::strategy::{Language, Op, Param, Reply, Wire, epochs};

/// One statement, with its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// The lock's name.
    pub lock: LockName,
    /// Whose session it is sent on: a host's name. Only the model looks at it, as the server knows its connections.
    pub on: String,
    /// What it does.
    pub verb: Verb,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Make the row if there is none.
    Ensure,
    /// Open a transaction.
    Begin {
        /// Mutant: REPEATABLE READ.
        repeatable: bool,
        /// How long it may be idle, in milliseconds; `None`: for ever.
        bound_ms: Option<u64>,
    },
    /// Lock the row.
    Acquire {
        /// Wait for it, in the store.
        waits: bool,
    },
    /// Read the row.
    Confirm,
    /// End the transaction, and keep what it wrote.
    Commit,
    /// End the transaction, and undo what it wrote.
    Undo,
    /// The same for one that was granted nothing.
    Rollback,
    /// On the second session.
    Epoch(epochs::Ask),
}

/// The model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// Rows of table `row_locks`.
    pub rows: BTreeSet<LockName>,
    /// Who has an open transaction, how long it may be idle, and until when it may from its latest statement on.
    pub open: BTreeMap<String, Held>,
    /// Table `lock_epochs`, and the sequence.
    pub epochs: epochs::Store,
}

/// An open transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Held {
    /// The rows that it has locked.
    pub rows: BTreeSet<LockName>,
    /// A statement of it failed: its locks are gone, and nothing but its end is obeyed.
    pub failed: bool,
    /// How long it may be idle, in milliseconds.
    pub bound_ms: Option<u64>,
    /// Its latest statement.
    pub since: At,
}

impl Held {
    fn is_over(&self, now: At) -> bool {
        self.bound_ms.is_some_and(|bound_ms| self.since.plus(bound_ms) <= now)
    }
}

/// What Postgres says to anything but the end of a transaction that failed.
fn aborted() -> Reply {
    let message = "current transaction is aborted, commands ignored until end of transaction block".to_owned();
    Reply::Refused { code: "25P02".to_owned(), message }
}

impl Op for Ask {
    type Store = Store;

    fn wire(&self) -> Wire {
        let name = || vec![Param::Text(self.lock.clone())];
        let (command, text, params) = match &self.verb {
            Verb::Ensure => ("ensure", ENSURE, name()),
            Verb::Begin { repeatable, .. } => ("begin", if *repeatable { BEGIN_REPEATABLE } else { BEGIN }, Vec::new()),
            Verb::Acquire { waits } => ("acquire", if *waits { ACQUIRE_WAITING } else { ACQUIRE }, name()),
            Verb::Confirm => ("confirm", CONFIRM, name()),
            Verb::Commit => ("release", COMMIT, Vec::new()),
            Verb::Undo => ("release", ROLLBACK, Vec::new()),
            Verb::Rollback => ("rollback", ROLLBACK, Vec::new()),
            Verb::Epoch(ask) => return ask.wire(),
        };
        Wire { name: command, language: Language::Sql, text, params }
    }

    fn apply(&self, store: &mut Store, now: At) -> Reply {
        // Postgres ends the session of a transaction that was idle for too long.
        store.open.retain(|_, held| !held.is_over(now));
        let rows = |affected| Reply::Rows { affected, row: Vec::new() };
        match &self.verb {
            Verb::Ensure => rows(u64::from(store.rows.insert(self.lock.clone()))),
            Verb::Begin { bound_ms, .. } => {
                let fresh = Held { bound_ms: *bound_ms, since: now, ..Held::default() };
                let open = store.open.entry(self.on.clone()).or_insert(fresh);
                open.since = now;
                if open.failed { aborted() } else { rows(0) }
            }
            Verb::Acquire { .. } => {
                let locked = store.open.iter().any(|(on, held)| *on != self.on && held.rows.contains(&self.lock));
                let exists = store.rows.contains(&self.lock);
                let mut own = store.open.get_mut(&self.on);
                if let Some(own) = &mut own {
                    own.since = now;
                    if own.failed {
                        return aborted();
                    }
                    if exists && locked {
                        own.failed = true;
                        own.rows.clear();
                    }
                }
                match (exists, locked) {
                    (false, _) => rows(0),
                    (true, true) => Reply::Busy,
                    (true, false) => {
                        if let Some(own) = own {
                            own.rows.insert(self.lock.clone());
                        }
                        Reply::Rows { affected: 1, row: vec![Param::Text(self.lock.clone())] }
                    }
                }
            }
            Verb::Confirm => {
                if let Some(own) = store.open.get_mut(&self.on) {
                    own.since = now;
                    if own.failed {
                        return aborted();
                    }
                }
                let row: Vec<Param> =
                    store.rows.contains(&self.lock).then(|| Param::Text(self.lock.clone())).into_iter().collect();
                Reply::Rows { affected: row.len() as u64, row }
            }
            Verb::Commit | Verb::Undo | Verb::Rollback => {
                store.open.remove(&self.on);
                rows(0)
            }
            Verb::Epoch(ask) => ask.apply(&mut store.epochs),
        }
    }
}
