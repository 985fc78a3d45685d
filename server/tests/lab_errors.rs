//! What goes wrong on people's machines is said in words that help.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{config, data_dir, lab, processes_of, until};
use locks::setup::NodeSetup;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use server::lab::{Lab, LabConfig, LabError};

async fn refusal(config: LabConfig) -> String {
    match Lab::open(config).await {
        Ok(_) => panic!("the lab opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_data_folder_of_no_use() {
    let error = refusal(config(Path::new("/dev/null/data"))).await;
    assert!(
        error.starts_with("/dev/null/data cannot be used for the lab's data") && error.contains("--data-dir"),
        "{error}"
    );
}

#[tokio::test]
async fn shared_stores_that_are_named_by_halves_or_not_there() {
    let data = data_dir();
    let postgres_url = Some("postgres://nobody@127.0.0.1:1/none".to_owned());
    let half = LabConfig { postgres_url: postgres_url.clone(), ..config(data.path()) };
    assert_eq!(refusal(half).await, "AEGIS_POSTGRES_URL and AEGIS_REDIS_URLS go together");
    let few = vec!["redis://127.0.0.1:1".to_owned(); 3];
    let few = LabConfig { postgres_url: postgres_url.clone(), redis_urls: few, ..config(data.path()) };
    assert_eq!(
        refusal(few).await,
        "AEGIS_REDIS_URLS names 3 nodes, and the lab needs 5: give one URL a node, with commas between"
    );
    let five = vec!["redis://127.0.0.1:1".to_owned(); 5];
    let absent = LabConfig { postgres_url, redis_urls: five, ..config(data.path()) };
    let error = refusal(absent).await;
    assert!(error.starts_with("AEGIS_REDIS_URLS (redis://127.0.0.1:1): ") && error.contains("refused"), "{error}");
}

#[tokio::test]
async fn a_store_that_ends_while_it_starts_is_quoted() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let setup = NodeSetup { maxmemory: Some("a lot".to_owned()), maxmemory_policy: None, cluster: false };
    let Err(error) = lab.arena(&BTreeMap::from([("redis-4".to_owned(), setup)])).await else { panic!("it opened") };
    let error = error.to_string();
    assert!(error.starts_with("redis-4 ended while starting (status 1)") && error.contains("a lot"), "{error}");
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
}

#[tokio::test]
async fn a_deep_data_folder_is_no_obstacle() {
    let data = data_dir();
    let deep = data.path().join("d".repeat(60)).join("e".repeat(60));
    std::fs::create_dir_all(&deep).unwrap();
    let lab = lab(&deep).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    arena.connect_postgres().await.unwrap();
    arena.connect_redis(5).await.unwrap();
    let sockets = match arena.upstream(locks::ids::Endpoint::Postgres) {
        Some(server::link::Upstream::Unix(path)) => path.parent().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    arena.close().await;
    lab.control().await.unwrap().ping().await.unwrap();
    lab.close().await;
    drop(arena);
    assert!(!sockets.exists(), "{} stays", sockets.display());
}

#[tokio::test]
async fn without_its_warden_the_lab_says_so() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    kill(Pid::from_raw(lab.warden_pid() as i32), Signal::SIGKILL).unwrap();
    lab.broken().await;
    assert!(matches!(lab.arena(&BTreeMap::new()).await, Err(LabError::WardenGone)));
    assert!(matches!(arena.spawn_replica("A", 1).await, Err(LabError::WardenGone)));
    let replica_log = arena.folder().join("A.1.log");
    arena.close().await;
    until("the arena's folder is gone", std::time::Duration::from_secs(5), || !replica_log.exists()).await;
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
}
