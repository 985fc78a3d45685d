//! What the integration tests share: a lab in a folder of its own, and conditions that are awaited.

// Each test file takes what it needs.
#![allow(dead_code)]

pub mod learner;
pub mod served;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use server::lab::{Lab, LabConfig};

/// The program under test.
pub fn aegis() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_aegis"))
}

/// A data folder that the store user can reach, for one test.
pub fn data_dir() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("aegis-test-").tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // Making a template takes seconds, and is the same for all tests: they share it, under its lock.
    let templates = std::env::temp_dir().join(format!("aegis-test-templates-{}", nix::unistd::getuid()));
    std::fs::create_dir_all(&templates).unwrap();
    std::os::unix::fs::symlink(templates, folder.path().join("templates")).unwrap();
    folder
}

/// A lab that keeps no arena ready.
pub fn config(data_dir: &Path) -> LabConfig {
    // What the lab has to say is shown with a test that fails.
    let _ = tracing_subscriber::fmt().with_test_writer().try_init();
    LabConfig { data_dir: Some(data_dir.to_owned()), aegis: Some(aegis()), cold: true, ..LabConfig::default() }
}

/// Open a lab in that folder.
pub async fn lab(data_dir: &Path) -> Arc<Lab> {
    Lab::open(config(data_dir)).await.unwrap()
}

/// Wait until something holds; fail when it does not within the limit.
pub async fn until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < end, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Processes whose working directory or arguments lie in a folder: what a lab there has running.
pub fn processes_of(folder: &Path) -> Vec<(u32, String)> {
    let folder = folder.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != std::process::id())
        .filter_map(|pid: u32| {
            let command =
                String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).ok()?).replace('\0', " ");
            let cwd = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            (cwd.starts_with(folder) || command.contains(folder)).then_some((pid, command))
        })
        .collect()
}
