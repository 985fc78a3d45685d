//! What the arena's triggers tell of rows, as events: any row as it is from now on, an audit row as what
//! it states, a ledger row as what that sink took or rejected. Times are the rows' own, where they have
//! one: a notification comes later than the commit it tells of.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use locks::event::{EffectAnswer, Kind, Source};
use locks::guard::Guard;
use locks::ids::{AttemptId, Endpoint, SinkName, Slot};
use locks::machine::Outcome;
use serde::Deserialize;
use serde_json::Value;

use crate::clock;

/// One event to record: earliest time, latest time, source, kind.
pub(super) type Told = (u64, Option<u64>, Source, Kind);

#[derive(Deserialize)]
struct Notice {
    table: String,
    key: String,
    row: Option<BTreeMap<String, Value>>,
}

/// An audit row, as the trigger writes it.
#[derive(Deserialize)]
struct Audit {
    attempt: AttemptId,
    schedule: String,
    fire_at: DateTime<Utc>,
    epoch: Option<u64>,
    outcome: Outcome,
    at: DateTime<Utc>,
}

/// A ledger row, as the trigger writes it.
#[derive(Deserialize)]
struct Ledger {
    attempt: AttemptId,
    lock: String,
    schedule: String,
    fire_at: DateTime<Utc>,
    epoch: Option<u64>,
    accepted: bool,
    rejected_by: Option<Guard>,
    at: DateTime<Utc>,
}

/// Reads notices; remembers how many effects of each slot the ledger took.
#[derive(Default)]
pub(super) struct Rows {
    accepted: HashMap<Slot, u32>,
}

impl Rows {
    /// The events that one notice amounts to.
    pub(super) fn told(&mut self, payload: &str) -> Vec<Told> {
        let now_us = clock::now_us();
        let notice: Notice = match serde_json::from_str(payload) {
            Ok(notice) => notice,
            Err(error) => {
                tracing::error!(%error, payload, "a notice that is none");
                return Vec::new();
            }
        };
        let store = Source::Store(Endpoint::Postgres);
        let mut told = Vec::new();
        if let Some(row) = &notice.row {
            let row = Value::Object(row.clone().into_iter().collect());
            let more = match notice.table.as_str() {
                "audit" => audited(row).map(|(at, kind)| (at, store.clone(), kind)),
                "ledger" => self.settled(row).map(|(at, kind)| (at, Source::Sink(SinkName::Ledger), kind)),
                _ => None,
            };
            told.extend(more.map(|(at, source, kind)| (monotonic_us(at).min(now_us), Some(now_us), source, kind)));
        }
        told.push((now_us, None, store, Kind::Row { table: notice.table, key: notice.key, row: notice.row }));
        told
    }

    fn settled(&mut self, row: Value) -> Option<(DateTime<Utc>, Kind)> {
        let ledger: Ledger = understood(row)?;
        let slot = Slot { schedule: ledger.schedule, fire_ms: ledger.fire_at.timestamp_millis() };
        let nth = self.accepted.entry(slot.clone()).or_default();
        *nth += u32::from(ledger.accepted);
        let answer = match ledger.rejected_by {
            Some(guard) => EffectAnswer::Rejected(guard),
            None => EffectAnswer::Accepted,
        };
        let (attempt, lock, epoch, nth) = (ledger.attempt, ledger.lock, ledger.epoch, *nth);
        Some((ledger.at, Kind::EffectSettled { attempt, lock, slot, epoch, answer, nth }))
    }
}

fn audited(row: Value) -> Option<(DateTime<Utc>, Kind)> {
    let audit: Audit = understood(row)?;
    let slot = Slot { schedule: audit.schedule, fire_ms: audit.fire_at.timestamp_millis() };
    let kind = Kind::Audited { attempt: audit.attempt, slot, outcome: audit.outcome, epoch: audit.epoch };
    Some((audit.at, kind))
}

fn understood<T: serde::de::DeserializeOwned>(row: Value) -> Option<T> {
    serde_json::from_value(row.clone())
        .inspect_err(|error| tracing::error!(%error, %row, "a row that is not as its table says"))
        .ok()
}

/// A time of the machine's wall clock, which the arena's database shares, on the monotonic clock.
fn monotonic_us(at: DateTime<Utc>) -> u64 {
    let ago_us = (Utc::now() - at).num_microseconds().unwrap_or(0);
    clock::now_us().saturating_sub(u64::try_from(ago_us).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(rows: &mut Rows, payload: &str) -> Vec<Kind> {
        rows.told(payload).into_iter().map(|(.., kind)| kind).collect()
    }

    #[test]
    fn a_ledger_row_is_what_the_sink_took() {
        let payload = r#"{"table":"ledger","key":"1","op":"insert","row":{"id":1,"attempt":"A.1.1","lock":"settle-invoices",
            "schedule":"settle-invoices","fire_at":"2026-01-02T03:04:05.678+00:00","replica":"A","epoch":7,"accepted":true,
            "rejected_by":null,"at":"2026-01-02T03:04:05.9+00:00"}}"#;
        let mut rows = Rows::default();
        for wanted in 1..=2 {
            let kinds = kinds(&mut rows, payload);
            let Kind::EffectSettled { slot, nth, answer: EffectAnswer::Accepted, epoch: Some(7), .. } = &kinds[0]
            else {
                panic!("{kinds:?}");
            };
            assert_eq!((slot.fire_ms, *nth), (1_767_323_045_678, wanted));
            assert!(matches!(&kinds[1], Kind::Row { table, .. } if table == "ledger"));
        }
    }

    #[test]
    fn an_audit_row_is_what_a_replica_states() {
        let payload = r#"{"table":"audit","key":"1","op":"insert","row":{"id":1,"attempt":"A.1.1",
            "schedule":"settle-invoices","fire_at":"2026-01-02T03:04:05+00:00","replica":"A","epoch":null,
            "outcome":"skipped","at":"2026-01-02T03:04:05.9+00:00"}}"#;
        let kinds = kinds(&mut Rows::default(), payload);
        assert!(matches!(&kinds[0], Kind::Audited { outcome: Outcome::Skipped, epoch: None, .. }), "{kinds:?}");
    }

    #[test]
    fn a_deleted_row_is_gone() {
        let kinds = kinds(&mut Rows::default(), r#"{"table":"locks","key":"x","op":"delete","row":null}"#);
        assert!(matches!(&kinds[..], [Kind::Row { row: None, .. }]), "{kinds:?}");
    }
}
