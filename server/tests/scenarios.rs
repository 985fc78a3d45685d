//! The lab's own scenario files: every one reads and holds, and every broken mutant is caught.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use locks::scenario::{Problem, Scenario};
use locks::strategy;

/// Mutants that no file can show, and why.
const WITHOUT_A_FILE: &[&str] = &[
    // C29: how far apart tries come is a matter of milliseconds that no gate can force; the machine's own
    // tests compare them.
    "redis-set-nx/no-jitter",
];

/// So many runs of `aegis run` side by side, and so many labs: runs wait for time more than for a core.
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
fn run(files: &[&PathBuf], strategy: Option<&str>) -> Output {
    let data = common::data_dir();
    let mut command = Command::new(common::aegis());
    command.arg("run").arg("--data-dir").arg(data.path()).args(files);
    command.args(["--jobs", &SIDE_BY_SIDE.to_string()]);
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

/// Twice over: what holds by luck does not hold twice.
#[test]
fn every_file_holds() {
    let files = files();
    let output = run(&files.values().chain(files.values()).collect::<Vec<_>>(), None);
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
    let pairs: Vec<(&PathBuf, String)> = files
        .iter()
        .filter_map(|(name, path)| {
            let right = files.get(name.strip_suffix("-wrong")?)?;
            let strategy = read(path).setup.strategy;
            strategy.mutant.is_some().then(|| (right, strategy.to_string()))
        })
        .collect();
    for at_once in pairs.chunks(SIDE_BY_SIDE) {
        std::thread::scope(|scope| {
            for (right, strategy) in at_once {
                scope.spawn(move || {
                    let output = run(&[right], Some(strategy));
                    assert_eq!(output.status.code(), Some(1), "{strategy} on {}:\n{}", right.display(), said(&output));
                });
            }
        });
    }
    missing.retain(|mutant| pairs.iter().all(|(_, strategy)| strategy != mutant));
    assert_eq!(missing, WITHOUT_A_FILE, "mutants that no file catches, and those that none can");
}
