//! Pages that the server writes and the browser only shows, and what stands around every page.

pub mod compare;
pub mod frame;
pub mod help;
pub mod missing;
pub mod moves;
pub mod problem;
pub mod runs;
pub mod start;
