//! Overlaps: pairs of critical sections of the same lock, by different attempts, that intersect. A
//! section is half-open; a paused replica is inside; death ends a section, else the run's end.

use super::facts::{Attempt, Stamp};
use super::{Finding, View, names};
use crate::ids::AttemptId;
use crate::sorted::{Map, by_numbers};

/// Most that are found, which is more than the longest run of a lab has. Pairs grow with the square of what is in a log,
/// and a log may be anybody's.
pub(super) const MOST: usize = 30_000;

/// A critical section: certainly inside from `start.until_us` to `end.0`, perhaps up to `end.1`.
struct Section<'a> {
    id: &'a AttemptId,
    start: Stamp,
    end: (u64, u64),
}

pub(super) fn find(view: &View) -> Vec<Finding> {
    let mut of_lock: Map<&str, Vec<Section>> = Map::new();
    for (id, attempt) in view.attempts() {
        if let (Some(lock), Some(start)) = (&attempt.lock, attempt.entered) {
            let end = end(view, id, attempt, start);
            of_lock.or_default(lock).push(Section { id, start, end });
        }
    }
    let mut found = Vec::new();
    for (lock, mut sections) in of_lock {
        by_numbers(&mut sections, |section| (section.start.at_us, section.start.seq));
        let mut inside: Vec<&Section> = Vec::new();
        for section in &sections {
            if found.len() >= MOST {
                break;
            }
            inside.retain(|other| other.end.1 > section.start.at_us);
            let most = MOST - found.len();
            found.extend(inside.iter().filter_map(|other| meet(lock, other, section)).take(most));
            inside.push(section);
        }
    }
    found.retain(|finding: &Finding| finding.until_us >= view.done_us);
    by_numbers(&mut found, |finding| (finding.from_us, finding.completed_by()));
    found
}

/// Until when an attempt is inside: certainly, and at most.
fn end(view: &View, id: &AttemptId, attempt: &Attempt, start: Stamp) -> (u64, u64) {
    let facts = view.facts;
    let process = facts.process_of(id);
    let known = attempt.left.or(process.and_then(|process| process.gone)).or(facts.ended);
    if let Some(end) = known {
        return (end.at_us, end.until_us);
    }
    // The run goes on. Who is stopped or waits at a gate is inside up to now; of others we know it up to
    // the last word that they wrote: a `left` may be on its way.
    let held = attempt.at_gates > 0 || process.is_some_and(|process| process.stopped);
    let heard_us = process.map_or(start.at_us, |process| process.heard_us);
    let certain = if held { facts.now_us } else { heard_us };
    (certain.max(start.at_us), facts.now_us.max(start.at_us))
}

/// The intersection of two sections, `b` having started last.
fn meet(lock: &str, a: &Section, b: &Section) -> Option<Finding> {
    let from_us = b.start.at_us;
    let until_us = a.end.1.min(b.end.1);
    if until_us <= from_us {
        return None;
    }
    let certain = a.end.0.min(b.end.0) > a.start.until_us.max(b.start.until_us);
    let (first, second) = names(a.id, b.id);
    let ms = until_us.saturating_sub(from_us) / 1000;
    let time = if ms == 0 { "less than 1 ms".to_owned() } else { format!("{ms} ms") };
    let may = if certain { "were" } else { "may have been" };
    let text = format!("{first} and {second} {may} both inside {lock} for {time}");
    Some(Finding { events: vec![a.start.seq, b.start.seq], certain, from_us, until_us, text })
}
