//! What a run under a fault says about a lock and its guard: the figures of a cell of the failure matrix, and
//! the one word that they amount to. Pure, so that pages and the command line say the same; it never runs
//! anything.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::judge::{Finding, Verdict};

/// Does a lock, with its guard, cover a failure?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// Every slot happened, and happened once.
    Covered,
    /// A slot happened twice, late or never, or two were inside and nothing stood behind them.
    NotCovered,
    /// The failure cannot happen to this strategy.
    NotApplicable,
    /// The run proves nothing: a precondition was missed, or the order of two moments is unknown.
    Inconclusive,
}

impl Coverage {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Coverage::Covered => "covered",
            Coverage::NotCovered => "not covered",
            Coverage::NotApplicable => "n/a",
            Coverage::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is counted in a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Pairs inside at the same time.
    pub overlaps: usize,
    /// Most accepted effects of any one slot.
    pub effects_per_slot: u32,
    /// Effects accepted although a newer grant had been answered.
    pub stale_effects: usize,
    /// From the fault on the holder to the next grant by another, in milliseconds.
    pub takeover_ms: Option<u64>,
    /// Slots without an accepted effect.
    pub missed_slots: usize,
    /// Overlaps and stale effects of which the log cannot say for certain.
    pub undecided: usize,
}

impl Figures {
    /// The figures of a run.
    pub fn of(verdict: &Verdict) -> Figures {
        let certain = |findings: &[Finding]| findings.iter().filter(|finding| finding.certain).count();
        let (overlaps, stale_effects) = (certain(&verdict.overlaps), certain(&verdict.stale_effects));
        Figures {
            overlaps,
            effects_per_slot: verdict.most_effects(),
            stale_effects,
            takeover_ms: verdict.takeover_ms.iter().flatten().max().copied(),
            missed_slots: verdict.missed_slots.len(),
            undecided: verdict.overlaps.len() + verdict.stale_effects.len() - overlaps - stale_effects,
        }
    }

    /// The word for them. Without a guard two inside are enough for *not covered*; a guard is there to make
    /// that harmless, so that behind one only what the sink took counts.
    pub fn coverage(&self, guarded: bool) -> Coverage {
        let harm = self.effects_per_slot > 1 || self.stale_effects > 0 || self.missed_slots > 0;
        if harm || (!guarded && self.overlaps > 0) {
            Coverage::NotCovered
        } else if self.undecided > 0 {
            Coverage::Inconclusive
        } else {
            Coverage::Covered
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once() -> Figures {
        Figures { effects_per_slot: 1, ..Figures::default() }
    }

    #[test]
    fn each_harm_by_itself_is_not_covered() {
        assert_eq!(once().coverage(false), Coverage::Covered);
        for figures in [
            Figures { effects_per_slot: 2, ..once() },
            Figures { stale_effects: 1, ..once() },
            Figures { missed_slots: 1, ..once() },
        ] {
            assert_eq!(figures.coverage(true), Coverage::NotCovered, "{figures:?}");
        }
    }

    #[test]
    fn a_guard_makes_an_overlap_harmless_and_only_a_guard_does() {
        let figures = Figures { overlaps: 1, ..once() };
        assert_eq!(figures.coverage(false), Coverage::NotCovered);
        assert_eq!(figures.coverage(true), Coverage::Covered);
    }

    #[test]
    fn what_is_undecided_is_no_verdict_but_harm_is() {
        assert_eq!(Figures { undecided: 1, ..once() }.coverage(true), Coverage::Inconclusive);
        assert_eq!(Figures { undecided: 1, missed_slots: 1, ..once() }.coverage(true), Coverage::NotCovered);
    }
}
