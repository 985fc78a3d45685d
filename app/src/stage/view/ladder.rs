//! What each guard would do with an effect that comes too late or for the second time: the one that is on its
//! way, else the one that a holder would send now whom the store denies, else the latest that the sink was
//! sent. Whether a guard rejects is decided by the guards' own code, from what the sink and the lock knew then;
//! here it is only said.

use locks::event::EffectAnswer;
use locks::guard::{Guard, Seen, rejects};
use locks::ids::{AttemptId, LockName, Slot};
use locks::strategy::Epochs;

use super::{epoch_words, hue, words};
use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::replica::Process;
use crate::stage::track::{Effect, Flight};

/// What a guard does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It lets the effect pass.
    Accepts,
    /// It does not.
    Rejects,
    /// Nobody knows: it compares what was not there.
    Unknown,
}

/// One guard, or none at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Which; `None`: no guard.
    pub guard: Option<Guard>,
    /// What it does.
    pub does: Does,
    /// Why, in a few words.
    pub why: String,
    /// It is the one that is set.
    pub set: bool,
}

/// The ladder for one effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// Who sends the effect.
    pub replica: String,
    /// Which effect, and when.
    pub title: String,
    /// Beside it.
    pub note: String,
    /// From no guard up.
    pub rungs: Vec<Rung>,
}

/// An effect, as far as guards see it.
struct Subject<'a> {
    attempt: &'a AttemptId,
    lock: LockName,
    slot: &'a Slot,
    epoch: Option<u64>,
    /// How many effects the sink had settled before.
    before: usize,
    at_us: u64,
    title: String,
    note: String,
}

/// The ladder of a schedule; `None`: no effect came late or again so far.
pub fn ladder(stage: &Stage, schedule: &str, now_us: u64) -> Option<Ladder> {
    let subject = on_its_way(stage, schedule, now_us)
        .or_else(|| to_come(stage, schedule, now_us))
        .or_else(|| settled(stage, schedule))?;
    let seen = seen(stage, &subject);
    let era = stage.history.iter().rev().find(|era| era.from_us <= subject.at_us);
    let set = era.map_or(&stage.setup.guard[..], |era| &era.guard);
    let minted = stage.strategy().is_some_and(|info| info.epochs == Epochs::Minted);
    let rung = |guard: Guard| {
        let does = match rejects(&[guard], subject.epoch, &seen) {
            _ if guard.needs_epoch() && minted && subject.epoch.is_none() => Does::Unknown,
            Some(_) => Does::Rejects,
            None => Does::Accepts,
        };
        let why = if does == Does::Unknown {
            "no epoch is minted unless it is set".to_owned()
        } else {
            why(guard, subject.epoch, &seen)
        };
        Rung { guard: Some(guard), does, why, set: set.contains(&guard) }
    };
    let none = Rung { guard: None, does: Does::Accepts, why: "checks nothing".to_owned(), set: set.is_empty() };
    let mut rungs = vec![none];
    for guard in Guard::LADDER {
        rungs.push(rung(guard));
    }
    Some(Ladder { replica: subject.attempt.replica.clone(), rungs, title: subject.title, note: subject.note })
}

fn accepted<'a>(effects: &'a [Effect], slot: &'a Slot) -> impl Iterator<Item = &'a Effect> {
    effects.iter().filter(move |effect| effect.slot == *slot && effect.answer == EffectAnswer::Accepted)
}

/// Has another attempt entered under the same lock since, or has the slot an effect already?
fn is_late(stage: &Stage, id: &AttemptId, slot: &Slot) -> bool {
    let sections = &stage.track.sections;
    let own = sections.iter().find(|section| section.attempt == *id);
    let overtaken = own.is_some_and(|own| {
        let newer = |epoch: Option<u64>| own.epoch.is_none() || epoch > own.epoch;
        let asks = stage.asks_a_store();
        sections.iter().any(|other| {
            asks && other.lock == own.lock && other.attempt != *id && other.span.0 > own.span.0 && newer(other.epoch)
        })
    });
    overtaken || accepted(&stage.track.effects, slot).next().is_some()
}

fn lock_of(stage: &Stage, slot: &Slot) -> LockName {
    stage.strategy().map_or_else(|| slot.schedule.clone(), |info| info.scope.lock_of(slot))
}

fn on_its_way<'a>(stage: &'a Stage, schedule: &str, now_us: u64) -> Option<Subject<'a>> {
    let late = |flight: &&Flight| {
        !flight.settled && flight.slot.schedule == schedule && is_late(stage, &flight.attempt, &flight.slot)
    };
    let flight = stage.track.flights.iter().rev().find(late)?;
    let name = &flight.attempt.replica;
    let of = flight.epoch.map_or_else(|| format!("{name}’s effect"), |epoch| format!("{name}’s epoch {epoch}"));
    Some(Subject {
        attempt: &flight.attempt,
        lock: lock_of(stage, &flight.slot),
        slot: &flight.slot,
        epoch: flight.epoch,
        before: stage.track.effects.len(),
        at_us: now_us,
        title: format!("When {of} arrives"),
        note: format!("sent {} ago", words::short(now_us.saturating_sub(flight.sent_us))),
    })
}

