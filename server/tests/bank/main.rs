//! The bank on the real stores of this machine: what its guards see, what they do when they see nothing,
//! and what becomes of settlements that meet, hang up or wait in flight.

#[path = "../common/mod.rs"]
mod common;

mod counter;
mod ladder;
mod lost_answer;
mod meeting;
mod unreachable;
mod way_in;
