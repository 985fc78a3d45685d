//! As whom stores run. Postgres refuses root, so a lab that runs as root drops stores to an unprivileged
//! user, and keeps their folders where that user can reach them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::StoreError;
use crate::warden::User;

/// The user to drop to: `None` when the lab does not run as root.
pub fn store_user() -> Result<Option<User>, StoreError> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(None);
    }
    let found = ["postgres", "nobody"].iter().find_map(|name| nix::unistd::User::from_name(name).ok().flatten());
    found
        .map(|user| Some(User { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw() }))
        .ok_or(StoreError::NoUser)
}

/// Can the store user walk down to this folder?
pub fn check_reachable(folder: &Path, user: Option<&User>) -> Result<(), StoreError> {
    let Some(user) = user else { return Ok(()) };
    let mut way: Vec<&Path> = folder.ancestors().filter(|path| path.exists()).collect();
    way.reverse();
    for path in way {
        let Ok(of) = fs::metadata(path) else { continue };
        if !of.is_dir() {
            continue;
        }
        let needed = match () {
            () if of.uid() == user.uid => 0o100,
            () if of.gid() == user.gid => 0o010,
            () => 0o001,
        };
        if of.mode() & needed == 0 {
            return Err(StoreError::Unreachable {
                folder: folder.to_owned(),
                user: user.name.clone(),
                barrier: path.to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_closed_folder_on_the_way_is_named() {
        let top = tempfile::tempdir().unwrap();
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let below = top.path().join("closed/data");
        fs::create_dir_all(&below).unwrap();
        let user = User { name: "somebody".to_owned(), uid: 54_321, gid: 54_321 };
        check_reachable(&below, Some(&user)).unwrap();
        fs::set_permissions(top.path().join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
        let error = check_reachable(&below, Some(&user)).unwrap_err().to_string();
        assert!(error.contains("closed is closed to others") && error.contains("--data-dir"), "{error}");
        check_reachable(&below, None).unwrap();
    }
}
