//! The kinds of events and their fields, as patterns may name them. A misspelt field would match nothing,
//! and an expectation with `max = 0` would then hold whatever happened: so they are checked.

/// Every kind of [`crate::event::Kind`] and its fields.
pub(super) const KINDS: &[(&str, &[&str])] = &[
    ("began", &["run", "name", "title", "tag", "script", "wall_ms", "setup", "catalog"]),
    ("set", &["change", "setup"]),
    ("catalog_changed", &["catalog"]),
    ("step_began", &["step", "action"]),
    ("step_ended", &["step", "problem"]),
    ("slot_fired", &["slot", "lock", "to"]),
    ("process", &["process", "pid", "incarnation", "state"]),
    ("fault_began", &["fault", "what"]),
    ("fault_ended", &["fault", "what"]),
    ("outsider", &["to", "text", "answer"]),
    ("trouble", &["problem"]),
    ("ended", &["why"]),
    ("ready", &[]),
    ("clock_set", &["shift_ms", "elapsed_ms"]),
    ("session_opened", &["endpoint", "session", "port"]),
    ("session_closed", &["endpoint", "session", "why"]),
    ("slot_due", &["attempt", "slot", "lock", "by_timer"]),
    ("task", &["attempt", "from", "to"]),
    ("strategy", &["attempt", "schedule", "from", "on", "to", "timer_ms"]),
    ("gate_reached", &["attempt", "gate"]),
    ("gate_passed", &["attempt", "gate"]),
    ("sent", &["attempt", "lock", "command", "name", "to", "session", "text", "params", "timeout_ms"]),
    ("answered", &["attempt", "lock", "command", "name", "reply", "took_us"]),
    ("granted", &["attempt", "lock", "token", "epoch", "trusted_until_us", "nodes"]),
    ("extended", &["attempt", "trusted_until_us"]),
    ("entered", &["attempt", "lock", "epoch"]),
    ("stop_asked", &["attempt"]),
    ("work_ended", &["attempt", "how"]),
    ("effect_sent", &["attempt", "slot", "sink", "epoch", "text"]),
    ("effect_answered", &["attempt", "answer", "took_us"]),
    ("left", &["attempt", "lock", "why"]),
    ("finished", &["attempt", "slot", "outcome", "why"]),
    ("link_passed", &["session", "command", "name", "attempt", "direction", "kept_us"]),
    ("store_says", &["lock", "state", "token", "owner", "epoch", "ttl_ms"]),
    ("row", &["table", "key", "row"]),
    ("key", &["key", "value", "pttl_ms"]),
    ("audited", &["attempt", "slot", "outcome", "epoch"]),
    ("effect_settled", &["attempt", "lock", "slot", "epoch", "answer", "nth"]),
];

/// The fields of a kind, if there is such a kind.
pub(super) fn fields_of(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, fields)| *fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;

    /// serde itself names the variants of an enum when it meets one that does not exist.
    #[test]
    fn the_table_has_every_kind_of_event() {
        let error = serde_json::from_str::<Kind>(r#"{"kind":"?"}"#).unwrap_err().to_string();
        let kinds: Vec<&str> = error.split('`').skip(1).step_by(2).skip(1).collect();
        assert_eq!(kinds, KINDS.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), "{error}");
    }

    /// serde names a missing field, one at a time: each must stand in the table.
    #[test]
    fn the_table_has_every_field_that_an_event_must_have() {
        for (kind, fields) in KINDS {
            let mut event = serde_json::json!({ "kind": kind });
            for _ in 0..20 {
                let Err(error) = serde_json::from_value::<Kind>(event.clone()) else { break };
                let error = error.to_string();
                let Some(field) = error.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) else {
                    // A value of the wrong type: the fields before it have been named.
                    break;
                };
                assert!(fields.contains(&field), "{kind} has a field {field}");
                event[field] = sample(field);
            }
        }
    }

    /// A value that many fields take.
    fn sample(field: &str) -> serde_json::Value {
        match field {
            "attempt" => "A.1.1".into(),
            "slot" => "settle-invoices@1".into(),
            "step" | "pid" | "incarnation" | "fault" | "port" | "command" | "took_us" | "kept_us" | "nth" => 1.into(),
            "wall_ms" | "pttl_ms" | "trusted_until_us" => 1.into(),
            "catalog" | "to" | "nodes" | "params" => serde_json::json!([]),
            "setup" | "change" => serde_json::json!({}),
            "gate" => "enter".into(),
            "direction" => "reply".into(),
            "by_timer" => true.into(),
            "outcome" => "lost".into(),
            "sink" => "bank".into(),
            "endpoint" => "bank".into(),
            "answer" => "accepted".into(),
            _ => "text".into(),
        }
    }
}
