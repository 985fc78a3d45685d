//! What is wrong with a scenario: where it stands, what it is, what is allowed instead. A near name is
//! offered; what was meant is never guessed.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// One thing that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where it stands in the text, in bytes.
    pub span: Range<usize>,
    /// Its line, from 1; 0 where the text has no lines (JSON of an action).
    pub line: usize,
    /// Its column in characters, from 1; 0 where the text has no lines.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What is allowed; empty where `what` says it all.
    pub allowed: String,
}

impl Problem {
    /// The problem as a compiler prints it: `file:line:column: what`, and what is allowed in a second line.
    pub fn render(&self, file: &str) -> String {
        let mut text = match self.line {
            0 => self.what.clone(),
            line => format!("{file}:{line}:{}: {}", self.column, self.what),
        };
        if !self.allowed.is_empty() {
            text.push_str("\n    allowed: ");
            text.push_str(&self.allowed);
        }
        text
    }

    /// All problems of a file, one below the other.
    pub fn render_all(problems: &[Problem], file: &str) -> String {
        problems.iter().map(|problem| problem.render(file)).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}, column {}: ", self.line, self.column)?;
        }
        f.write_str(&self.what)?;
        match self.allowed.as_str() {
            "" => Ok(()),
            allowed => write!(f, " (allowed: {allowed})"),
        }
    }
}

impl std::error::Error for Problem {}

/// Names, each in backticks, as a reader is told them.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `, did you mean ...?` where one of the names is near to what was written; otherwise nothing.
pub(super) fn hint<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let written = written.to_lowercase();
    let length = written.chars().count();
    let limit = if length < 3 { 0 } else { (length / 3).max(1) };
    names
        .into_iter()
        .map(|name| (distance(&written, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, name)| format!(", did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Edits between two words: letters added, dropped, changed, or two neighbours swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_meant_and_far_ones_are_not() {
        assert_eq!(hint("puase", ["pause", "resume"]), ", did you mean `pause`?");
        assert_eq!(hint("settle-invoice", ["settle-invoices", "send-digests"]), ", did you mean `settle-invoices`?");
        assert_eq!(hint("redlock", ["none", "pg-lease"]), "");
    }
}
