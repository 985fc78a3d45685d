//! `aegis serve` as somebody starts it: a process on a free port. Dropping it kills it; its warden then
//! clears up behind it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::{Failure, aegis};

/// How long the lab may take to start or to end.
const LIMIT: Duration = Duration::from_secs(20);

/// A lab that serves.
pub struct Serve {
    /// `http://localhost:<port>`.
    pub url: String,
    /// Its process.
    pub pid: u32,
    process: Child,
    /// Kept open: a server whose words nobody reads is another case.
    _lines: Lines<BufReader<ChildStdout>>,
}

/// A data folder that the stores' user can reach.
pub fn data_dir() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("bench-").tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

impl Serve {
    /// Start it, and wait until it says where it serves.
    pub async fn start(data: &Path) -> Result<Serve, Failure> {
        let mut process = Command::new(aegis())
            .args(["serve", "--port", "0", "--data-dir"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let pid = process.id().ok_or("the lab ended before it served")?;
        let mut lines = BufReader::new(process.stdout.take().ok_or("the lab has no standard output")?).lines();
        let url = timeout(LIMIT, async {
            while let Some(line) = lines.next_line().await? {
                if let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) {
                    return Ok::<_, Failure>(url.to_owned());
                }
            }
            Err("the lab ended before it served".into())
        });
        let url = url.await??;
        Ok(Serve { url, pid, process, _lines: lines })
    }

    /// The whole of a page.
    pub async fn get(&self, path: &str) -> Result<Bytes, Failure> {
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let response = timeout(LIMIT, client.get(format!("{}{path}", self.url).parse()?)).await??;
        if response.status() != StatusCode::OK {
            return Err(format!("{path}: {}", response.status()).into());
        }
        Ok(timeout(LIMIT, response.into_body().collect()).await??.to_bytes())
    }

    /// End it in order.
    pub async fn end(mut self) -> Result<(), Failure> {
        kill(Pid::from_raw(i32::try_from(self.pid)?), Signal::SIGTERM)?;
        timeout(LIMIT, self.process.wait()).await??;
        Ok(())
    }
}
