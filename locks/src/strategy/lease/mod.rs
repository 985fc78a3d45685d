//! The life that all strategies with a lease share, on one store or on several with a quorum: ask, wait for a
//! busy lock, enter, renew, stop at the deadline, give back. What differs (texts, their meaning, how a grant
//! is read) stands in the strategy's own file.

#[cfg(feature = "strategies")]
mod ballot;
#[cfg(feature = "strategies")]
mod give_back;
#[cfg(feature = "strategies")]
mod inside;
#[cfg(feature = "strategies")]
mod job;
#[cfg(feature = "strategies")]
mod machine;
#[cfg(feature = "strategies")]
mod terms;
#[cfg(feature = "strategies")]
pub use machine::Machine;
#[cfg(feature = "strategies")]
pub use terms::{Asked, Hold, Lease, Quirks, Rules};

/// The rows of every lease strategy's machine, and those given.
macro_rules! transitions {
    ($($own:expr),* $(,)?) => {
        &[
            ("idle", "slot due", "acquiring"),
            ("acquiring", "granted in time", "entering"),
            ("acquiring", "busy: try again later", "waiting"),
            ("acquiring", "busy, refused or not sent", "idle"),
            ("acquiring", "no answer, granted too late, or cancelled", "releasing"),
            ("waiting", "time to try again", "acquiring"),
            ("waiting", "cancelled", "idle"),
            ("entering", "entered", "working"),
            ("entering", "entered, though cancelled", "stopping"),
            ("entering", "grant over, or cancelled", "releasing"),
            ("working", "work done", "effecting"),
            ("working", "grant over, or cancelled", "stopping"),
            ("working", "handler failed", "leaving"),
            ("stopping", "handler stopped", "leaving"),
            ("effecting", "effect sent", "effect sent"),
            ("effecting", "grant over, or cancelled", "leaving"),
            ("effect sent", "answered, grant over, or cancelled", "leaving"),
            ("leaving", "left", "releasing"),
            ("releasing", "released, already lost, or lease over", "idle"),
            ("releasing", "released or lost, but the effect is unanswered", "settling"),
            ("settling", "effect answered", "idle"),
            $($own),*
        ]
    };
}

/// The machine of a strategy whose store gives epochs.
pub(super) const TRANSITIONS: &[(&str, &str, &str)] = transitions!();

/// The machine of a strategy that mints its epochs, where guards ask for them.
pub(super) const MINTING: &[(&str, &str, &str)] = transitions!(
    ("idle", "slot due, and a guard asks for epochs", "minting"),
    ("minting", "an epoch was drawn", "acquiring"),
    ("minting", "no epoch, or cancelled", "idle"),
    ("waiting", "time to try again, with a new epoch", "minting"),
    ("acquiring", "granted in time: publish the epoch", "publishing"),
    ("publishing", "the epoch is the lock's", "entering"),
    ("publishing", "overtaken, no answer, too late, or cancelled", "releasing"),
    ("releasing", "given back: try again later", "waiting"),
);
