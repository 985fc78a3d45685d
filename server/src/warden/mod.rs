//! The warden: the one parent of every store and replica of a lab, so that nothing of them outlives the
//! lab, whatever dies first. It runs as a process of its own (`aegis warden`), in a session of its own,
//! as a subreaper: what loses its parent becomes the warden's child. The socket to the server is its life
//! line; at its end the warden kills all that it has and ends. When the warden itself dies, its children
//! become the server's, which kills them the same way.
//!
//! Why not a parent-death signal: it is cleared when the user changes, follows the *thread* that spawned,
//! and does not reach Postgres backends, which have sessions of their own.
//!
//! | module | what it holds |
//! |---|---|
//! | [`client`] | the server's side: spawn, stop, continue, kill, wait |
//! | [`child`] | the warden's own loop |
//! | [`limits`] | what a process may use of the machine |
//! | `protocol` | what the two say to each other, and how descriptors travel |
//! | `linux` | what the kernel is asked: `/proc`, subreaper. The only file that knows Linux |

pub mod child;
pub mod client;
pub mod limits;
pub(crate) mod linux;
mod protocol;

pub use client::{Io, Process, Spawn, Spawned, Warden, WardenError};
pub use protocol::{Exit, User};
