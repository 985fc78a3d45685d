//! Exercise 7: be the scheduler, and produce a double and stale effect in as few moves as possible. Here are the
//! moves, read from TOML, and the scenario that each part's moves amount to; playing it is the server's.

#[cfg(feature = "scenario")]
pub mod moves;
#[cfg(all(test, feature = "scenario"))]
mod tests;

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 7,
    slug: "break",
    title: "Break it",
    language: Language::Moves,
    starter: "\
# redis-set-nx: two effects of one slot, one of them stale.
[part1]
moves = [
  \"A until leave\",
  \"elapse\",
  \"B done\",
]

# redlock: the same, and no waiting for leases to end.
[part2]
moves = [
  \"A until effect\",
  \"jump 3\",
  \"B done\",
  \"A done\",
]

# redis-set-nx and a bank that checks the current epoch: why is there no stale effect?
#   \"renewal\"   A renews in time        \"told\"     A is told, and stops
#   \"lock-row\"  the bank asks the lock's row, and B's grant changed it
#   \"written\"   a larger epoch was written before   \"once\"  a second effect is impossible
[part3]
because = \"written\"
",
    model: "\
[part1]
moves = [
  \"A until effect\",
  \"elapse\",
  \"B done\",
  \"A done\",
]

[part2]
moves = [
  \"hold A 1 2\",
  \"A until effect\",
  \"jump 3\",
  \"B done\",
  \"A done\",
]

[part3]
because = \"lock-row\"
",
    hints: [
        "Let A wait where no code checks any more.",
        "With h nodes held for A, h - 2 of the others must lose their memory of the lock.",
        "Under the current-epoch guard: whom does the sink ask, and what did B's grant change there?",
    ],
};
