//! `aegis grade`: grade a file from the command line, and say by the exit status which of four things came of it.
//! 0: passed. 1: failed. 2: an error in what was written, or bad usage. 3: the lab failed.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args as ClapArgs;
use locks::homework::{EXERCISES, Exercise, Graded, exercise};
use tokio_util::sync::CancellationToken;

use crate::command::{self, BAD, DIFFERS, GOOD, NO_RESULT};
use crate::lab::{Lab, LabConfig};
use crate::say;

/// No submission of any exercise is as long: one byte more than is read of a file.
const MOST_BYTES: u64 = 64 * 1024;

/// Options of `aegis grade`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Print the exercises.
    #[arg(long)]
    list: bool,
    /// The exercise, by name or number.
    #[arg(required_unless_present = "list")]
    exercise: Option<String>,
    /// The file with the answer; `-` reads standard input.
    #[arg(required_unless_present = "list")]
    file: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lab: LabConfig,
}

struct Asked {
    exercise: &'static Exercise,
    submission: Vec<u8>,
    json: bool,
}

/// Grade, print, and say how it came out.
pub fn main(args: Args) -> ExitCode {
    if args.list {
        for exercise in EXERCISES {
            say::line(format_args!("{} {:8} {}", exercise.number, exercise.slug, exercise.title));
        }
        return ExitCode::SUCCESS;
    }
    let lab = LabConfig { cold: true, ..args.lab.clone() };
    command::run(read(&args), lab, grade)
}

fn read(args: &Args) -> Result<Asked, Vec<String>> {
    let name = args.exercise.as_deref().unwrap_or_default();
    let found = exercise(name).or_else(|| EXERCISES.into_iter().find(|one| one.number.to_string() == name));
    let Some(exercise) = found else {
        let names: Vec<_> = EXERCISES.iter().map(|exercise| exercise.slug).collect();
        return Err(vec![format!("no exercise is called {name:?}; there are {}", names.join(", "))]);
    };
    let file = args.file.clone().unwrap_or_default();
    let submission = contents(&file).map_err(|error| vec![format!("{}: {error}", file.display())])?;
    Ok(Asked { exercise, submission, json: args.json })
}

fn contents(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match file == Path::new("-") {
        true => std::io::stdin().take(MOST_BYTES).read_to_end(&mut bytes)?,
        false => std::fs::File::open(file)?.take(MOST_BYTES).read_to_end(&mut bytes)?,
    };
    // Some editors begin a file with a mark that no language knows.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec);
    Ok(text.unwrap_or(bytes))
}

async fn grade(asked: Asked, lab: Arc<Lab>, told_to_end: CancellationToken) -> u8 {
    let grading = super::grade(&lab, asked.exercise, &asked.submission);
    let status = match told_to_end.run_until_cancelled(grading).await {
        Some(graded) => show(&asked, &graded),
        None => NO_RESULT,
    };
    lab.close().await;
    status
}

fn show(asked: &Asked, graded: &Graded) -> u8 {
    if asked.json {
        match serde_json::to_string(graded) {
            Ok(text) => say::line(text),
            Err(error) => say::error(error),
        }
    } else {
        say::line(text(asked.exercise, graded).trim_end());
    }
    match graded {
        Graded::Passed { .. } => GOOD,
        Graded::Failed(_) => DIFFERS,
        Graded::YourError(_) => BAD,
        Graded::LabFailed { .. } => NO_RESULT,
    }
}

/// A result for people: what came of it, then the schedule as a scenario file, which `aegis run` plays as it is.
fn text(exercise: &Exercise, graded: &Graded) -> String {
    let title = exercise.title;
    match graded {
        Graded::Passed { schedules, score, said } => {
            let score = score.map_or(String::new(), |score| format!(", in {score} moves"));
            let said = said.as_ref().map_or(String::new(), |said| format!("\n{said}"));
            format!("passed: {title}: no violation in {schedules} schedules{score}{said}")
        }
        Graded::Failed(failure) => {
            let place = format!("schedule {}: {}", failure.schedule, failure.title);
            let seen = format!("expected: {}\nobserved: {}", failure.expected, failure.observed);
            let told = format!("failed: {title}: {}\n{}\n{place}\n{seen}", failure.reason, failure.why);
            match failure.steps.contains("[[step]]") {
                // All of it is a scenario file.
                true => format!("{}\n{}", commented(&told), failure.steps),
                false => format!("{told}\n\n{}", failure.steps),
            }
        }
        Graded::YourError(mistake) => {
            let place = match (mistake.line, mistake.column) {
                (Some(line), Some(column)) => format!(" at line {line}, column {column}"),
                (Some(line), None) => format!(" at line {line}"),
                _ => String::new(),
            };
            let code = mistake.code.as_ref().map_or(String::new(), |code| format!(" ({code})"));
            let schedule = mistake.schedule.as_ref().map_or(String::new(), |name| format!("\nin schedule {name}"));
            let running = mistake.still_running.as_ref();
            let running = running.map_or(String::new(), |what| format!("\nstill running: {what}"));
            format!("error in your code{place}: {}{code}{schedule}{running}", mistake.message)
        }
        Graded::LabFailed { why } => format!("the lab failed, not you; try again: {why}"),
    }
}

/// Every line as a comment of a scenario file.
pub(super) fn commented(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}
