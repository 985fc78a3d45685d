//! A schedule of homework, as a stored run shows it: its actors are sessions of a sandbox, not replicas that enter and
//! leave, so that they are told step by step, with what each was answered and what that changed. Made by the server
//! alone.

use std::collections::BTreeMap;

use locks::action::{Action, Wait};
use locks::event::{Event, Kind, Param, Reply};
use serde_json::Value;

use crate::html::{Html, Size};

/// One step, with what came of it.
struct Told {
    /// The event by which it begins.
    seq: u64,
    /// Whose session; `None`: nobody's.
    who: Option<String>,
    what: String,
    answers: Vec<String>,
    changes: Vec<String>,
    /// Why it broke a rule.
    broke: Option<String>,
}

/// The heading and the steps as markup; `None`: the run is no schedule of homework.
pub fn html<'a>(events: impl Iterator<Item = &'a Event>) -> Option<String> {
    let (mut title, mut steps) = ("", Vec::<Told>::new());
    for event in events {
        match (&event.kind, steps.last_mut()) {
            (Kind::Began { title: of, tag, .. }, _) => {
                tag.as_ref().filter(|tag| tag.starts_with("homework/"))?;
                title = of;
            }
            (Kind::StepBegan { action, .. }, _) => steps.push(told(event.seq, action)),
            (Kind::Answered { reply, .. }, Some(step)) => step.answers.push(answer(reply)),
            (Kind::Outsider { answer, .. }, Some(step)) => step.answers.push(answer.clone()),
            (Kind::Row { table, key, row }, Some(step)) => step.changes.push(row_is(table, key, row.as_ref())),
            (Kind::Key { key, value, pttl_ms }, Some(step)) => {
                step.changes.push(key_is(key, value.as_deref(), *pttl_ms));
            }
            (Kind::Trouble { problem }, Some(step)) => step.broke = Some(problem.text.clone()),
            // Whoever has an attempt is a replica, and on the stage.
            (Kind::SlotDue { .. }, _) => return None,
            _ => {}
        }
    }
    (!steps.is_empty()).then(|| shown(title, &steps))
}

fn shown(title: &str, steps: &[Told]) -> String {
    let mut html = Html::new();
    html.element("h2", "sess", title);
    html.element(
        "p",
        "ink2",
        "A schedule of homework: sessions of a sandbox that is gone, step by step. Nobody enters a critical section \
         here. A number shows the log as it was then.",
    );
    html.class("div", "scroll-x sess-t").attr("tabindex", "0").attr("role", "group").attr("aria-label", "The steps");
    html.class("table", "rows tr-t").attr("id", "sessions").open("thead").open("tr");
    for head in ["event", "who", "what is done", "answer", "what it changed"] {
        html.element("th", "", head);
    }
    html.close().close().open("tbody");
    for step in steps {
        html.class("tr", if step.broke.is_some() { "fail" } else { "" });
        let seq = step.seq.to_string();
        html.open("td").class("button", "link num").attr("data-seq", &seq).text(&format!("#{seq}")).close().close();
        html.open("td");
        match &step.who {
            Some(name) => html.badge(Some(name), Size::Small),
            None => html.element("span", "muted", "grader"),
        };
        html.close().element("td", "w", &step.what).open("td");
        html.text(&step.answers.join("; "));
        if let Some(why) = &step.broke {
            html.class("p", "viol").icon("oct", true).text(why).close();
        }
        html.close().element("td", "w", &step.changes.join("; ")).close();
    }
    html.close().close().close();
    html.finish()
}

fn told(seq: u64, action: &Action) -> Told {
    let (who, what) = match action {
        Action::Session(fields) => session(fields),
        Action::Wait(Wait::Ms(ms)) => (None, format!("waits {ms} ms")),
        Action::Wait(Wait::Blocked { replica, .. }) => {
            (None, format!("waits until {replica} waits for a lock, or is answered"))
        }
        Action::Elapse { ms } => (None, format!("lets {ms} ms of every lease pass")),
        Action::Sql(sql) => (None, sql.clone()),
        Action::Redis { command, .. } => (None, command.clone()),
        other => (None, other.to_toml_inline()),
    };
    Told { seq, who, what, answers: Vec::new(), changes: Vec::new(), broke: None }
}

fn session(fields: &BTreeMap<String, Value>) -> (Option<String>, String) {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let with = fields.get("with").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let with = with.iter().map(param).collect::<Vec<_>>().join(", ");
    let what = match text("do") {
        "begin" => "begins a transaction".to_owned(),
        "commit" => "commits".to_owned(),
        "rollback" => "rolls back".to_owned(),
        "answer" => "reads the answer".to_owned(),
        "pass" => "passes the gate".to_owned(),
        "submit" => format!("runs the answer with {with}"),
        "send" if fields.contains_key("own") => format!("sends {}", text("sql")),
        "send" if fields.contains_key("until") => {
            format!("sends the answer with {with}, and waits at {}", text("until"))
        }
        "send" => format!("sends the answer with {with}"),
        _ => match fields.get("set").and_then(Value::as_object).and_then(|set| set.iter().next()) {
            Some((name, value)) => format!("sets {name} to {}", param(value)),
            None => String::new(),
        },
    };
    (Some(text("replica").to_owned()), what)
}

fn param(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(clock) => match clock.get("clock_ms").and_then(Value::as_i64) {
            Some(0) => "its clock".to_owned(),
            Some(ms) => format!("its clock, {ms:+} ms off"),
            None => value.to_string(),
        },
        other => other.to_string(),
    }
}

fn answer(reply: &Reply) -> String {
    match reply {
        Reply::Rows { row, .. } if row.is_empty() => "no row".to_owned(),
        Reply::Rows { row, .. } => format!("row {}", row.iter().map(shown_param).collect::<Vec<_>>().join(", ")),
        Reply::Redis(param) => shown_param(param),
        Reply::Refused { code, message } => format!("{code}: {message}"),
        _ => "none".to_owned(),
    }
}

fn shown_param(param: &Param) -> String {
    match param {
        Param::Null => "nil".to_owned(),
        Param::Int(number) => number.to_string(),
        Param::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn row_is(table: &str, key: &str, row: Option<&BTreeMap<String, Value>>) -> String {
    let Some(row) = row else { return format!("{table} {key}: deleted") };
    let columns = row.iter().map(|(name, value)| format!("{name} {}", param(value)));
    format!("{table} {key}: {}", columns.collect::<Vec<_>>().join(", "))
}

fn key_is(key: &str, value: Option<&str>, pttl_ms: i64) -> String {
    match (value, pttl_ms) {
        (None, _) => format!("{key} is gone"),
        (Some(value), -1) => format!("{key} holds {value}, for ever"),
        (Some(value), ms) => format!("{key} holds {value} for {ms} ms"),
    }
}
