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
//! | [`cli`], [`report`] | `aegis matrix` |

pub mod cell;
pub mod cli;
pub mod expected;
pub mod faults;
pub mod report;
