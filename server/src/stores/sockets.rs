//! Folders for Unix sockets. A socket's path may have about a hundred bytes, and a data folder may be
//! deep; then its sockets live in a short folder of their own under the system's temporary one.

use std::fs;
use std::path::{Path, PathBuf};

use super::{LONGEST_SOCKET, StoreError, at, private_folder};
use crate::warden::User;

/// The longest name of a socket that the lab makes: `.s.PGSQL.5432`, with the `.lock` that Postgres adds
/// not being a socket.
const LONGEST_NAME: usize = ".s.PGSQL.5432".len();

/// A private folder for sockets; removed when dropped, if it is not the owner's own.
#[derive(Debug)]
pub struct Sockets {
    folder: PathBuf,
    apart: bool,
}

impl Sockets {
    /// Sockets in `beside`, an existing private folder, or in a shorter one.
    pub fn for_folder(beside: &Path, user: Option<&User>) -> Result<Sockets, StoreError> {
        Sockets::in_either(beside, &std::env::temp_dir(), user)
    }

    fn in_either(beside: &Path, temporary: &Path, user: Option<&User>) -> Result<Sockets, StoreError> {
        if fits(beside) {
            return Ok(Sockets { folder: beside.to_owned(), apart: false });
        }
        let folder = temporary.join(format!("aegis-{:08x}", rand::random::<u32>()));
        if !fits(&folder) {
            let path = folder.join(".s.PGSQL.5432");
            return Err(StoreError::SocketPath { length: path.as_os_str().len(), path });
        }
        private_folder(&folder, user)?;
        let sockets = Sockets { folder, apart: true };
        // A lab that crashes cannot remove it; the next one reads here what to remove.
        let note = beside.join(NOTE);
        at(&note, fs::write(&note, sockets.folder.as_os_str().as_encoded_bytes()))?;
        Ok(sockets)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        if self.apart {
            // At worst an empty folder stays in the temporary one.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Names the folder apart, in the folder that it belongs to.
const NOTE: &str = "sockets";

/// Remove the folder apart that a crashed lab noted in `beside`.
pub(crate) fn remove_left_over(beside: &Path) {
    let Ok(text) = fs::read_to_string(beside.join(NOTE)) else { return };
    let folder = PathBuf::from(text);
    let ours = folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("aegis-"));
    if ours && folder.is_absolute() {
        let _ = fs::remove_dir_all(folder);
    }
}

fn fits(folder: &Path) -> bool {
    folder.as_os_str().len() + 1 + LONGEST_NAME <= LONGEST_SOCKET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_folder_gets_its_sockets_elsewhere() {
        let top = tempfile::tempdir().unwrap();
        let near = Sockets::for_folder(top.path(), None).unwrap();
        assert_eq!(near.folder(), top.path());
        let deep = top.path().join("d".repeat(100));
        fs::create_dir(&deep).unwrap();
        let apart = Sockets::for_folder(&deep, None).unwrap();
        let folder = apart.folder().to_owned();
        assert!(folder.is_dir() && folder.as_os_str().len() < 60);
        drop(apart);
        assert!(!folder.exists());
        assert!(top.path().exists());
    }

    #[test]
    fn a_path_that_no_system_takes_is_an_error_that_says_what_to_do() {
        let deep = Path::new("/").join("d".repeat(100));
        let error = Sockets::in_either(&deep, &deep, None).unwrap_err().to_string();
        assert!(error.contains("bytes, and 103 is the most") && error.contains("TMPDIR"), "{error}");
    }

    #[test]
    fn what_a_crash_left_is_removed() {
        let top = tempfile::tempdir().unwrap();
        let deep = top.path().join("d".repeat(100));
        fs::create_dir(&deep).unwrap();
        let apart = Sockets::for_folder(&deep, None).unwrap();
        let folder = apart.folder().to_owned();
        std::mem::forget(apart);
        remove_left_over(&deep);
        assert!(!folder.exists());
    }
}
