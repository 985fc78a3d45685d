//! Step 7, build, test, demo: a test that can fail, run from the page and from the command line; a seed; a number
//! for how soon.

use super::{By, Look, ONE, Proof, Record, Task, Tried};
use crate::event::Fault;

/// So many faults on holders must be survived ...
const TAKEOVERS: usize = 5;
/// ... each within this time.
const TAKEOVER_MS: u64 = 4000;

pub(super) const TASKS: &[Task] = &[
    Task {
        id: "a",
        marks: &["held", "failed"],
        misses: &["nothing-run", "no-verdict", "one-alone", "no-fault", "never-failed", "never-held"],
        by: By::Tried(can_fail),
    },
    Task {
        id: "b",
        marks: ONE,
        misses: &["nothing-imported", "other-script", "other-figures"],
        by: By::Tried(imported),
    },
    Task { id: "c", marks: ONE, misses: &["no-chaos", "once", "differs"], by: By::Tried(seeded) },
    Task {
        id: "d",
        marks: ONE,
        misses: &["not-fired", "no-delay", "too-few", "nobody", "too-slow", "harm"],
        by: By::Log(takeovers),
    },
];

impl Tried {
    fn proves(&self, mark: &'static str) -> Proof {
        Proof { mark, event: self.event, run: Some(self.run.clone()) }
    }
}

/// One script that holds under one strategy and fails under another, its fault having hit a holder.
fn can_fail(tried: &[Tried]) -> Look {
    let own: Vec<&Tried> = tried.iter().filter(|one| !one.imported).collect();
    let counts = |one: &&&Tried| one.hit && one.replicas >= 2 && one.exit <= 1;
    for held in own.iter().filter(counts).filter(|one| one.exit == 0) {
        let fails = |other: &&&Tried| other.script == held.script && other.strategy != held.strategy && other.exit == 1;
        if let Some(failed) = own.iter().filter(counts).find(fails) {
            return Look { proved: vec![held.proves("held"), failed.proves("failed")], misses: None };
        }
    }
    let Some(last) = own.last() else { return Look::misses("nothing-run") };
    Look::misses(match last {
        Tried { exit: 2.., .. } => "no-verdict",
        Tried { replicas: ..2, .. } => "one-alone",
        Tried { hit: false, .. } => "no-fault",
        Tried { exit: 0, .. } => "never-failed",
        _ => "never-held",
    })
}

/// The same script, run from the command line and brought here, with the same figures.
fn imported(tried: &[Tried]) -> Look {
    let mut misses = "nothing-imported";
    for file in tried.iter().filter(|one| one.imported) {
        let same = |own: &&Tried| !own.imported && own.script == file.script && own.strategy == file.strategy;
        match tried.iter().find(same) {
            None => misses = "other-script",
            Some(own) if own.figures != file.figures => misses = "other-figures",
            Some(_) => return Look { proved: vec![file.proves(super::DONE)], misses: None },
        }
    }
    Look::misses(misses)
}

/// A seeded series, twice, with the same findings.
fn seeded(tried: &[Tried]) -> Look {
    let chaos: Vec<&Tried> = tried.iter().filter(|one| one.chaos && one.exit <= 1).collect();
    let mut misses = if chaos.is_empty() { "no-chaos" } else { "once" };
    for (n, one) in chaos.iter().enumerate() {
        let same = |other: &&&Tried| other.script == one.script && other.strategy == one.strategy;
        match chaos[..n].iter().find(same) {
            Some(other) if other.figures == one.figures => {
                return Look { proved: vec![one.proves(super::DONE)], misses: None };
            }
            Some(_) => misses = "differs",
            None => {}
        }
    }
    Look::misses(misses)
}

/// Kills of holders with slow links: each taken over soon, and no harm done.
fn takeovers(record: &Record) -> Look {
    if record.attempts.is_empty() {
        return Look::misses("not-fired");
    }
    if !record.faults.iter().any(|span| matches!(span.what, Fault::Delay { .. })) {
        return Look::misses("no-delay");
    }
    let kills = record.faults.iter().filter(|span| matches!(&span.what, Fault::Kill { .. })).count();
    let verdict = record.verdict();
    // A delay strikes nobody who holds; what took over from a killed one has a time.
    let taken: Vec<u64> = verdict.takeover_ms.iter().flatten().copied().collect();
    if kills < TAKEOVERS {
        return Look::misses("too-few");
    }
    if taken.len() < TAKEOVERS {
        return Look::misses("nobody");
    }
    if taken.iter().any(|ms| *ms > TAKEOVER_MS) {
        return Look::misses("too-slow");
    }
    let slots = record.slots();
    let closed = slots.iter().all(|(slot, _)| record.is_closed(slot) && record.accepted(slot).count() == 1);
    match closed && record.overlaps().is_empty() {
        true => Look::proves(super::DONE, record.seq),
        false => Look::misses("harm"),
    }
}
