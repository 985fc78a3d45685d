//! Exercise 3: renewal and concession as a table of transitions, checked in every interleaving up to a bound.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 3,
    slug: "keep",
    title: "Keep it, or let go",
    language: Language::Toml,
    starter: "\
margin = 1
renew_every = 2
timeout = 2
base = \"sent\"

[Holding]
renew_due = \"Renewing\"
deadline = \"-\"

[Renewing]
ok = \"Holding+\"
zero = \"Holding\"
error = \"Holding+\"
timeout = \"Holding+\"
deadline = \"-\"
",
    model: "\
margin = 1
renew_every = 2
timeout = 2
base = \"sent\"

[Holding]
renew_due = \"Renewing\"
deadline = \"Stopped\"

[Renewing]
ok = \"Holding+\"
zero = \"Stopped\"
error = \"Holding\"
timeout = \"Holding\"
deadline = \"Stopped\"
",
    hints: [
        "A renewal timed out. What do you know about the lease now?",
        "Count a lease from before you asked for it, not from when you heard of it.",
        "Both states need the deadline, or the time-out must fit into the margin.",
    ],
};
