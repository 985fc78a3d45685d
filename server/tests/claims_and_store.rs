//! Property: what the heart says that a statement of `pg-claim` or `pg-row-lock` means is what Postgres does.
//! Random series run on the model of the store and on a real one; every reply and every row must be the same.
//!
//! Time: leases are nothing or an hour, so that each claim is dead, or is not, however long a statement takes.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;

use locks::event::{Param, Reply};
use locks::ids::{At, AttemptId, Token};
use locks::strategy::{Op, Wire, pg_claim, pg_row_lock};
use pg_claim::{Check, Claimer, Ended};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use server::arena::Arena;
use sqlx::postgres::PgRow;
use sqlx::{Column, Connection, Either, Executor, PgConnection, Row, TypeInfo, ValueRef};
use tokio::runtime::Runtime;
use tokio_stream::StreamExt;

const HOUR_MS: u64 = 3_600_000;

/// What Postgres answers, read as replicas read it.
async fn on_postgres(postgres: &mut PgConnection, wire: Wire) -> Reply {
    let mut query = sqlx::query(wire.text);
    for param in wire.params {
        query = match param {
            Param::Text(text) => query.bind(text),
            Param::Int(int) => query.bind(int),
            other => panic!("{other:?} is no parameter here"),
        };
    }
    let mut results = postgres.fetch_many(query);
    let (mut affected, mut first) = (0, Vec::new());
    while let Some(result) = results.next().await {
        match result {
            Ok(Either::Left(done)) => affected += done.rows_affected(),
            Ok(Either::Right(row)) => first = values(&row),
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55P03") => return Reply::Busy,
            Err(sqlx::Error::Database(error)) => {
                let code = error.code().unwrap_or_default().into_owned();
                return Reply::Refused { code, message: error.message().to_owned() };
            }
            Err(error) => panic!("{error}"),
        }
    }
    Reply::Rows { affected, row: first }
}

fn values(row: &PgRow) -> Vec<Param> {
    let value = |at: usize| {
        if row.try_get_raw(at).unwrap().is_null() {
            return Param::Null;
        }
        match row.column(at).type_info().name() {
            "INT8" => Param::Int(row.get(at)),
            "BOOL" => Param::Bool(row.get(at)),
            _ => Param::Text(row.get(at)),
        }
    };
    (0..row.columns().len()).map(value).collect()
}

