//! Does an event fit a pattern? By kind, by the replica that it is of or about, and by the values of its
//! fields as the log writes them.

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
            && self.fields.iter().all(|(field, value)| written.get(field) == Some(value))
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
}
