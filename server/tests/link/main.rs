//! Links, seen from both ends: real sockets, a peer that records what it hears, and a real Redis.

#[path = "../common/mod.rs"]
mod common;

mod close;
mod cut;
mod lab;
mod order;
mod slow;
mod speed;
mod stores;
mod traffic;
