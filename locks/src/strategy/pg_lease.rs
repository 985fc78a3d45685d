//! `pg-lease`: one row a lock in Postgres, taken by one statement whose `where` clause decides, for a time
//! that the database's own clock measures. Each grant raises the lock's epoch in that same statement.
//!
//! A row whose token is null was given back (free); one whose token stands beyond its time has expired.

use super::{Commands, Epochs, Info, LockAt, LockScope, Mutant};
use crate::ids::Endpoint;

/// The strategy's name.
pub(super) const NAME: &str = "pg-lease";

/// Taken only if it is free or over. What the clause sees after waiting for a rival's transaction is the
/// row as that one left it, and so is the epoch, which is raised in place and never computed from a query.
macro_rules! acquire {
    (now: $now:literal, or: $or:literal) => {
        concat!(
            "with granted as (\n",
            "  insert into locks as held (name, token, owner, granted_at, expires_at)\n",
            "  values ($1::text, $2::text, $3::text, ",
            $now,
            ",\n",
            "          ",
            $now,
            " + $4::bigint * interval '1 millisecond')\n",
            "  on conflict (name) do update\n",
            "     set token = excluded.token,\n",
            "         owner = excluded.owner,\n",
            "         granted_at = excluded.granted_at,\n",
            "         expires_at = excluded.expires_at\n",
            "   where held.token is null\n",
            "      or held.expires_at <= ",
            $now,
            $or,
            "\n",
            "  returning name\n",
            ")\n",
            "insert into lock_epochs as published (name, epoch)\n",
            "select name, 1 from granted\n",
            "on conflict (name) do update\n",
            "   set epoch = published.epoch + 1\n",
            "returning epoch"
        )
    };
}

/// Only while it is still ours: a lease that is over may be somebody else's by the time this arrives.
macro_rules! renew {
    (now: $now:literal, lease: $lease:literal, mine: $mine:literal) => {
        concat!(
            "update locks\n",
            "   set expires_at = ",
            $now,
            " + ",
            $lease,
            "::bigint * interval '1 millisecond'\n",
            " where name = $1::text\n",
            $mine,
            "   and expires_at > ",
            $now
        )
    };
}

/// As [`renew`]: never somebody else's, and 0 rows say so.
macro_rules! release {
    (now: $now:literal, mine: $mine:literal) => {
        concat!(
            "update locks\n",
            "   set token = null,\n",
            "       expires_at = ",
            $now,
            "\n",
            " where name = $1::text\n",
            $mine,
            "   and expires_at > ",
            $now
        )
    };
}

const OR_SAME_TOKEN: &str = acquire!(now: "clock_timestamp()", or: "\n      or held.token = excluded.token");
const ACQUIRE: &str = acquire!(now: "clock_timestamp()", or: "");
const ACQUIRE_REPLICA: &str = acquire!(now: "$5::timestamptz", or: "");
const RENEW: &str = renew!(now: "clock_timestamp()", lease: "$3", mine: "   and token = $2::text\n");
const RENEW_REPLICA: &str = renew!(now: "$4::timestamptz", lease: "$3", mine: "   and token = $2::text\n");
const RENEW_ANY: &str = renew!(now: "clock_timestamp()", lease: "$2", mine: "");
const RELEASE: &str = release!(now: "clock_timestamp()", mine: "   and token = $2::text\n");
const RELEASE_REPLICA: &str = release!(now: "$3::timestamptz", mine: "   and token = $2::text\n");
const RELEASE_ANY: &str = release!(now: "clock_timestamp()", mine: "");

// A column without time zone keeps the session's time of day, which is another instant in another zone.
const ACQUIRE_ZONE_LESS: &str = acquire!(now: "(clock_timestamp()::timestamp at time zone 'UTC')", or: "");
const RENEW_ZONE_LESS: &str =
    renew!(now: "(clock_timestamp()::timestamp at time zone 'UTC')", lease: "$3", mine: "   and token = $2::text\n");
const RELEASE_ZONE_LESS: &str =
    release!(now: "(clock_timestamp()::timestamp at time zone 'UTC')", mine: "   and token = $2::text\n");

