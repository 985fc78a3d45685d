//! The data folder. Every lab that runs has a folder of its own in it, locked as long as the lab lives; a
//! folder whose lock is free is what a crash left, and is cleaned away, processes first. Nothing that
//! another lab holds is ever touched.
//!
//! | below the data folder | what it holds |
//! |---|---|
//! | `labs/<id>/` | one running lab: `lock`, `processes` (what it started), its arenas |
//! | `templates/` | clusters that arenas are copied from |
//! | `control/` | the control plane's cluster |

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::arena::embedded::POSTGRES;
use crate::arena::shared;
use crate::lab::LabError;
use crate::stores::user::check_reachable;
use crate::stores::{memory, sockets};
use crate::warden::{User, linux};

/// How long a lock that others hold for a moment is waited for. Making a template takes the longest.
const LOCK_LIMIT: Duration = Duration::from_secs(60);
/// How often a lock that is held is tried.
const LOCK_LOOK: Duration = Duration::from_millis(20);
/// How long left-over processes may take to die.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// The file in a folder that tells whether somebody is using it.
const LOCK: &str = "lock";
/// The file in a lab's folder that lists what it started.
pub(crate) const PROCESSES: &str = "processes";

/// An open data folder.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
    open_to_others: bool,
}

/// Where data goes when nobody says so: the user's data folder; for root, whose home others cannot
/// enter, the system's.
pub fn default_data_dir() -> PathBuf {
    if nix::unistd::geteuid().is_root() {
        return PathBuf::from("/var/lib/aegis");
    }
    directories::ProjectDirs::from("", "", "aegis")
        .map_or_else(|| std::env::temp_dir().join("aegis-data"), |dirs| dirs.data_dir().to_owned())
}

impl DataDir {
    /// Open the folder, making it if needed; `user` is whom the stores run as.
    pub fn open(chosen: Option<&Path>, user: Option<&User>) -> Result<DataDir, LabError> {
        let root = chosen.map_or_else(default_data_dir, Path::to_owned);
        let root = std::path::absolute(&root).map_err(|error| LabError::DataDir { path: root, error })?;
        let dir = DataDir { root, open_to_others: user.is_some() };
        // Before anything is made in a place that is of no use.
        check_reachable(&dir.root, user)?;
        for folder in [dir.root.clone(), dir.labs(), dir.templates()] {
            dir.make(&folder)?;
        }
        check_reachable(&dir.root, user)?;
        Ok(dir)
    }

