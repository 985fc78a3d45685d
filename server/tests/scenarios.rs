//! The lab's own scenario files: every one reads and holds, and every broken mutant is caught.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use locks::scenario::{Problem, Scenario};
use locks::strategy;

/// Mutants whose cases need faults that scenario files cannot ask for yet.
const AWAITED: &[&str] = &[
    "redis-set-nx/setnx-expire",
    "redis-set-nx/whole-seconds",
    "redis-set-nx/no-eval",
    "redis-set-nx/host-token",
    "redis-set-nx/insists",
    "redis-set-nx/late-count",
    "redis-set-nx/any-policy",
    "redis-set-nx/no-jitter",
    "redis-set-nx/leads-on",
    "redis-set-nx/leaks-cancelled",
    "redlock/elapsed-unchecked",
    "redlock/leaks-on-failure",
    "redlock/all-nodes-needed",
];

/// All files of the lab, by name.
fn files() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeMap<String, PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|of| of == "toml"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    assert!(!files.is_empty());
    files
}

fn read(path: &Path) -> Scenario {
    let text = std::fs::read_to_string(path).unwrap();
    Scenario::parse(&text)
        .unwrap_or_else(|problems| panic!("{}", Problem::render_all(&problems, path.to_str().unwrap())))
}

/// `aegis run`, with a lab of its own.
fn run(files: &[&PathBuf], strategy: Option<&str>) -> Output {
    let data = common::data_dir();
    let mut command = Command::new(common::aegis());
    command.arg("run").arg("--data-dir").arg(data.path()).args(files);
    if let Some(strategy) = strategy {
        command.args(["--strategy", strategy]);
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_file_reads_is_called_what_it_is_and_expects_something() {
    for (name, path) in files() {
        let scenario = read(&path);
        assert_eq!(scenario.name, name);
        assert_ne!(scenario.expect, Default::default(), "{name} expects nothing");
        let rewritten = Scenario::parse(&scenario.to_toml()).unwrap();
        assert_eq!(rewritten.expect, scenario.expect, "{name}");
    }
}

#[test]
fn every_file_holds() {
    let files = files();
    let output = run(&files.values().collect::<Vec<_>>(), None);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// The mutant of a wrong column also breaks what its right column expects, and the event is named.
#[test]
fn every_broken_mutant_is_caught() {
    let files = files();
    let mut missing: Vec<String> = strategy::ALL
        .iter()
        .flat_map(|info| info.mutants.iter().filter(|mutant| mutant.broken).map(|mutant| (info.name, mutant.name)))
        .map(|(strategy, mutant)| format!("{strategy}/{mutant}"))
        .collect();
    for (name, path) in &files {
        let Some(right) = name.strip_suffix("-wrong").and_then(|right| files.get(right)) else { continue };
        let strategy = read(path).setup.strategy;
        if strategy.mutant.is_none() {
            continue;
        }
        let output = run(&[right], Some(&strategy.to_string()));
        assert_eq!(output.status.code(), Some(1), "{strategy} on {}:\n{}", right.display(), said(&output));
        missing.retain(|mutant| *mutant != strategy.to_string());
    }
    assert_eq!(missing, AWAITED, "mutants that no file catches, and those of which that is known");
}
