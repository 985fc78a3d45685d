//! Step 4, data flow: what a slot writes where, and what no answer means.

use super::record::{Attempt, Command};
use super::{By, Look, ONE, Record, Task};
use crate::event::EffectAnswer;
use crate::guard::Guard;

pub(super) const TASKS: &[Task] = &[
    Task { id: "a", marks: ONE, misses: &["not-fired", "under-way", "no-epochs", "out-of-order"], by: By::Log(whole) },
    Task { id: "b", marks: ONE, misses: &["not-fired", "answered", "not-there", "entered"], by: By::Log(reply) },
    Task {
        id: "c",
        marks: ONE,
        misses: &["not-fired", "answered", "not-yet", "in-time", "entered"],
        by: By::Log(request),
    },
    Task {
        id: "d",
        marks: ONE,
        misses: &["not-fired", "answered", "not-again", "not-rejected", "twice"],
        by: By::Log(effect),
    },
];

/// Mint, acquire, publish, effect, release, in this order, the effect under the published epoch.
fn whole(record: &Record) -> Look {
    if record.attempts.is_empty() {
        return Look::misses("not-fired");
    }
    let mut misses = "under-way";
    for (id, attempt) in record.attempts.iter().filter(|(_, attempt)| attempt.finished.is_some()) {
        misses = "no-epochs";
        let sent = |name: &str| attempt.commands(name).find_map(|command| command.sent).map(|at| at.at_us);
        let (Some(mint), Some(acquire), Some(publish), Some(release)) =
            (sent("mint"), sent("acquire"), sent("publish"), sent("release"))
        else {
            continue;
        };
        misses = "out-of-order";
        let settled = record.settled.iter().find(|settled| settled.attempt == *id);
        if let Some(settled) = settled.filter(|settled| settled.answer == EffectAnswer::Accepted) {
            let in_order =
                mint < acquire && acquire < publish && publish < settled.at.at_us && settled.at.at_us < release;
            if in_order && attempt.epoch.is_some() && settled.epoch == attempt.epoch {
                return Look::proves(super::DONE, settled.at.seq);
            }
        }
    }
    Look::misses(misses)
}

/// The acquire of A's newest attempt that was not answered.
fn unanswered(record: &Record) -> Result<(&Attempt, &Command), &'static str> {
    let own = record.attempts.values().rev().find(|attempt| attempt.replica == "A").ok_or("not-fired")?;
    let command = own.commands("acquire").find(|command| command.is_unknown()).ok_or("answered")?;
    Ok((own, command))
}

/// The store granted, and A never heard of it.
fn reply(record: &Record) -> Look {
    let (own, command) = match unanswered(record) {
        Ok(found) => found,
        Err(miss) => return Look::misses(miss),
    };
    let given_up = command.answered.as_ref().map_or(0, |(_, at)| at.at_us);
    let passed = command.passed.filter(|at| at.at_us < given_up);
    let held = passed.and_then(|passed| {
        let said = record.says.iter().filter(|says| says.at.at_us >= passed.at_us);
        said.filter(|says| says.owner.as_ref().is_some_and(|owner| owner.replica == "A")).map(|says| says.at).next()
    });
    match held {
        None => Look::misses("not-there"),
        Some(_) if own.entered.is_some() => Look::misses("entered"),
        Some(held) => Look::proves(super::DONE, held.seq.max(command.answered.as_ref().map_or(0, |(_, at)| at.seq))),
    }
}

/// A gave up before its request had reached the store; it arrives all the same.
fn request(record: &Record) -> Look {
    let (own, command) = match unanswered(record) {
        Ok(found) => found,
        Err(miss) => return Look::misses(miss),
    };
    let given_up = command.answered.as_ref().map_or(0, |(_, at)| at.at_us);
    match command.passed {
        None => Look::misses("not-yet"),
        Some(passed) if passed.at_us <= given_up => Look::misses("in-time"),
        Some(_) if own.entered.is_some() => Look::misses("entered"),
        Some(passed) => Look::proves(super::DONE, passed.seq),
    }
}

/// An effect that was accepted without its sender hearing of it, and the second one of the slot, rejected.
fn effect(record: &Record) -> Look {
    if record.attempts.is_empty() {
        return Look::misses("not-fired");
    }
    let mut misses = "answered";
    for (id, attempt) in &record.attempts {
        let (Some((EffectAnswer::Unknown, _)), Some(slot)) = (&attempt.effect_answered, &attempt.slot) else {
            continue;
        };
        let accepted: Vec<_> = record.accepted(slot).collect();
        misses = match accepted.len() {
            2.. => "twice",
            _ if record.of_slot(slot).len() < 2 => "not-again",
            _ => "not-rejected",
        };
        if let (true, Some(rejected)) =
            (accepted.len() == 1 && accepted[0].attempt == *id, record.rejected(slot, Guard::UniqueSlot).last())
        {
            return Look::proves(super::DONE, rejected.at.seq);
        }
    }
    Look::misses(misses)
}
