//! `aegis doctor` as a person runs it.

mod common;

use std::net::TcpListener;
use std::process::{Command, Output};

use common::{aegis, data_dir};

fn doctor(arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(aegis());
    for name in ["AEGIS_HOST", "AEGIS_PORT", "AEGIS_DATA_DIR", "DATABASE_URL", "AEGIS_POSTGRES_URL", "AEGIS_REDIS_URLS"]
    {
        command.env_remove(name);
    }
    let Output { status, stdout, .. } = command.arg("doctor").args(arguments).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap())
}

#[test]
fn a_machine_that_has_everything() {
    let data = data_dir();
    let folder = data.path().to_str().unwrap();
    let (status, text) = doctor(&["--data-dir", folder, "--port", "0"]);
    assert_eq!(status, 0, "{text}");
    for wanted in ["postgres", "redis", folder, "The lab can start."] {
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
    }
}

#[test]
fn what_is_in_the_way_is_named() {
    let data = data_dir();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let file = data.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (status, text) = doctor(&["--data-dir", file.to_str().unwrap(), "--port", &port]);
    assert_eq!(status, 1, "{text}");
    let problems: Vec<&str> = text.lines().filter(|line| line.starts_with("problem")).collect();
    assert_eq!(problems.len(), 2, "{text}");
    assert!(problems[0].contains("cannot be used for the lab's data"), "{text}");
    assert!(problems[1].contains(&port) && problems[1].contains("--port"), "{text}");
}

#[test]
fn host_names_are_looked_at() {
    let data = data_dir();
    let doctor = |hosts: &str| {
        let folder = data.path().to_str().unwrap();
        let arguments = ["doctor", "--data-dir", folder, "--port", "0", "--allowed-hosts", hosts];
        let Output { status, stdout, stderr } = Command::new(aegis()).args(arguments).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
    };
    let (status, text) = doctor("lab.example");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("127.0.0.1, [::1], lab.example"), "{text}");
    let (status, text) = doctor("http://lab.example:3000");
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("a host name alone is wanted"), "{text}");
}
