//! `pg-row-lock`: a row locked FOR UPDATE in a transaction that stays open while the work goes on; its commit
//! is the release. Nothing is written and nothing expires: the lock lives in the connection, and dies with it.
//!
//! A connection that is cut in two (half-open) would keep the lock for as long as nobody notices, so the
//! session has bounds: Postgres ends a transaction that is idle for [`BOUND`] leases, and the replica trusts
//! its lock no longer than that.

use super::{Commands, Epochs, Info, LockAt, LockScope, Mutant};
use crate::ids::Endpoint;

#[cfg(feature = "strategies")]
mod ask;
#[cfg(feature = "strategies")]
mod getting;
#[cfg(feature = "strategies")]
mod machine;
#[cfg(feature = "strategies")]
pub use ask::{Ask, Held, Store, Verb};
#[cfg(feature = "strategies")]
pub use machine::PgRowLock;

/// The strategy's name.
pub(super) const NAME: &str = "pg-row-lock";

/// A transaction may be idle for so many leases: far longer than any work, far shorter than for ever.
pub const BOUND: u64 = 3;

const ENSURE: &str = "\
insert into row_locks (name) values ($1::text)
on conflict (name) do nothing";

/// Said, and not left to the session's default: whoever waited for the lock must see what its holder wrote.
const BEGIN: &str = "begin isolation level read committed";
const BEGIN_REPEATABLE: &str = "begin isolation level repeatable read";

const ACQUIRE: &str = "select name from row_locks where name = $1::text for update nowait";
/// Waits in the store, up to the session's `lock_timeout`.
#[cfg(feature = "strategies")]
const ACQUIRE_WAITING: &str = "select name from row_locks where name = $1::text for update";

/// Whoever waited does not know since when the row is locked: one who asks again, and is answered, knows that it
/// is still, and counts from then.
const CONFIRM: &str = "select name from row_locks where name = $1::text";

const COMMIT: &str = "commit";
const ROLLBACK: &str = "rollback";

const NO_ROW: &str = "no-row";
const REPEATABLE_READ: &str = "repeatable-read";
const NO_BOUND: &str = "no-bound";
const UNHANDLED_ERROR: &str = "unhandled-error";

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "A row locked FOR UPDATE in a transaction that stays open while working; its commit is the release, and the \
           end of the connection too.",
    mutants: &[
        Mutant {
            name: NO_ROW,
            text: "Nobody makes the row, and nobody counts what was locked: FOR UPDATE of no row locks nothing, and both \
                   go on.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: REPEATABLE_READ,
            text: "The lock is taken in a REPEATABLE READ transaction: who waited for it sees the world as it was before \
                   the holder wrote.",
            broken: true,
            commands: super::of_machine(&[("begin", BEGIN_REPEATABLE)]),
        },
        Mutant {
            name: NO_BOUND,
            text: "Nothing bounds an idle transaction: a holder whose connection is cut in two keeps the lock for hours.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: UNHANDLED_ERROR,
            text: "A lost race that the database reports as an error ends the scheduler's loop: no later slot is run.",
            broken: true,
            commands: &[],
        },
    ],
    scope: LockScope::Schedule,
    has_lease: false,
    epochs: Epochs::Minted,
    lock_at: LockAt::RowLock,
    uses: &[Endpoint::Postgres],
    transitions: super::of_machine(&[
        ("idle", "slot due", "ensuring"),
        ("idle", "slot due, the row is there", "beginning"),
        ("idle", "slot due, and a guard asks for epochs", "minting"),
        ("minting", "an epoch was drawn", "ensuring"),
        ("minting", "an epoch was drawn, the row is there", "beginning"),
        ("minting", "no epoch, or cancelled", "idle"),
        ("ensuring", "the row is there", "beginning"),
        ("ensuring", "not sure that it is, or cancelled", "idle"),
        ("beginning", "the transaction is open", "acquiring"),
        ("beginning", "open, but cancelled", "rolling back"),
        ("beginning", "no answer, or not sent", "idle"),
        ("acquiring", "the row is locked", "entering"),
        ("acquiring", "locked, and a guard asks for epochs", "publishing"),
        ("acquiring", "locked after a wait: is it still?", "confirming"),
        ("acquiring", "busy, refused, no row, or too late", "rolling back"),
        ("acquiring", "no answer, session lost, or cancelled", "idle"),
        ("confirming", "it is", "entering"),
        ("confirming", "it is, and a guard asks for epochs", "publishing"),
        ("confirming", "no answer, too late, or cancelled", "rolling back"),
        ("confirming", "session lost", "idle"),
        ("publishing", "the epoch is the lock's", "entering"),
        ("publishing", "overtaken, no answer, too late, or cancelled", "rolling back"),
        ("publishing", "session lost", "idle"),
        ("rolling back", "rolled back: try again later", "waiting"),
        ("rolling back", "rolled back", "idle"),
        ("waiting", "time to try again", "ensuring"),
        ("waiting", "time to try again, the row is there", "beginning"),
        ("waiting", "time to try again, with a new epoch", "minting"),
        ("waiting", "cancelled", "idle"),
        ("entering", "entered", "working"),
        ("entering", "entered, though cancelled or lost", "stopping"),
        ("entering", "bound over, or cancelled", "releasing"),
        ("entering", "bound over or cancelled, and session lost", "idle"),
        ("working", "work done", "effecting"),
        ("working", "bound over, session lost, or cancelled", "stopping"),
        ("working", "handler failed", "leaving"),
        ("stopping", "handler stopped", "leaving"),
        ("effecting", "effect sent", "effect sent"),
        ("effecting", "bound over, or cancelled", "leaving"),
        ("effect sent", "answered, bound over, session lost, or cancelled", "leaving"),
        ("leaving", "left", "releasing"),
        ("leaving", "left, and the session is lost", "idle"),
        ("leaving", "left, but what its transaction holds is unanswered", "settling"),
        ("settling", "effect answered", "idle"),
        ("settling", "effect answered: end the transaction", "releasing"),
        ("releasing", "committed or rolled back, or the connection closed", "idle"),
        ("releasing", "released, but the effect is unanswered", "settling"),
    ]),
    commands: super::of_machine(COMMANDS),
};

const COMMANDS: Commands = &[
    ("mint", super::epochs::MINT),
    ("ensure", ENSURE),
    ("begin", BEGIN),
    ("acquire", ACQUIRE),
    ("confirm", CONFIRM),
    ("publish", super::epochs::PUBLISH),
    ("release", COMMIT),
    ("rollback", ROLLBACK),
];