fn to_come<'a>(stage: &'a Stage, schedule: &str, now_us: u64) -> Option<Subject<'a>> {
    let lives = stage.replicas.values().filter(|replica| replica.process != Process::Dead);
    let attempts = lives.filter_map(|replica| Some((replica, replica.attempts.get(schedule)?)));
    let (replica, attempt) = attempts.into_iter().find(|(_, attempt)| {
        attempt.is_inside() && attempt.effect_sent_us.is_none() && is_late(stage, &attempt.id, &attempt.slot)
    })?;
    let stopped = replica.process == Process::Stopped;
    Some(Subject {
        attempt: &attempt.id,
        lock: attempt.lock.clone(),
        slot: &attempt.slot,
        epoch: attempt.epoch(),
        before: stage.track.effects.len(),
        at_us: now_us,
        title: format!("If {} sent its effect now", attempt.id.replica),
        note: if stopped {
            "stopped while inside".to_owned()
        } else {
            format!("inside{}", epoch_words(attempt.epoch()))
        },
    })
}

fn settled<'a>(stage: &'a Stage, schedule: &str) -> Option<Subject<'a>> {
    let effects = &stage.track.effects;
    // What came under another strategy says nothing of this one.
    let now = &stage.setup.strategy;
    let since_us =
        stage.history.iter().rev().take_while(|era| era.strategy == *now).last().map_or(0, |era| era.from_us);
    let of_interest = |(_, effect): &(usize, &Effect)| {
        let again = effect.nth > 1 || effect.answer != EffectAnswer::Accepted;
        effect.at_us >= since_us && effect.slot.schedule == schedule && (again || stage.is_stale(effect.seq))
    };
    let (before, effect) = effects.iter().enumerate().rev().find(of_interest)?;
    let name = &effect.attempt.replica;
    let of = effect.epoch.map_or_else(|| format!("{name}’s effect"), |epoch| format!("{name}’s epoch {epoch}"));
    Some(Subject {
        attempt: &effect.attempt,
        lock: effect.lock.clone(),
        slot: &effect.slot,
        epoch: effect.epoch,
        before,
        at_us: effect.at_us,
        title: format!("When {of} arrived"),
        note: format!("at {} s", words::seconds(effect.at_us.saturating_sub(stage.origin_us))),
    })
}

/// What sink and lock knew then.
fn seen(stage: &Stage, subject: &Subject<'_>) -> Seen {
    let before = stage.track.effects.get(..subject.before).unwrap_or_default();
    let of_lock = before.iter().filter(|e| e.lock == subject.lock && e.answer == EffectAnswer::Accepted);
    // Published epochs only ever rise.
    let holds = stage.track.holds.iter().filter(|hold| hold.lock == subject.lock && hold.span.0 <= subject.at_us);
    Seen {
        highest_epoch: of_lock.filter_map(|effect| effect.epoch).max(),
        current_epoch: holds.filter_map(|hold| hold.epoch).max(),
        effects_of_slot: accepted(before, subject.slot).count() as u32,
    }
}

/// Why it does what it does.
fn why(guard: Guard, epoch: Option<u64>, seen: &Seen) -> String {
    match (guard, epoch) {
        (Guard::UniqueSlot, _) if seen.effects_of_slot > 0 => "the slot is settled".to_owned(),
        (Guard::UniqueSlot, _) => "first of its slot".to_owned(),
        (Guard::MaxSeen, epoch) => match (seen.highest_epoch, epoch) {
            (None, _) => "no epoch was seen yet".to_owned(),
            (Some(_), None) => "it has no epoch".to_owned(),
            (Some(seen), Some(epoch)) if epoch < seen => format!("{epoch} < {seen}, seen"),
            (Some(seen), Some(epoch)) => format!("{epoch} ≥ {seen}, highest seen"),
        },
        (Guard::CurrentEpoch, None) => "it has no epoch".to_owned(),
        (Guard::CurrentEpoch, Some(epoch)) => match seen.current_epoch {
            None => "no epoch stands".to_owned(),
            Some(current) if current == epoch => format!("{epoch} is current"),
            Some(current) => format!("{epoch} ≠ {current}, current"),
        },
    }
}

/// The panel.
pub fn html(ladder: Option<&Ladder>) -> String {
    let (mut rungs, mut hue_of) = (String::new(), 'n');
    match ladder {
        Some(ladder) => {
            hue_of = hue(&ladder.replica);
            for Rung { guard, does, why, set } in &ladder.rungs {
                let does = match does {
                    Does::Accepts => ("accepts: ", 'f'),
                    Does::Rejects => ("rejects: ", 's'),
                    Does::Unknown => ("", 'g'),
                };
                rung(&mut rungs, *guard, does, why, *set, hue_of);
            }
        }
        None => {
            let quiet = "no late or second effect yet";
            rung(&mut rungs, None, ("", 'g'), quiet, false, hue_of);
            for guard in Guard::LADDER {
                rung(&mut rungs, Some(guard), ("", 'g'), quiet, false, hue_of);
            }
        }
    }
    let (title, note) = ladder.map_or(("What each guard would do", ""), |ladder| (&ladder.title, &ladder.note));
    format!(
        r#"<section class="panel" aria-label="Guards"><header class="panel-h"><h2>{}</h2><span class="grow"></span><span class="src">{note}</span></header><dl class="ladder">{rungs}</dl></section>"#,
        escaped(title)
    )
}

fn rung(out: &mut String, guard: Option<Guard>, does: (&str, char), why: &str, set: bool, hue: char) {
    let name = guard.map_or_else(|| "none".to_owned(), |guard| guard.to_string());
    let (class, set) = if set { (" b", " (set)") } else { ("", "") };
    let (does, look) = does;
    *out += &format!(
        r#"<div class="rung{class}"><svg viewBox="0 0 16 16" class="does-{look} f-{hue} s-{hue}" aria-hidden="true"><path d="M8 1.5 14.5 8 8 14.5 1.5 8z"/><path d="M4.8 11.2 11.2 4.8"/></svg><dt class="mono">{name}</dt><dd>{does}{why}{set}</dd></div>"#
    );
}
