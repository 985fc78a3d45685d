//! Schedules: what is done to the stores and in which order, as data. One small interpreter plays them
//! ([`super::play`]); here are their steps, how these stand in a scenario file, and the series that a seed makes.

use std::collections::BTreeMap;

use chrono::Datelike;
use locks::action::{Action, Wait};
use locks::ids::Endpoint;
use serde_json::{Value, json};

use super::sandbox::wire::{BIGINT, Bound, TEXT, TIMESTAMPTZ};

/// How long a scenario file's step may take that names a limit, in milliseconds.
const LIMIT_MS: u64 = 5000;

/// One schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Its name: `3`, `5-2`, `seed-17`.
    pub name: String,
    /// What happens in it, in a line.
    pub title: String,
    /// What is done.
    pub steps: Vec<Step>,
}

/// A replica of the exercise.
pub type Replica = &'static str;

/// A session of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session {
    /// Whose.
    pub replica: Replica,
    /// The grader's own statements go through it, not the learner's.
    pub own: bool,
}

/// The session of a replica's in which the learner's statement runs.
pub const fn of(replica: Replica) -> Session {
    Session { replica, own: false }
}

/// The session in which the grader acts as that replica.
pub const fn own(replica: Replica) -> Session {
    Session { replica, own: true }
}

/// A parameter of the learner's statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Text.
    Text(String),
    /// Any bytes (Redis only).
    Bytes(Vec<u8>),
    /// An integer.
    Int(i64),
    /// The replica's own clock when it is sent, which is so many milliseconds ahead.
    Clock(i64),
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begin a transaction.
    Begin(Session),
    /// Commit it.
    Commit(Session),
    /// Undo it.
    Rollback(Session),
    /// Change a setting of a session.
    Set(Session, &'static str, String),
    /// The learner's statement or script, and its answer.
    Submit(Replica, Vec<Arg>),
    /// The same, not waiting for the answer; up to that gate, if there is one.
    Send(Replica, Vec<Arg>, Option<&'static str>),
    /// A statement of the grader's own as that replica, not waiting for the answer.
    Own(Replica, String),
    /// Wait until what that session was sent waits for a lock, or is answered.
    Settle(Session),
    /// The answer to what that session was sent.
    Answer(Session),
    /// Let a replica pass the gate at which it waits.
    Pass(Replica),
    /// Wait, in milliseconds.
    Wait(u64),
    /// Every expiry comes nearer by so many milliseconds.
    Elapse(i64),
    /// A statement of nobody's.
    Sql(String),
    /// A command of nobody's.
    Redis(Vec<Vec<u8>>),
}

impl Arg {
    /// As text.
    pub fn text(text: &str) -> Arg {
        Arg::Text(text.to_owned())
    }

    /// As Postgres takes it; `now_us` is the wall clock in microseconds since the Unix epoch.
    pub fn bound(&self, now_us: i64) -> Bound {
        match self {
            Arg::Text(text) => Bound { oid: TEXT, text: text.clone() },
            Arg::Bytes(bytes) => Bound { oid: TEXT, text: String::from_utf8_lossy(bytes).into_owned() },
            Arg::Int(number) => Bound { oid: BIGINT, text: number.to_string() },
            Arg::Clock(ahead_ms) => {
                let at = chrono::DateTime::from_timestamp_micros(now_us + ahead_ms * 1000).unwrap_or_default();
                Bound { oid: TIMESTAMPTZ, text: at.format("%Y-%m-%d %H:%M:%S%.6f+00").to_string() }
            }
        }
    }

    /// As Redis takes it.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::Text(text) => text.clone().into_bytes(),
            Arg::Bytes(bytes) => bytes.clone(),
            Arg::Int(number) | Arg::Clock(number) => number.to_string().into_bytes(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Arg::Text(text) => json!(text),
            Arg::Bytes(bytes) => json!(printable(bytes)),
            Arg::Int(number) => json!(number),
            Arg::Clock(ahead_ms) => json!({ "clock_ms": ahead_ms }),
        }
    }
}

