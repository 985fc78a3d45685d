//! What the inspector lists: commands, tables and keys, log lines. Words only; nothing is derived that
//! the log does not say.

mod log;
mod sheets;
mod wire;

pub use log::{LogLine, log_line};
pub use sheets::{Cell, Sheet, sheets};
pub use wire::{WireLine, wire};
