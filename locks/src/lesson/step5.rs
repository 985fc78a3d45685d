//! Step 5, state machines: what a replica believes, what the store says, and what the sink will do.

use super::record::{Attempt, Span};
use super::{By, Look, Proof, Record, Task};
use crate::machine::{LockState, Outcome};

const STATES: &[&str] = &["free", "held", "expired", "executed", "skipped", "lost"];

pub(super) const TASKS: &[Task] = &[
    Task { id: "a", marks: STATES, misses: STATES, by: By::Log(states) },
    Task {
        id: "b",
        marks: &["enter", "effect"],
        misses: &["not-paused", "not-hit", "not-expired", "not-granted", "not-over", "nothing-new"],
        by: By::Log(pauses),
    },
    Task {
        id: "c",
        marks: &["broken", "mended"],
        misses: &["not-fired", "under-way", "no-harm", "still-harm"],
        by: By::Log(releases),
    },
];

/// Every state of the lock that the store says, and three ends of a task.
fn states(record: &Record) -> Look {
    let mut proved = Vec::new();
    for (mark, state) in [("free", LockState::Free), ("held", LockState::Held), ("expired", LockState::Expired)] {
        if let Some(at) = record.said(state, 0) {
            proved.push(Proof::new(mark, at.seq));
        }
    }
    for (mark, wanted) in [("executed", Outcome::Executed), ("skipped", Outcome::Skipped), ("lost", Outcome::Lost)] {
        let end = record.attempts.values().find_map(|one| one.finished.filter(|(outcome, _)| *outcome == wanted));
        if let Some((_, at)) = end {
            proved.push(Proof::new(mark, at.seq));
        }
    }
    let misses = STATES.iter().copied().find(|state| proved.iter().all(|proof| proof.mark != *state));
    Look { proved, misses }
}

/// A's pause over its lease, with B granted before A went on: before it entered, and behind its last check.
fn pauses(record: &Record) -> Look {
    if record.faults.is_empty() {
        return Look::misses("not-paused");
    }
    let mut misses = "not-hit";
    for pause in record.hits("A") {
        match pause_of(record, pause) {
            Ok(proof) => return Look { proved: vec![proof], misses: None },
            Err(miss) => misses = miss,
        }
    }
    Look::misses(misses)
}

fn pause_of(record: &Record, pause: &Span) -> Result<Proof, &'static str> {
    let until = pause.ended.map_or(u64::MAX, |ended| ended.at_us);
    let within = |at_us: u64| at_us > pause.began.at_us && at_us < until;
    let expired = record.said(LockState::Expired, pause.began.at_us).filter(|at| within(at.at_us));
    let newer =
        |attempt: &&Attempt| attempt.replica != "A" && attempt.granted.as_ref().is_some_and(|(_, at)| within(at.at_us));
    // A store that granted it to another lets the lease of one who is stopped have ended; that it was seen as
    // expired in between is luck.
    let missing = if expired.is_some() { "not-granted" } else { "not-expired" };
    let other = record.attempts.values().find(newer).ok_or(missing)?;
    let paused = |attempt: &&Attempt| attempt.replica == "A" && attempt.slot == other.slot;
    let own = record.attempts.values().find(paused).ok_or("not-hit")?;
    let slot = own.slot.as_ref().ok_or("not-hit")?;
    let (_, end) = own.finished.ok_or("not-over")?;
    let effects: Vec<_> = record.accepted(slot).collect();
    let of_own = effects.iter().filter(|settled| settled.attempt.replica == "A").count();
    let inside = own.entered.is_some_and(|entered| entered.at_us < pause.began.at_us);
    if !inside && of_own == 0 && effects.len() == 1 && record.is_closed(slot) {
        return Ok(Proof::new("enter", end.seq));
    }
    let stale = record.verdict().stale_effects.iter().filter(|finding| finding.certain).count();
    if inside && effects.len() == 2 && stale > 0 && !record.overlaps().is_empty() {
        return Ok(Proof::new("effect", effects.last().map_or(end.seq, |settled| settled.at.seq)));
    }
    Err("nothing-new")
}

/// The release that frees what is somebody else's, and the one that asks first.
fn releases(record: &Record) -> Look {
    let attempts = record.newest();
    let setup = record.setup_of(attempts.iter().copied());
    let name = setup.map(|setup| setup.strategy.to_string()).unwrap_or_default();
    let of = |replica: &str| attempts.iter().copied().find(|attempt| attempt.replica == replica);
    let (Some(a), Some(b), Some(c)) = (of("A"), of("B"), of("C")) else { return Look::misses("not-fired") };
    if [a, b, c].iter().any(|attempt| attempt.finished.is_none()) {
        return Look::misses("under-way");
    }
    let foreign = record.verdict().foreign_releases.into_iter().filter(|finding| finding.certain);
    let foreign: Vec<u64> = foreign.filter_map(|finding| finding.events.last().copied()).collect();
    let inside_of_b = |at_us: u64| {
        let (entered, left) = (b.entered.map(|at| at.at_us), b.left.map(|at| at.at_us));
        entered.is_some_and(|entered| entered < at_us) && left.is_none_or(|left| at_us < left)
    };
    let c_got_in = c.entered.is_some_and(|entered| inside_of_b(entered.at_us));
    match (name.as_str(), foreign.first()) {
        ("pg-lease/no-owner-check", Some(event)) if c_got_in => Look::proves("broken", *event),
        ("pg-lease/no-owner-check", _) => Look::misses("no-harm"),
        ("pg-lease", None) if !c_got_in && b.entered.is_some() => {
            Look::proves("mended", a.finished.map_or(0, |(_, at)| at.seq))
        }
        _ => Look::misses("still-harm"),
    }
}
