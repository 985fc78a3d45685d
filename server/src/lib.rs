//! The lab behind the pages: warden, arenas, replicas, links, runs and HTTP. Binary `aegis`.

mod address;
pub mod arena;
pub mod bank;
pub mod cases;
pub mod clock;
mod command;
pub mod control;
pub mod data_dir;
pub mod doctor;
pub mod homework;
pub mod http;
pub mod lab;
pub mod lesson;
pub mod link;
pub mod matrix;
pub mod replica;
pub mod run;
pub mod say;
pub mod stores;
mod told;
pub mod warden;
