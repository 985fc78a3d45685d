//! Replicas as processes, on real stores behind real links.

#[path = "../common/mod.rs"]
mod common;
mod gates;
mod ledger;
mod life;
mod live;
mod sessions;
mod stage;
