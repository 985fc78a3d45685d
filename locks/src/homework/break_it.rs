//! Exercise 7: be the scheduler, and produce a double and stale effect in as few moves as possible.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 7,
    slug: "break",
    title: "Break it",
    language: Language::Moves,
    starter: "[part1]\nmoves = [\"A done\", \"B done\"]\n",
    model: "[part1]\nmoves = [\"A until effect\", \"elapse\", \"B done\", \"A done\"]\n",
    hints: [
        "Let A wait where no code checks any more.",
        "With h nodes held for A, h - 2 of the others must lose their memory of the lock.",
        "Under the current-epoch guard: whom does the sink ask, and what did B's grant change there?",
    ],
};
