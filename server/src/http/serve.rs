//! `aegis serve`: opens the lab, binds the address, serves until told to end.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::say;

/// Options of `aegis serve`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Address to listen on. Anything but a loopback address lets others run your lab.
    #[arg(long, env = "AEGIS_HOST", default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port to listen on; 0 takes any free one.
    #[arg(long, env = "AEGIS_PORT", default_value_t = 3000)]
    pub port: u16,
    /// Folder for the lab's data.
    #[arg(long, env = "AEGIS_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
}

/// Serve, and say how it ended.
pub fn main(args: Args) -> ExitCode {
    say::error(format_args!("nothing to serve yet on {}:{}", args.host, args.port));
    ExitCode::FAILURE
}
