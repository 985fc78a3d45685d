//! What the lab expects of each cell, and why in a few words: `server/matrix/expected.toml`, one table a
//! fault and in it one a strategy. `without-guard` is said of the lock alone; a guard that changes the word
//! is named beside it. Strategies that a fault does not concern have no table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use locks::guard::Guard;
use locks::matrix::Coverage;
use serde::Deserialize;

/// The file as it was compiled in.
const TEXT: &str = include_str!("../../matrix/expected.toml");

/// What is expected of one fault under one strategy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Expected {
    /// Of the lock alone.
    without_guard: Coverage,
    /// Behind each guard, where that is another word.
    max_seen: Option<Coverage>,
    current_epoch: Option<Coverage>,
    unique_slot: Option<Coverage>,
    /// Why, in a few words.
    pub why: String,
}

impl Expected {
    /// What is expected behind that guard.
    pub fn behind(&self, guard: Option<Guard>) -> Coverage {
        let own = match guard {
            None => None,
            Some(Guard::MaxSeen) => self.max_seen,
            Some(Guard::CurrentEpoch) => self.current_epoch,
            Some(Guard::UniqueSlot) => self.unique_slot,
        };
        own.unwrap_or(self.without_guard)
    }
}

type Table = BTreeMap<String, BTreeMap<String, Expected>>;

/// The whole file; a test reads it, so that it cannot be wrong here.
static ALL: LazyLock<Table> = LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());

/// What is expected of a fault under a strategy.
pub fn of(fault: &str, strategy: &str) -> Option<&'static Expected> {
    ALL.get(fault)?.get(strategy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::faults;

    #[test]
    fn there_is_an_expectation_for_each_cell_and_for_no_other() {
        let table: Table = toml::from_str(TEXT).unwrap();
        let mut cells = Vec::new();
        for fault in faults::ALL {
            for info in locks::strategy::ALL {
                if fault.script(info).is_some() {
                    cells.push((fault.name.to_owned(), info.name.to_owned()));
                }
            }
        }
        let mut expected: Vec<_> = table
            .iter()
            .flat_map(|(fault, row)| row.keys().map(move |strategy| (fault.clone(), strategy.clone())))
            .collect();
        cells.sort();
        expected.sort();
        assert_eq!(expected, cells);
    }

    #[test]
    fn every_expectation_has_a_reason() {
        assert!(ALL.values().flat_map(BTreeMap::values).all(|expected| !expected.why.trim().is_empty()));
    }
}
