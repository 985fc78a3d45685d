//! Arenas on the real stores of this machine.

mod common;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::{config, data_dir, lab, processes_of, until};
use locks::ids::Endpoint;
use locks::setup::NodeSetup;
use server::arena::Arena;
use server::lab::Lab;
use server::link::Upstream;
use sqlx::{ConnectOptions, Connection, Row};

async fn answers(arena: &Arena) {
    let mut postgres = arena.connect_postgres().await.unwrap();
    let names: Vec<String> =
        sqlx::query_scalar("select name from schedules order by position").fetch_all(&mut postgres).await.unwrap();
    assert_eq!(names, ["settle-invoices", "dispatch-orders", "send-digests"]);
    for node in 1..=Endpoint::REDIS_NODES {
        let mut redis = arena.connect_redis(node).await.unwrap();
        let pong: String = redis::cmd("PING").query_async(&mut redis).await.unwrap();
        assert_eq!(pong, "PONG");
    }
}

#[tokio::test]
async fn postgres_and_five_nodes_answer_and_closing_leaves_nothing() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let began = Instant::now();
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let took = began.elapsed();
    // What it should take is measured by the benchmark; this tells a slow machine from a wait that ran out.
    assert!(took < Duration::from_secs(10), "{took:?}");
    answers(&arena).await;
    for endpoint in Endpoint::of_replicas() {
        let upstream = arena.upstream(endpoint);
        match endpoint {
            Endpoint::Bank => assert_eq!(upstream, None),
            _ => assert!(matches!(upstream, Some(Upstream::Unix(path)) if path.exists())),
        }
    }
    let folder = arena.folder().to_owned();
    arena.close().await;
    assert!(!folder.exists());
    assert_eq!(processes_of(&folder), []);
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
    assert_eq!(std::fs::read_dir(data.path().join("labs")).unwrap().count(), 1, "only the lock is left");
}

#[tokio::test]
async fn replicas_may_do_what_strategies_do_and_no_more() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let login = arena.postgres_login();
    assert_eq!(login.password, None);
    let options = arena.postgres_options().username(&login.user).password("").database(&login.database);
    let mut replica = sqlx::ConnectOptions::connect(&options).await.unwrap();
    for allowed in [
        "insert into locks values ('l', 't', 'A', now(), now() + interval '1 second')",
        "update locks set token = null where name = 'l'",
        "insert into lock_epochs values ('l', 1) on conflict (name) do update set epoch = lock_epochs.epoch + 1",
        "insert into audit (attempt, schedule, fire_at, replica, outcome) values ('A.1.1', 's', now(), 'A', 'executed')",
    ] {
        sqlx::query(sqlx::AssertSqlSafe(allowed)).execute(&mut replica).await.unwrap();
    }
    for refused in [
        "update audit set outcome = 'skipped'",
        "delete from ledger",
        "update schedules set cron = ''",
        "create table x ()",
    ] {
        let error = sqlx::query(sqlx::AssertSqlSafe(refused)).execute(&mut replica).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "42501", "{refused}");
    }
    // Whoever reaches the socket is not the superuser.
    let options = arena.postgres_options().password("wrong");
    assert!(sqlx::ConnectOptions::connect(&options).await.is_err());
    arena.close().await;
    lab.close().await;
}

#[tokio::test]
async fn every_change_of_a_row_is_told() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let pool = sqlx::PgPool::connect_with(arena.postgres_options()).await.unwrap();
    let mut listener = sqlx::postgres::PgListener::connect_with(&pool).await.unwrap();
    listener.listen("aegis_rows").await.unwrap();
    let long = "x".repeat(9000);
    sqlx::query("insert into locks (name, token, expires_at) values ('l', $1, now())")
        .bind("t")
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("update locks set token = $1").bind(&long).execute(&pool).await.unwrap();
    sqlx::query("delete from locks").execute(&pool).await.unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        let notice = tokio::time::timeout(Duration::from_secs(5), listener.recv()).await.unwrap().unwrap();
        let notice: serde_json::Value = serde_json::from_str(notice.payload()).unwrap();
        assert_eq!((notice["table"].as_str(), notice["key"].as_str()), (Some("locks"), Some("l")));
        told.push(notice);
    }
    assert_eq!((told[0]["op"].as_str(), told[0]["row"]["token"].as_str()), (Some("insert"), Some("t")));
    assert_eq!((told[1]["op"].as_str(), told[1]["too_long"].as_bool()), (Some("update"), Some(true)));
    assert_eq!((told[2]["op"].as_str(), told[2]["row"].is_null()), (Some("delete"), true));
    drop(listener);
    pool.close().await;
    arena.close().await;
    lab.close().await;
}

