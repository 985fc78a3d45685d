//! Names that the event log, the strategies and the pages share. Each is a small value that prints as
//! people say it and serialises as that same text, so that a log can be read with the naked eye.

use borsh::{BorshDeserialize, BorshSerialize};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name could not be read back from its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {wanted}")]
pub struct BadName {
    /// What was read.
    pub text: String,
    /// What was expected, in words.
    pub wanted: &'static str,
}

/// Serialise a type as the text that `Display` gives, and read it with `FromStr`.
macro_rules! as_text {
    ($t:ty) => {
        impl From<$t> for String {
            fn from(value: $t) -> String {
                value.to_string()
            }
        }
        impl TryFrom<String> for $t {
            type Error = BadName;
            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }
    };
}
pub(crate) use as_text;

/// One logical firing of a schedule: the unit that must happen once. Prints as `settle-invoices@1764450000000`.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Slot {
    /// Name of the schedule in the catalog.
    pub schedule: String,
    /// Fire time, in milliseconds since the Unix epoch (never the time a process started).
    pub fire_ms: i64,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.schedule, self.fire_ms)
    }
}

impl FromStr for Slot {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        text.rsplit_once('@')
            .and_then(|(schedule, ms)| Some(Slot { schedule: schedule.to_owned(), fire_ms: ms.parse().ok()? }))
            .ok_or_else(|| BadName { text: text.to_owned(), wanted: "a slot, as `schedule@milliseconds`" })
    }
}
as_text!(Slot);

/// One replica's handling of one slot. Prints as `A.2.17`: replica, incarnation, running number.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct AttemptId {
    /// The replica's name.
    pub replica: String,
    /// Which process of that name, counted from 1.
    pub incarnation: u32,
    /// Running number within the process, counted from 1.
    pub n: u32,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.replica, self.incarnation, self.n)
    }
}

impl FromStr for AttemptId {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = || BadName { text: text.to_owned(), wanted: "an attempt, as `replica.incarnation.number`" };
        let mut parts = text.rsplitn(3, '.');
        let n = parts.next().and_then(|p| p.parse().ok()).ok_or_else(bad)?;
        let incarnation = parts.next().and_then(|p| p.parse().ok()).ok_or_else(bad)?;
        let replica = parts.next().ok_or_else(bad)?.to_owned();
        Ok(AttemptId { replica, incarnation, n })
    }
}
as_text!(AttemptId);

/// The name under which a lock stands in a store: the schedule's name, or `schedule@ms` for slot scope.
pub type LockName = String;

/// What an attempt proves its ownership with: 160 random bits in hexadecimal, fresh for each acquisition.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(transparent)]
pub struct Token(pub String);

impl Token {
    /// The proof for a further try of the same acquisition: another one, of the same random bits.
    #[must_use]
    pub fn next(&self) -> Token {
        let mut text: Vec<char> = self.0.chars().collect();
        if !text.is_empty() {
            text.rotate_left(1);
        }
        Token(text.into_iter().collect())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command of one strategy value, counted from 1; unique within (replica, incarnation) together with
/// the schedule whose strategy sent it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(transparent)]
pub struct CommandId(pub u32);

/// Where a connection of a replica leads.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Endpoint {
    /// The arena's Postgres.
    Postgres,
    /// A Redis node, 1 to 5.
    Redis(u8),
    /// The replication link of the failover pair whose primary is that node.
    RedisReplica(u8),
    /// The bank, an HTTP service with a store of its own.
    Bank,
}

impl Endpoint {
    /// How many Redis nodes an arena has.
    pub const REDIS_NODES: u8 = 5;

    /// Every endpoint that a replica connects to.
    pub fn of_replicas() -> impl Iterator<Item = Endpoint> {
        [Endpoint::Postgres].into_iter().chain((1..=Self::REDIS_NODES).map(Endpoint::Redis)).chain([Endpoint::Bank])
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Postgres => f.write_str("postgres"),
            Endpoint::Redis(n) => write!(f, "redis-{n}"),
            Endpoint::RedisReplica(n) => write!(f, "redis-{n}/replica"),
            Endpoint::Bank => f.write_str("bank"),
        }
    }
}

impl FromStr for Endpoint {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        let node = |digits: &str| digits.parse().ok().filter(|n| (1..=Endpoint::REDIS_NODES).contains(n));
        let found = match text {
            "postgres" => Some(Endpoint::Postgres),
            "bank" => Some(Endpoint::Bank),
            _ => text.strip_prefix("redis-").and_then(|rest| match rest.strip_suffix("/replica") {
                Some(digits) => node(digits).map(Endpoint::RedisReplica),
                None => node(rest).map(Endpoint::Redis),
            }),
        };
        found.ok_or_else(|| BadName {
            text: text.to_owned(),
            wanted: "an endpoint: postgres, redis-1 to redis-5, redis-1/replica or bank",
        })
    }
}
as_text!(Endpoint);

