//! What was done to a live run while the page shows another moment of it: said in words, because it is not
//! seen.

use serde_json::Value;

use super::words;

/// The action as scenario files write it, and how far the run is ahead of what is shown.
pub fn in_live_run(action: &Value, ahead_us: u64) -> String {
    let (name, what) = action.as_object().and_then(|action| action.iter().next()).unzip();
    let name = name.map_or("", String::as_str);
    let verb = match name {
        "pause" => "Stopped",
        "resume" => "Continued",
        "kill" => "Killed",
        "start" => "Started",
        "cancel" => "Cancelled the attempt of",
        "add" => "Added",
        "remove" => "Removed",
        "fire" => "Fired a slot of",
        "set" => "Set",
        "cut" => "Cut",
        "heal" => "Healed",
        "delay" => "Delayed",
        "hold" => "Held",
        "let_go" => "Let go",
        "failover" => "Failed over",
        other => other,
    };
    let mut to = Vec::new();
    if let Some(what) = what {
        named(what, name == "set" || name == "node", &mut to);
    }
    let to = to.join(" ");
    format!("{verb} {to} in the live run, {} ahead of what is shown.", words::short(ahead_us))
}

/// Names and values, in order.
fn named(value: &Value, with_keys: bool, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            if with_keys {
                out.push(key.replace('_', " "));
            }
            named(value, with_keys, out);
        }),
        Value::Array(values) => values.iter().for_each(|value| named(value, with_keys, out)),
        Value::String(text) => out.push(text.clone()),
        other => out.push(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_done_is_said_with_whom_and_how_far_ahead() {
        let said = |action| in_live_run(&action, 3_200_000);
        assert_eq!(said(json!({ "kill": "A" })), "Killed A in the live run, 3.20 s ahead of what is shown.");
        assert!(said(json!({ "fire": { "schedule": "settle-invoices" } })).starts_with("Fired a slot of settle-inv"));
        assert!(said(json!({ "set": { "lease_ms": 5000 } })).starts_with("Set lease ms 5000 in the live run"));
        assert!(said(json!({ "node": { "kill": "redis-3" } })).starts_with("node kill redis-3 in"));
        assert!(said(json!({ "cut": { "replica": "A", "endpoint": "bank" } })).contains("bank"));
    }
}