const REPLICA_CLOCK: &str = "replica-clock";
const ZONE_LESS: &str = "zone-less";
const NO_OWNER_CHECK: &str = "no-owner-check";
const HOST_TOKEN: &str = "host-token";
const TIMEOUT_AS_GRANTED: &str = "timeout-as-granted";
const LEADS_ON: &str = "leads-on";

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "One row a lock: inserted, or taken over once it has expired by the database's clock; each grant raises \
           the epoch.",
    mutants: &[
        Mutant {
            name: REPLICA_CLOCK,
            text: "The lease is compared with the replica's own clock: one that runs ahead takes a lock that still holds.",
            broken: true,
            commands: super::of_machine(&[
                ("acquire", ACQUIRE_REPLICA),
                ("renew", RENEW_REPLICA),
                ("release", RELEASE_REPLICA),
            ]),
        },
        Mutant {
            name: ZONE_LESS,
            text: "The lease's end is kept as a time of day without a zone: sessions in other zones read it hours off.",
            broken: true,
            commands: super::of_machine(&[
                ("acquire", ACQUIRE_ZONE_LESS),
                ("renew", RENEW_ZONE_LESS),
                ("release", RELEASE_ZONE_LESS),
            ]),
        },
        Mutant {
            name: NO_OWNER_CHECK,
            text: "Renewal and release do not ask whose the lock is: a late holder frees or extends somebody else's.",
            broken: true,
            commands: super::of_machine(&[("renew", RENEW_ANY), ("release", RELEASE_ANY)]),
        },
        Mutant {
            name: HOST_TOKEN,
            text: "The token is the host's name, and whoever shows it is let in again: two processes of one name both hold.",
            broken: true,
            commands: super::of_machine(&[("acquire", OR_SAME_TOKEN)]),
        },
        Mutant {
            name: TIMEOUT_AS_GRANTED,
            text: "An acquire that was not answered is taken for a grant: the replica enters without knowing.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: LEADS_ON,
            text: "The holder goes on whatever becomes of its renewals, and does not stop at its deadline.",
            broken: true,
            commands: &[],
        },
    ],
    scope: LockScope::Schedule,
    has_lease: true,
    epochs: Epochs::Granted,
    lock_at: LockAt::LocksRow,
    uses: &[Endpoint::Postgres],
    transitions: super::of_machine(super::lease::TRANSITIONS),
    commands: super::of_machine(COMMANDS),
};

const COMMANDS: Commands = &[("acquire", ACQUIRE), ("renew", RENEW), ("release", RELEASE)];

#[cfg(feature = "strategies")]
pub use machine::{Ask, PgLease, Row, Store, Verb};

#[cfg(feature = "strategies")]
mod machine {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ids::{At, AttemptId, LockName, Token};
    use crate::setup::{Clock, Setup};
    use crate::strategy::lease::{Asked, Hold, Lease, Machine, Quirks};
    use crate::strategy::{Language, Op, Param, Reply, Session, Wire};

    // Mutants of owners and tokens under the replica's clock.
    const OR_SAME_TOKEN_REPLICA: &str = acquire!(now: "$5::timestamptz", or: "\n      or held.token = excluded.token");
    const RENEW_ANY_REPLICA: &str = renew!(now: "$3::timestamptz", lease: "$2", mine: "");
    const RELEASE_ANY_REPLICA: &str = release!(now: "$2::timestamptz", mine: "");

    /// The machine of `pg-lease`.
    pub type PgLease = Machine<Texts>;

