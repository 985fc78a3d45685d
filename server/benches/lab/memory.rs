//! How much memory the server and its replicas keep resident, after a session has gone on for a while.

use std::fs;
use std::process::Command;

use locks::event::{Kind, ProcessName, ProcessState};

use crate::Failure;
use crate::table::Figure;
use crate::visit::Visit;

const SERVER_LIMIT_MB: f64 = 120.0;
const REPLICA_LIMIT_MB: f64 = 25.0;

pub async fn measure(visit: &Visit) -> Result<Vec<Figure>, Failure> {
    let started = visit.events(0, "event.kind === 'process'").await?.into_iter().filter_map(|event| match event.kind {
        Kind::Process { process: ProcessName::Replica(_), pid, state: ProcessState::Started, .. } => Some(pid),
        _ => None,
    });
    let replicas = started.map(resident_mb).collect::<Result<Vec<_>, _>>()?;
    let most = replicas.iter().copied().fold(0.0, f64::max);
    let server = resident_mb(visit.serve.pid)?;
    let replica = Figure {
        what: "resident memory of a replica".to_owned(),
        measured: format!("{most:.0} MB"),
        limit: Some("25 MB"),
        over: replicas.is_empty() || most >= REPLICA_LIMIT_MB,
        how: format!("the largest of {} in that session, pages shared with the others included", replicas.len()),
    };
    let server = Figure {
        what: "resident memory of the server".to_owned(),
        measured: format!("{server:.0} MB"),
        limit: Some("120 MB"),
        over: server >= SERVER_LIMIT_MB,
        how: "at the end of that session, its log in memory, one page watching".to_owned(),
    };
    Ok(vec![replica, server])
}

/// A process's resident memory, in megabytes.
fn resident_mb(pid: u32) -> Result<f64, Failure> {
    let kib = match fs::read_to_string(format!("/proc/{pid}/status")) {
        Ok(status) => {
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no resident memory")?;
            line.trim().trim_end_matches(" kB").to_owned()
        }
        // Not Linux, which need not have `ps`.
        Err(_) => {
            let told = Command::new("ps").args(["-o", "rss=", "-p", &pid.to_string()]).output()?;
            String::from_utf8(told.stdout)?.trim().to_owned()
        }
    };
    Ok(kib.parse::<f64>()? * 1024.0 / 1e6)
}
