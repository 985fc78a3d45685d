//! The table, as the README keeps it: what, how much, the limit, and how it was measured. Above it the
//! machine, because figures of another one say little.

use std::fs;
use std::time::Duration;

use server::say;
use tokio::task::spawn_local;
use tokio::time::timeout;

use crate::Failure;
use crate::figures::milliseconds;

/// One row.
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// How much.
    pub measured: String,
    /// How much it may be; `None`: nobody judges it.
    pub limit: Option<&'static str>,
    /// It is more than that.
    pub over: bool,
    /// How, so that a reader can object.
    pub how: String,
}

/// All rows, and what could not be measured.
#[derive(Default)]
pub struct Table {
    figures: Vec<Figure>,
    missing: Vec<String>,
    /// The parts that are asked for; none: all.
    wanted: Vec<String>,
    /// Those that there are.
    parts: Vec<String>,
}

impl Table {
    /// For those parts only; none: all.
    pub fn of(wanted: Vec<String>) -> Table {
        Table { wanted, ..Table::default() }
    }

    /// Take what a part measures. One that fails or panics takes no other with it.
    pub async fn add(
        &mut self,
        part: &str,
        limit: Duration,
        measuring: impl Future<Output = Result<Vec<Figure>, Failure>> + 'static,
    ) {
        self.parts.push(part.to_owned());
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == part) {
            return;
        }
        match spawn_local(timeout(limit, measuring)).await {
            Ok(Ok(Ok(figures))) => self.figures.extend(figures),
            Ok(Ok(Err(error))) => self.missing.push(format!("{part}: {error}")),
            Ok(Err(_)) => self.missing.push(format!("{part}: not within {limit:?}")),
            Err(panicked) => self.missing.push(format!("{part}: {panicked}")),
        }
    }

    /// Was everything measured?
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.unknown().next().is_none()
    }

    fn unknown(&self) -> impl Iterator<Item = &String> {
        self.wanted.iter().filter(|wanted| !self.parts.contains(wanted))
    }

    /// Print it.
    pub fn print(&self) {
        say::line(format_args!("Measured on {}.\n", machine()));
        say::line("| what | measured | limit | how |\n|---|---|---|---|");
        for Figure { what, measured, limit, over, how } in &self.figures {
            let limit = limit.map_or_else(|| "–".to_owned(), |limit| format!("< {limit}"));
            let measured = if *over { format!("**{measured}** (over)") } else { measured.clone() };
            say::line(format_args!("| {what} | {measured} | {limit} | {how} |"));
        }
        for missing in &self.missing {
            say::error(format_args!("not measured: {missing}"));
        }
        for unknown in self.unknown() {
            say::error(format_args!("no part is called {unknown:?}; there are: {}", self.parts.join(", ")));
        }
    }
}

/// What so many contenders for one lock got.
pub struct Contention {
    /// The strategy.
    pub strategy: &'static str,
    /// Replicas, or bare commands.
    pub who: &'static str,
    /// How many at once.
    pub contenders: usize,
    /// Attempts that were over in a second, granted or told busy; one alone is left alone between its attempts.
    pub attempts_per_second: Option<f64>,
    /// Acquire and release of those that were granted.
    pub median: Duration,
    /// The same, of which one in a hundred took longer.
    pub percentile_99: Duration,
    /// Commands of all attempts, for each one that was granted.
    pub commands_per_acquisition: f64,
}

/// Print what many contenders got.
pub fn print_contention(rows: &[Contention]) {
    say::line(
        "\n| strategy | contenders | | attempts a second | acquire + release, median | 99th percentile | commands an \
         acquisition |\n|---|---|---|---|---|---|---|",
    );
    for row in rows {
        let per_second =
            row.attempts_per_second.map_or_else(|| "–".to_owned(), |per_second| format!("{per_second:.0}"));
        say::line(format_args!(
            "| `{}` | {} | {} | {per_second} | {} | {} | {:.1} |",
            row.strategy,
            row.contenders,
            row.who,
            milliseconds(row.median),
            milliseconds(row.percentile_99),
            row.commands_per_acquisition
        ));
    }
}

/// Cores, processor, operating system.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    // Only Linux has these files; elsewhere the table goes without.
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| field(&info, "model name"));
    let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|info| field(&info, "MemTotal"));
    let memory = memory.and_then(|kib| kib.trim_end_matches(" kB").parse::<u64>().ok());
    let memory = memory.map(|kib| format!("{:.0} GB of memory", kib as f64 / 1e6));
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|load| load.split(' ').next().map(|minute| format!("load {minute} when it ended")));
    [Some(cores), processor, memory, Some(std::env::consts::OS.to_owned()), load]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// The value behind a colon.
fn field(info: &str, name: &str) -> Option<String> {
    let line = info.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
