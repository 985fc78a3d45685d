//! `aegis run`: four exit statuses, never confused.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::common::{aegis, data_dir, processes_of, until};

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

    let without = GOOD.split("[expect]").next().unwrap();
    let ran = run(data.path(), &[], without);
    assert_eq!(ran.status, Some(3), "nothing expected is nothing proved: {}{}", ran.out, ran.errors);
    assert!(ran.out.starts_with("RAN ") && ran.out.contains("[expect]"), "{}", ran.out);

    let nowhere = data.path().join("scenario.toml");
    let refused = run(data.path(), &["--record", nowhere.to_str().unwrap()], GOOD);
    assert_eq!((refused.status, &*refused.out), (Some(2), ""), "nothing runs that cannot be kept");
    assert!(refused.errors.contains("--record") && refused.errors.contains("can be written"), "{}", refused.errors);

    let recorded = run(data.path(), &[], &String::from_utf8(export).unwrap());
    assert_eq!(recorded.status, Some(2), "{}{}", recorded.out, recorded.errors);
    assert!(recorded.errors.contains("recorded run"), "{}", recorded.errors);

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

/// Told to end, it ends what runs, says what is known, and leaves nothing, whichever way it is told.
#[tokio::test]
async fn told_to_end_it_says_what_is_over_and_leaves_nothing() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let data = data_dir();
        let long = GOOD.replace("[expect]", "[[step]]\nwait = { ms = 600000 }\n[expect]");
        let files = [("first.toml", GOOD), ("long.toml", &long), ("never.toml", GOOD)].map(|(name, text)| {
            let file = data.path().join(name);
            std::fs::write(&file, text).unwrap();
            file
        });
        // Whoever runs this test may ignore HUP, and its children with it.
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(aegis());
        command.args(["run", "--jobs", "1", "--data-dir"]).arg(data.path()).args(files);
        let mut child = Killed(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let mut out = BufReader::new(child.0.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        assert!(first.starts_with("HELD"), "{first}");
        // The second run has its replicas.
        let replicas =
            || processes_of(data.path()).iter().filter(|(_, command)| command.contains("aegis replica")).count();
        until("the second run has begun", Duration::from_secs(20), || replicas() == 2).await;
        kill(Pid::from_raw(child.0.id().try_into().unwrap()), signal).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let mut errors = String::new();
        child.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(child.0.wait().unwrap().code(), Some(3), "{signal}: {errors}");
        assert!(errors.contains("when 1 of 3 runs were over"), "{signal}: {errors}");
        assert!(!errors.contains("ERROR") && !errors.contains("WARN"), "{signal}: {errors}");
        assert!(!rest.contains("long.toml"), "nothing is known of it: {rest}");
        assert_eq!(processes_of(data.path()), [], "{signal}: nothing is left running");
        let labs: Vec<_> = std::fs::read_dir(data.path().join("labs")).unwrap().filter_map(Result::ok).collect();
        assert!(labs.iter().all(|entry| !entry.path().is_dir()), "{signal}: its folder is left: {labs:?}");
    }
}

/// A process that does not outlive a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
