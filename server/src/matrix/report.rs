//! What `aegis matrix` prints: a table a guard, for people or as Markdown, with every cell that differs or
//! proves nothing spelled out below; or one JSON object.

use std::fmt::{self, Write};

use app::matrix::place::guard_name;
use locks::guard::Guard;
use locks::matrix::{Coverage, Figures};
use locks::setup::StrategyName;
use serde_json::{Value, json};

use super::cell::Measured;
use super::faults::{self, Fault};

/// Everything that was measured, in the order of rows and columns.
pub struct Matrix {
    /// Columns.
    pub strategies: Vec<StrategyName>,
    /// One table each.
    pub guards: Vec<Option<Guard>>,
    /// The cells.
    pub cells: Vec<Measured>,
}

impl Matrix {
    fn cell(&self, fault: &Fault, strategy: &StrategyName, guard: Option<Guard>) -> Option<&Measured> {
        self.cells.iter().find(|measured| {
            let cell = &measured.cell;
            cell.fault.name == fault.name && cell.strategy == *strategy && cell.guard == guard
        })
    }

    /// As Markdown: it reads well on a terminal, too.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        for guard in &self.guards {
            self.write_table(out, *guard)?;
        }
        for measured in &self.cells {
            let cell = &measured.cell;
            let at = format!("{}, {}, guard {}", cell.fault.title, cell.strategy, guard_name(cell.guard));
            if let (true, Some(expected)) = (measured.differs(), cell.expected()) {
                let wanted = expected.behind(cell.guard);
                writeln!(out, "- **{at}**: {}, expected {wanted} ({})", said(measured), expected.why)?;
            } else if measured.coverage == Coverage::Inconclusive {
                let why = measured.why.as_deref().unwrap_or("the order of two moments is unknown");
                writeln!(out, "- {at}: inconclusive: {why}")?;
            }
        }
        Ok(())
    }

    fn write_table(&self, out: &mut String, guard: Option<Guard>) -> fmt::Result {
        let mut rows = vec![vec![format!("guard {}", guard_name(guard))]];
        rows[0].extend(self.strategies.iter().map(ToString::to_string));
        for fault in faults::ALL {
            let cells: Vec<_> = self.strategies.iter().map(|name| self.cell(fault, name, guard)).collect();
            if cells.iter().any(Option::is_some) {
                let mut row = vec![fault.title.to_owned()];
                row.extend(cells.into_iter().map(|cell| cell.map_or(String::new(), short)));
                rows.push(row);
            }
        }
        let widths: Vec<usize> = (0..rows[0].len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for (number, row) in rows.iter().enumerate() {
            for (text, width) in row.iter().zip(&widths) {
                write!(out, "| {text:width$} ")?;
            }
            writeln!(out, "|")?;
            if number == 0 {
                for width in &widths {
                    write!(out, "|{}", "-".repeat(width + 2))?;
                }
                writeln!(out, "|")?;
            }
        }
        writeln!(out)
    }

    /// As one JSON object.
    pub fn json(&self) -> Value {
        let cells: Vec<Value> = self.cells.iter().map(cell_json).collect();
        json!({ "cells": cells })
    }
}

fn cell_json(measured: &Measured) -> Value {
    let cell = &measured.cell;
    let expected = cell.expected();
    json!({
        "fault": cell.fault.name,
        "strategy": cell.strategy,
        "guard": guard_name(cell.guard),
        "measured": measured.coverage,
        "figures": measured.figures,
        "inconclusive_because": measured.why,
        "expected": expected.map(|expected| expected.behind(cell.guard)),
        "because": expected.map(|expected| &expected.why),
        "differs": measured.differs(),
    })
}

/// A cell in a table: the word, what makes it so, and a mark where it was not expected.
fn short(measured: &Measured) -> String {
    let mark = if measured.differs() { "≠ " } else { "" };
    format!("{mark}{}", said(measured))
}

fn said(measured: &Measured) -> String {
    let coverage = measured.coverage;
    match (&measured.figures, coverage) {
        (Some(figures), Coverage::NotCovered) => format!("{coverage}: {}", harm(figures)),
        (Some(Figures { takeover_ms: Some(ms), .. }), Coverage::Covered) => {
            format!("{coverage}, takeover {}.{} s", ms / 1000, ms % 1000 / 100)
        }
        _ => coverage.to_string(),
    }
}

/// What is wrong, in the fewest words.
fn harm(figures: &Figures) -> String {
    let mut parts = Vec::new();
    if figures.effects_per_slot > 1 {
        parts.push(format!("{} effects", figures.effects_per_slot));
    }
    if figures.stale_effects > 0 {
        parts.push(format!("{} stale", figures.stale_effects));
    }
    if figures.missed_slots > 0 {
        parts.push(format!("{} missed", figures.missed_slots));
    }
    if parts.is_empty() && figures.overlaps > 0 {
        parts.push(format!("{} inside at once", figures.overlaps + 1));
    }
    parts.join(", ")
}
