//! Reading known locks that stand as keys: the key and its time to live on each node, asked at once, so that
//! the state is the nodes' own word. A lock is held where one token stands on a quorum. A node that is down
//! says nothing; one that is silent (stopped) is taken at its last word until that word is over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use locks::event::Param;
use locks::ids::{Endpoint, LockName};
use locks::machine::LockState;
use redis::aio::MultiplexedConnection;
use sqlx::{PgPool, Row};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::locks_read::{BEHIND_EXPIRY, Reading};
use crate::arena::Arena;
use crate::clock;
use crate::lab::LabError;

/// How long a store that runs may take to answer, also on a busy machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// How soon a silent node is asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// Keys of which the node itself told that their time was over; any other news of a key takes it out.
#[derive(Debug, Default)]
pub(super) struct Expired(Mutex<BTreeSet<(u8, String)>>);

impl Expired {
    /// A node told of that key.
    pub(super) fn told(&self, node: u8, key: &str, event: &str) {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if event == "expired" {
            keys.insert((node, key.to_owned()));
        } else {
            keys.remove(&(node, key.to_owned()));
        }
    }

    fn has(&self, node: u8, key: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&(node, key.to_owned()))
    }
}

/// A key as a node showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    token: String,
    /// `None`: it does not end by time.
    expires: Option<Instant>,
}

/// What a node answered: one value and time to live a key.
enum Answer {
    Values(MultiplexedConnection, Instant, Vec<(Option<String>, i64)>),
    Silent,
    Down,
}

/// What came of one reading.
pub(super) struct KeysRead {
    pub(super) readings: Vec<Reading>,
    /// When to look again in any case.
    pub(super) again: Option<Instant>,
    /// Every node that could answer did.
    pub(super) whole: bool,
}

/// Who reads.
pub(super) struct Reader {
    arena: Arc<Arena>,
    pool: PgPool,
    expired: Arc<Expired>,
    connections: BTreeMap<u8, MultiplexedConnection>,
    seen: BTreeMap<(u8, LockName), Seen>,
    epochs: BTreeMap<LockName, i64>,
    /// When each lock that was held last would have ended by time.
    held_until: BTreeMap<LockName, Option<Instant>>,
    states: BTreeMap<LockName, LockState>,
}

impl Reader {
    pub(super) fn new(arena: Arc<Arena>, pool: PgPool, expired: Arc<Expired>) -> Reader {
        Reader {
            arena,
            pool,
            expired,
            connections: BTreeMap::new(),
            seen: BTreeMap::new(),
            epochs: BTreeMap::new(),
            held_until: BTreeMap::new(),
            states: BTreeMap::new(),
        }
    }

    /// Read these locks on the first `nodes` nodes. Stores that are `stopped` are not asked: they cannot answer.
    pub(super) async fn read(
        &mut self,
        known: &[LockName],
        (nodes, quorum): (u8, u8),
        stopped: &BTreeSet<Endpoint>,
    ) -> KeysRead {
        if known.is_empty() {
            return KeysRead { readings: Vec::new(), again: None, whole: true };
        }
        let before_us = clock::now_us();
        let keys: Arc<[String]> = known.iter().map(|lock| self.key_of(lock)).collect();
        let mut asked = JoinSet::new();
        let (mut silent, mut whole) = (false, true);
        for node in 1..=nodes {
            if stopped.contains(&Endpoint::Redis(node)) {
                silent = true;
                continue;
            }
            let (arena, keys, connection) = (self.arena.clone(), keys.clone(), self.connections.remove(&node));
            asked.spawn(async move { (node, ask(&arena, node, connection, &keys).await) });
        }
        while let Some(answer) = asked.join_next().await {
            match answer {
                Ok((node, Answer::Values(connection, began, values))) => {
                    self.connections.insert(node, connection);
                    self.take(node, known, began, values);
                }
                Ok((_, Answer::Silent)) => (silent, whole) = (true, false),
                Ok((node, Answer::Down)) => {
                    self.seen.retain(|(of, _), _| *of != node);
                    silent = true;
                }
                Err(error) => tracing::error!(%error, "a node's reader failed"),
            }
        }
        if !stopped.contains(&Endpoint::Postgres) {
            self.read_epochs(known).await;
        }
        let after_us = clock::now_us();
        let readings: Vec<Reading> =
            known.iter().map(|lock| self.reading(lock, nodes, quorum, (before_us, after_us))).collect();
        KeysRead { readings, again: silent.then(|| Instant::now() + AGAIN), whole }
    }

    fn key_of(&self, lock: &str) -> String {
        format!("{}{}{lock}", self.arena.key_prefix(), Param::KEY)
    }

