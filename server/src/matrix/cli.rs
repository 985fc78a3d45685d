//! `aegis matrix`: measure the failure matrix, several cells side by side, and compare it with what is
//! expected. Exit status as that of `aegis run`: 0 all as expected, 1 a difference, 2 bad usage, 3
//! inconclusive or the lab itself failed.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use app::matrix::place::guard_name;
use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressStyle};
use locks::guard::Guard;
use locks::matrix::Coverage;
use locks::setup::StrategyName;
use locks::strategy;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::cell::{Cell, CellError, Measured};
use super::faults::{self, Fault};
use super::report::Matrix;
use crate::command::{self, DIFFERS, GOOD, NO_RESULT};
use crate::lab::{Lab, LabConfig};
use crate::run::export::Export;
use crate::say;

/// Options of `aegis matrix`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Strategies (or `strategy/mutant`), with commas between; default: all.
    #[arg(long, value_delimiter = ',')]
    strategies: Vec<String>,
    /// Faults, with commas between; default: all.
    #[arg(long, value_delimiter = ',')]
    faults: Vec<String>,
    /// Guards at the sink (none, max-seen, current-epoch, unique-slot), with commas between; `all` for each.
    #[arg(long, value_delimiter = ',', default_value = "none")]
    guards: Vec<String>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown (the default).
    #[arg(long)]
    markdown: bool,
    /// Keep the run behind each cell in this folder; default: `matrix` in the data folder.
    #[arg(long)]
    record: Option<PathBuf>,
    /// How many cells side by side; default: four for each core.
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    lab: LabConfig,
}

/// Cells wait for time far more than for a core.
const CELLS_A_CORE: usize = 4;

/// Measure, print, and say how it came out.
pub fn main(args: Args) -> ExitCode {
    let (asked, lab) = (Asked::of(&args), args.lab.clone());
    command::run(asked, lab, |asked, lab, told_to_end| all(args, asked, lab, told_to_end))
}

/// Which part of the matrix.
struct Asked {
    strategies: Vec<StrategyName>,
    faults: Vec<&'static Fault>,
    guards: Vec<Option<Guard>>,
}

impl Asked {
    fn of(args: &Args) -> Result<Asked, Vec<String>> {
        let mut problems = Vec::new();
        let mut strategies: Vec<StrategyName> = args.strategies.iter().map(|name| name.as_str().into()).collect();
        if strategies.is_empty() {
            strategies = strategy::ALL.iter().map(|info| info.name.into()).collect();
        }
        for name in &strategies {
            if let Err(error) = strategy::find(name) {
                problems.push(format!("--strategies: {error}"));
            }
        }
        let mut faults: Vec<&Fault> = Vec::new();
        for name in &args.faults {
            match faults::find(name) {
                Some(fault) => faults.push(fault),
                None => {
                    let names: Vec<_> = faults::ALL.iter().map(|fault| fault.name).collect();
                    problems.push(format!("--faults: no fault is called {name:?}; there are {}", names.join(", ")));
                }
            }
        }
        if args.faults.is_empty() {
            faults.extend(faults::ALL);
        }
        let mut guards = Vec::new();
        for name in &args.guards {
            match (name.as_str(), name.parse()) {
                ("none", _) => guards.push(None),
                ("all", _) => guards.extend([None].into_iter().chain(Guard::LADDER.map(Some))),
                (_, Ok(guard)) => guards.push(Some(guard)),
                (_, Err(error)) => problems.push(format!("--guards: {error}")),
            }
        }
        guards.sort();
        guards.dedup();
        if problems.is_empty() { Ok(Asked { strategies, faults, guards }) } else { Err(problems) }
    }

    /// The cells in the order in which they are run: what needs the machine to itself comes last.
    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &guard in &self.guards {
            for &fault in &self.faults {
                cells.extend(self.strategies.iter().map(|name| Cell { fault, strategy: name.clone(), guard }));
            }
        }
        cells.sort_by_key(|cell| cell.fault.heavy);
        cells
    }
}

