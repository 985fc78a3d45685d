//! Property: what the heart says that a command on a key means is what Redis does. Random series of the
//! commands of `redis-set-nx`, `redlock` and their mutants run on the model of the nodes and on real ones; every
//! reply and every key must be the same, so that what the model checker finds is true of the lab. The same for
//! the statements about epochs, on Postgres.
//!
//! Time: leases are nothing or an hour, so that each is over, or is not, however long a command takes.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use locks::event::{Param, Reply};
use locks::ids::{At, Endpoint, Token};
use locks::strategy::keys::{Ask, KeyAsk, Store, Verb};
use locks::strategy::{Language, Op, epochs};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use redis::Value;
use redis::aio::MultiplexedConnection;
use sqlx::{Connection, Row};

const HOUR_MS: u64 = 3_600_000;
const NODES: [u8; 2] = [1, 2];

fn ask() -> impl Strategy<Value = Ask> {
    let lease_ms = select(vec![0, HOUR_MS]);
    let verb = (0..12_u8, lease_ms).prop_map(|(n, lease_ms)| match n {
        0 | 1 => Verb::Set { lease_ms },
        2 => Verb::SetSeconds { lease_s: lease_ms / 1000 },
        3 => Verb::SetOrSame { lease_ms },
        4 => Verb::SetForEver,
        5 => Verb::Expire { lease_ms },
        6 => Verb::ExtendOwn { lease_ms },
        7 => Verb::DeleteOwn,
        8 => Verb::Look,
        9 => Verb::SetOver { lease_ms },
        10 => Verb::DeleteOwnAndSignal,
        _ => Verb::Delete,
    });
    let of_key = (verb, select(NODES.to_vec()), select(vec!["one", "two"]), select(vec!["x", "y"])).prop_map(
        |(verb, node, lock, token)| {
            let (lock, token) = (lock.to_owned(), Token(token.to_owned()));
            Ask::Key(KeyAsk { verb, node: Endpoint::Redis(node), lock, token, by_hash: false })
        },
    );
    let lock = || select(vec!["one", "two"]).prop_map(str::to_owned);
    let publish = (lock(), 1..9_u64).prop_map(|(lock, epoch)| epochs::Ask::Publish { lock, epoch });
    let seeing = lock().prop_map(|lock| epochs::Ask::MintSeeing { lock });
    let over = (lock(), 1..9_u64, proptest::option::of(1..9_u64))
        .prop_map(|(lock, epoch, seen)| epochs::Ask::PublishOver { lock, epoch, seen });
    let of_epoch = prop_oneof![Just(epochs::Ask::Mint), publish, seeing, over];
    prop_oneof![4 => of_key, 1 => of_epoch.prop_map(Ask::Epoch)]
}

struct Stores {
    nodes: BTreeMap<u8, MultiplexedConnection>,
    postgres: sqlx::PgConnection,
}

impl Stores {
    async fn empty(&mut self) {
        for node in self.nodes.values_mut() {
            redis::cmd("FLUSHALL").query_async::<()>(node).await.unwrap();
        }
        let text = "truncate lock_epochs; alter sequence lock_epochs_minted restart";
        sqlx::raw_sql(text).execute(&mut self.postgres).await.unwrap();
    }

    /// What the real store answers.
    async fn answer(&mut self, ask: &Ask) -> Reply {
        let wire = ask.wire();
        let Ask::Key(KeyAsk { node: Endpoint::Redis(node), .. }) = ask else { return self.on_postgres(ask).await };
        let said = |param: &Param| match param {
            Param::Text(text) => text.clone(),
            Param::Key(lock) => format!("{}{lock}", Param::KEY),
            Param::Int(n) => n.to_string(),
            other => panic!("{other:?} is no parameter of these"),
        };
        let mut command = redis::Cmd::new();
        if wire.language == Language::Redis {
            for word in wire.text.split(' ') {
                match word.strip_prefix('$') {
                    Some(place) => command.arg(said(&wire.params[place.parse::<usize>().unwrap() - 1])),
                    None => command.arg(word),
                };
            }
        } else {
            let keys = wire.params.iter().filter(|param| matches!(param, Param::Key(_))).count();
            command.arg("EVAL").arg(wire.text).arg(keys).arg(wire.params.iter().map(said).collect::<Vec<_>>());
        }
        match command.query_async(self.nodes.get_mut(node).unwrap()).await {
            Ok(Value::Nil) => Reply::Redis(Param::Null),
            Ok(Value::Int(n)) => Reply::Redis(Param::Int(n)),
            Ok(Value::Okay) => Reply::Redis(Param::Text("OK".to_owned())),
            Ok(Value::BulkString(text)) => Reply::Redis(Param::Text(String::from_utf8(text).unwrap())),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Reply::Refused { code: error.code().unwrap().to_owned(), message: String::new() },
        }
    }