    /// Can files be made in it? A folder that is there may be on a disk that is read-only or full.
    pub fn check_writable(&self) -> Result<(), LabError> {
        let probe = self.labs().join(format!("probe-{:08x}", rand::random::<u32>()));
        let written = fs::write(&probe, b"written");
        // Not there if it could not be written.
        let _ = fs::remove_file(&probe);
        written.map_err(|error| LabError::DataDir { path: self.root.clone(), error })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn labs(&self) -> PathBuf {
        self.root.join("labs")
    }

    /// Clusters that arenas are copied from.
    pub fn templates(&self) -> PathBuf {
        self.root.join("templates")
    }

    /// The control plane's folder.
    pub fn control(&self) -> PathBuf {
        self.root.join("control")
    }

    /// Make a folder that the store user can walk through, and nobody else need.
    pub(crate) fn make(&self, path: &Path) -> Result<(), LabError> {
        use std::os::unix::fs::DirBuilderExt;
        let mode = if self.open_to_others { 0o755 } else { 0o700 };
        let made = fs::DirBuilder::new().recursive(true).mode(mode).create(path);
        made.map_err(|error| LabError::DataDir { path: path.to_owned(), error })
    }

    /// Clean away what crashed labs left, then make a folder for a new lab and lock it.
    pub async fn new_lab(&self, shared: Option<&shared::Means>) -> Result<LabFolder, LabError> {
        // Held while folders are cleaned and made: a new folder without its lock yet looks like a left-over.
        let _making = self.lock(&self.labs()).await?;
        self.clean(shared).await?;
        let path = self.labs().join(format!("{:08x}", rand::random::<u32>()));
        self.make(&path)?;
        let lock = try_lock(&path)?.ok_or_else(|| LabError::Busy { path: path.clone() })?;
        Ok(LabFolder { path, _lock: lock })
    }

    /// Lock a folder, waiting for whoever holds it for a moment.
    pub(crate) async fn lock(&self, folder: &Path) -> Result<File, LabError> {
        let until = Instant::now() + LOCK_LIMIT;
        loop {
            if let Some(lock) = try_lock(folder)? {
                return Ok(lock);
            }
            if Instant::now() > until {
                return Err(LabError::Busy { path: folder.to_owned() });
            }
            tokio::time::sleep(LOCK_LOOK).await;
        }
    }

    async fn clean(&self, shared: Option<&shared::Means>) -> Result<(), LabError> {
        let labs = self.labs();
        let entries = fs::read_dir(&labs).map_err(|error| LabError::DataDir { path: labs.clone(), error })?;
        for folder in entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()) {
            let Some(_lock) = try_lock(&folder)? else { continue };
            let killed = kill_left_over(&folder, Vec::new()).await;
            if let Some(shared) = shared {
                shared.drop_left_over(&folder).await;
            }
            tracing::info!(folder = %folder.display(), killed, "cleaning up after a lab that ended unexpectedly");
            for arena in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
                memory::give_back(&arena.path().join(POSTGRES));
                sockets::remove_left_over(&arena.path());
            }
            sockets::remove_left_over(&folder);
            fs::remove_dir_all(&folder).map_err(|error| LabError::DataDir { path: folder.clone(), error })?;
        }
        Ok(())
    }
}

/// Lock a folder if it is free.
pub(crate) fn try_lock(folder: &Path) -> Result<Option<File>, LabError> {
    let path = folder.join(LOCK);
    let failed = |error: io::Error| LabError::DataDir { path: path.clone(), error };
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// The folder of a running lab. Its lock is free again when this is dropped.
#[derive(Debug)]
pub struct LabFolder {
    path: PathBuf,
    _lock: File,
}

impl LabFolder {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remove it; everything in it has ended.
    pub fn remove(&self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(folder = %self.path.display(), %error, "the lab's folder could not be removed");
        }
    }
}

/// Kill what a crashed lab left: what it wrote down, if pid and start time still agree, and whatever
/// works in its folder and runs one of its programs, or one of these (backends are not written down).
/// Returns how many.
pub(crate) async fn kill_left_over(folder: &Path, programs: Vec<PathBuf>) -> usize {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || kill_left_over_now(&folder, programs)).await.unwrap_or(0)
}

fn kill_left_over_now(folder: &Path, programs: Vec<PathBuf>) -> usize {
    let until = Instant::now() + KILL_LIMIT;
    let text = fs::read_to_string(folder.join(PROCESSES)).unwrap_or_default();
    let mut killed = 0;
    let mut programs: Vec<PathBuf> = programs.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    for line in text.lines() {
        let mut fields = line.splitn(3, ' ');
        let (Some(Ok(pid)), Some(Ok(started)), Some(program)) =
            (fields.next().map(str::parse), fields.next().map(str::parse), fields.next())
        else {
            continue;
        };
        programs.extend(fs::canonicalize(program));
        if linux::started(pid) == Some(started) {
            killed += usize::from(linux::kill_stranger(pid, started, until));
        }
    }
    let works_for_us = |program: &Path| programs.iter().any(|known| known == program);
    loop {
        let left: Vec<u32> = linux::working_in(folder)
            .into_iter()
            .filter(|(_, program)| works_for_us(program))
            .map(|(pid, _)| pid)
            .collect();
        if left.is_empty() || Instant::now() > until {
            return killed;
        }
        for pid in left {
            if let Some(started) = linux::started(pid) {
                killed += usize::from(linux::kill_stranger(pid, started, until));
            }
        }
    }
}
