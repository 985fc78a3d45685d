//! The statements of `pg-claim`, with their meaning on a model of the two tables.

use std::collections::BTreeMap;

use super::{CLAIM, CLAIM_BY_ID, COMPLETE, COMPLETE_ANY, COMPLETE_WITHOUT_KEY, KEY, LOOK, RELEASE, RENEW, RESCUE};
use crate::ids::{At, AttemptId, LockName, Token};
use crate::strategy::{Language, Op, Param, Reply, Wire};

/// One statement, with its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// The slot's lock.
    pub slot: LockName,
    /// What it does.
    pub verb: Verb,
}

/// Who claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimer {
    /// The proof by which a claim is known again.
    pub token: Token,
    /// Whose attempt.
    pub owner: AttemptId,
    /// How long a heartbeat counts, in milliseconds.
    pub lease_ms: u64,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Make the row if there is none, and read it.
    Look,
    /// Claim a slot that is due.
    Claim {
        /// Who.
        by: Claimer,
        /// The version that was seen; `None`: whatever stands there.
        version: Option<u64>,
    },
    /// Take over a claim that is dead; end one whose key is written.
    Rescue {
        /// Who.
        by: Claimer,
        /// The version that was seen.
        version: u64,
    },
    /// Keep it.
    Renew {
        /// Of the claim.
        version: u64,
    },
    /// Write the slot's key.
    Key {
        /// Of the claim.
        version: u64,
    },
    /// End it.
    Complete {
        /// How.
        how: Ended,
        /// Of the claim.
        version: u64,
        /// Which claims it ends.
        check: Check,
    },
    /// Give it back.
    Release {
        /// Of the claim.
        version: u64,
    },
}

/// What completing checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// The version, and that the key is written.
    Key,
    /// The version; no key is ever written.
    Claim,
    /// Nothing.
    Nothing,
}

/// How a slot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// Its effect was accepted.
    Done,
    /// Nobody knows.
    Doubtful,
}

/// The state of a slot's row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody's.
    #[default]
    Due,
    /// Somebody works at it.
    Claimed,
    /// Its effect may be out.
    Sending,
    /// It ended.
    Ended(Ended),
}

impl State {
    /// All of them.
    pub const ALL: [State; 5] =
        [State::Due, State::Claimed, State::Sending, State::Ended(Ended::Done), State::Ended(Ended::Doubtful)];

    /// Its name in the row.
    pub fn name(self) -> &'static str {
        match self {
            State::Due => "due",
            State::Claimed => "claimed",
            State::Sending => "sending",
            State::Ended(Ended::Done) => "done",
            State::Ended(Ended::Doubtful) => "doubtful",
        }
    }
}

/// The model of both tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// Table `slot_claims`.
    pub slots: BTreeMap<LockName, Row>,
    /// Table `lock_epochs`.
    pub epochs: BTreeMap<LockName, u64>,
}

/// A row of `slot_claims`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row {
    /// Its state.
    pub state: State,
    /// Raised by each claim.
    pub version: u64,
    /// The claim's token.
    pub picked_by: Option<Token>,
    /// Whose it is.
    pub owner: Option<AttemptId>,
    /// The last sign of life.
    pub heartbeat_at: Option<At>,
    /// How long that counts, in milliseconds.
    pub lease_ms: u64,
    /// Every final state that it was given.
    pub ended: Vec<Ended>,
}

impl Row {
    /// Is its last heartbeat too old? `None`: there is none.
    pub fn is_dead(&self, now: At) -> Option<bool> {
        self.heartbeat_at.map(|at| at.plus(self.lease_ms) <= now)
    }

    fn is_claimed(&self) -> bool {
        matches!(self.state, State::Claimed | State::Sending)
    }

    fn end(&mut self, how: Ended) {
        self.state = State::Ended(how);
        self.ended.push(how);
    }

    fn take(&mut self, by: &Claimer, now: At) {
        self.version += 1;
        self.picked_by = Some(by.token.clone());
        self.owner = Some(by.owner.clone());
        self.heartbeat_at = Some(now);
        self.lease_ms = by.lease_ms;
    }
}

/// What was seen of a row: what a reply to `look` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub state: State,
    pub version: u64,
    pub picked_by: Option<Token>,
    pub dead: bool,
}

impl Seen {
    /// `None`: the reply shows no row.
    pub fn of(reply: &Reply) -> Option<Seen> {
        let Reply::Rows { row, .. } = reply else { return None };
        let [Param::Text(state), version, picked_by, dead] = &row[..] else { return None };
        Some(Seen {
            state: State::ALL.into_iter().find(|known| known.name() == state)?,
            version: number(version)?,
            picked_by: match picked_by {
                Param::Text(token) => Some(Token(token.clone())),
                _ => None,
            },
            dead: *dead == Param::Bool(true),
        })
    }
}