#[tokio::test]
async fn stores_stop_go_on_die_and_come_back() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let postgres = arena.store(Endpoint::Postgres).unwrap();
    let mut connection = arena.connect_postgres().await.unwrap();
    let backend: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut connection).await.unwrap();

    postgres.stop().await.unwrap();
    let state = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    assert!(state(backend).contains(") T "), "a backend has to be stopped as well");
    let answer = sqlx::query("select 1").execute(&mut connection);
    assert!(tokio::time::timeout(Duration::from_millis(200), answer).await.is_err());
    postgres.cont().await.unwrap();
    drop(connection);

    // What was committed stands after an immediate restart and after a kill.
    let mut connection = arena.connect_postgres().await.unwrap();
    sqlx::query("insert into lock_epochs values ('l', 7)").execute(&mut connection).await.unwrap();
    postgres.restart().await.unwrap();
    assert_eq!(postgres.incarnation(), 2);
    let epoch = "select epoch from lock_epochs";
    let mut connection = arena.connect_postgres().await.unwrap();
    assert_eq!(sqlx::query(epoch).fetch_one(&mut connection).await.unwrap().get::<i64, _>(0), 7);
    postgres.kill().await.unwrap();
    assert!(postgres.process().await.is_none());
    assert!(arena.connect_postgres().await.is_err());
    postgres.start().await.unwrap();
    let mut connection = arena.connect_postgres().await.unwrap();
    assert_eq!(sqlx::query(epoch).fetch_one(&mut connection).await.unwrap().get::<i64, _>(0), 7);

    // A node forgets.
    let node = arena.store(Endpoint::Redis(3)).unwrap();
    let mut redis = arena.connect_redis(3).await.unwrap();
    redis::cmd("SET").arg("k").arg("v").query_async::<()>(&mut redis).await.unwrap();
    node.kill().await.unwrap();
    assert!(arena.connect_redis(3).await.is_err());
    node.start().await.unwrap();
    let mut redis = arena.connect_redis(3).await.unwrap();
    let size: u64 = redis::cmd("DBSIZE").query_async(&mut redis).await.unwrap();
    assert_eq!(size, 0);
    arena.close().await;
    lab.close().await;
}

#[tokio::test]
async fn the_warm_arena_takes_the_settings_of_nodes_and_keeps_them() {
    let data = data_dir();
    let mut config = config(data.path());
    config.cold = false;
    let lab = Lab::open(config).await.unwrap();
    let setup = NodeSetup {
        maxmemory: Some("10mb".to_owned()),
        maxmemory_policy: Some("allkeys-lru".to_owned()),
        cluster: false,
    };
    let arena = lab.arena(&BTreeMap::from([("redis-2".to_owned(), setup)])).await.unwrap();
    arena.store(Endpoint::Redis(2)).unwrap().restart().await.unwrap();
    for (node, wanted) in [(2, "10485760"), (1, "0")] {
        let mut redis = arena.connect_redis(node).await.unwrap();
        let memory: Vec<String> =
            redis::cmd("CONFIG").arg("GET").arg("maxmemory").query_async(&mut redis).await.unwrap();
        assert_eq!(memory[1], wanted);
    }
    arena.close().await;
    lab.close().await;
    assert_eq!(processes_of(data.path()), []);
}

/// Segments of shared memory on this machine that belong to a cluster in that folder.
fn shared_memory_of(postgres: &std::path::Path) -> Option<String> {
    let text = std::fs::read_to_string(postgres.join("postmaster.pid")).ok()?;
    Some(text.lines().nth(6)?.split_whitespace().nth(1)?.to_owned())
}

