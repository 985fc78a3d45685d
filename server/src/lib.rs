//! The lab behind the pages: warden, arenas, replicas, links, runs and HTTP. Binary `aegis`.

pub mod bank;
pub mod clock;
pub mod http;
pub mod link;
pub mod replica;
pub mod run;
pub mod say;
