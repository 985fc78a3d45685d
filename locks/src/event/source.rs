//! Who says what the log holds. Each source has one text, which is also its place in the order of events.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

use crate::ids::{BadName, Endpoint, SinkName, as_text};

/// Who says so. Prints as `runner`, `replica A.1`, `link A postgres`, `store redis-1`, `sink bank`, `judge`.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Source {
    /// The runner: steps, processes, faults.
    Runner,
    /// A replica's process.
    Replica {
        /// Its name.
        name: String,
        /// Which process of that name, from 1.
        incarnation: u32,
    },
    /// A link.
    Link {
        /// The replica's name.
        replica: String,
        /// Where it leads.
        endpoint: Endpoint,
    },
    /// A store, read by the observer.
    Store(Endpoint),
    /// A sink.
    Sink(SinkName),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Runner => f.write_str("runner"),
            Source::Replica { name, incarnation } => write!(f, "replica {name}.{incarnation}"),
            Source::Link { replica, endpoint } => write!(f, "link {replica} {endpoint}"),
            Source::Store(endpoint) => write!(f, "store {endpoint}"),
            Source::Sink(sink) => write!(f, "sink {sink}"),
        }
    }
}

impl std::str::FromStr for Source {
    type Err = BadName;
    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = || BadName { text: text.to_owned(), wanted: "a source of events" };
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        Ok(match (first, rest) {
            ("runner", "") => Source::Runner,
            ("replica", rest) => {
                let (name, incarnation) = rest.rsplit_once('.').ok_or_else(bad)?;
                Source::Replica { name: name.to_owned(), incarnation: incarnation.parse().map_err(|_| bad())? }
            }
            ("link", rest) => {
                let (replica, endpoint) = rest.rsplit_once(' ').ok_or_else(bad)?;
                Source::Link { replica: replica.to_owned(), endpoint: endpoint.parse()? }
            }
            ("store", rest) => Source::Store(rest.parse()?),
            ("sink", "bank") => Source::Sink(SinkName::Bank),
            ("sink", "ledger") => Source::Sink(SinkName::Ledger),
            _ => return Err(bad()),
        })
    }
}
as_text!(Source);
