//! Where on the matrix page one is, as its address says: guard, opened cell, race, and the strategy that a
//! narrow screen shows. Every link on the page is a place.

use std::fmt;
use std::str::FromStr;

use locks::guard::Guard;

/// Which cell, without its guard: `redlock/clock-jump`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellName {
    /// Its column.
    pub strategy: String,
    /// Its row.
    pub fault: String,
}

impl CellName {
    /// A name from its parts.
    pub fn new(strategy: &str, fault: &str) -> CellName {
        CellName { strategy: strategy.to_owned(), fault: fault.to_owned() }
    }

    /// The identity of the cell's control in the document.
    pub(super) fn id(&self) -> String {
        format!("c-{}-{}", self.strategy, self.fault)
    }
}

impl fmt::Display for CellName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.strategy, self.fault)
    }
}

impl FromStr for CellName {
    type Err = String;
    fn from_str(text: &str) -> Result<CellName, String> {
        let (strategy, fault) =
            text.split_once('/').ok_or_else(|| format!("{text:?} is no cell; name one as `pg-lease/two-at-once`"))?;
        Ok(CellName::new(strategy, fault))
    }
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// What the sink checks.
    pub guard: Option<Guard>,
    /// The cell at the side.
    pub cell: Option<CellName>,
    /// What is raced: a fault by its name, or a run whose scenario it is.
    pub race: Option<String>,
    /// The strategy that a narrow screen shows.
    pub strategy: Option<String>,
}

/// Name of a guard, or of there being none.
pub fn guard_name(guard: Option<Guard>) -> String {
    guard.map_or_else(|| "none".to_owned(), |guard| guard.to_string())
}

impl Place {
    /// Its address. Names have no characters that an address must escape.
    pub fn href(&self) -> String {
        let mut parts = Vec::new();
        if self.guard.is_some() {
            parts.push(format!("guard={}", guard_name(self.guard)));
        }
        if let Some(cell) = &self.cell {
            parts.push(format!("cell={cell}"));
        }
        if let Some(race) = &self.race {
            parts.push(format!("race={race}"));
        }
        if let Some(strategy) = &self.strategy {
            parts.push(format!("strategy={strategy}"));
        }
        if parts.is_empty() { "/matrix".to_owned() } else { format!("/matrix?{}", parts.join("&")) }
    }

    /// The same behind another guard.
    pub fn behind(&self, guard: Option<Guard>) -> Place {
        Place { guard, ..self.clone() }
    }

    /// The same with another cell opened, or none.
    pub fn with_cell(&self, cell: Option<CellName>) -> Place {
        let strategy = cell.as_ref().map(|cell| cell.strategy.clone()).or_else(|| self.strategy.clone());
        Place { cell, strategy, ..self.clone() }
    }

    /// The same with another race.
    pub fn with_race(&self, race: &str) -> Place {
        Place { race: Some(race.to_owned()), ..self.clone() }
    }

    /// The same with another strategy on a narrow screen.
    pub fn with_strategy(&self, strategy: &str) -> Place {
        Place { strategy: Some(strategy.to_owned()), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_only_what_is_not_as_usual() {
        assert_eq!(Place::default().href(), "/matrix");
        let place = Place::default().behind(Some(Guard::MaxSeen)).with_cell(Some(CellName::new("redlock", "failover")));
        assert_eq!(place.href(), "/matrix?guard=max-seen&cell=redlock/failover&strategy=redlock");
        assert_eq!(place.with_cell(None).href(), "/matrix?guard=max-seen&strategy=redlock");
    }

    #[test]
    fn a_cell_is_read_as_it_is_written() {
        let cell = CellName::new("pg-lease", "two-at-once");
        assert_eq!(cell.to_string().parse(), Ok(cell));
        assert!("pg-lease".parse::<CellName>().is_err());
    }
}
