//! Where a submission runs: a Postgres or a Redis of its own for one attempt, started through the warden under
//! the kernel's limits, with rights for next to nothing, gone afterwards whatever it did. Nothing here knows
//! an exercise.
//!
//! | module | what it holds |
//! |---|---|
//! | [`postgres`] | the cluster of an attempt |
//! | [`wire`] | the learner's sessions in it |
//! | [`redis`] | the Redis of an attempt |
//! | [`resp`] | the learner's connection to it |

pub mod postgres;
pub mod redis;
pub mod resp;
pub mod wire;

use std::path::{Path, PathBuf};

use crate::lab::{Lab, LabError};
use crate::stores::sockets::Sockets;
use crate::stores::{at, private_folder};

/// The folder of an attempt, removed when it is over.
struct Folder {
    path: PathBuf,
    sockets: Sockets,
}

impl Folder {
    fn new(lab: &Lab) -> Result<Folder, LabError> {
        let path = lab.new_folder();
        private_folder(&path, lab.store_user())?;
        let sockets = Sockets::for_folder(&path, lab.store_user())?;
        Ok(Folder { path, sockets })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = at(&self.path, std::fs::remove_dir_all(&self.path)) {
            tracing::warn!(%error, "an attempt's folder could not be removed");
        }
    }
}
