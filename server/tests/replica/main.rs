//! Replicas as processes, on real stores behind real links.

#[path = "../common/mod.rs"]
mod common;
mod life;
mod stage;