    fn take(&mut self, node: u8, known: &[LockName], began: Instant, values: Vec<(Option<String>, i64)>) {
        for (lock, (value, pttl_ms)) in known.iter().zip(values) {
            let place = (node, lock.clone());
            match value {
                Some(token) => {
                    let expires = u64::try_from(pttl_ms).ok().map(|ms| began + Duration::from_millis(ms));
                    self.seen.insert(place, Seen { token, expires });
                }
                None => drop(self.seen.remove(&place)),
            }
        }
    }

    /// Guards read epochs in Postgres. One that is down leaves what it said last.
    async fn read_epochs(&mut self, known: &[LockName]) {
        let ask = sqlx::query("select name, epoch from lock_epochs where name = any($1)").bind(known);
        if let Ok(Ok(rows)) = timeout(ANSWER_LIMIT, ask.fetch_all(&self.pool)).await {
            for row in rows {
                if let (Ok(name), Ok(epoch)) = (row.try_get("name"), row.try_get("epoch")) {
                    self.epochs.insert(name, epoch);
                }
            }
        }
    }

    fn reading(&mut self, lock: &LockName, nodes: u8, quorum: u8, (before_us, after_us): (u64, u64)) -> Reading {
        let now = Instant::now();
        let standing: Vec<&Seen> = (1..=nodes)
            .filter_map(|node| self.seen.get(&(node, lock.clone())))
            .filter(|seen| seen.expires.is_none_or(|at| at > now))
            .collect();
        let votes = |token: &str| standing.iter().filter(|seen| seen.token == token).count();
        let holder = standing.iter().map(|seen| seen.token.clone()).find(|token| votes(token) >= usize::from(quorum));
        let (state, expires) = match &holder {
            Some(token) => {
                let mut ends: Vec<Option<Instant>> =
                    standing.iter().filter(|seen| seen.token == *token).map(|seen| seen.expires).collect();
                // The last to end first; what never ends is the very last. With the quorum's last it is over.
                ends.sort_by_key(|end| std::cmp::Reverse(end.map_or((1, now), |end| (0, end))));
                (LockState::Held, ends.get(usize::from(quorum) - 1).copied().flatten())
            }
            None => (self.without_holder(lock, nodes, now), None),
        };
        if state == LockState::Held {
            self.held_until.insert(lock.clone(), expires);
        }
        self.states.insert(lock.clone(), state);
        let left_ms =
            expires.map(|at| i64::try_from(at.saturating_duration_since(now).as_millis()).unwrap_or(i64::MAX));
        Reading {
            lock: lock.clone(),
            at: Endpoint::Redis(1),
            before_us,
            after_us,
            state,
            token: holder,
            owner: None,
            epoch: self.epochs.get(lock).copied(),
            expires_us: None,
            ttl_us: left_ms.map(|ms| ms.saturating_mul(1000)),
            expires: expires.map(|at| at + BEHIND_EXPIRY),
        }
    }

    /// Did the last hold end by time, or otherwise?
    fn without_holder(&self, lock: &LockName, nodes: u8, now: Instant) -> LockState {
        let key = self.key_of(lock);
        match self.states.get(lock) {
            None | Some(LockState::Free) => LockState::Free,
            Some(LockState::Expired) => LockState::Expired,
            Some(LockState::Held) => {
                let told = (1..=nodes).any(|node| self.expired.has(node, &key));
                let over = self.held_until.get(lock).copied().flatten().is_some_and(|at| at <= now);
                if told || over { LockState::Expired } else { LockState::Free }
            }
        }
    }
}

/// Ask one node for these keys, on a new connection if the one that there was is gone.
async fn ask(arena: &Arena, node: u8, connection: Option<MultiplexedConnection>, keys: &[String]) -> Answer {
    let asked = async {
        if let Some(connection) = connection
            && let Ok(answer) = values(connection, keys).await
        {
            return Ok(answer);
        }
        values(arena.connect_redis(node).await?, keys).await
    };
    match timeout(ANSWER_LIMIT, asked).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::debug!(node, %error, "a node does not say how locks stand");
            Answer::Down
        }
        Err(_) => Answer::Silent,
    }
}

async fn values(mut connection: MultiplexedConnection, keys: &[String]) -> Result<Answer, LabError> {
    let mut all = redis::pipe();
    for key in keys {
        all.get(key).pttl(key);
    }
    let began = Instant::now();
    let flat: Vec<redis::Value> = all.query_async(&mut connection).await?;
    let values = flat.chunks(2).map(|pair| {
        let value = pair.first().and_then(|value| redis::from_redis_value_ref::<Option<String>>(value).ok());
        let pttl_ms = pair.get(1).and_then(|value| redis::from_redis_value_ref::<i64>(value).ok());
        (value.flatten(), pttl_ms.unwrap_or(-2))
    });
    let values = values.collect();
    Ok(Answer::Values(connection, began, values))
}
