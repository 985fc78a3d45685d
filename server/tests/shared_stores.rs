//! Arenas on stores that somebody else runs. Here somebody else is a lab with private ones.

mod common;

use std::collections::BTreeMap;

use common::{config, data_dir, lab};
use locks::ids::Endpoint;
use locks::scenario::Scenario;
use server::arena::Arena;
use server::lab::{Lab, LabConfig};
use server::link::Upstream;
use server::run::runner::{Outcome, run};
use sqlx::{ConnectOptions, Connection};

fn addresses(host: &Arena) -> (String, Vec<String>) {
    let nodes = (1..=5).map(|node| match host.upstream(Endpoint::Redis(node)) {
        Some(Upstream::Unix(path)) => format!("redis+unix://{}", path.display()),
        other => panic!("{other:?}"),
    });
    (host.postgres_options().to_url_lossy().to_string(), nodes.collect())
}

async fn names(host: &Arena) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut postgres = host.connect_postgres().await.unwrap();
    let like = |table: &str, column: &str| {
        sqlx::AssertSqlSafe(format!("select {column}::text from {table} where {column} like 'aegis\\_arena\\_%'"))
    };
    let databases = sqlx::query_scalar(like("pg_database", "datname")).fetch_all(&mut postgres).await.unwrap();
    let roles = sqlx::query_scalar(like("pg_roles", "rolname")).fetch_all(&mut postgres).await.unwrap();
    let mut redis = host.connect_redis(1).await.unwrap();
    let keys = redis::cmd("KEYS").arg("aegis_arena_*").query_async(&mut redis).await.unwrap();
    (databases, roles, keys)
}

#[tokio::test]
async fn arenas_have_a_database_each_and_leave_nothing_also_after_a_crash() {
    let data = data_dir();
    let host_lab = lab(data.path()).await;
    let host = host_lab.arena(&BTreeMap::new()).await.unwrap();
    let (postgres, redis) = addresses(&host);
    let guest_data = data_dir();
    let shared = LabConfig { postgres_url: Some(postgres), redis_urls: redis, ..config(guest_data.path()) };
    let guest = Lab::open(shared.clone()).await.unwrap();
    assert!(!guest.has_private_stores());
    let nodes = BTreeMap::new();
    let (one, other) = tokio::join!(guest.arena(&nodes), guest.arena(&nodes));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.store(Endpoint::Postgres).is_none() && one.stores().next().is_none());
    assert_ne!(one.key_prefix(), other.key_prefix());

    // A replica gets into its own arena's database, and not into the other's.
    let login = one.postgres_login();
    let replica = one
        .postgres_options()
        .username(&login.user)
        .password(login.password.as_deref().unwrap())
        .database(&login.database);
    let mut connection = replica.connect().await.unwrap();
    sqlx::query("insert into lock_epochs values ('l', 1)").execute(&mut connection).await.unwrap();
    assert!(replica.clone().database(&other.postgres_login().database).connect().await.is_err());
    let mut beside = other.connect_postgres().await.unwrap();
    let rows: i64 = sqlx::query_scalar("select count(*) from lock_epochs").fetch_one(&mut beside).await.unwrap();
    assert_eq!(rows, 0);
    let mut node = one.connect_redis(1).await.unwrap();
    redis::cmd("SET").arg(format!("{}lock", one.key_prefix())).arg("t").query_async::<()>(&mut node).await.unwrap();
    // A reader reads its own arena, and not the other's.
    let mut reader = one.reader_options().connect().await.unwrap();
    let rows: i64 = sqlx::query_scalar("select count(*) from lock_epochs").fetch_one(&mut reader).await.unwrap();
    assert_eq!(rows, 1);
    reader.close().await.unwrap();
    let elsewhere = one.reader_options().database(&other.postgres_login().database);
    assert!(elsewhere.connect().await.is_err());
    let mut reader = one.connect_redis_reader(1).await.unwrap();
    let get = async |reader: &mut redis::aio::MultiplexedConnection, prefix: &str| {
        redis::cmd("GET").arg(format!("{prefix}lock")).query_async::<Option<String>>(reader).await
    };
    assert_eq!(get(&mut reader, one.key_prefix()).await.unwrap().as_deref(), Some("t"));
    assert!(get(&mut reader, other.key_prefix()).await.is_err());
    let (databases, roles, keys) = names(&host).await;
    assert_eq!((databases.len(), roles.len(), keys.len()), (2, 4, 1));

    // Closed with a replica still connected.
    one.close().await;
    let (databases, roles, keys) = names(&host).await;
    assert_eq!((databases.len(), roles.len(), keys.len()), (1, 2, 0));

    // As a crash would leave it: nobody closes the other, and the lock on the lab's folder is free.
    std::mem::forget(other);
    drop(beside);
    let folder = std::fs::read_dir(guest_data.path().join("labs")).unwrap().filter_map(Result::ok);
    let folder = folder.map(|entry| entry.path()).find(|path| path.is_dir()).unwrap();
    std::fs::remove_file(folder.join("lock")).unwrap();
    let next = Lab::open(shared).await.unwrap();
    assert_eq!(names(&host).await, (vec![], vec![], vec![]));
    next.close().await;
    host.close().await;
    host_lab.close().await;
}

#[tokio::test]
async fn faults_there_are_the_arenas_own_or_not_applicable() {
    let data = data_dir();
    let host_lab = lab(data.path()).await;
    let host = host_lab.arena(&BTreeMap::new()).await.unwrap();
    let (postgres, redis) = addresses(&host);
    let guest_data = data_dir();
    let guest = Lab::open(LabConfig { postgres_url: Some(postgres), redis_urls: redis, ..config(guest_data.path()) })
        .await
        .unwrap();
    let scenario = |steps: &str| {
        let head =
            "name = \"shared\"\ntitle = \"On shared stores\"\n[setup]\nstrategy = \"pg-lease\"\nlease_ms = 20000\n";
        Scenario::parse(&format!("{head}{steps}")).unwrap_or_else(|problems| panic!("{problems:#?}"))
    };
    let restart = "[[step]]\nfire = { schedule = \"settle-invoices\", to = \"A\" }\n\
        [[step]]\nadvance = { replica = \"A\", until = \"effect\" }\n\
        [[step]]\npostgres = \"restart\"\n\
        [[step]]\nnode = { kill = \"redis-2\" }\n\
        [[step]]\nnode = { start = \"redis-2\" }\n\
        [[step]]\nnode = { clock_shift = \"redis-2\", ms = 5 }\n\
        [[step]]\nadvance = { replica = \"A\", until = \"done\" }\n\
        [expect]\noutcomes = { A = [\"executed\"] }\n";
    let finished = run(&guest, &scenario(restart), None).await;
    assert_eq!(finished.outcome, Outcome::Held, "{}", server::run::report::text("test", &finished));
    for step in ["postgres = \"pause\"", "node = { pause = \"redis-1\" }", "failover = \"redis-1\""] {
        let finished = run(&guest, &scenario(&format!("[[step]]\n{step}\n")), None).await;
        let is = matches!(&finished.outcome, Outcome::Inconclusive(text) if text.starts_with("not applicable here"));
        assert!(is, "{step}: {:?}", finished.outcome);
    }
    guest.close().await;
    host.close().await;
    host_lab.close().await;
}
