//! `aegis run`: four exit statuses, never confused.

use std::path::Path;
use std::process::Command;

use super::common::{aegis, data_dir, processes_of};

const GOOD: &str = r#"
name = "busy"
title = "A holds, B is told busy"
[setup]
strategy = "pg-lease"
work_ms = 20
[[step]]
fire = { schedule = "settle-invoices" }
[[step]]
advance = { replica = "A", until = "effect" }
[[step]]
advance = { replica = "B", until = "done" }
[[step]]
advance = { replica = "A", until = "done" }
[expect]
overlaps = 0
"#;

struct Ran {
    status: Option<i32>,
    out: String,
    errors: String,
}

fn run(data: &Path, arguments: &[&str], scenario: &str) -> Ran {
    let file = data.join("scenario.toml");
    std::fs::write(&file, scenario).unwrap();
    let output =
        Command::new(aegis()).args(["run", "--data-dir"]).arg(data).args(arguments).arg(&file).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { status: output.status.code(), out: text(output.stdout), errors: text(output.stderr) }
}

#[test]
fn exit_statuses_tell_four_things_apart() {
    let data = data_dir();
    let record = data.path().join("record");

    let held = run(data.path(), &["--record", record.to_str().unwrap()], GOOD);
    assert_eq!(held.status, Some(0), "{}{}", held.out, held.errors);
    assert!(held.out.starts_with("HELD"), "{}", held.out);
    let export = std::fs::read(record.join("busy--pg-lease.json")).unwrap();
    assert!(server::run::export::Export::read(&export).unwrap().verdict.overlaps.is_empty());

    let failed = run(data.path(), &["--strategy", "none"], GOOD);
    assert_eq!(failed.status, Some(1), "{}{}", failed.out, failed.errors);
    assert!(failed.out.contains("FAIL overlaps"), "{}", failed.out);
    assert!(failed.out.contains("broken by event"), "names the event: {}", failed.out);

    let never = GOOD.replace("[expect]", "[[step]]\nwait = { lock = \"held\", limit_ms = 50 }\n[expect]");
    let inconclusive = run(data.path(), &["--json"], &never);
    assert_eq!(inconclusive.status, Some(3), "{}{}", inconclusive.out, inconclusive.errors);
    let json: serde_json::Value = serde_json::from_str(&inconclusive.out).unwrap();
    assert_eq!(json["outcome"], "inconclusive");

    assert_eq!(processes_of(data.path()), [], "nothing is left running");
}

#[test]
fn bad_files_and_bad_usage_are_told_before_anything_is_started() {
    let data = data_dir();
    let bad = run(data.path(), &[], &GOOD.replace("until = \"done\"", "untill = \"done\""));
    assert_eq!(bad.status, Some(2), "{}", bad.errors);
    assert!(bad.errors.contains("scenario.toml:12:"), "{}", bad.errors);
    assert!(bad.errors.contains("scenario.toml:14:"), "all problems at once: {}", bad.errors);
    assert_eq!(run(data.path(), &["--strategy", "pg-laese"], GOOD).status, Some(2));
    assert_eq!(run(data.path(), &["--guard", "nun"], GOOD).status, Some(2));
    assert_eq!(run(data.path(), &["--no-such-option"], GOOD).status, Some(2));
    assert!(!data.path().join("labs").exists(), "no lab was opened");
}
