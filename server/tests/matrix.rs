//! The failure matrix without a guard, on real stores: every cell shows what is expected of it, and a cell of
//! which something else is expected is told.

mod common;

use std::process::{Command, Output};

use serde_json::Value;

/// `aegis matrix`, with a lab of its own.
fn matrix(args: &[&str]) -> Output {
    let data = common::data_dir();
    let mut command = Command::new(common::aegis());
    command.arg("matrix").arg("--data-dir").arg(data.path()).args(args);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_cell_shows_what_is_expected() {
    let output = matrix(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// Expectations are of strategies; a broken variant has none, and is measured all the same.
#[test]
fn a_broken_variant_is_measured() {
    let output = matrix(&["--strategies", "pg-lease/replica-clock", "--faults", "clock-ahead", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cell = &told["cells"][0];
    assert_eq!((&cell["measured"], &cell["expected"]), (&"not-covered".into(), &Value::Null));
    assert_eq!(cell["figures"]["effects_per_slot"], 2);
}

#[test]
fn names_that_there_are_not_are_told_with_those_that_there_are() {
    let output = matrix(&["--strategies", "pg-leese", "--faults", "earthquake", "--guards", "luck"]);
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    for wanted in ["pg-leese", "pg-lease", "earthquake", "two-at-once", "luck", "current-epoch"] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}