#[tokio::test]
async fn a_killed_postgres_leaves_no_shared_memory_to_the_machine() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let segment = shared_memory_of(&arena.folder().join("postgres")).unwrap();
    let listed = || {
        let text = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        text.lines().any(|line| line.split_whitespace().nth(1) == Some(&segment))
    };
    assert!(listed());
    arena.store(Endpoint::Postgres).unwrap().kill().await.unwrap();
    assert!(listed(), "there is nothing to give back");
    arena.close().await;
    assert!(!listed());
    lab.close().await;
}

#[tokio::test]
async fn a_dropped_arena_is_cleaned_away() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let folder = arena.folder().to_owned();
    drop(arena);
    until("the folder is gone", Duration::from_secs(5), || !folder.exists()).await;
    assert_eq!(processes_of(&folder), []);
    lab.close().await;
}

#[tokio::test]
async fn two_labs_side_by_side_leave_each_other_alone() {
    let data = data_dir();
    let (one, other) = tokio::join!(lab(data.path()), lab(data.path()));
    let (first, second) = (one.arena(&BTreeMap::new()).await.unwrap(), other.arena(&BTreeMap::new()).await.unwrap());
    first.close().await;
    one.close().await;
    answers(&second).await;
    // A third one cleans up at its start, and must not take the second's folder for a left-over.
    let third = lab(data.path()).await;
    answers(&second).await;
    second.close().await;
    other.close().await;
    third.close().await;
    assert_eq!(processes_of(data.path()), []);
}

#[tokio::test]
async fn a_reader_changes_nothing_and_reads_no_file_whatever_it_asks() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    let mut reader = arena.reader_options().connect().await.unwrap();
    let sees: i64 = sqlx::query_scalar("select count(*) from schedules").fetch_one(&mut reader).await.unwrap();
    assert_eq!(sees, 3);
    for (sql, code) in [
        // Right after it said that it would write, and by a function that writes.
        ("set transaction read write", "25001"),
        ("select settle('A.1.1', 'l', 's', now(), 'A', 1, '{}')", "25006"),
        ("with gone as (delete from schedules returning 1) select count(*) from gone", "25006"),
        ("select nextval('lock_epochs_minted')", "42501"),
        ("select pg_read_file('PG_VERSION')", "42501"),
        ("select count(*) from pg_ls_dir('.')", "42501"),
        ("select lo_import('/etc/hostname')::int", "42501"),
        ("select count(*) from pg_authid", "42501"),
        ("select set_config('role', 'aegis', false)", "42501"),
        ("select pg_sleep(60)", "57014"),
    ] {
        let mut transaction = reader.begin().await.unwrap();
        sqlx::query("select 1").execute(&mut *transaction).await.unwrap();
        let error = sqlx::query(sql).execute(&mut *transaction).await.expect_err(sql);
        assert_eq!(error.as_database_error().and_then(|error| error.code()).as_deref(), Some(code), "{sql}: {error}");
    }
    // Also where it did not promise to read only.
    sqlx::query("set default_transaction_read_only = off").execute(&mut reader).await.unwrap();
    let denied = sqlx::query("delete from schedules").execute(&mut reader).await.unwrap_err();
    assert!(denied.to_string().contains("permission denied"), "{denied}");

    let mut redis = arena.connect_redis(2).await.unwrap();
    redis::cmd("SET").arg("lock:x").arg("t").query_async::<()>(&mut redis).await.unwrap();
    let mut reader = arena.connect_redis_reader(2).await.unwrap();
    let value: String = redis::cmd("GET").arg("lock:x").query_async(&mut reader).await.unwrap();
    assert_eq!(value, "t");
    for command in [
        "SET lock:x u",
        "DEL lock:x",
        "FLUSHALL",
        "CONFIG GET dir",
        "EVAL return 0",
        "SHUTDOWN NOSAVE",
        "ACL LIST",
        "CLIENT KILL TYPE normal",
        "MULTI",
        "PUBLISH c m",
        "XREAD BLOCK 0 STREAMS s $",
    ] {
        let mut words = command.split(' ');
        let mut asked = redis::cmd(words.next().unwrap());
        for word in words {
            asked.arg(word);
        }
        let error = asked.query_async::<redis::Value>(&mut reader).await.expect_err(command);
        assert_eq!(error.code(), Some("NOPERM"), "{command}: {error}");
    }
    arena.close().await;
    lab.close().await;
}
