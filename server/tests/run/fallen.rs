//! A store that ends by itself, which no fault asked for: told of, and the end of a file's run; a live session
//! stays usable once it is started again.

use std::time::{Duration, Instant};

use locks::action::{Action, Fire, PostgresAction};
use locks::event::{Kind, ProcessName};
use locks::ids::Endpoint;
use locks::scenario::Scenario;
use locks::setup::Setup;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use server::run::ActError;
use server::run::live::{Limits, Sessions};
use server::run::log::Log;
use server::run::runner::{Outcome, run};
use server::run::shelf::Shelf;

use super::common::{data_dir, lab, processes_of, until};

const LIMIT: Duration = Duration::from_secs(20);

/// The pid of a store, as the log says it.
fn pid_of(log: &Log, store: Endpoint) -> Pid {
    let pid = log.after(0).iter().rev().find_map(|event| match &event.kind {
        Kind::Process { process: ProcessName::Store(of), pid, .. } if *of == store => Some(*pid),
        _ => None,
    });
    Pid::from_raw(i32::try_from(pid.expect("the log names the process")).unwrap())
}

#[tokio::test]
async fn a_live_session_says_so_and_goes_on_when_it_is_started_again() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let sessions = Sessions::new(lab.clone(), Shelf::new(lab.clone()), Limits::default());
    let live = sessions.open_with("learner-1", Setup { cron: false, ..Setup::live() }).await.unwrap();
    let _watching = live.watch();
    let log = live.log();
    kill(pid_of(&log, Endpoint::Postgres), Signal::SIGKILL).unwrap();
    let told = || log.after(0).iter().any(|event| matches!(event.kind, Kind::Trouble { .. }));
    until("the log tells of it", LIMIT, told).await;

    let fire = || Action::Fire(Fire { schedule: "settle-invoices".to_owned(), to: None, again: false });
    let refused = Instant::now();
    let error = live.act(fire()).await.unwrap_err();
    assert!(matches!(error, ActError::Fell { store: Endpoint::Postgres, .. }), "{error}");
    let error = live.act(Action::Add(vec!["D".to_owned()])).await.unwrap_err();
    assert!(matches!(error, ActError::Fell { .. }), "{error}");
    assert!(refused.elapsed() < Duration::from_secs(1), "nobody waits for it");
    live.act(Action::Postgres(PostgresAction::Start)).await.unwrap();
    live.act(fire()).await.unwrap();
    let settled = || log.after(0).iter().any(|event| matches!(event.kind, Kind::EffectSettled { .. }));
    until("work is done again", LIMIT, settled).await;
    sessions.close_all().await;
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
}

#[tokio::test]
async fn a_files_run_ends_with_it() {
    let text = "name = \"fallen\"\ntitle = \"A node dies\"\n[[step]]\nwait = { ms = 60000 }\n";
    let scenario = Scenario::parse(text).unwrap();
    let data = data_dir();
    let lab = lab(data.path()).await;
    let begun = Instant::now();
    let node = async {
        let is_node = |(_, command): &(u32, String)| command.contains("redis-2.sock");
        until("the node runs", LIMIT, || processes_of(data.path()).iter().any(is_node)).await;
        // The run has begun when its replicas are there.
        let is_replica = |(_, command): &(u32, String)| command.ends_with("replica ");
        until("replicas run", LIMIT, || processes_of(data.path()).iter().filter(|one| is_replica(one)).count() == 2)
            .await;
        let (pid, _) = processes_of(data.path()).into_iter().find(is_node).unwrap();
        kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
    };
    let (finished, ()) = tokio::join!(run(&lab, &scenario, None), node);
    assert!(
        matches!(&finished.outcome, Outcome::LabFailed(text) if text.contains("redis-2")),
        "{:?}",
        finished.outcome
    );
    assert!(begun.elapsed() < Duration::from_secs(40), "it does not wait for what cannot come");
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
}
