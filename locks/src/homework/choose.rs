//! Exercise 8: six stories of production; for each a strategy, a guard and parameters. Here is how a choice is read;
//! playing the stories' faults against it is the server's.

#[cfg(feature = "scenario")]
pub mod choices;
#[cfg(all(test, feature = "scenario"))]
mod tests;

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 8,
    slug: "choose",
    title: "Choose",
    language: Language::Choice,
    starter: "\
# digest mail
[story1]
strategy = \"redlock\"
guard = \"none\"
lease_ms = 1500
renew = false

# the ledger, and long pauses
[story2]
strategy = \"pg-lease\"
guard = \"max-seen\"
lease_ms = 5000
renew = false

# the bank
[story3]
strategy = \"pg-lease\"
guard = \"current-epoch\"
lease_ms = 5000
renew = false

# work of 4 s
[story4]
strategy = \"pg-lease\"
guard = \"none\"
lease_ms = 5000
renew = false

# 60 slots of 50 ms
[story5]
strategy = \"pg-lease\"
guard = \"none\"
lease_ms = 1500
renew = false

# five Redis nodes
[story6]
strategy = \"redis-set-nx\"
guard = \"none\"
lease_ms = 5000
renew = false
",
    model: "\
[story1]
strategy = \"redis-set-nx\"
guard = \"none\"
lease_ms = 1500
renew = false

[story2]
strategy = \"pg-lease\"
guard = \"current-epoch\"
lease_ms = 5000
renew = false

[story3]
strategy = \"pg-lease\"
guard = \"unique-slot\"
lease_ms = 5000
renew = false

[story4]
strategy = \"pg-lease\"
guard = \"none\"
lease_ms = 1500
renew = true

[story5]
strategy = \"pg-claim\"
guard = \"unique-slot\"
lease_ms = 1500
renew = false

[story6]
strategy = \"redlock\"
guard = \"none\"
lease_ms = 5000
renew = false
",
    hints: [
        "What is a duplicate worth in this story?",
        "Which fault does the story name, and who covers it?",
        "Which limit rules a choice out: takeover time, load, or price?",
    ],
};
