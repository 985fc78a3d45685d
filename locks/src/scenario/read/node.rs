//! One small tree for TOML and JSON, so that files and the HTTP interface share the readers. It keeps
//! where everything stands, and knows nothing of scenarios.

use std::ops::Range;

use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};

use crate::scenario::problem::{hint, list};
use crate::scenario::read::problems::Problems;

/// A value and where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    /// A date or a time, which scenarios never use.
    Time,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table, where it stands, and its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) span: Range<usize>,
    pub(crate) node: Node,
}

impl Node {
    /// The tree of a TOML document; syntax errors are noted as problems.
    pub(crate) fn of_toml(text: &str, problems: &mut Problems) -> Node {
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            problems.add(&error.span().unwrap_or(0..0), format!("not TOML: {}", error.message()), "");
        }
        Node { span: table.span(), value: of_table(table.get_ref()) }
    }

    /// The tree of a JSON value; everything stands at the text's start.
    pub(crate) fn of_json(json: &Json) -> Node {
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i128() {
                Some(int) => Value::Int(int),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Node::of_json).collect()),
            Json::Object(entries) => Value::Table(
                entries
                    .iter()
                    .map(|(key, value)| Entry { key: key.clone(), span: 0..0, node: Node::of_json(value) })
                    .collect(),
            ),
        };
        Node { span: 0..0, value }
    }

    /// The value as JSON; `None` for what JSON, or a scenario, cannot say.
    pub(crate) fn to_json(&self) -> Option<Json> {
        Some(match &self.value {
            Value::Null | Value::Time => return None,
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Int(int) => Json::Number(serde_json::Number::from_i128(*int)?),
            Value::Float(float) => Json::Number(serde_json::Number::from_f64(*float)?),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect::<Option<_>>()?),
            Value::Table(entries) => Json::Object(
                entries.iter().map(|entry| Some((entry.key.clone(), entry.node.to_json()?))).collect::<Option<_>>()?,
            ),
        })
    }

    /// What kind of value this is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a truth value",
            Value::Int(_) => "a number",
            Value::Float(_) => "a fraction",
            Value::Text(_) => "text",
            Value::Time => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// From the first to the last byte of a value whose parts stand in several lines, as tables in TOML do.
    pub(crate) fn extent(&self) -> Range<usize> {
        let parts: Vec<Range<usize>> = match &self.value {
            Value::List(items) => items.iter().map(Node::extent).collect(),
            Value::Table(entries) => {
                entries.iter().flat_map(|entry| [entry.span.clone(), entry.node.extent()]).collect()
            }
            _ => Vec::new(),
        };
        parts.iter().fold(self.span.clone(), |all, part| all.start.min(part.start)..all.end.max(part.end))
    }

    /// Where a text, or a key, stands within this value.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        match &self.value {
            Value::Text(own) if own == text => Some(self.span.clone()),
            Value::List(items) => items.iter().find_map(|item| item.find(text)),
            Value::Table(entries) => entries.iter().find_map(|entry| match entry.key == text {
                true => Some(entry.span.clone()),
                false => entry.node.find(text),
            }),
            _ => None,
        }
    }
}

fn of_table(table: &DeTable<'_>) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            span: key.span(),
            node: Node { span: value.span(), value: of_value(value.get_ref()) },
        })
        .collect();
    entries.sort_by_key(|entry| entry.span.start);
    Value::Table(entries)
}

fn of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        // Past 128 bits every number is equally out of range.
        DeValue::Integer(int) => Value::Int(i128::from_str_radix(int.as_str(), int.radix()).unwrap_or(i128::MAX)),
        DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => Value::Time,
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| Node { span: item.span(), value: of_value(item.get_ref()) }).collect())
        }
        DeValue::Table(table) => of_table(table),
    }
}

/// A table being read. The keys that were asked for are the keys that it may have.
pub(crate) struct Table<'n> {
    /// Where it stands.
    pub(crate) span: Range<usize>,
    name: String,
    entries: &'n [Entry],
    known: Vec<&'static str>,
}

impl<'n> Table<'n> {
    /// The value as a table; `name` is what messages call it.
    pub(crate) fn of(node: &'n Node, name: impl Into<String>, problems: &mut Problems) -> Option<Table<'n>> {
        let name = name.into();
        match &node.value {
            Value::Table(entries) => Some(Table { span: node.span.clone(), name, entries, known: Vec::new() }),
            _ => {
                problems.add(&node.span, format!("{name} must be a table, not {}", node.kind()), "");
                None
            }
        }
    }

    /// The entry of a key that the table may have.
    pub(crate) fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key that the table may have.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The value of a key that the table must have.
    pub(crate) fn need(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'n Node> {
        let found = self.get(key);
        if found.is_none() {
            problems.add(&self.span, format!("{} needs `{key}`", self.name), "");
        }
        found
    }

    /// Whether a key stands there, without counting it as one that the table may have.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The entries that nobody asked for.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &'n Entry> {
        self.entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str()))
    }

    /// Every entry that nobody asked for is a problem.
    pub(crate) fn done(self, problems: &mut Problems) {
        for entry in self.rest() {
            let near = hint(&entry.key, self.known.iter().copied());
            problems.add(
                &entry.span,
                format!("{} has no key `{}`{near}", self.name, entry.key),
                list(self.known.iter().copied()),
            );
        }
    }
}
