//! Shared memory that a killed Postgres leaves to the machine. It is tiny, but a machine has room for a few
//! thousand of them, and labs kill Postgres for a living. A cluster that is started again takes its own
//! back; what is about to be deleted never will.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::warden::linux;

/// Give back what the cluster in `data` left. For a caller that knows that nothing of it runs any more.
pub(crate) fn give_back(data: &Path) {
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else { return };
    let Some((id, started)) = parse(&text) else { return };
    // A number from before the machine started may be somebody else's by now.
    if linux::booted().is_none_or(|booted| started < booted) {
        return;
    }
    // Where there is no such program, the machine keeps it until it is restarted.
    let _ = Command::new("ipcrm").args(["-m", &id.to_string()]).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// The segment's number, and when that Postgres was started (seconds since the Unix epoch).
fn parse(text: &str) -> Option<(u64, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let started = lines.get(2)?.trim().parse().ok()?;
    let id = lines.get(6)?.split_whitespace().nth(1)?.parse().ok()?;
    Some((id, started))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_stands_in_the_seventh_line() {
        let text = "4711\n/x/postgres\n1764450000\n5432\n/x\n\n  19218041     65587\nready   \n";
        assert_eq!(parse(text), Some((65_587, 1_764_450_000)));
        assert_eq!(parse("4711\n/x\n1764450000\n5432\n"), None);
    }
}
