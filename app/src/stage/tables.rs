//! Rows and keys as the stores themselves report them. Nothing here is derived from what replicas say.

use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeMap;

use locks::event::{Event, Kind};
use locks::ids::{AttemptId, Endpoint, Slot};
use locks::machine::Outcome;
use locks::sorted::Map;
use serde_json::Value;

/// Most rows of a table that are kept.
const MOST: usize = 24;

/// A row, with the event that wrote it last.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Row {
    /// The event.
    pub seq: u64,
    /// Its key, as text.
    pub key: String,
    /// Its columns.
    #[borsh(serialize_with = "locks::packed::fields::write", deserialize_with = "locks::packed::fields::read")]
    pub cells: BTreeMap<String, Value>,
}

/// A key of a Redis node.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Key {
    /// The event that read it.
    pub seq: u64,
    /// Its value.
    pub value: String,
    /// PTTL as Redis answers it, in milliseconds.
    pub pttl_ms: i64,
    /// When it was read.
    pub at_us: u64,
}

/// An audit row.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Audit {
    /// The event that tells of it.
    pub seq: u64,
    /// Whose.
    pub attempt: AttemptId,
    /// For which slot.
    pub slot: Slot,
    /// With which epoch.
    pub epoch: Option<u64>,
    /// What it states.
    pub outcome: Outcome,
}

/// Rows and keys, the latest of each table.
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Tables {
    /// Rows by table, in order of their last change.
    pub rows: Map<String, Vec<Row>>,
    /// Keys by Redis node.
    pub keys: Map<Endpoint, Map<String, Key>>,
    /// Audit rows, in order of their commit.
    pub audit: Vec<Audit>,
}

impl Tables {
    pub(super) fn push(&mut self, event: &Event, endpoint: &Endpoint) {
        match &event.kind {
            Kind::Row { table, key, row } => {
                let rows = self.rows.or_default(table.clone());
                rows.retain(|old| old.key != *key);
                if let Some(cells) = row {
                    rows.push(Row { seq: event.seq, key: key.clone(), cells: cells.clone() });
                    if rows.len() > MOST {
                        rows.remove(0);
                    }
                }
            }
            Kind::Key { key, value, pttl_ms } => {
                let keys = self.keys.or_default(*endpoint);
                match value {
                    None => _ = keys.remove(key),
                    Some(value) => {
                        let read = Key { seq: event.seq, value: value.clone(), pttl_ms: *pttl_ms, at_us: event.at_us };
                        keys.insert(key.clone(), read);
                    }
                }
            }
            Kind::Audited { attempt, slot, outcome, epoch } => {
                self.audit.push(Audit {
                    seq: event.seq,
                    attempt: attempt.clone(),
                    slot: slot.clone(),
                    epoch: *epoch,
                    outcome: *outcome,
                });
                if self.audit.len() > MOST {
                    self.audit.remove(0);
                }
            }
            _ => {}
        }
    }
}
