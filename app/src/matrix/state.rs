//! What a cell shows, and what stands between what the learner said and what was measured. A wrong guess harms
//! nobody: its joint is never that of harm.

use locks::matrix::Coverage;

use super::{Cell, Measured, Row, Said, UnderWay};

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State<'a> {
    /// The fault cannot happen to the strategy.
    NotApplicable,
    /// Nobody has said anything yet, and nothing was measured.
    Predict,
    /// The learner said something; a run will tell.
    Reveal(Said),
    /// A run waits or goes on.
    UnderWay(UnderWay),
    /// It was measured.
    Shown(&'a Measured),
}

/// Between what the learner said and what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// One of the two is not known.
    Open,
    /// They agree.
    Agrees,
    /// They differ.
    Differs,
}

impl Joint {
    /// Between a word and what was measured.
    pub fn between(covered: bool, measured: Coverage) -> Joint {
        match measured {
            Coverage::Covered if covered => Joint::Agrees,
            Coverage::NotCovered if !covered => Joint::Agrees,
            Coverage::Covered | Coverage::NotCovered => Joint::Differs,
            Coverage::NotApplicable | Coverage::Inconclusive => Joint::Open,
        }
    }

    /// For whoever does not see it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Joint::Open => "not known yet",
            Joint::Agrees => "agrees with",
            Joint::Differs => "disagrees with",
        }
    }
}

impl Cell {
    /// What it shows.
    pub fn state(&self) -> State<'_> {
        match (self.applies, self.under_way, &self.measured, self.said) {
            (false, ..) => State::NotApplicable,
            (_, Some(under_way), ..) => State::UnderWay(under_way),
            (_, _, Some(measured), _) => State::Shown(measured),
            (.., Some(said)) => State::Reveal(said),
            _ => State::Predict,
        }
    }

    /// What stands between what was said and what was measured; `None` if nothing was said.
    pub fn joint(&self) -> Option<Joint> {
        let said = self.said?;
        Some(self.measured.as_ref().map_or(Joint::Open, |measured| Joint::between(said.covered, measured.coverage)))
    }

    /// Is there still something to reveal? What proved nothing is revealed by another run.
    pub fn is_left(&self) -> bool {
        match self.state() {
            State::Predict | State::Reveal(_) => true,
            State::Shown(measured) => measured.coverage == Coverage::Inconclusive,
            State::NotApplicable | State::UnderWay(_) => false,
        }
    }
}

/// How the learner's predictions came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cells of which something was said.
    pub predicted: usize,
    /// Those that were measured since.
    pub revealed: usize,
    /// Those that came out as said.
    pub right: usize,
}

impl Tally {
    /// Count one prediction, with what was measured, if anything was.
    pub fn count(&mut self, covered: bool, measured: Option<Coverage>) {
        self.predicted += 1;
        match measured.map(|measured| Joint::between(covered, measured)) {
            Some(Joint::Agrees) => {
                self.revealed += 1;
                self.right += 1;
            }
            Some(Joint::Differs) => self.revealed += 1,
            Some(Joint::Open) | None => {}
        }
    }
}

/// How many cells of a column are covered, of how many that were measured.
pub(super) fn covered(rows: &[Row], column: usize) -> (usize, usize) {
    let measured = rows.iter().filter_map(|row| row.cells.get(column)?.measured.as_ref());
    measured.fold((0, 0), |(covered, all), measured| match measured.coverage {
        Coverage::Covered => (covered + 1, all + 1),
        Coverage::NotCovered => (covered, all + 1),
        Coverage::NotApplicable | Coverage::Inconclusive => (covered, all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        Cell { strategy: "redlock".to_owned(), applies: true, said: None, measured: None, under_way: None }
    }

    fn said(covered: bool) -> Option<Said> {
        Some(Said { covered, at_ms: 0 })
    }

    fn measured(coverage: Coverage) -> Option<Measured> {
        Some(Measured { coverage, why: None, figures: None, run: None })
    }

    #[test]
    fn a_cell_is_predicted_then_run_then_shown() {
        assert_eq!(cell().state(), State::Predict);
        let told = Cell { said: said(true), ..cell() };
        assert!(matches!(told.state(), State::Reveal(Said { covered: true, .. })));
        let running = Cell { under_way: Some(UnderWay::Runs), measured: measured(Coverage::Covered), ..told.clone() };
        assert_eq!(running.state(), State::UnderWay(UnderWay::Runs), "a run again hides what was before");
        let shown = Cell { measured: measured(Coverage::Covered), ..told };
        assert!(matches!(shown.state(), State::Shown(_)));
        let unconcerned = Cell { applies: false, ..shown };
        assert_eq!(unconcerned.state(), State::NotApplicable);
    }

    #[test]
    fn a_joint_compares_what_was_said_with_what_was_measured() {
        for (covered, coverage, joint) in [
            (true, Coverage::Covered, Joint::Agrees),
            (false, Coverage::NotCovered, Joint::Agrees),
            (true, Coverage::NotCovered, Joint::Differs),
            (false, Coverage::Covered, Joint::Differs),
            (true, Coverage::Inconclusive, Joint::Open),
        ] {
            assert_eq!(Joint::between(covered, coverage), joint, "{covered} {coverage}");
        }
        assert_eq!(Cell { said: said(true), ..cell() }.joint(), Some(Joint::Open));
        assert_eq!(Cell { measured: measured(Coverage::Covered), ..cell() }.joint(), None, "nothing was said");
    }

    #[test]
    fn what_proves_nothing_is_left() {
        assert!(Cell { measured: measured(Coverage::Inconclusive), ..cell() }.is_left());
        assert!(!Cell { measured: measured(Coverage::NotCovered), ..cell() }.is_left());
        assert!(cell().is_left());
        assert!(!Cell { applies: false, ..cell() }.is_left());
    }

    #[test]
    fn only_what_was_measured_can_be_right() {
        let mut tally = Tally::default();
        tally.count(true, Some(Coverage::Covered));
        tally.count(true, Some(Coverage::NotCovered));
        tally.count(true, Some(Coverage::Inconclusive));
        tally.count(false, None);
        assert_eq!(tally, Tally { predicted: 4, revealed: 2, right: 1 });
    }

    #[test]
    fn a_column_counts_what_was_measured() {
        let cells = [Coverage::Covered, Coverage::NotCovered, Coverage::Inconclusive];
        let rows: Vec<Row> = cells
            .into_iter()
            .map(|coverage| Row {
                fault: String::new(),
                title: String::new(),
                group: String::new(),
                cells: vec![Cell { measured: measured(coverage), ..cell() }],
            })
            .collect();
        assert_eq!(covered(&rows, 0), (1, 2));
    }
}
