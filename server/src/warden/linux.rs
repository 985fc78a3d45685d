//! What the kernel is asked about processes. Everything here reads `/proc` or sets an attribute of the
//! own process; it is the only file of the warden that knows which kernel it runs on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Wardens of this process that live: what hangs below them is theirs.
static WARDENS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// One line of `/proc/<pid>/stat`, as far as it is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    /// R, S, D, T, Z and so on.
    pub(crate) state: char,
    /// The parent.
    pub(crate) parent: u32,
    /// The session.
    pub(crate) session: u32,
    /// When it started, in clock ticks since boot: with the pid, this names a process for good.
    pub(crate) started: u64,
}

/// From now on what loses its parent below this process becomes this process' child.
pub(crate) fn become_subreaper() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// A warden of this process began or ended.
pub(crate) fn note_warden(pid: u32, lives: bool) {
    let mut wardens = WARDENS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if lives {
        wardens.insert(pid)
    } else {
        wardens.remove(&pid)
    };
}

/// Does this process ignore that signal? Whoever started it may have asked for that.
pub(crate) fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// What the kernel says of a process; `None` when it is gone.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The name stands in parentheses and may hold anything, so everything counts from the last one.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Every process that can be seen.
pub(crate) fn all() -> BTreeMap<u32, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect()
}

/// The children of a process.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    all().into_iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| pid).collect()
}

/// Everything below a process, parents before their children.
pub(crate) fn below(root: u32) -> Vec<u32> {
    let all = all();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(all.iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.remove(0);
    found
}

/// Are all threads of a process stopped (or gone)? A process counts as stopped for the kernel before
/// its last thread is.
pub(crate) fn all_threads_stopped(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.filter_map(Result::ok).all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok().and_then(|text| parse_stat(&text));
        stat.is_none_or(|stat| matches!(stat.state, 'T' | 't' | 'Z' | 'X'))
    })
}

/// Kill what this process adopted when a warden died, until none is left or the limit is over. Returns
/// how many were killed. What this process started itself shares its session and stays; what came from
/// a warden never does.
pub(crate) fn kill_adopted(limit: Duration) -> usize {
    let me = std::process::id();
    let Some(my_session) = stat(me).map(|stat| stat.session) else { return 0 };
    let until = Instant::now() + limit;
    let mut killed = BTreeSet::new();
    loop {
        let wardens = WARDENS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        let adopted: Vec<u32> = all()
            .into_iter()
            .filter(|(pid, stat)| stat.parent == me && stat.session != my_session && !wardens.contains(pid))
            .map(|(pid, _)| pid)
            .collect();
        if adopted.is_empty() || Instant::now() > until {
            return killed.len();
        }
        for pid in adopted {
            // Only this loop reaps it, so the pid is still its own.
            killed.insert(pid);
            let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
            let _ = waitpid(Pid::from_raw(pid as i32), Some(WaitPidFlag::WNOHANG));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// When the machine started, in seconds since the Unix epoch.
pub(crate) fn booted() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

/// A process as it is written down, so that a later lab can tell it from another of the same pid.
pub(crate) fn started(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.started)
}

/// The processes whose working directory lies in a folder, with the programs that they run.
pub(crate) fn working_in(folder: &Path) -> Vec<(u32, PathBuf)> {
    all()
        .into_keys()
        .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder)))
        .filter_map(|pid| Some((pid, fs::read_link(format!("/proc/{pid}/exe")).ok()?)))
        .collect()
}

/// Kill a process that is not ours (any more), and wait until it is gone.
pub(crate) fn kill_stranger(pid: u32, started_at: u64, until: Instant) -> bool {
    while started(pid) == Some(started_at) && stat(pid).is_some_and(|stat| stat.state != 'Z') {
        match kill(Pid::from_raw(pid as i32), Signal::SIGKILL) {
            Ok(()) => {}
            Err(Errno::ESRCH) => return true,
            Err(_) => return false,
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let text = "42 (a) b (c)) S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.session, stat.started), ('S', 7, 9, 4711));
    }

    #[test]
    fn this_process_is_seen_and_runs() {
        let me = std::process::id();
        assert!(!all_threads_stopped(me));
        assert!(started(me).is_some());
        assert!(below(stat(me).unwrap().parent).contains(&me));
    }
}
