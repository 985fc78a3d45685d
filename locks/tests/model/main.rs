//! Exhaustive model checks of strategies: the very machines and commands that replicas run, under every
//! order of messages, losses, pauses and deaths within a bounded time.
//!
//! A claim that should hold is checked in the whole space; a claim that famously does not hold must be
//! refuted, and the refutation is printed as a story (`cargo test -p locks --test model -- --nocapture`),
//! with `PRINT_SCENARIOS=1` as a scenario file too.

// Numbers of states and stories of counterexamples are what these tests have to say.
#![allow(clippy::print_stdout)]

mod claims;
mod command;
mod kept;
mod lab;
mod none;
mod pg_claim;
mod pg_lease;
mod pg_row_lock;
mod redis_set_nx;
mod redlock;
mod scenario;
mod steps;
mod story;
mod takeover;
mod walks;
mod world;
