//! The lab's own scenario files: every one reads and holds, every broken mutant is caught, and
//! every variant that helps is needed.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use locks::scenario::{Problem, Scenario};
use locks::setup::StrategyName;
use locks::strategy::{self, Mutant};
use serde_json::Value;

/// So many runs side by side: they wait for time more than for a core, and every one holds on a machine that is
/// busy with something else too.
const SIDE_BY_SIDE: usize = 4;

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
fn run(files: &[&PathBuf], options: &[&str]) -> Output {
    let data = common::data_dir();
    let mut command = Command::new(common::aegis());
    command.arg("run").arg("--data-dir").arg(data.path()).args(files).args(options);
    command.args(["--jobs", &SIDE_BY_SIDE.to_string()]);
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
        assert!(scenario.expects_something(), "{name} expects nothing");
        let rewritten = Scenario::parse(&scenario.to_toml()).unwrap();
        assert_eq!(rewritten.expect, scenario.expect, "{name}");
    }
}

/// Twice over: what holds by luck does not hold twice.
#[test]
fn every_file_holds() {
    let files = files();
    let output = run(&files.values().chain(files.values()).collect::<Vec<_>>(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", what_did_not_hold(&output));
}

/// What was said without the runs that held: of two hundred, the one that matters is else not found.
fn what_did_not_hold(output: &Output) -> String {
    let mut held = false;
    let rest = |line: &&str| {
        if !line.starts_with(' ') {
            held = line.starts_with("HELD");
        }
        !held
    };
    said(output).lines().filter(rest).collect::<Vec<_>>().join("\n")
}

/// The mutant of a wrong column also breaks what its right column expects, and the event is named. That every
/// mutant has such columns is tested where the table of them is made.
#[test]
fn every_broken_mutant_is_caught() {
    let files = files();
    let changed: Vec<_> = files
        .iter()
        .filter_map(|(name, path)| {
            let (right, wrong) = (files.get(name.strip_suffix("-wrong")?)?, read(path).setup);
            let breaks = wrong.strategy.mutant.is_some() || !wrong.mutant.is_empty();
            breaks.then_some(Changed { path: right, strategy: wrong.strategy, parts: wrong.mutant })
        })
        .collect();
    for (changed, outcome, said) in run_changed(&changed) {
        assert_eq!(outcome, "failed", "{changed:?}:\n{said:#}");
    }
}

/// Of a variant that is not broken there is a case that does not hold without it.
#[test]
fn every_variant_that_helps_is_missed_where_it_is_missing() {
    let files = files();
    let helps = |mutant: &Mutant| !mutant.broken;
    let mut missing: Vec<String> = strategy::ALL
        .iter()
        .flat_map(|info| info.mutants.iter().filter(|of| helps(of)).map(|of| format!("{}/{}", info.name, of.name)))
        .collect();
    let without: Vec<_> = files
        .values()
        .map(|path| (path, read(path).setup.strategy))
        .filter(|(_, name)| strategy::find(name).unwrap().1.is_some_and(helps))
        .map(|(path, name)| Changed { path, strategy: StrategyName { mutant: None, ..name }, parts: Vec::new() })
        .collect();
    for (changed, outcome, said) in run_changed(&without) {
        // Without its variant a file may not come to what it waits for: then it proves nothing, and misses nothing.
        assert!(matches!(&outcome[..], "held" | "failed" | "inconclusive"), "{changed:?}:\n{said:#}");
        if outcome == "failed" {
            let with = read(changed.path).setup.strategy.to_string();
            missing.retain(|variant| *variant != with);
        }
    }
    assert_eq!(missing, [""; 0], "what these add, no case needs");
}

/// A file that is run under another strategy, and with these parts broken.
#[derive(Debug)]
struct Changed<'a> {
    path: &'a PathBuf,
    strategy: StrategyName,
    parts: Vec<String>,
}

/// Run them, some at once; what each came to, in a word, and all that was said of it.
fn run_changed<'a>(all: &'a [Changed<'a>]) -> Vec<(&'a Changed<'a>, String, Value)> {
    assert!(!all.is_empty());
    let folder = common::data_dir();
    let write = |(nth, changed): (usize, &Changed)| {
        let mut scenario = read(changed.path);
        scenario.setup.strategy = changed.strategy.clone();
        scenario.setup.mutant.clone_from(&changed.parts);
        let file = folder.path().join(format!("{nth:03}.toml"));
        std::fs::write(&file, scenario.to_toml()).unwrap();
        file
    };
    let files: Vec<PathBuf> = all.iter().enumerate().map(write).collect();
    let output = run(&files.iter().collect::<Vec<_>>(), &["--json"]);
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert_eq!(lines.len(), all.len(), "{}", said(&output));
    // In the order of the command line.
    let outcome = |line: &Value| line["outcome"].as_str().unwrap().to_owned();
    all.iter().zip(lines).map(|(changed, line)| (changed, outcome(&line), line)).collect()
}
