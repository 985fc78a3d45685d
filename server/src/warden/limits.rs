//! What a process may use of the machine, where it runs what strangers wrote. The kernel's own limits, set by the
//! shell that becomes the program: nothing that runs inside can raise them.

use std::path::{Path, PathBuf};

/// Limits of one process and each that it starts; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most address space, in kilobytes.
    pub memory_kb: Option<u64>,
    /// Longest file that it writes, in blocks of 512 bytes. What is longer ends the process.
    pub file_blocks: Option<u64>,
}

impl Limits {
    /// The program and arguments by which that program is started under these limits. Its pid is its own.
    pub(super) fn lay_over(self, program: &Path, args: Vec<String>) -> (PathBuf, Vec<String>) {
        let limits = [("-v", self.memory_kb), ("-f", self.file_blocks)];
        let limits: Vec<String> = limits
            .into_iter()
            .filter_map(|(flag, limit)| Some(format!("ulimit {flag} {} && ", limit?)))
            // macOS knows no limit of address space.
            .filter(|limit| cfg!(target_os = "linux") || !limit.contains("-v"))
            .collect();
        if limits.is_empty() {
            return (program.to_owned(), args);
        }
        let script = format!("ulimit -c 0 && {}exec \"$@\"", limits.concat());
        let before = ["-c".to_owned(), script, "sh".to_owned(), program.display().to_string()];
        ("/bin/sh".into(), before.into_iter().chain(args).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_program_runs_under_its_limits() {
        let limits = Limits { memory_kb: Some(300_000), file_blocks: Some(1000) };
        let (program, args) = limits.lay_over(Path::new("/bin/cat"), vec!["/proc/self/limits".to_owned()]);
        let said = String::from_utf8(Command::new(program).args(args).output().unwrap().stdout).unwrap();
        assert!(said.contains("307200000") && said.contains("512000"), "{said}");
        let (program, args) = Limits::default().lay_over(Path::new("/bin/cat"), vec!["x".to_owned()]);
        assert_eq!((program, args), ("/bin/cat".into(), vec!["x".to_owned()]));
    }
}
