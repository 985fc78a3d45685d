//! The pages, put together from parts. One a file.

pub mod lab;
pub mod missing;
pub mod run;
pub mod runs;
pub mod start;
