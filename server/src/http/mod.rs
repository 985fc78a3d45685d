//! The lab's HTTP side: pages, commands, reads and event streams. It translates; what a run is and does
//! is the business of `run`.

pub mod serve;