/// Where effects land.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    BorshSerialize,
    BorshDeserialize,
    Default,
)]
#[serde(rename_all = "snake_case")]
pub enum SinkName {
    /// An external HTTP service with a store of its own.
    #[default]
    Bank,
    /// A table in the arena's Postgres.
    Ledger,
}

impl fmt::Display for SinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SinkName::Bank => "bank",
            SinkName::Ledger => "ledger",
        })
    }
}

/// A point on a replica's own monotonic clock, in milliseconds; a model counts 0, 1, 2 and so on.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    BorshSerialize,
    BorshDeserialize,
    Default,
)]
#[serde(transparent)]
pub struct At(pub u64);

impl At {
    /// This point, `ms` milliseconds later.
    pub fn plus(self, ms: u64) -> At {
        At(self.0.saturating_add(ms))
    }
    /// This point, `ms` milliseconds earlier (not before the clock's zero).
    pub fn minus(self, ms: u64) -> At {
        At(self.0.saturating_sub(ms))
    }
}

/// A named point where a replica waits until it is let pass.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Gate {
    /// Before a command of that name is sent; `None` stands for any command.
    Send(Option<String>),
    /// Before the critical section is entered.
    Enter,
    /// Before the effect is sent, behind the last check of the grant.
    Effect,
    /// Before the critical section is left.
    Leave,
    /// Behind the finish: an attempt that waits here is final.
    Done,
}

impl Gate {
    /// Command names that a gate may carry.
    pub const COMMANDS: [&'static str; 14] = [
        "acquire", "renew", "release", "mint", "publish", "complete", "rescue", "look", "key", "ensure", "begin",
        "rollback", "expire", "confirm",
    ];
    /// Commands that wait at their gate only where the set-up names it: they prepare, repeat or clear up, so
    /// that under every strategy an attempt's first gate is the one before it asks for the lock.
    pub const USUALLY_OPEN: [&'static str; 6] = ["renew", "mint", "look", "ensure", "begin", "rollback"];

    /// Does a gate named in a script mean this gate of a replica? `send` means any command.
    pub fn covers(&self, reached: &Gate) -> bool {
        self == reached || matches!((self, reached), (Gate::Send(None), Gate::Send(_)))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gate::Send(None) => f.write_str("send"),
            Gate::Send(Some(command)) => write!(f, "send:{command}"),
            Gate::Enter => f.write_str("enter"),
            Gate::Effect => f.write_str("effect"),
            Gate::Leave => f.write_str("leave"),
            Gate::Done => f.write_str("done"),
        }
    }
}

impl FromStr for Gate {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        Ok(match text {
            "send" => Gate::Send(None),
            "enter" => Gate::Enter,
            "effect" => Gate::Effect,
            "leave" => Gate::Leave,
            "done" => Gate::Done,
            _ => match text.strip_prefix("send:") {
                Some(command) if Gate::COMMANDS.contains(&command) => Gate::Send(Some(command.to_owned())),
                _ => {
                    return Err(BadName {
                        text: text.to_owned(),
                        wanted: "a gate: send, send:<command>, enter, effect, leave or done; commands: acquire, \
                                 renew, release, mint, publish, complete, rescue, look, key, ensure, begin, rollback, \
                                 expire, confirm",
                    });
                }
            },
        })
    }
}
as_text!(Gate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_what_they_print() {
        for text in ["settle-invoices@1764450000000", "a@b@-3"] {
            assert_eq!(text.parse::<Slot>().unwrap().to_string(), text);
        }
        for text in ["A.1.3", "a.b.12.4"] {
            assert_eq!(text.parse::<AttemptId>().unwrap().to_string(), text);
        }
        for endpoint in Endpoint::of_replicas().chain([Endpoint::RedisReplica(1)]) {
            assert_eq!(endpoint.to_string().parse::<Endpoint>().unwrap(), endpoint);
        }
        for text in ["send", "send:acquire", "enter", "effect", "leave", "done"] {
            assert_eq!(text.parse::<Gate>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_name_is_refused() {
        assert!("settle-invoices".parse::<Slot>().is_err());
        assert!("A.1".parse::<AttemptId>().is_err());
        assert!("redis-6".parse::<Endpoint>().is_err());
        assert!("send:drop".parse::<Gate>().is_err());
    }
}
