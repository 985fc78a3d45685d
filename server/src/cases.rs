//! The lab's own scenario files, compiled in, and `aegis cases`: which broken variant is caught by which
//! of them. A case catches a variant when it has two columns: the right one, which the
//! variant breaks, and the wrong one, which names it.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use include_dir::{Dir, include_dir};
use locks::scenario::{Problem, Scenario};
use locks::setup::BROKEN_PARTS;
use locks::strategy::{self, Info};
use serde_json::json;

use crate::say;

static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// What a file of a wrong column is called behind the name of the right one.
const WRONG: &str = "-wrong";

/// Options of `aegis cases`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Print Markdown (the default).
    #[arg(long)]
    markdown: bool,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
}

/// Print the table.
pub fn main(args: &Args) -> ExitCode {
    let scenarios = match scenarios() {
        Ok(scenarios) => scenarios,
        Err(problems) => {
            say::error(problems);
            return ExitCode::from(3);
        }
    };
    let caught = caught(&scenarios);
    say::line(if args.json { json(&caught).to_string() } else { markdown(&caught) }.trim_end());
    ExitCode::SUCCESS
}

/// All of the lab's own scenarios, by name; what is wrong with those that cannot be read.
pub fn scenarios() -> Result<Vec<Scenario>, String> {
    let mut scenarios = Vec::new();
    let mut problems = String::new();
    for file in FILES.files() {
        let name = file.path().display().to_string();
        match Scenario::parse(file.contents_utf8().unwrap_or_default()) {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => problems.push_str(&Problem::render_all(&found, &name)),
        }
    }
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    if problems.is_empty() { Ok(scenarios) } else { Err(problems) }
}

/// A broken variant, and what catches it.
pub struct Caught<'a> {
    /// `strategy/mutant`, or the broken part.
    pub variant: String,
    /// What differs.
    pub text: &'static str,
    /// Right columns whose wrong column is this variant's.
    pub by: Vec<&'a Scenario>,
}

/// Every broken variant of every strategy, every broken part that is no strategy, and what catches it.
pub fn caught(scenarios: &[Scenario]) -> Vec<Caught<'_>> {
    let of = |info: &'static Info| {
        let broken = info.mutants.iter().filter(|mutant| mutant.broken);
        broken.map(move |mutant| (format!("{}/{}", info.name, mutant.name), mutant.text))
    };
    let parts = BROKEN_PARTS.iter().map(|part| (part.name.to_owned(), part.text));
    let all = strategy::ALL.iter().copied().flat_map(of).chain(parts);
    all.map(|(variant, text)| {
        let has_wrong = |right: &&Scenario| {
            let wrong = format!("{}{WRONG}", right.name);
            scenarios.iter().any(|scenario| scenario.name == wrong && broken(scenario).contains(&variant))
        };
        Caught { by: scenarios.iter().filter(has_wrong).collect(), variant, text }
    })
    .collect()
}

/// The variants that a scenario runs under.
fn broken(scenario: &Scenario) -> Vec<String> {
    let strategy = scenario.setup.strategy.to_string();
    scenario.setup.mutant.iter().cloned().chain([strategy]).collect()
}

fn markdown(caught: &[Caught]) -> String {
    let mut out = "| variant | what differs | caught by |\n|---|---|---|\n".to_owned();
    for Caught { variant, text, by } in caught {
        let by: Vec<_> = by.iter().map(|scenario| format!("{} ({})", scenario.name, scenario.title)).collect();
        out.push_str(&format!("| `{variant}` | {text} | {} |\n", by.join("; ")));
    }
    out
}

fn json(caught: &[Caught]) -> serde_json::Value {
    caught
        .iter()
        .map(|Caught { variant, text, by }| {
            json!({
                "variant": variant,
                "text": text,
                "caught_by": by.iter().map(|scenario| &scenario.name).collect::<Vec<_>>(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_broken_variant_is_caught_by_some_case() {
        let scenarios = scenarios().unwrap();
        for Caught { variant, by, .. } in caught(&scenarios) {
            assert!(!by.is_empty(), "nothing catches {variant}");
        }
    }

    #[test]
    fn without_its_case_a_variant_is_caught_by_nothing() {
        let all = scenarios().unwrap();
        let some: Vec<_> = all.iter().filter(|scenario| !scenario.name.starts_with("c30-")).cloned().collect();
        let missed = |scenarios: &[Scenario]| -> Vec<String> {
            caught(scenarios).into_iter().filter(|of| of.by.is_empty()).map(|of| of.variant).collect()
        };
        assert_eq!((missed(&all), missed(&some)), (vec![], vec!["redis-set-nx/two-keys".to_owned()]));
    }
}