impl Step {
    /// As the event log and a scenario file have it.
    pub fn action(&self) -> Action {
        let session = |session: &Session, what: &[(&str, Value)]| {
            let mut fields = BTreeMap::from([("replica".to_owned(), json!(session.replica))]);
            if session.own {
                fields.insert("own".to_owned(), json!(true));
            }
            fields.extend(what.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            Action::Session(fields)
        };
        let with = |args: &[Arg]| json!(args.iter().map(Arg::json).collect::<Vec<_>>());
        match self {
            Step::Begin(by) => session(by, &[("do", json!("begin"))]),
            Step::Commit(by) => session(by, &[("do", json!("commit"))]),
            Step::Rollback(by) => session(by, &[("do", json!("rollback"))]),
            Step::Set(by, name, value) => session(by, &[("set", json!({ *name: value }))]),
            Step::Submit(by, args) => session(&of(by), &[("do", json!("submit")), ("with", with(args))]),
            Step::Send(by, args, None) => session(&of(by), &[("do", json!("send")), ("with", with(args))]),
            Step::Send(by, args, Some(gate)) => {
                session(&of(by), &[("do", json!("send")), ("with", with(args)), ("until", json!(gate))])
            }
            Step::Own(by, sql) => session(&own(by), &[("do", json!("send")), ("sql", json!(sql))]),
            Step::Settle(by) => Action::Wait(Wait::Blocked { replica: by.replica.to_owned(), limit_ms: LIMIT_MS }),
            Step::Answer(by) => session(by, &[("do", json!("answer"))]),
            Step::Pass(by) => session(&of(by), &[("do", json!("pass"))]),
            Step::Wait(ms) => Action::Wait(Wait::Ms(*ms)),
            Step::Elapse(ms) => Action::Elapse { ms: ms.unsigned_abs() },
            Step::Sql(sql) => Action::Sql(sql.clone()),
            Step::Redis(parts) => Action::Redis { command: command(parts), node: Endpoint::Redis(1) },
        }
    }
}

/// A command of Redis as people write it.
pub fn command(parts: &[Vec<u8>]) -> String {
    let quoted = |part: &Vec<u8>| {
        let text = printable(part);
        if text.is_empty() || text.contains([' ', '\\', '"']) { format!("\"{text}\"") } else { text }
    };
    parts.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Bytes as text: those that are none as `\x00`, and `\` as `\\`.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// The bytes of such a text.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        rest = match escaped.strip_prefix('x') {
            Some(hex) => {
                bytes.push(u8::from_str_radix(hex.get(..2)?, 16).ok()?);
                hex.get(2..)?
            }
            None => {
                bytes.push(b'\\');
                escaped.strip_prefix('\\')?
            }
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

/// A time zone as Postgres takes it. `summer time ends in 20 min` (or in -20) is one whose summer time of one hour does,
/// as POSIX writes it; every other is a name.
pub fn zone(name: &str) -> String {
    let ends =
        name.strip_prefix("summer time ends in ").and_then(|rest| rest.strip_suffix(" min")?.parse::<i32>().ok());
    let Some(in_min) = ends else { return name.to_owned() };
    // The end is told in summer time.
    let end = chrono::Utc::now() + chrono::Duration::minutes(i64::from(in_min) + 60);
    let begin = end - chrono::Duration::days(90);
    // Days are counted as if there were no 29th of February.
    let day = |at: chrono::DateTime<chrono::Utc>| {
        let leap = at.date_naive().leap_year() && at.ordinal() > 59;
        at.ordinal() - u32::from(leap)
    };
    format!("AAA0BBB,J{}/0,J{}/{}", day(begin), day(end), end.format("%H:%M:%S"))
}

/// A series of numbers that a seed makes: the same seed, the same series, on every machine.
pub struct Dice(u64);

impl Dice {
    /// The series of that seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `least` to `most`.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        least + (self.next() % (most - least + 1).unsigned_abs()) as i64
    }

    /// So often in a hundred.
    pub fn percent(&mut self, of_hundred: i64) -> bool {
        self.between(1, 100) <= of_hundred
    }

    /// One of these.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.between(0, of.len() as i64 - 1) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_series() {
        let series = |seed| {
            (0..5)
                .map({
                    let mut dice = Dice::new(seed);
                    move |_| dice.between(-3, 9)
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(series(7), series(7));
        assert_ne!(series(7), series(8));
        assert!(series(7).iter().all(|number| (-3..=9).contains(number)));
    }

    #[test]
    fn commands_read_as_people_write_them() {
        let parts = [b"SET".to_vec(), b"lock:a".to_vec(), vec![0, 0xff, b' '], Vec::new()];
        for text in [&b"\\x41\\"[..], b"\0\xff", b"a-1.c%w*[x]"] {
            assert_eq!(bytes(&printable(text)).as_deref(), Some(text));
        }
        assert!(bytes("\\").is_none() && bytes("\\x4").is_none() && bytes("\\n").is_none());
        assert_eq!(command(&parts), "SET lock:a \"\\x00\\xff \" \"\"");
    }
}
