//! Property: what the heart says that a command means is what Postgres does. Random series of `pg-lease`'s
//! commands, its mutants' among them, run on the model of the store and on a real one; every reply and every
//! row must be the same, so that what the model checker finds is true of the lab.
//!
//! Time: leases are nothing or an hour and clocks are right or two hours off, so that each lease is over, or
//! is not, however long a statement takes.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use locks::event::{Param, Reply};
use locks::ids::{At, AttemptId, Token};
use locks::strategy::pg_lease::{Ask, Store, Verb};
use locks::strategy::{Op, info};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use sqlx::{Connection, PgConnection, Row};

const HOUR_MS: u64 = 3_600_000;

/// A command of the strategy or of one of its mutants.
fn ask() -> impl Strategy<Value = Ask> {
    let mutants = vec![None, Some("replica-clock"), Some("no-owner-check"), Some("host-token")];
    let verbs = vec!["acquire", "acquire", "renew", "release"];
    let clocks = vec![-2_i64, 0, 2];
    let lease = select(vec![0, HOUR_MS]);
    (select(mutants), select(verbs), select(vec!["one", "two"]), select(vec!["x", "y", "z"]), lease, select(clocks))
        .prop_map(|(mutant, name, lock, token, lease_ms, hours)| {
            let pg_lease = info("pg-lease").unwrap();
            let text = pg_lease.command(mutant.and_then(|mutant| pg_lease.mutant(mutant)), name).unwrap();
            let owner = AttemptId { replica: token.to_uppercase(), incarnation: 1, n: 1 };
            let verb = match name {
                "acquire" => Verb::Acquire { owner, lease_ms, re_entrant: mutant == Some("host-token") },
                "renew" => Verb::Renew { lease_ms },
                _ => Verb::Release,
            };
            let asks_whose = name == "acquire" || mutant != Some("no-owner-check");
            let token = asks_whose.then(|| Token(token.to_owned()));
            let replica_clock = (mutant == Some("replica-clock")).then_some(hours * HOUR_MS as i64);
            Ask { verb, text, lock: lock.to_owned(), token, replica_clock }
        })
}

/// What the real store answers.
async fn on_postgres(postgres: &mut PgConnection, ask: &Ask) -> Reply {
    let wire = ask.wire();
    let mut query = sqlx::query(wire.text);
    for param in wire.params {
        query = match param {
            Param::Text(text) => query.bind(text),
            Param::Int(int) => query.bind(int),
            Param::WallClock => query.bind(wall_clock(ask)),
            other => panic!("{other:?} is no parameter of pg-lease"),
        };
    }
    if ask.text.ends_with("returning epoch") {
        let rows = query.fetch_all(postgres).await.unwrap();
        let row = rows.first().map(|row| Param::Int(row.get("epoch"))).into_iter().collect();
        return Reply::Rows { affected: rows.len() as u64, row };
    }
    let done = query.execute(postgres).await.unwrap();
    Reply::Rows { affected: done.rows_affected(), row: Vec::new() }
}

fn wall_clock(ask: &Ask) -> DateTime<Utc> {
    Utc::now() + TimeDelta::milliseconds(ask.replica_clock.unwrap_or(0))
}

type Rows = BTreeMap<String, (Option<String>, String, Option<u64>)>;

/// Token, owner and epoch of each lock, as the model has them.
fn rows_of(store: &Store) -> Rows {
    let row = |(lock, row): (&String, &locks::strategy::pg_lease::Row)| {
        let token = row.token.as_ref().map(|token| token.0.clone());
        (lock.clone(), (token, row.owner.to_string(), store.epochs.get(lock).copied()))
    };
    store.locks.iter().map(row).collect()
}

/// The same, as Postgres has them.
async fn rows_in(postgres: &mut PgConnection) -> Rows {
    let text = "select name, token, owner, epoch from locks left join lock_epochs using (name)";
    let rows = sqlx::query(text).fetch_all(postgres).await.unwrap();
    let row = |row: sqlx::postgres::PgRow| {
        (row.get("name"), (row.get("token"), row.get("owner"), row.get::<Option<i64>, _>("epoch").map(|n| n as u64)))
    };
    rows.into_iter().map(row).collect()
}

#[test]
fn commands_mean_on_postgres_what_they_mean_on_the_model() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let data = common::data_dir();
    let (lab, arena, postgres) = runtime.block_on(async {
        let lab = common::lab(data.path()).await;
        let arena = lab.arena(&BTreeMap::new()).await.unwrap();
        let postgres = arena.connect_postgres().await.unwrap();
        (lab, arena, RefCell::new(postgres))
    });
    let took_effect = Cell::new(0_u64);
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let result = runner.run(&vec(ask(), 1..40), |series| {
        let postgres = &mut *postgres.borrow_mut();
        runtime.block_on(async {
            sqlx::raw_sql("truncate locks, lock_epochs").execute(&mut *postgres).await.unwrap();
            let mut store = Store::default();
            for (n, ask) in series.iter().enumerate() {
                // The model's clock begins past the hours that a replica's may lag behind.
                let expected = ask.apply(&mut store, At(10 * HOUR_MS + n as u64));
                let found = on_postgres(postgres, ask).await;
                prop_assert_eq!(&found, &expected, "reply {} to {:?}", n, ask);
                prop_assert_eq!(rows_in(postgres).await, rows_of(&store), "rows after {} {:?}", n, ask);
                took_effect.set(took_effect.get() + u64::from(matches!(expected, Reply::Rows { affected: 1.., .. })));
            }
            Ok::<(), TestCaseError>(())
        })
    });
    runtime.block_on(async {
        postgres.into_inner().close().await.unwrap();
        arena.close().await;
        lab.close().await;
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let took_effect = took_effect.get();
    assert!(took_effect > 100, "only {took_effect} commands took effect: the series say too little");
}
