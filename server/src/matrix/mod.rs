//! The failure matrix: which failure does which lock cover, behind which guard? Each cell is a scenario (a
//! fault's script under one strategy and one guard), run on real stores and judged from its log like every
//! other run. What the lab expects stands in `server/matrix/expected.toml`; a difference is an error, and
//! nothing here ever turns an expectation into a result.
//!
//! | module | what it holds |
//! |---|---|
//! | [`faults`] | the faults, and their scripts for each kind of store |
//! | [`expected`] | what each cell is expected to show, and why |
//! | [`cell`] | one cell: run and measured |
//! | [`machine`] | was it the lock, or a machine that had too much to do? |
//! | [`job`], [`desk`], [`board`] | cells and races for learners: what is run, the running, the whole as one sees it |
//! | [`cli`], [`report`] | `aegis matrix` |

pub mod board;
pub mod cell;
pub mod cli;
pub mod desk;
pub mod expected;
pub mod faults;
pub mod job;
pub mod machine;
pub mod report;
