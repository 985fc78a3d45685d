//! However the lab ends, nothing of it stays behind.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::served::{Served, serve};
use crate::common::{processes_of, until};

const GONE: Duration = Duration::from_secs(10);

/// Open a lab, pause one of its replicas, and keep its stream open.
fn somebody_plays(lab: &Served) -> BufReader<std::net::TcpStream> {
    let host = format!("localhost:{}", lab.port);
    let page = lab.get("/lab");
    let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let run = page.body.split("href=\"/runs/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let headers = [("Host", &*host), ("Cookie", &cookie), ("Content-Type", "application/json")];
    assert_eq!(lab.ask("POST", &format!("/api/runs/{run}/actions"), &headers, "{\"pause\":\"A\"}").status, 202);
    let mut stream = lab.connect();
    write!(stream, "GET /api/runs/{run}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    stream
}

#[tokio::test]
async fn told_to_end_it_ends_with_a_stream_open_and_a_replica_stopped() {
    let mut lab = Served::start();
    let stream = somebody_plays(&lab);
    assert!(processes_of(lab.data.path()).len() > 5, "the test has nothing to clean");
    lab.signal(Signal::SIGTERM);
    let ended = lab.process.wait().unwrap();
    assert!(ended.success(), "{ended}");
    assert!(stream.lines().all(|line| line.is_ok()), "the stream was not ended but broken");
    until("nothing is left", GONE, || processes_of(lab.data.path()).is_empty()).await;
}

#[tokio::test]
async fn killed_it_leaves_nothing() {
    let mut lab = Served::start();
    let _stream = somebody_plays(&lab);
    lab.signal(Signal::SIGKILL);
    lab.process.wait().unwrap();
    until("nothing is left", GONE, || processes_of(lab.data.path()).is_empty()).await;
}

/// The stated limit holds even when the warden does nothing: the server kills what is left itself.
#[tokio::test]
async fn told_to_end_it_ends_in_time_although_the_warden_is_stopped() {
    let mut lab = Served::start();
    let _stream = somebody_plays(&lab);
    let warden = child_of(lab.process.id(), "warden");
    kill(warden, Signal::SIGSTOP).unwrap();
    lab.signal(Signal::SIGTERM);
    until("the server ended", Duration::from_secs(30), || lab.process.try_wait().unwrap().is_some()).await;
    until("nothing is left", GONE, || processes_of(lab.data.path()).is_empty()).await;
    assert_eq!(kill(warden, None), Err(Errno::ESRCH), "the warden is left");
}

/// The child whose arguments are that word.
fn child_of(parent: u32, word: &str) -> Pid {
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let found = pids.into_iter().find(|pid: &i32| {
        let text = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let of = text("stat").rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        of == Some(parent) && text("cmdline").ends_with(&format!("\0{word}\0"))
    });
    Pid::from_raw(found.expect("no such child"))
}

#[test]
fn a_busy_port_is_said_before_anything_is_started() {
    let data = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let tried = serve(data.path(), port).stderr(Stdio::piped()).output().unwrap();
    assert!(!tried.status.success());
    let said = String::from_utf8_lossy(&tried.stderr);
    assert!(said.contains("in use") && said.contains("--port"), "{said}");
    assert!(std::fs::read_dir(data.path()).unwrap().next().is_none(), "something was started");
}
