//! `aegis run`: run scenario files, print what came of them, and say by the exit status which of four
//! things it was. 0: all held. 1: an expectation failed. 2: a bad scenario or bad usage. 3: inconclusive, or
//! the lab itself failed, or it was told to end before all runs were over, or nothing was expected.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args as ClapArgs;
use locks::guard::Guard;
use locks::scenario::{MAX_BYTES, Problem, Scenario};
use locks::setup::StrategyName;
use locks::strategy;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::export::Export;
use super::report;
use super::runner::{Finished, Outcome, run_unless};
use crate::command::{self, BAD, DIFFERS, GOOD, NO_RESULT};
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

/// Run, print, and say how it came out.
pub fn main(args: Args) -> ExitCode {
    let (asked, lab) = (read(&args), args.lab.clone());
    command::run(asked, lab, |asked, lab, told_to_end| all(args, asked, lab, told_to_end))
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
    if let Some(folder) = &args.record
        && let Err(error) = can_record_in(folder)
    {
        problems.push(format!("--record {}: {error}; name a folder that can be written", folder.display()));
    }
    if problems.is_empty() { Ok(runs) } else { Err(problems) }
}

/// Asked before anything runs: a run that cannot be kept would have been for nothing.
fn can_record_in(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".aegis-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(probe)
}

fn scenario(path: &Path, file: &str) -> Result<Scenario, String> {
    let mut bytes = Vec::new();
    // Devices and pipes may have no end; one byte more than is allowed is refused by the reader.
    let most = MAX_BYTES as u64 + 1;
    std::fs::File::open(path)
        .and_then(|opened| opened.take(most).read_to_end(&mut bytes))
        .map_err(|error| format!("{file}: {error}"))?;
    // The reader says of a longer one that it is too long, whatever was cut in two.
    let text = if bytes.len() > MAX_BYTES {
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        String::from_utf8(bytes).map_err(|_| format!("{file}: this is no text (UTF-8)"))?
    };
    if text.trim_start().starts_with('{') {
        return Err(format!(
            "{file}: this is JSON, perhaps a recorded run; a scenario is TOML (aegis format). The lab's page \
             /runs takes recorded runs"
        ));
    }
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

async fn all(args: Args, runs: Vec<Asked>, lab: Arc<Lab>, told_to_end: CancellationToken) -> u8 {
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let asked_for = runs.len();
    let mut results =
        Results { args: &args, status: GOOD, next: 0, early: BTreeMap::new(), shown: 0, others: Vec::new() };
    let (mut waiting, mut running) = (runs.into_iter().enumerate(), JoinSet::new());
    let in_turn = async {
        loop {
            let free = jobs - running.len();
            for (nth, Asked { file, scenario }) in waiting.by_ref().take(free) {
                let (lab, told_to_end) = (lab.clone(), told_to_end.clone());
                running.spawn(async move { (nth, file, run_unless(&lab, &scenario, None, &told_to_end).await) });
            }
            let Some(joined) = running.join_next().await else { return };
            results.take(joined);
        }
    };
    if told_to_end.run_until_cancelled(in_turn).await.is_none() {
        lab.ending(async {
            while let Some(joined) = running.join_next().await {
                results.take(joined);
            }
        })
        .await;
    }
    let (mut status, shown) = results.rest();
    if told_to_end.is_cancelled() && shown < asked_for {
        say::error(format_args!(
            "told to end when {shown} of {asked_for} runs were over; nothing is said of the others"
        ));
        status = NO_RESULT;
    }
    lab.close().await;
    status
}

/// What runs came to, shown in the order of the command line, each as soon as those before it are.
struct Results<'a> {
    args: &'a Args,
    status: u8,
    /// Number of the run that is to be shown next.
    next: usize,
    /// Runs that were over before one that stands before them.
    early: BTreeMap<usize, (String, Finished)>,
    shown: usize,
    /// What did not hold, by file and in a word.
    others: Vec<String>,
}

impl Results<'_> {
    fn take(&mut self, joined: Result<(usize, String, Finished), JoinError>) {
        match joined {
            Ok((nth, file, finished)) => drop(self.early.insert(nth, (file, finished))),
            Err(error) => {
                say::error(format_args!("a run broke off: {error}"));
                self.status = NO_RESULT;
            }
        }
        while let Some((file, finished)) = self.early.remove(&self.next) {
            self.show(&file, finished);
            self.next += 1;
        }
    }

    /// Show those that wait for one that is not to come; the exit status, and how many were shown.
    fn rest(mut self) -> (u8, usize) {
        for (file, finished) in std::mem::take(&mut self.early).into_values() {
            self.show(&file, finished);
        }
        if self.shown > 1 && !self.args.json {
            say::line(report::sum(self.shown, self.shown - self.others.len(), &self.others));
        }
        (self.status, self.shown)
    }

    fn show(&mut self, file: &str, finished: Finished) {
        if finished.outcome != Outcome::Interrupted {
            if finished.outcome != Outcome::Held {
                self.others.push(format!("{file} ({})", report::word(&finished)));
            }
            self.status = self.status.max(show(self.args, file, finished));
            self.shown += 1;
        }
    }
}

/// Print and record one run; the exit status that it asks for. The gravest of all runs wins.
fn show(args: &Args, file: &str, finished: Finished) -> u8 {
    let status = match finished.outcome {
        // Whoever reads only the status must not take this for a proof.
        Outcome::Held if !finished.scenario.expects_something() => NO_RESULT,
        Outcome::Held => GOOD,
        Outcome::Failed => DIFFERS,
        Outcome::BadScenario(_) => BAD,
        Outcome::Inconclusive(_) | Outcome::LabFailed(_) | Outcome::Interrupted => NO_RESULT,
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
    let name = format!("{}--{}{guards}", finished.scenario.name, setup.strategy.to_string().replace('/', "."));
    let text = Export::new(finished.scenario, finished.events).to_json()?;
    // A run of that name may be there, from before or from another file: no run is written over another.
    for nth in 1.. {
        let name = if nth == 1 { format!("{name}.json") } else { format!("{name}-{nth}.json") };
        match std::fs::File::create_new(folder.join(name)) {
            Ok(mut file) => return file.write_all(text.as_bytes()),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
