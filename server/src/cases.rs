//! The lab's own scenario files, compiled in, and `aegis cases`: which broken variant of which strategy is
//! caught by which of them. A case catches a variant when it has two columns: the right one, which the
//! variant breaks, and the wrong one, which names it.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use include_dir::{Dir, include_dir};
use locks::scenario::{Problem, Scenario};
use locks::strategy::{self, Info, Mutant};
use serde_json::json;

use crate::say;

static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// Variants that no scenario can show, and what shows them instead.
const ELSEWHERE: &[(&str, &str, &str)] = &[(
    "redis-set-nx",
    "no-jitter",
    "C29, by the tests of its machine: how far apart tries come is a matter of milliseconds, which no gate can force",
)];

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

/// A variant, and what catches it.
pub struct Caught<'a> {
    /// Its strategy.
    pub strategy: &'static Info,
    /// The variant.
    pub mutant: &'static Mutant,
    /// Right columns whose wrong column is this variant's.
    pub by: Vec<&'a Scenario>,
}

/// Every broken variant of every strategy, and what catches it.
pub fn caught(scenarios: &[Scenario]) -> Vec<Caught<'_>> {
    let broken = |info: &&'static Info| info.mutants.iter().filter(|mutant| mutant.broken);
    let all = strategy::ALL.iter().copied().flat_map(|info| broken(&info).map(move |mutant| (info, mutant)));
    all.map(|(strategy, mutant)| {
        let by = scenarios.iter().filter(|right| {
            let wrong = format!("{}{WRONG}", right.name);
            scenarios.iter().any(|scenario| {
                let named = &scenario.setup.strategy;
                scenario.name == wrong
                    && named.strategy == strategy.name
                    && named.mutant.as_deref() == Some(mutant.name)
            })
        });
        Caught { strategy, mutant, by: by.collect() }
    })
    .collect()
}

fn elsewhere(strategy: &Info, mutant: &Mutant) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(of, name, _)| *of == strategy.name && *name == mutant.name).map(|(_, _, shown)| *shown)
}

fn markdown(caught: &[Caught]) -> String {
    let mut out = "| variant | what differs | caught by |\n|---|---|---|\n".to_owned();
    for Caught { strategy, mutant, by } in caught {
        let by: Vec<_> = by.iter().map(|scenario| format!("{} ({})", scenario.name, scenario.title)).collect();
        let by = match elsewhere(strategy, mutant) {
            Some(shown) => shown.to_owned(),
            None => by.join("; "),
        };
        out.push_str(&format!("| `{}/{}` | {} | {by} |\n", strategy.name, mutant.name, mutant.text));
    }
    out
}

fn json(caught: &[Caught]) -> serde_json::Value {
    caught
        .iter()
        .map(|Caught { strategy, mutant, by }| {
            json!({
                "variant": format!("{}/{}", strategy.name, mutant.name),
                "text": mutant.text,
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
        for Caught { strategy, mutant, by } in caught(&scenarios) {
            let elsewhere = elsewhere(strategy, mutant).is_some();
            assert_ne!(by.is_empty(), !elsewhere, "{}/{} is caught by {} files", strategy.name, mutant.name, by.len());
        }
    }
}
