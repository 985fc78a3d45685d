//! The control plane: what is kept, and who may use it.

mod common;

use std::time::Duration;

use chrono::{DateTime, Utc};
use common::{config, data_dir, lab, processes_of, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use server::control::runs::StoredRun;
use server::lab::{Lab, LabError};

/// How long a store may take to be there again, on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

fn run(id: &str, owner: Option<&str>, ended_ms: i64) -> StoredRun {
    let at = |ms| DateTime::<Utc>::from_timestamp_millis(ms).unwrap();
    StoredRun {
        id: id.to_owned(),
        owner: owner.map(str::to_owned),
        name: "pause-past-lease".to_owned(),
        title: "A pauses longer than its lease".to_owned(),
        tag: Some("lesson/3".to_owned()),
        script: "ab".repeat(32),
        strategy: "pg-lease".to_owned(),
        started_at: at(1_764_450_000_000),
        ended_at: at(ended_ms),
        reason: "finished".to_owned(),
        verdict: json!({ "overlaps": [] }),
        setup: json!({ "lease_ms": 3000 }),
        events: 2,
        scenario: "name = \"pause-past-lease\"\n".to_owned(),
    }
}

#[tokio::test]
async fn runs_and_progress_are_there_after_the_lab_was_closed() {
    let data = data_dir();
    let first = lab(data.path()).await;
    let control = first.control().await.unwrap();
    control.ping().await.unwrap();
    control.see_learner("ann").await.unwrap();
    control.set_progress("ann", "step", &json!(1)).await.unwrap();
    control.set_progress("ann", "step", &json!(2)).await.unwrap();
    let log = "{\"seq\":1}\n".repeat(200_000);
    let runs = [run("1", Some("ann"), 1_764_450_001_000), run("2", Some("ann"), 1_764_450_002_000), run("3", None, 0)];
    for run in &runs {
        control.save_run(run, &log).await.unwrap();
    }
    // Saved twice, as after a crash between saving and noting that it was: nothing changes.
    control.save_run(&StoredRun { title: "another".to_owned(), ..runs[0].clone() }, "").await.unwrap();
    first.close().await;
    assert_eq!(processes_of(data.path()), []);

    let second = lab(data.path()).await;
    let control = second.control().await.unwrap();
    assert_eq!(control.progress("ann").await.unwrap(), [("step".to_owned(), json!(2))]);
    assert_eq!(control.load_run("1").await.unwrap().as_ref(), Some(&runs[0]));
    assert!(control.load_log("1").await.unwrap().unwrap() == log);
    assert_eq!(control.load_run("4").await.unwrap(), None);
    assert_eq!(control.load_log("4").await.unwrap(), None);
    let listed = control.list_runs("ann", 10).await.unwrap();
    assert_eq!(listed.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["2", "1"]);
    assert_eq!(control.list_runs("ann", 1).await.unwrap().len(), 1);
    second.close().await;
}

#[tokio::test]
async fn a_second_server_on_the_same_folder_is_told_so_and_may_still_run_scenarios() {
    let data = data_dir();
    let first = lab(data.path()).await;
    first.control().await.unwrap();
    let second = lab(data.path()).await;
    let Err(error) = second.control().await else { panic!("two servers share a control plane") };
    assert!(matches!(error, LabError::ControlBusy { .. }));
    assert!(error.to_string().contains("another `aegis serve` is using"), "{error}");
    let arena = second.arena(&Default::default()).await.unwrap();
    arena.connect_postgres().await.unwrap();
    arena.close().await;
    first.close().await;
    // Now it is free.
    second.control().await.unwrap().ping().await.unwrap();
    second.close().await;
}

#[tokio::test]
async fn a_database_of_somebody_elses_serves_as_well() {
    use sqlx::ConnectOptions;
    let data = data_dir();
    let host = lab(data.path()).await;
    let arena = host.arena(&Default::default()).await.unwrap();
    let mut beside = arena.connect_postgres().await.unwrap();
    sqlx::query("create database control").execute(&mut beside).await.unwrap();
    let url = arena.postgres_options().database("control").to_url_lossy().to_string();
    let guest = Lab::open(server::lab::LabConfig { database_url: Some(url), ..config(data.path()) }).await.unwrap();
    let control = guest.control().await.unwrap();
    control.save_run(&run("1", None, 0), "").await.unwrap();
    assert_eq!(control.load_log("1").await.unwrap().as_deref(), Some(""));
    assert!(!data.path().join("control").exists());
    guest.close().await;
    arena.close().await;
    host.close().await;
}

/// Nothing of a run depends on it, but everything that is kept does: it is started again.
#[tokio::test]
async fn a_control_plane_that_dies_is_started_again_with_all_that_it_kept() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let control = lab.control().await.unwrap();
    control.save_run(&run("1", Some("ann"), 0), "{}\n").await.unwrap();
    let folder = data.path().join("control");
    let postmaster = || {
        let all = processes_of(&folder).into_iter();
        all.filter(|(_, command)| command.contains(" -D ")).map(|(pid, _)| pid).collect::<Vec<_>>()
    };
    let first = postmaster();
    assert_eq!(first.len(), 1);
    kill(Pid::from_raw(i32::try_from(first[0]).unwrap()), Signal::SIGKILL).unwrap();
    let another = || postmaster().iter().any(|pid| *pid != first[0]);
    until("another Postgres runs", LIMIT, another).await;
    let answers = async {
        while control.ping().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, answers).await.expect("it answers again");
    assert_eq!(control.list_runs("ann", 10).await.unwrap().len(), 1);
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
}