async fn all(args: Args, asked: Asked, lab: Arc<Lab>, told_to_end: CancellationToken) -> u8 {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = args.jobs.map_or(cores * CELLS_A_CORE, NonZeroUsize::get);
    let cells = asked.cells();
    let mut results = Results {
        folder: args.record.clone().unwrap_or_else(|| lab.data_dir().root().join("matrix")),
        bar: progress(cells.len()),
        status: GOOD,
        measured: Vec::new(),
    };
    let mut running = begin(&lab, cells, jobs, &told_to_end);
    {
        let mut in_turn = pin!(async {
            while let Some(joined) = running.join_next().await {
                results.take(joined);
            }
        });
        if told_to_end.run_until_cancelled(&mut in_turn).await.is_none() {
            lab.ending(in_turn).await;
        }
    }
    lab.close().await;
    results.bar.finish_and_clear();
    let Results { status, mut measured, .. } = results;
    let row = |fault: &Fault| faults::ALL.iter().position(|other| other.name == fault.name);
    measured.sort_by_key(|measured| (measured.cell.guard, row(measured.cell.fault)));
    let matrix = Matrix { strategies: asked.strategies, guards: asked.guards, cells: measured };
    if args.json {
        say::line(matrix.json());
    } else {
        say::line(matrix.markdown().trim_end());
    }
    status
}

/// What has come of cells so far.
struct Results {
    folder: PathBuf,
    bar: ProgressBar,
    status: u8,
    measured: Vec<Measured>,
}

impl Results {
    fn take(&mut self, joined: Result<Result<Measured, CellError>, JoinError>) {
        self.bar.inc(1);
        let cell = match joined {
            Ok(Ok(cell)) => cell,
            Ok(Err(error)) => return self.failed(error),
            Err(error) => return self.failed(format_args!("a cell broke off: {error}")),
        };
        self.bar.set_message(format!("{} · {}", cell.cell.fault.title, cell.cell.strategy));
        self.status = self.status.max(status_of(&cell));
        if let Err(error) = keep(&self.folder, &cell) {
            let folder = self.folder.display().to_string();
            self.failed(format_args!("{folder}: {error}"));
        }
        self.measured.push(Measured { run: None, ..cell });
    }

    fn failed(&mut self, why: impl Display) {
        self.bar.suspend(|| say::error(why));
        self.status = NO_RESULT;
    }
}

/// Begin all cells, `jobs` of them at a time.
fn begin(
    lab: &Arc<Lab>,
    cells: Vec<Cell>,
    jobs: usize,
    told_to_end: &CancellationToken,
) -> JoinSet<Result<Measured, CellError>> {
    let permits = Arc::new(Semaphore::new(jobs));
    let mut running = JoinSet::new();
    for cell in cells {
        let (lab, permits, told_to_end) = (lab.clone(), permits.clone(), told_to_end.clone());
        let wanted = u32::try_from(if cell.fault.heavy { jobs } else { 1 }).unwrap_or(u32::MAX);
        running.spawn(async move {
            // The semaphore is never closed.
            let _permits = permits.acquire_many_owned(wanted).await;
            cell.measure(&lab, &told_to_end).await
        });
    }
    running
}

fn progress(cells: usize) -> ProgressBar {
    let bar = ProgressBar::new(cells as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cells, {elapsed} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn status_of(measured: &Measured) -> u8 {
    if measured.differs() {
        DIFFERS
    } else if measured.coverage == Coverage::Inconclusive {
        NO_RESULT
    } else {
        GOOD
    }
}

/// Keep the run behind a cell, in the place of the one before.
fn keep(folder: &Path, measured: &Measured) -> std::io::Result<()> {
    let Some((scenario, events)) = &measured.run else { return Ok(()) };
    let cell = &measured.cell;
    let strategy = cell.strategy.to_string().replace('/', ".");
    let name = format!("{}--{strategy}--{}.json", cell.fault.name, guard_name(cell.guard));
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(name), Export::new(scenario.clone(), events.clone()).to_json()?)
}