/// Run a property on a real Postgres.
fn check<T: std::fmt::Debug, F: Future<Output = Result<(), TestCaseError>>>(
    series: impl Strategy<Value = Vec<T>>,
    run: impl Fn(Shared, Vec<T>) -> F,
) {
    let runtime = Runtime::new().unwrap();
    let data = common::data_dir();
    let (lab, arena) = runtime.block_on(async {
        let lab = common::lab(data.path()).await;
        let arena = Shared::new(lab.arena(&BTreeMap::new()).await.unwrap());
        (lab, arena)
    });
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let result = runner.run(&series, |series| runtime.block_on(run(arena.clone(), series)));
    runtime.block_on(async {
        arena.close().await;
        lab.close().await;
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// The arena, shared by all cases.
#[derive(Clone)]
struct Shared(std::rc::Rc<RefCell<Option<Arena>>>);

impl Shared {
    fn new(arena: Arena) -> Self {
        Shared(std::rc::Rc::new(RefCell::new(Some(arena))))
    }

    async fn connect(&self) -> PgConnection {
        let options = self.0.borrow().as_ref().unwrap().postgres_options();
        PgConnection::connect_with(&options).await.unwrap()
    }

    async fn close(self) {
        let arena = self.0.borrow_mut().take().unwrap();
        arena.close().await;
    }
}

fn claim() -> impl Strategy<Value = pg_claim::Ask> {
    use pg_claim::Verb;
    let versions = select(vec![0_u64, 1, 1, 2, 2, 3]);
    let by = (select(vec!["x", "y"]), select(vec![0, HOUR_MS])).prop_map(|(token, lease_ms)| Claimer {
        token: Token(token.to_owned()),
        owner: AttemptId { replica: token.to_uppercase(), incarnation: 1, n: 1 },
        lease_ms,
    });
    let checks = select(vec![Check::Key, Check::Key, Check::Claim, Check::Nothing]);
    let verb = (0..9, by, versions, select(vec![Ended::Done, Ended::Doubtful]), checks).prop_map(
        |(which, by, version, how, check)| match which {
            0 | 1 => Verb::Look,
            2 | 3 => Verb::Claim { by, version: Some(version) },
            4 => Verb::Rescue { by, version },
            5 => Verb::Renew { version },
            6 => Verb::Key { version },
            7 => Verb::Complete { how, version, check },
            _ if check == Check::Nothing => Verb::Claim { by, version: None },
            _ => Verb::Release { version },
        },
    );
    (select(vec!["s@1", "s@2"]), verb).prop_map(|(slot, verb)| pg_claim::Ask { slot: slot.to_owned(), verb })
}

type Claims = BTreeMap<String, (String, u64, Option<String>, Option<String>, Vec<String>, Option<u64>)>;

fn claims_of(store: &pg_claim::Store) -> Claims {
    let ended = |how: &Ended| pg_claim::State::Ended(*how).name().to_owned();
    let row = |(slot, row): (&String, &pg_claim::Row)| {
        let picked_by = row.picked_by.as_ref().map(|token| token.0.clone());
        let owner = row.owner.as_ref().map(ToString::to_string);
        let ended = row.ended.iter().map(ended).collect();
        let epoch = store.epochs.get(slot).copied();
        (slot.clone(), (row.state.name().to_owned(), row.version, picked_by, owner, ended, epoch))
    };
    store.slots.iter().map(row).collect()
}

async fn claims_in(postgres: &mut PgConnection) -> Claims {
    let text = "select slot, state, version, picked_by, owner, ended, epoch \
                from slot_claims left join lock_epochs on name = slot";
    let row = |row: PgRow| {
        let (version, epoch) = (row.get::<i64, _>(2) as u64, row.get::<Option<i64>, _>(6).map(|epoch| epoch as u64));
        (row.get(0), (row.get(1), version, row.get(3), row.get(4), row.get(5), epoch))
    };
    sqlx::query(text).fetch_all(postgres).await.unwrap().into_iter().map(row).collect()
}

#[test]
fn claims_mean_on_postgres_what_they_mean_on_the_model() {
    let took_effect = &Cell::new(0_u64);
    check(vec(claim(), 1..60), |arena, series| async move {
        let mut postgres = arena.connect().await;
        sqlx::raw_sql("truncate slot_claims, lock_epochs").execute(&mut postgres).await.unwrap();
        let mut store = pg_claim::Store::default();
        for (n, ask) in series.iter().enumerate() {
            let expected = ask.apply(&mut store, At(n as u64));
            let found = on_postgres(&mut postgres, ask.wire()).await;
            prop_assert_eq!(&found, &expected, "reply {} to {:?}", n, ask);
            prop_assert_eq!(claims_in(&mut postgres).await, claims_of(&store), "rows after {} {:?}", n, ask);
            let looks = ask.verb == pg_claim::Verb::Look;
            took_effect
                .set(took_effect.get() + u64::from(!looks && matches!(expected, Reply::Rows { affected: 1.., .. })));
        }
        postgres.close().await.unwrap();
        Ok(())
    });
    let took_effect = took_effect.get();
    assert!(took_effect > 100, "only {took_effect} statements took effect: the series say too little");
}

fn row_lock() -> impl Strategy<Value = pg_row_lock::Ask> {
    use pg_row_lock::Verb;
    let verbs = vec![
        Verb::Ensure,
        Verb::Begin { repeatable: false, bound_ms: None },
        Verb::Acquire { waits: false },
        Verb::Acquire { waits: false },
        Verb::Confirm,
        Verb::Commit,
        Verb::Undo,
        Verb::Rollback,
    ];
    // Mostly of one lock, so that there are races to lose.
    (select(vec!["one", "one", "one", "two"]), select(vec!["A", "B", "C"]), select(verbs))
        .prop_map(|(lock, on, verb)| pg_row_lock::Ask { lock: lock.to_owned(), on: on.to_owned(), verb })
}

#[test]
fn row_locks_mean_on_postgres_what_they_mean_on_the_model() {
    let busy = &Cell::new(0_u64);
    check(vec(row_lock(), 60..140), |arena, series| async move {
        let mut sessions = BTreeMap::new();
        for name in ["A", "B", "C"] {
            sessions.insert(name, arena.connect().await);
        }
        sqlx::raw_sql("truncate row_locks").execute(sessions.get_mut("A").unwrap()).await.unwrap();
        let mut store = pg_row_lock::Store::default();
        for (n, ask) in series.iter().enumerate() {
            // The strategy ensures in a transaction of its own.
            if ask.verb == pg_row_lock::Verb::Ensure && store.open.contains_key(&ask.on) {
                continue;
            }
            let expected = ask.apply(&mut store, At(n as u64));
            let found = on_postgres(sessions.get_mut(ask.on.as_str()).unwrap(), ask.wire()).await;
            prop_assert_eq!(&found, &expected, "reply {} to {:?}", n, ask);
            busy.set(busy.get() + u64::from(expected == Reply::Busy));
        }
        for session in sessions.into_values() {
            session.close().await.unwrap();
        }
        Ok(())
    });
    let busy = busy.get();
    assert!(busy > 20, "only {busy} races were lost: the series say too little");
}
