//! Does an event fit a pattern? By kind, by the replica that it is of or about, and by the values of its
//! fields as the log writes them. Of a table only the keys that the pattern names are looked at.

use serde_json::Value;

use crate::action::EventPattern;
use crate::event::Event;

impl EventPattern {
    /// Is it an event of this kind, of this replica if one is named, with these values?
    pub fn matches(&self, event: &Event) -> bool {
        if self.replica.as_deref().is_some_and(|name| event.replica() != Some(name)) {
            return false;
        }
        // The log's own form is what patterns are written in; a kind is always an object.
        let Ok(Value::Object(written)) = serde_json::to_value(&event.kind) else { return false };
        written.get("kind").and_then(Value::as_str) == Some(&self.kind)
            && self.fields.iter().all(|(field, value)| written.get(field).is_some_and(|written| fits(value, written)))
    }

    /// How much of the pattern an event of its kind fits; `None`: it is of another kind.
    pub fn nearness(&self, event: &Event) -> Option<usize> {
        let Ok(Value::Object(written)) = serde_json::to_value(&event.kind) else { return None };
        if written.get("kind").and_then(Value::as_str) != Some(&self.kind) {
            return None;
        }
        let fields = self.fields.iter();
        let fitting = fields.filter(|(field, value)| written.get(*field).is_some_and(|written| fits(value, written)));
        let of_replica = self.replica.is_some() && event.replica() == self.replica.as_deref();
        Some(fitting.count() + usize::from(of_replica))
    }
}

fn fits(wanted: &Value, written: &Value) -> bool {
    match (wanted, written) {
        (Value::Object(wanted), Value::Object(written)) => {
            wanted.iter().all(|(key, value)| written.get(key).is_some_and(|written| fits(value, written)))
        }
        _ => wanted == written,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::event::{Kind, Source};

    fn left(replica: &str) -> Event {
        let kind = Kind::Left {
            attempt: format!("{replica}.1.1").parse().unwrap(),
            lock: "settle-invoices".to_owned(),
            why: "effect accepted".to_owned(),
        };
        Event {
            seq: 1,
            at_us: 1,
            until_us: None,
            source: Source::Replica { name: replica.to_owned(), incarnation: 1 },
            kind,
        }
    }

    fn pattern(kind: &str, replica: Option<&str>, fields: &[(&str, &str)]) -> EventPattern {
        let fields: BTreeMap<_, _> =
            fields.iter().map(|(field, value)| ((*field).to_owned(), Value::from(*value))).collect();
        EventPattern { kind: kind.to_owned(), replica: replica.map(str::to_owned), fields }
    }

    #[test]
    fn kind_replica_and_fields_must_all_fit() {
        assert!(pattern("left", None, &[]).matches(&left("A")));
        assert!(pattern("left", Some("A"), &[("why", "effect accepted"), ("attempt", "A.1.1")]).matches(&left("A")));
        assert!(!pattern("left", Some("B"), &[]).matches(&left("A")));
        assert!(!pattern("entered", Some("A"), &[]).matches(&left("A")));
        assert!(!pattern("left", None, &[("why", "grant over")]).matches(&left("A")));
        assert!(!pattern("left", None, &[("epoch", "1")]).matches(&left("A")), "a field that the event has not");
    }

    #[test]
    fn of_a_table_only_named_keys_are_looked_at() {
        let kind = Kind::Answered {
            attempt: None,
            lock: "s".to_owned(),
            command: crate::ids::CommandId(1),
            name: "release".to_owned(),
            reply: crate::event::Reply::Rows { affected: 0, row: Vec::new() },
            took_us: 1,
        };
        let event = Event { kind, ..left("A") };
        let rows = |affected: u64| EventPattern {
            kind: "answered".to_owned(),
            replica: None,
            fields: BTreeMap::from([("reply".to_owned(), serde_json::json!({ "rows": { "affected": affected } }))]),
        };
        assert!(rows(0).matches(&event));
        assert!(!rows(1).matches(&event));
    }
}
