//! Stores: the Postgres and Redis programs of this machine, and how one of each is made, started and
//! ended. Everything listens on Unix sockets in private folders only; the only TCP ports of the lab are
//! those of its links and pages.
//!
//! | module | what it holds |
//! |---|---|
//! | `memory` | shared memory that a killed Postgres leaves |
//! | [`programs`] | which programs there are, their versions, what to install when they are missing |
//! | [`user`] | the unprivileged user that stores run as, and which folders it can reach |
//! | [`cluster`] | a Postgres cluster: make, start, stop |
//! | [`sockets`] | folders for Unix sockets, whose paths must be short |
//! | [`template`] | the cluster that every arena's is copied from |
//! | [`reader`] | who may only read: the statements of assertions |
//! | [`redis_node`] | a Redis node: start, stop |

pub mod cluster;
pub(crate) mod memory;
pub mod programs;
pub mod reader;
pub mod redis_node;
pub mod sockets;
pub mod template;
pub mod user;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::warden::{User, WardenError};

/// How long a store may take to answer after its start.
pub const START_LIMIT: Duration = Duration::from_secs(20);

/// The longest path of a Unix socket, on every system that the lab runs on.
pub const LONGEST_SOCKET: usize = 103;

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A program is missing.
    #[error("{program} was not found. {install}")]
    Missing {
        /// What was looked for.
        program: &'static str,
        /// How to get it.
        install: String,
    },
    /// A program is too old.
    #[error("{program} is {found}, and the lab needs {needed} or newer. {install}")]
    TooOld {
        /// Which program, with its path.
        program: String,
        /// Its version.
        found: String,
        /// The oldest that will do.
        needed: String,
        /// How to get a newer one.
        install: String,
    },
    /// No user to drop to.
    #[error("running as root, and Postgres refuses to: neither a user `postgres` nor a user `nobody` exists here")]
    NoUser,
    /// A folder is out of reach of the store user.
    #[error(
        "{folder} cannot be reached by the user `{user}`, as whom the stores run because the lab runs as root: \
         {barrier} is closed to others. Choose another place with --data-dir, such as /var/lib/aegis"
    )]
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// The user.
        user: String,
        /// The folder on the way that is closed.
        barrier: PathBuf,
    },
    /// A socket path that no system takes.
    #[error(
        "the socket path {path} has {length} bytes, and {LONGEST_SOCKET} is the most that a system takes. \
         Choose a shorter --data-dir, or a shorter TMPDIR"
    )]
    SocketPath {
        /// The path.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
    /// A store ended while it was to start.
    #[error("{what} ended while starting ({exit}). Its last words:\n{log}")]
    Died {
        /// Which.
        what: String,
        /// How.
        exit: String,
        /// The end of its log.
        log: String,
    },
    /// A store did not answer in time.
    #[error("{what} did not answer within {limit:?}. Its last words:\n{log}")]
    Silent {
        /// Which.
        what: String,
        /// The limit.
        limit: Duration,
        /// The end of its log.
        log: String,
    },
    /// A folder or file.
    #[error("{path}: {error}")]
    File {
        /// Where.
        path: PathBuf,
        /// What.
        error: io::Error,
    },
    /// The warden.
    #[error(transparent)]
    Warden(#[from] WardenError),
    /// Postgres answered with an error.
    #[error("Postgres: {0}")]
    Postgres(#[from] sqlx::Error),
    /// A migration could not be applied.
    #[error("Postgres migration: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// Redis answered with an error.
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
}

/// Say where a file operation failed.
pub(crate) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, StoreError> {
    result.map_err(|error| StoreError::File { path: path.to_owned(), error })
}

/// Make a folder for a store: closed to everybody else, owned by the store user.
pub(crate) fn private_folder(path: &Path, user: Option<&User>) -> Result<(), StoreError> {
    use std::os::unix::fs::{DirBuilderExt, chown};
    at(path, fs::DirBuilder::new().mode(0o700).create(path))?;
    if let Some(user) = user {
        at(path, chown(path, Some(user.uid), Some(user.gid)))?;
    }
    Ok(())
}

/// Write a new file that only the lab itself reads.
pub(crate) fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    fs::File::options().create_new(true).write(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// The file that a store's output goes to.
pub(crate) fn log_file(path: &Path) -> Result<fs::File, StoreError> {
    at(path, fs::File::options().create(true).append(true).open(path))
}

/// The end of a log, for an error that a person reads.
pub(crate) fn last_words(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}

/// The environment of a store: nothing of the server's but the search path.
pub(crate) fn environment() -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    [("PATH", path.as_str()), ("LC_ALL", "C"), ("TZ", "UTC")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}
