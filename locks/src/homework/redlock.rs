//! Exercise 6: quorum, validity and time-outs of Redlock. Graded by properties over whole ranges of numbers: every
//! number of nodes from 3 to 9, leases from 10 ms to 60 s, every stretch of time that asking can take. Nothing is
//! random. Whether the time-outs hold on real nodes is for a run to say.

mod properties;
#[cfg(test)]
mod tests;

pub use properties::{Answer, grade};

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 6,
    slug: "redlock",
    title: "Redlock's arithmetic",
    language: Language::Expression,
    starter: "\
quorum = n / 2
validity = lease
acquired = granted >= quorum
node_timeout_ms = 1500
retry_jitter_ms = 0
",
    model: "\
quorum = n / 2 + 1
validity = lease - elapsed - lease / 100 - 2
acquired = granted >= quorum and validity > 0
node_timeout_ms = 100
retry_jitter_ms = 50
",
    hints: [
        "Think of an even number of nodes: can two disjoint sets both be a quorum?",
        "The lease began to run before the first node was asked.",
        "A node whose clock is fast ends a lease early: one percent of the whole lease, and a little for rounding.",
    ],
};