/// A version from a reply.
pub(super) fn number(param: &Param) -> Option<u64> {
    match param {
        Param::Int(n) => u64::try_from(*n).ok(),
        _ => None,
    }
}

/// Versions count claims; they never come near the end of a bigint.
fn int(n: u64) -> Param {
    Param::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn text(text: &str) -> Param {
    Param::Text(text.to_owned())
}

fn claimer(by: &Claimer) -> [Param; 3] {
    [text(&by.token.0), text(&by.owner.to_string()), int(by.lease_ms)]
}

impl Op for Ask {
    type Store = Store;

    fn wire(&self) -> Wire {
        let mut params = vec![text(&self.slot)];
        let (name, sql) = match &self.verb {
            Verb::Look => ("look", LOOK),
            Verb::Claim { by, version } => {
                params.extend(claimer(by));
                params.extend(version.map(int));
                ("acquire", if version.is_some() { CLAIM } else { CLAIM_BY_ID })
            }
            Verb::Rescue { by, version } => {
                params.extend(claimer(by));
                params.push(int(*version));
                ("rescue", RESCUE)
            }
            Verb::Renew { version } => {
                params.push(int(*version));
                ("renew", RENEW)
            }
            Verb::Key { version } => {
                params.push(int(*version));
                ("key", KEY)
            }
            Verb::Complete { how, version, check } => {
                params.push(text(State::Ended(*how).name()));
                params.extend((*check != Check::Nothing).then(|| int(*version)));
                ("complete", check.text())
            }
            Verb::Release { version } => {
                params.push(int(*version));
                ("release", RELEASE)
            }
        };
        Wire { name, language: Language::Sql, text: sql, params }
    }

    fn apply(&self, store: &mut Store, now: At) -> Reply {
        let epochs = &mut store.epochs;
        let row = match self.verb {
            Verb::Look => store.slots.entry(self.slot.clone()).or_default(),
            _ => match store.slots.get_mut(&self.slot) {
                Some(row) => row,
                None => return Reply::Rows { affected: 0, row: Vec::new() },
            },
        };
        let mut publish = |version| {
            epochs.insert(self.slot.clone(), version);
        };
        let done = match &self.verb {
            Verb::Look => Some(vec![
                text(row.state.name()),
                int(row.version),
                row.picked_by.as_ref().map_or(Param::Null, |token| text(&token.0)),
                row.is_dead(now).map_or(Param::Null, Param::Bool),
            ]),
            Verb::Claim { by, version } => {
                let free = version.is_none_or(|version| version == row.version && row.state == State::Due);
                free.then(|| {
                    row.state = State::Claimed;
                    row.take(by, now);
                    publish(row.version);
                    vec![int(row.version)]
                })
            }
            Verb::Rescue { by, version } => {
                let dead = row.version == *version && row.is_claimed() && row.is_dead(now) == Some(true);
                dead.then(|| {
                    if row.state == State::Sending {
                        row.end(Ended::Doubtful);
                    }
                    row.take(by, now);
                    publish(row.version);
                    vec![int(row.version), text(row.state.name())]
                })
            }
            Verb::Renew { version } => (row.version == *version && row.is_claimed()).then(|| {
                row.heartbeat_at = Some(now);
                Vec::new()
            }),
            Verb::Key { version } => (row.version == *version && row.state == State::Claimed).then(|| {
                row.state = State::Sending;
                Vec::new()
            }),
            Verb::Complete { how, version, check } => {
                let may = match check {
                    Check::Key => row.version == *version && row.state == State::Sending,
                    Check::Claim => row.version == *version && row.state == State::Claimed,
                    Check::Nothing => true,
                };
                may.then(|| {
                    row.end(*how);
                    Vec::new()
                })
            }
            Verb::Release { version } => (row.version == *version && row.is_claimed()).then(|| {
                row.state = State::Due;
                (row.picked_by, row.owner, row.heartbeat_at) = (None, None, None);
                Vec::new()
            }),
        };
        match done {
            Some(row) => Reply::Rows { affected: 1, row },
            None => Reply::Rows { affected: 0, row: Vec::new() },
        }
    }
}

impl Check {
    fn text(self) -> &'static str {
        match self {
            Check::Key => COMPLETE,
            Check::Claim => COMPLETE_WITHOUT_KEY,
            Check::Nothing => COMPLETE_ANY,
        }
    }
}