    async fn on_postgres(&mut self, ask: &Ask) -> Reply {
        let wire = ask.wire();
        let mut query = sqlx::query(wire.text);
        for param in wire.params {
            query = match param {
                Param::Text(text) => query.bind(text),
                Param::Int(int) => query.bind(int),
                Param::Null => query.bind(None::<i64>),
                other => panic!("{other:?} is no parameter of these"),
            };
        }
        if wire.name == "mint" {
            let row = query.fetch_one(&mut self.postgres).await.unwrap();
            let int = |at| row.get::<Option<i64>, _>(at).map_or(Param::Null, Param::Int);
            return Reply::Rows { affected: 1, row: (0..row.len()).map(int).collect() };
        }
        let done = query.execute(&mut self.postgres).await.unwrap();
        Reply::Rows { affected: done.rows_affected(), row: Vec::new() }
    }

    /// Value and "ends by time" of each key that stands.
    async fn keys(&mut self) -> Keys {
        let mut all = Keys::new();
        for (node, connection) in &mut self.nodes {
            for lock in ["one", "two"] {
                let key = format!("{}{lock}", Param::KEY);
                let (value, pttl): (Option<String>, i64) =
                    redis::pipe().get(&key).pttl(&key).query_async(connection).await.unwrap();
                if let Some(value) = value {
                    all.insert((*node, lock.to_owned()), (value, pttl >= 0));
                }
            }
        }
        all
    }
}

type Keys = BTreeMap<(u8, String), (String, bool)>;

fn keys_of(store: &Store, now: At) -> Keys {
    let mut all = Keys::new();
    for node in NODES {
        for lock in ["one", "two"] {
            if let Some(key) = store.key(Endpoint::Redis(node), lock, now) {
                all.insert((node, lock.to_owned()), (key.token.0.clone(), key.expires_at.is_some()));
            }
        }
    }
    all
}

/// Versions of Redis word their errors differently.
fn without_words(reply: Reply) -> Reply {
    match reply {
        Reply::Refused { code, .. } => Reply::Refused { code, message: String::new() },
        reply => reply,
    }
}

#[test]
fn commands_mean_on_redis_what_they_mean_on_the_model() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let data = common::data_dir();
    let (lab, arena, stores) = runtime.block_on(async {
        let lab = common::lab(data.path()).await;
        let arena = lab.arena(&BTreeMap::new()).await.unwrap();
        let mut nodes = BTreeMap::new();
        for node in NODES {
            nodes.insert(node, arena.connect_redis(node).await.unwrap());
        }
        let stores = Stores { nodes, postgres: arena.connect_postgres().await.unwrap() };
        (lab, arena, RefCell::new(stores))
    });
    let took_effect = Cell::new(0_u64);
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let result = runner.run(&vec(ask(), 1..40), |series| {
        let stores = &mut *stores.borrow_mut();
        runtime.block_on(async {
            stores.empty().await;
            let mut store = Store::default();
            for (n, ask) in series.iter().enumerate() {
                let now = At(n as u64);
                let expected = without_words(ask.apply(&mut store, now));
                let found = without_words(stores.answer(ask).await);
                prop_assert_eq!(&found, &expected, "reply {} to {:?}", n, ask);
                prop_assert_eq!(stores.keys().await, keys_of(&store, now), "keys after {} {:?}", n, ask);
                let effect = matches!(expected, Reply::Redis(Param::Text(_) | Param::Int(1)));
                took_effect.set(took_effect.get() + u64::from(effect));
            }
            Ok::<(), TestCaseError>(())
        })
    });
    runtime.block_on(async {
        stores.into_inner().postgres.close().await.unwrap();
        arena.close().await;
        lab.close().await;
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let took_effect = took_effect.get();
    assert!(took_effect > 100, "only {took_effect} commands took effect: the series say too little");
}
