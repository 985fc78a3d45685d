//! Step 6, strategies: each has a fault that it covers and one that it does not.

use super::record::{Attempt, Span};
use super::{By, Cell, Look, Proof, Record, Task};
use crate::event::{Fault, ProcessName};
use crate::ids::Endpoint;

/// So many lines of a race must say something.
const LINES: usize = 5;
/// How soon after a cut a bounded row lock is taken over at the latest, in microseconds.
const BOUNDED_US: u64 = 4_000_000;

pub(super) const TASKS: &[Task] = &[
    Task { id: "a", marks: &["one", "two", "three"], misses: &["no-race", "too-few"], by: By::Cells(races) },
    Task {
        id: "b",
        marks: &["three", "four"],
        misses: &["not-fired", "no-loss", "paused", "other-nodes", "under-way", "next"],
        by: By::Log(losses),
    },
    Task {
        id: "c",
        marks: &["acquiring", "holding"],
        misses: &["not-fired", "not-paused", "short", "under-way", "next"],
        by: By::Log(pauses),
    },
    Task {
        id: "d",
        marks: &["unbounded", "bounded"],
        misses: &["not-fired", "not-cut", "nobody-waits", "not-healed", "next"],
        by: By::Log(cuts),
    },
];

/// Three faults, each measured under most strategies.
fn races(cells: &[Cell]) -> Look {
    let mut scripts: Vec<&str> = cells.iter().map(|cell| cell.script.as_str()).collect();
    scripts.sort_unstable();
    scripts.dedup();
    let whole = |script: &&&str| {
        let lines =
            cells.iter().filter(|cell| cell.script == **script && cell.guard == "none" && cell.covered.is_some());
        lines.count() >= LINES
    };
    let raced = scripts.iter().filter(whole).count();
    let marks = ["one", "two", "three"].into_iter().take(raced);
    let misses = (raced < 3).then_some(if raced == 0 { "no-race" } else { "too-few" });
    Look { proved: marks.map(|mark| Proof::new(mark, 0)).collect(), misses }
}

/// Redis nodes that lost their memory or jumped while A was inside.
fn lost<'a>(record: &'a Record, a: &'a Attempt) -> impl Iterator<Item = Endpoint> + 'a {
    let inside = move |span: &&Span| {
        let (entered, left) = (a.entered.map(|at| at.at_us), a.left.map_or(u64::MAX, |at| at.at_us));
        entered.is_some_and(|entered| entered <= span.began.at_us) && span.began.at_us < left
    };
    record.faults.iter().filter(inside).filter_map(|span| match &span.what {
        Fault::Kill { process: ProcessName::Store(node) } | Fault::NodeClock { node, .. } => Some(*node),
        _ => None,
    })
}

fn of<'a>(record: &'a Record, replica: &str) -> Option<&'a Attempt> {
    record.newest().into_iter().find(|attempt| attempt.replica == replica)
}

/// One node of A's quorum forgets: a quorum of three lets B in, one of four does not.
fn losses(record: &Record) -> Look {
    let (Some(a), Some(b)) = (of(record, "A"), of(record, "B")) else { return Look::misses("not-fired") };
    let nodes = a.granted.as_ref().map_or(&[][..], |(nodes, _)| nodes);
    let lost: Vec<Endpoint> = lost(record, a).collect();
    if lost.is_empty() {
        return Look::misses("no-loss");
    }
    if record.faults.iter().any(|span| matches!(&span.what, Fault::Pause { process: ProcessName::Replica(_) })) {
        return Look::misses("paused");
    }
    if lost.len() != 1 || !nodes.contains(&lost[0]) || !a.is_under("redlock") || !b.is_under("redlock") {
        return Look::misses("other-nodes");
    }
    let left = a.left.map_or(u64::MAX, |at| at.at_us);
    let let_in = b.granted.as_ref().filter(|(_, at)| at.at_us < left).map(|(_, at)| at.seq);
    match (nodes.len(), let_in, b.finished) {
        (3, Some(event), _) => Look::proves("three", event),
        (4, None, Some((_, at))) => Look::proves("four", at.seq),
        (3 | 4, None, None) => Look::misses("under-way"),
        _ => Look::misses("next"),
    }
}

/// A stopped for longer than its lease: while it asked, and after it was granted.
fn pauses(record: &Record) -> Look {
    let Some(a) = of(record, "A").filter(|a| a.is_under("redlock")) else { return Look::misses("not-fired") };
    let paused =
        |span: &&Span| matches!(&span.what, Fault::Pause { process: ProcessName::Replica(name) } if name == "A");
    let Some(pause) = record.faults.iter().find(paused) else { return Look::misses("not-paused") };
    let Some(ended) = pause.ended else { return Look::misses("under-way") };
    if ended.at_us - pause.began.at_us < a.setup.lease_ms * 1000 {
        return Look::misses("short");
    }
    let Some((_, end)) = a.finished else { return Look::misses("under-way") };
    let asked = a.commands("acquire").filter_map(|command| command.sent).map(|at| at.at_us).min();
    let asking = asked.is_some_and(|asked| asked < pause.began.at_us)
        && a.commands("acquire")
            .all(|command| command.answered.as_ref().is_none_or(|(_, at)| at.at_us > pause.began.at_us));
    let passed =
        a.commands("acquire").filter(|command| command.passed.is_some_and(|at| at.at_us < ended.at_us)).count();
    if asking && passed >= 3 && a.entered.is_none() {
        return Look::proves("acquiring", end.seq);
    }
    let holding = a.entered.is_some_and(|at| at.at_us < pause.began.at_us);
    match record.overlaps().first() {
        Some(finding) if holding => Look::proves("holding", record.shown_at(finding)),
        _ => Look::misses("next"),
    }
}

/// A's connection cut in two while it holds a row lock, B waiting: without a bound, and with one.
fn cuts(record: &Record) -> Look {
    let (Some(a), b) = (of(record, "A"), of(record, "B")) else { return Look::misses("not-fired") };
    let setup = record.setup_of([Some(a), b].into_iter().flatten());
    let Some(strategy) = setup.map(|setup| &setup.strategy).filter(|name| name.strategy == "pg-row-lock") else {
        return Look::misses("not-fired");
    };
    let cut =
        |span: &&Span| matches!(&span.what, Fault::Cut { replica, endpoint: Endpoint::Postgres } if replica == "A");
    let inside = |at_us: u64| {
        a.entered.is_some_and(|entered| entered.at_us < at_us) && a.left.is_none_or(|left| left.at_us > at_us)
    };
    let Some(cut) = record.faults.iter().find(cut).filter(|span| inside(span.began.at_us)) else {
        return Look::misses("not-cut");
    };
    let Some(b) = b else { return Look::misses("nobody-waits") };
    let granted = b.granted.as_ref().map(|(_, at)| *at);
    match (strategy.mutant.as_deref(), granted, cut.ended) {
        (None, Some(granted), _)
            if granted.at_us > cut.began.at_us && granted.at_us <= cut.began.at_us + BOUNDED_US =>
        {
            Look::proves("bounded", granted.seq)
        }
        (Some("no-bound"), granted, Some(healed)) if granted.is_none_or(|at| at.at_us > healed.at_us) => {
            match b.finished.filter(|_| granted.is_none()) {
                Some((_, end)) => Look::proves("unbounded", end.seq),
                None => Look::proves("unbounded", healed.seq),
            }
        }
        (Some("no-bound"), None, None) => Look::misses("not-healed"),
        _ => Look::misses("next"),
    }
}
