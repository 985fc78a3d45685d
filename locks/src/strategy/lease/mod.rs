//! The life that all strategies with a lease on one store share: ask, wait for a busy lock, enter, renew,
//! stop at the deadline, give back. What differs (texts, their meaning, how a grant is read) stands in
//! the strategy's own file.

#[cfg(feature = "strategies")]
mod machine;
#[cfg(feature = "strategies")]
mod terms;
#[cfg(feature = "strategies")]
pub use machine::Machine;
#[cfg(feature = "strategies")]
pub use terms::{Asked, Hold, Lease};

/// The machine of every lease strategy.
pub(super) const TRANSITIONS: &[(&str, &str, &str)] = &[
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
];
