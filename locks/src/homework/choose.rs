//! Exercise 8: six stories of production; for each a strategy, a guard and parameters.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 8,
    slug: "choose",
    title: "Choose",
    language: Language::Choice,
    starter: "[story1]\nstrategy = \"redlock\"\nguard = \"none\"\nlease_ms = 1500\nrenew = false\n",
    model: "[story1]\nstrategy = \"redis-set-nx\"\nguard = \"none\"\nlease_ms = 1500\nrenew = false\n",
    hints: [
        "What is a duplicate worth in this story?",
        "Which fault does the story name, and who covers it?",
        "Which limit rules a choice out: takeover time, load, or price?",
    ],
};
