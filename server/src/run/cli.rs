//! `aegis run`: run scenario files, print what came of them, and say by the exit status which of four
//! things it was. 0: all held. 1: an expectation failed. 2: a bad scenario or bad usage. 3: inconclusive, or
//! the lab itself failed.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args as ClapArgs;
use locks::guard::Guard;
use locks::scenario::{Problem, Scenario};
use locks::setup::StrategyName;
use locks::strategy;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::export::Export;
use super::report;
use super::runner::{Finished, Outcome, run};
use crate::lab::{Lab, LabConfig};
use crate::say;

/// Options of `aegis run`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Scenario files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Run under this strategy instead of the file's (`strategy/mutant` for a mutant); may be repeated.
    #[arg(long)]
    strategy: Vec<String>,
    /// Run under this guard instead of the file's (none, max-seen, current-epoch, unique-slot); may be repeated.
    #[arg(long)]
    guard: Vec<String>,
    /// Print one JSON object a run.
    #[arg(long)]
    json: bool,
    /// Write each run as one JSON file into this folder.
    #[arg(long)]
    record: Option<PathBuf>,
    /// How many runs side by side; default: as many as there are cores.
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    lab: LabConfig,
}

const HELD: u8 = 0;
const FAILED: u8 = 1;
const BAD: u8 = 2;
const NO_RESULT: u8 = 3;

/// Run, print, and say how it came out.
pub fn main(args: Args) -> ExitCode {
    let runs = match read(&args) {
        Ok(runs) => runs,
        Err(problems) => {
            problems.iter().for_each(say::error);
            return ExitCode::from(BAD);
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say::error(error);
            return ExitCode::from(NO_RESULT);
        }
    };
    ExitCode::from(runtime.block_on(all(args, runs)))
}

/// One run that is asked for.
struct Asked {
    file: String,
    scenario: Scenario,
}

/// Read all files and lay strategies and guards over them: all runs, or all that is wrong.
fn read(args: &Args) -> Result<Vec<Asked>, Vec<String>> {
    let mut problems = Vec::new();
    let mut strategies = Vec::new();
    for name in &args.strategy {
        let name = StrategyName::from(name.as_str());
        match strategy::find(&name) {
            Ok(_) => strategies.push(name),
            Err(error) => problems.push(format!("--strategy: {error}")),
        }
    }
    let mut guards = Vec::new();
    for name in &args.guard {
        match (name.as_str(), name.parse::<Guard>()) {
            ("none", _) => guards.push(Vec::new()),
            (_, Ok(guard)) => guards.push(vec![guard]),
            (_, Err(error)) => problems.push(format!("--guard: {error}")),
        }
    }
    let mut runs = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        match scenario(path, &file) {
            Ok(scenario) => runs.extend(variants(&file, scenario, &strategies, &guards)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(runs) } else { Err(problems) }
}

fn scenario(path: &Path, file: &str) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    Scenario::parse(&text).map_err(|problems| Problem::render_all(&problems, file))
}

fn variants(file: &str, scenario: Scenario, strategies: &[StrategyName], guards: &[Vec<Guard>]) -> Vec<Asked> {
    let own_strategy = [scenario.setup.strategy.clone()];
    let own_guard = [scenario.setup.guard.clone()];
    let strategies = if strategies.is_empty() { &own_strategy[..] } else { strategies };
    let guards = if guards.is_empty() { &own_guard[..] } else { guards };
    let mut runs = Vec::new();
    for strategy in strategies {
        for guard in guards {
            let mut scenario = scenario.clone();
            scenario.setup.strategy = strategy.clone();
            scenario.setup.guard.clone_from(guard);
            runs.push(Asked { file: file.to_owned(), scenario });
        }
    }
    runs
}

async fn all(args: Args, runs: Vec<Asked>) -> u8 {
    let lab = match Lab::open(args.lab.clone()).await {
        Ok(lab) => lab,
        Err(error) => {
            say::error(error);
            return NO_RESULT;
        }
    };
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let permits = Arc::new(Semaphore::new(jobs));
    let mut running = JoinSet::new();
    for (nth, asked) in runs.into_iter().enumerate() {
        let (lab, permits) = (lab.clone(), permits.clone());
        running.spawn(async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            let finished = run(&lab, &asked.scenario, None).await;
            (nth, asked.file, finished)
        });
    }
    let mut status = HELD;
    // Printed in the order of the command line, each as soon as those before it are.
    let (mut next, mut early) = (0, BTreeMap::new());
    while let Some(joined) = running.join_next().await {
        match joined {
            Ok((nth, file, finished)) => drop(early.insert(nth, (file, finished))),
            Err(error) => {
                say::error(format_args!("a run broke off: {error}"));
                status = NO_RESULT;
            }
        }
        while let Some((file, finished)) = early.remove(&next) {
            status = status.max(show(&args, &file, finished));
            next += 1;
        }
    }
    for (_, (file, finished)) in early {
        status = status.max(show(&args, &file, finished));
    }
    lab.close().await;
    status
}

/// Print and record one run; the exit status that it asks for. The gravest of all runs wins.
fn show(args: &Args, file: &str, finished: Finished) -> u8 {
    let status = match finished.outcome {
        Outcome::Held => HELD,
        Outcome::Failed => FAILED,
        Outcome::BadScenario(_) => BAD,
        Outcome::Inconclusive(_) | Outcome::LabFailed(_) => NO_RESULT,
    };
    if args.json {
        say::line(report::json(file, &finished));
    } else {
        say::line(report::text(file, &finished).trim_end());
    }
    match &args.record {
        Some(folder) => match record(folder, finished) {
            Ok(()) => status,
            Err(error) => {
                say::error(format_args!("{}: {error}", folder.display()));
                NO_RESULT
            }
        },
        None => status,
    }
}

fn record(folder: &Path, finished: Finished) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let setup = &finished.scenario.setup;
    let guards: Vec<String> = setup.guard.iter().map(ToString::to_string).collect();
    let guards = if guards.is_empty() { String::new() } else { format!("+{}", guards.join("+")) };
    let name = format!("{}--{}{guards}.json", finished.scenario.name, setup.strategy.to_string().replace('/', "."));
    let export = Export::new(finished.scenario, finished.events);
    std::fs::write(folder.join(name), export.to_json()?)
}
