//! Step 3, tick, acquire, run, release: the order that breaks a check-then-act lock, and the command that leaves
//! no order to choose.

use super::{By, Look, ONE, Record, Task};
use crate::event::{Param, Reply};
use crate::lesson::record::Attempt;
use crate::machine::{Outcome, TaskState};

const MUTANT: &str = "redis-set-nx/look-then-take";
const STRATEGY: &str = "redis-set-nx";

pub(super) const TASKS: &[Task] = &[
    Task { id: "a", marks: ONE, misses: &["not-fired", "under-way", "not-executed"], by: By::Log(whole) },
    Task {
        id: "b",
        marks: ONE,
        misses: &["other-lock", "fault", "one-alone", "nobody-looked", "too-late", "both-looked"],
        by: By::Log(both_in),
    },
    Task { id: "c", marks: ONE, misses: &["other-lock", "one-alone", "not-both", "not-closed"], by: By::Log(one_in) },
];

/// One attempt through all its states, its release answered.
fn whole(record: &Record) -> Look {
    use TaskState::{Acquiring, Due, Executed, Releasing, Running};
    for attempt in record.attempts.values() {
        let path: Vec<TaskState> = attempt.path.iter().map(|(state, _)| *state).collect();
        let released = attempt.commands("release").find_map(|release| match &release.answered {
            Some((Reply::Redis(Param::Int(1)), at)) => Some(*at),
            _ => None,
        });
        if let (true, Some(_), Some((Outcome::Executed, end))) =
            (path.ends_with(&[Due, Acquiring, Running, Releasing, Executed]), released, attempt.finished)
        {
            return Look::proves(super::DONE, end.seq);
        }
    }
    Look::misses(match record.newest().first() {
        None => "not-fired",
        Some(attempt) if attempt.finished.is_none() => "under-way",
        Some(_) => "not-executed",
    })
}

/// Two inside at once under the mutant, with everything healthy.
fn both_in(record: &Record) -> Look {
    let attempts = record.newest();
    if !is_under(record, &attempts, MUTANT) {
        return Look::misses("other-lock");
    }
    if !record.faults.is_empty() {
        return Look::misses("fault");
    }
    // The two that were inside then, and not others of before under another lock.
    let others = |from_us: u64, until_us: u64| {
        record.attempts.values().filter(|one| !one.is_under(MUTANT)).any(|one| {
            let left = one.left.map_or(u64::MAX, |at| at.at_us);
            one.entered.is_some_and(|at| at.at_us < until_us) && left > from_us
        })
    };
    if let Some(finding) = record.overlaps().iter().find(|finding| !others(finding.from_us, finding.until_us)) {
        return Look::proves(super::DONE, record.shown_at(finding));
    }
    if attempts.len() < 2 {
        return Look::misses("one-alone");
    }
    let looked = |attempt: &Attempt| {
        attempt.commands("look").any(|look| is_nil(&look.answered.as_ref().map(|(reply, _)| reply)))
    };
    let found_taken = |attempt: &Attempt| {
        attempt.commands("look").any(|look| look.answered.as_ref().is_some_and(|(reply, _)| !is_nil(&Some(reply))))
    };
    Look::misses(if attempts.iter().any(|attempt| found_taken(attempt)) {
        "too-late"
    } else if attempts.iter().filter(|attempt| looked(attempt)).count() > 1 {
        "both-looked"
    } else {
        "nobody-looked"
    })
}

/// Were those attempts under that strategy? Before there is one, the set-up of now says it.
fn is_under(record: &Record, attempts: &[&Attempt], strategy: &str) -> bool {
    record.setup_of(attempts.iter().copied()).is_some_and(|setup| setup.strategy.to_string() == strategy)
}

fn is_nil(reply: &Option<&Reply>) -> bool {
    matches!(reply, Some(Reply::Redis(Param::Null)))
}

/// The same two under the one command: one granted while the other was told nil.
fn one_in(record: &Record) -> Look {
    if !is_under(record, &record.newest(), STRATEGY) {
        return Look::misses("other-lock");
    }
    let mut misses = "one-alone";
    for (slot, _) in record.slots() {
        let attempts = record.of_slot(slot);
        if attempts.len() < 2 || !is_under(record, &attempts, STRATEGY) {
            continue;
        }
        misses = "not-both";
        let first_out = attempts.iter().filter_map(|attempt| attempt.left).map(|at| at.at_us).min().unwrap_or(u64::MAX);
        let granted = attempts.iter().filter(|one| one.granted.as_ref().is_some_and(|(_, at)| at.at_us < first_out));
        let told_nil = |attempt: &&&Attempt| {
            attempt.commands("acquire").any(|acquire| match &acquire.answered {
                Some((reply, at)) => is_nil(&Some(reply)) && at.at_us < first_out,
                None => false,
            })
        };
        if granted.count() != 1 || attempts.iter().filter(told_nil).count() == 0 {
            continue;
        }
        misses = "not-closed";
        if record.is_closed(slot) && record.verdict().overlaps.is_empty() {
            let end = attempts.iter().filter_map(|attempt| attempt.finished).map(|(_, at)| at.seq).max();
            return Look::proves(super::DONE, end.unwrap_or_default());
        }
    }
    Look::misses(misses)
}
