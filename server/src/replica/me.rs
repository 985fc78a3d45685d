//! Who a replica is, and what all its parts share: its voice, its clocks, its random numbers, the ports of
//! its links. Everything random in a replica is drawn here, from one seeded source.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use locks::event::{Kind, Param, Problem, Whose};
use locks::ids::{At, AttemptId, Endpoint, Token};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::control::{PostgresLogin, REFUSED, RedisLogin, RedisUser, SessionName};
use super::voice::Voice;
use crate::clock::now_us;

/// One replica.
pub(super) struct Me {
    pub(super) name: String,
    pub(super) incarnation: u32,
    pub(super) postgres: PostgresLogin,
    redis: RedisLogin,
    /// Held while a connection to a Postgres is made, so that its socket can be told from others.
    pub(super) connecting: Mutex<()>,
    voice: Voice,
    ports: BTreeMap<Endpoint, u16>,
    random: RefCell<StdRng>,
    attempts: Cell<u32>,
    shift_ms: Cell<i64>,
}

impl Me {
    /// A replica of that name. The same name, incarnation and seed draw the same random numbers.
    pub(super) fn new(
        name: String,
        incarnation: u32,
        seed: u64,
        ports: BTreeMap<Endpoint, u16>,
        postgres: PostgresLogin,
        redis: RedisLogin,
        voice: Voice,
    ) -> Me {
        let mut hasher = DefaultHasher::new();
        (&name, incarnation, seed).hash(&mut hasher);
        let random = RefCell::new(StdRng::seed_from_u64(hasher.finish()));
        Me {
            name,
            incarnation,
            postgres,
            redis,
            connecting: Mutex::new(()),
            voice,
            ports,
            random,
            attempts: Cell::new(0),
            shift_ms: Cell::new(0),
        }
    }

    /// Say what happens, before it does; its stamp.
    pub(super) fn say(&self, kind: Kind) -> u64 {
        self.voice.say(kind)
    }

    /// Say what announces no act of this task: written at [`Me::speak`] at the latest, or with what is said before.
    /// Whoever notes speaks before its turn ends, or at [`Me::patience`] where no act is announced.
    pub(super) fn note(&self, kind: Kind) -> u64 {
        self.voice.note(kind)
    }

    /// The task's turn is over: what was noted is said.
    pub(super) fn speak(&self) {
        self.voice.speak();
    }

    /// When what was noted is to be said at the latest, if it announces nothing.
    pub(super) fn patience(&self) -> Option<Instant> {
        self.voice.patience()
    }

    /// Say why it does not go on, and end the process: what it was told to do would not be safe.
    pub(super) fn refuse(&self, text: String) -> ! {
        self.say(Kind::Trouble { problem: Problem { whose: Whose::Yours, text } });
        std::process::exit(i32::from(REFUSED))
    }

    /// The port of its link to an endpoint.
    pub(super) fn port(&self, endpoint: Endpoint) -> Option<u16> {
        self.ports.get(&endpoint).copied()
    }

    /// The Redis key of a lock.
    pub(super) fn key_of(&self, lock: &str) -> String {
        format!("{}{}{lock}", self.redis.key_prefix, Param::KEY)
    }

    /// How to log in to a Redis node.
    pub(super) fn redis_user(&self, node: Endpoint) -> RedisUser {
        self.redis.nodes.get(&node).cloned().unwrap_or_default()
    }

    /// What its link calls one of its sessions.
    pub(super) fn wire_name(&self, session: &str) -> String {
        let name =
            SessionName { replica: self.name.clone(), incarnation: self.incarnation, session: session.to_owned() };
        name.to_string()
    }

    /// The next attempt's name.
    pub(super) fn next_attempt(&self) -> AttemptId {
        let n = self.attempts.get() + 1;
        self.attempts.set(n);
        AttemptId { replica: self.name.clone(), incarnation: self.incarnation, n }
    }

    /// A fresh token: 160 random bits.
    pub(super) fn token(&self) -> Token {
        let bits: [u8; 20] = self.random.borrow_mut().random();
        Token(bits.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// A random number for jitter.
    pub(super) fn jitter(&self) -> u16 {
        self.random.borrow_mut().random()
    }

    /// Its wall clock, in microseconds since the Unix epoch.
    pub(super) fn wall_us(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Microseconds since 1970 fit for 290,000 years.
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX).saturating_add(self.shift_ms.get().saturating_mul(1000))
    }

    /// Say how its clocks stand.
    pub(super) fn say_clocks(&self) {
        self.say(Kind::ClockSet { shift_ms: self.shift_ms.get(), elapsed_ms: elapsed_ms() });
    }

    /// Shift its wall clock against the machine's.
    pub(super) fn shift(&self, shift_ms: i64) {
        self.shift_ms.set(shift_ms);
    }
}

/// How far this process' lease clock is ahead of the machine's monotonic one, in milliseconds.
static ELAPSED_MS: AtomicU64 = AtomicU64::new(0);

/// Move the lease clock: so much is over since the start, in milliseconds.
pub(super) fn elapse(elapsed_ms: u64) {
    ELAPSED_MS.store(elapsed_ms, Ordering::Relaxed);
}

/// How far the lease clock was moved, in milliseconds.
pub(super) fn elapsed_ms() -> u64 {
    ELAPSED_MS.load(Ordering::Relaxed)
}

/// The lease clock, as strategies read it: the monotonic one, unless time was let elapse.
pub(super) fn now() -> At {
    at(now_us())
}

/// What the lease clock shows at a time of the machine's monotonic clock, in microseconds.
pub(super) fn at(machine_us: u64) -> At {
    At(machine_us / 1000 + elapsed_ms())
}

/// The time of the machine's monotonic clock, in microseconds, at which the lease clock shows this.
pub(super) fn machine_us(At(ms): At) -> u64 {
    ms.saturating_sub(elapsed_ms()) * 1000
}

/// Wait until a point of the monotonic clock.
pub(super) async fn until(at: Option<At>) {
    match at {
        Some(at) => tokio::time::sleep_until(instant(machine_us(at))).await,
        None => std::future::pending().await,
    }
}

fn instant(at_us: u64) -> Instant {
    Instant::now() + Duration::from_micros(at_us.saturating_sub(now_us()))
}
