//! A lab of a test's own: `aegis serve` on a free port, with data of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A lab that serves.
pub struct Lab {
    /// `http://localhost:<port>`.
    pub url: String,
    process: Child,
    _data: tempfile::TempDir,
}

impl Lab {
    /// Start it, and wait until it says where it serves.
    pub fn start() -> Lab {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_aegis"))
            .args(["serve", "--port", "0", "--data-dir"])
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned))
            .expect("the lab ended before it served");
        Lab { url, process, _data: data }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.process.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.process.wait();
    }
}