    /// Which texts are sent, and what is made of their answers.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Texts {
        /// The replica's clock decides; how far it is ahead of the store's is only known to the model.
        replica_clock: Option<i64>,
        zone_less: bool,
        any_owner: bool,
        host_token: Option<Token>,
        quirks: Quirks,
    }

    impl PgLease {
        /// For the model: by how much this replica's wall clock is ahead of the store's, in milliseconds.
        #[must_use]
        pub fn with_clock_ahead(self, ms: i64) -> Self {
            self.map(|texts| Texts { replica_clock: texts.replica_clock.map(|_| ms), ..texts })
        }
    }

    impl Lease for Texts {
        type Op = Ask;
        const INFO: &'static Info = &INFO;
        const STORES: &'static [(Endpoint, Session)] = &[(Endpoint::Postgres, Session("lock"))];

        fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self {
            let is = |name| mutant == Some(name);
            Texts {
                replica_clock: (is(REPLICA_CLOCK) || setup.clock == Clock::Replica && !is(ZONE_LESS)).then_some(0),
                zone_less: is(ZONE_LESS),
                any_owner: is(NO_OWNER_CHECK),
                host_token: is(HOST_TOKEN).then(|| Token(host.to_owned())),
                quirks: Quirks { guesses: is(TIMEOUT_AS_GRANTED), trusts_for_ever: is(LEADS_ON), ..Quirks::default() },
            }
        }

        fn texts(&self) -> Vec<&'static str> {
            vec![self.acquire_text(), self.renew_text(), self.release_text()]
        }

        fn token(&self, fresh: Token) -> Token {
            self.host_token.clone().unwrap_or(fresh)
        }

        fn acquire(&self, hold: &Hold, lease_ms: u64, _: Endpoint) -> Ask {
            let owner = hold.attempt.clone();
            let re_entrant = self.host_token.is_some();
            self.ask(hold, self.acquire_text(), Verb::Acquire { owner, lease_ms, re_entrant })
        }

        fn renew(&self, hold: &Hold, lease_ms: u64, _: Endpoint) -> Ask {
            self.ask(hold, self.renew_text(), Verb::Renew { lease_ms })
        }

        fn release(&self, hold: &Hold, _: Endpoint) -> Ask {
            self.ask(hold, self.release_text(), Verb::Release)
        }

        fn asked(&self, reply: &Reply) -> Asked {
            match reply {
                Reply::Rows { affected: 0, .. } | Reply::Busy => Asked::NotGranted("busy"),
                Reply::Rows { row, .. } => Asked::Granted(match row.first() {
                    Some(Param::Int(epoch)) => u64::try_from(*epoch).ok(),
                    _ => None,
                }),
                Reply::Refused { .. } => Asked::NotGranted("the store refused"),
                Reply::NotSent => Asked::NotSent,
                Reply::Unknown | Reply::Redis(_) => Asked::Unknown,
            }
        }

        fn quirks(&self) -> Quirks {
            self.quirks.clone()
        }
    }

    impl Texts {
        fn acquire_text(&self) -> &'static str {
            if self.zone_less {
                return ACQUIRE_ZONE_LESS;
            }
            match (self.host_token.is_some(), self.replica_clock.is_some()) {
                (false, false) => ACQUIRE,
                (false, true) => ACQUIRE_REPLICA,
                (true, false) => OR_SAME_TOKEN,
                (true, true) => OR_SAME_TOKEN_REPLICA,
            }
        }

        fn renew_text(&self) -> &'static str {
            if self.zone_less {
                return RENEW_ZONE_LESS;
            }
            match (self.any_owner, self.replica_clock.is_some()) {
                (false, false) => RENEW,
                (false, true) => RENEW_REPLICA,
                (true, false) => RENEW_ANY,
                (true, true) => RENEW_ANY_REPLICA,
            }
        }

        fn release_text(&self) -> &'static str {
            if self.zone_less {
                return RELEASE_ZONE_LESS;
            }
            match (self.any_owner, self.replica_clock.is_some()) {
                (false, false) => RELEASE,
                (false, true) => RELEASE_REPLICA,
                (true, false) => RELEASE_ANY,
                (true, true) => RELEASE_ANY_REPLICA,
            }
        }

        fn ask(&self, hold: &Hold, text: &'static str, verb: Verb) -> Ask {
            let any_owner = self.any_owner && !matches!(verb, Verb::Acquire { .. });
            let token = (!any_owner).then(|| hold.token.clone());
            Ask { verb, text, lock: hold.lock.clone(), token, replica_clock: self.replica_clock }
        }
    }

    /// One statement, with its meaning.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Ask {
        /// What it does.
        pub verb: Verb,
        /// Its SQL.
        pub text: &'static str,
        /// The lock's name.
        pub lock: LockName,
        /// The token that it shows; `None`: it does not ask whose the lock is.
        pub token: Option<Token>,
        /// It sends the replica's wall clock along, which is so many milliseconds ahead of the store's.
        pub replica_clock: Option<i64>,
    }

    /// What a statement does.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Verb {
        /// Take the lock if it is free or over.
        Acquire {
            /// Whose attempt.
            owner: AttemptId,
            /// For how long, in milliseconds.
            lease_ms: u64,
            /// Also take it if the same token stands.
            re_entrant: bool,
        },
        /// Keep it.
        Renew {
            /// For how long from now on, in milliseconds.
            lease_ms: u64,
        },
        /// Give it back.
        Release,
    }

    /// The model of both tables.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Store {
        /// Table `locks`.
        pub locks: BTreeMap<LockName, Row>,
        /// Table `lock_epochs`.
        pub epochs: BTreeMap<LockName, u64>,
    }

    /// A row of `locks`, as far as statements look at it.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Row {
        /// The token that stands.
        pub token: Option<Token>,
        /// Whose it is.
        pub owner: AttemptId,
        /// When it ends, in milliseconds of the store's clock.
        pub expires_at: i64,
    }

    impl Op for Ask {
        type Store = Store;

        fn wire(&self) -> Wire {
            let text = |text: &str| Param::Text(text.to_owned());
            let ms = |ms: u64| Param::Int(i64::try_from(ms).unwrap_or(i64::MAX));
            let mut params = vec![text(&self.lock)];
            params.extend(self.token.as_ref().map(|token| text(&token.0)));
            let name = match &self.verb {
                Verb::Acquire { owner, lease_ms, .. } => {
                    params.extend([text(&owner.to_string()), ms(*lease_ms)]);
                    "acquire"
                }
                Verb::Renew { lease_ms } => {
                    params.push(ms(*lease_ms));
                    "renew"
                }
                Verb::Release => "release",
            };
            params.extend(self.replica_clock.map(|_| Param::WallClock));
            Wire { name, language: Language::Sql, text: self.text, params }
        }

        fn apply(&self, store: &mut Store, store_now: At) -> Reply {
            let now = i64::try_from(store_now.0).unwrap_or(i64::MAX).saturating_add(self.replica_clock.unwrap_or(0));
            let until = |lease_ms: u64| now.saturating_add_unsigned(lease_ms);
            let row = store.locks.get_mut(&self.lock);
            let mine = |row: &&mut Row| row.expires_at > now && (self.token.is_none() || row.token == self.token);
            match &self.verb {
                Verb::Acquire { owner, lease_ms, re_entrant } => {
                    let taken = row.is_some_and(|row| {
                        let same = *re_entrant && row.token == self.token;
                        row.token.is_some() && row.expires_at > now && !same
                    });
                    if taken {
                        return Reply::Rows { affected: 0, row: Vec::new() };
                    }
                    let row = Row { token: self.token.clone(), owner: owner.clone(), expires_at: until(*lease_ms) };
                    store.locks.insert(self.lock.clone(), row);
                    let epoch = store.epochs.entry(self.lock.clone()).or_default();
                    *epoch += 1;
                    let epoch = i64::try_from(*epoch).unwrap_or(i64::MAX);
                    Reply::Rows { affected: 1, row: vec![Param::Int(epoch)] }
                }
                Verb::Renew { lease_ms } => {
                    let row = row.filter(mine).map(|row| row.expires_at = until(*lease_ms));
                    Reply::Rows { affected: row.map_or(0, |()| 1), row: Vec::new() }
                }
                Verb::Release => {
                    let row = row.filter(mine).map(|row| (row.token, row.expires_at) = (None, now));
                    Reply::Rows { affected: row.map_or(0, |()| 1), row: Vec::new() }
                }
            }
        }
    }
}
