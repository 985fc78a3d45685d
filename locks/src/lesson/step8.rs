//! Step 8, trade-offs: what each guard sees, and what one would sign.

use super::{By, Cell, Look, ONE, Proof, Record, Task};
use crate::guard::Guard;

/// So many cells must be predicted before they are run.
const PREDICTED: usize = 12;
/// So many questions of the quiz must be answered right.
const RIGHT: usize = 8;
/// What a set-up that somebody signs must have come through.
const SIGNED: [&str; 4] = ["crash-while-holding", "pause-past-lease", "work-longer-than-lease", "cut-off"];

pub(super) const TASKS: &[Task] = &[
    Task { id: "a", marks: ONE, misses: &["nothing-said", "nothing-run", "too-few"], by: By::Cells(predicted) },
    Task {
        id: "b",
        marks: &["none", "max-seen", "current-epoch", "unique-slot"],
        misses: &["not-fired", "under-way", "other-order", "next"],
        by: By::Log(ladder),
    },
    Task { id: "c", marks: ONE, misses: &["no-guard", "incomplete", "not-covered"], by: By::Cells(signed) },
    Task { id: "d", marks: ONE, misses: &["unanswered", "too-few"], by: By::Answers(quiz) },
];

/// Cells that were predicted before they were run, right or wrong.
fn predicted(cells: &[Cell]) -> Look {
    let told = cells.iter().filter(|cell| cell.predicted_first && cell.covered.is_some()).count();
    match told {
        PREDICTED.. => Look::proves(super::DONE, 0),
        0 if cells.iter().all(|cell| !cell.predicted_first) => Look::misses("nothing-said"),
        0 => Look::misses("nothing-run"),
        _ => Look::misses("too-few"),
    }
}

/// The stale one posts first, behind each guard.
fn ladder(record: &Record) -> Look {
    let attempts = record.newest();
    let of = |replica: &str| attempts.iter().find(|attempt| attempt.replica == replica);
    let (Some(a), Some(b)) = (of("A"), of("B")) else { return Look::misses("not-fired") };
    let (Some(_), Some((_, end)), Some(slot)) = (a.finished, b.finished, &a.slot) else {
        return Look::misses("under-way");
    };
    // A's effect reached the sink first, after B had been granted.
    let first = record.settled.iter().filter(|settled| settled.slot == *slot).min_by_key(|settled| settled.at.at_us);
    let granted = b.granted.as_ref().map_or(u64::MAX, |(_, at)| at.at_us);
    let a_first = first.is_some_and(|settled| settled.attempt.replica == "A" && settled.at.at_us > granted);
    let mark = match a.setup.guard[..] {
        _ if a.setup.guard != b.setup.guard => return Look::misses("next"),
        [] => "none",
        [Guard::MaxSeen] => "max-seen",
        [Guard::CurrentEpoch] => "current-epoch",
        [Guard::UniqueSlot] => "unique-slot",
        _ => return Look::misses("next"),
    };
    if !a_first || record.hits("A").next().is_none() {
        return Look::misses("other-order");
    }
    Look { proved: vec![Proof::new(mark, end.seq)], misses: Some("next") }
}

/// One strategy behind one guard, through everything that a single holder can suffer.
fn signed(cells: &[Cell]) -> Look {
    let guarded =
        |cell: &&Cell| cell.guard != "none" && cell.strategy != "none" && SIGNED.contains(&cell.script.as_str());
    let mut misses = "no-guard";
    for cell in cells.iter().filter(guarded) {
        let same = |other: &&Cell| other.guard == cell.guard && other.strategy == cell.strategy;
        let of = |script: &str| cells.iter().filter(same).find(|other| other.script == script)?.covered;
        let all: Vec<Option<bool>> = SIGNED.iter().map(|script| of(script)).collect();
        if all.iter().all(|covered| *covered == Some(true)) {
            return Look::proves(super::DONE, 0);
        }
        let whole = all.iter().all(Option::is_some);
        misses = if whole { "not-covered" } else { "incomplete" };
    }
    Look::misses(misses)
}

fn quiz(right: usize) -> Look {
    match right {
        RIGHT.. => Look::proves(super::DONE, 0),
        0 => Look::misses("unanswered"),
        _ => Look::misses("too-few"),
    }
}
