//! The judge: a fold of the event log into a verdict. It counts what is certain and lists what is
//! undecided apart; it never looks at anything but the log.
//!
//! Events are pushed in order of arrival and judged in order of time. `facts` gathers what was said, and
//! each kind of finding has a file of its own that looks at the facts. Asking for a verdict costs time in
//! the number of attempts, not of events.
//!
//! ```
//! use locks::event::{EndReason, Event, Kind, Source};
//! use locks::judge::Judge;
//!
//! let mut judge = Judge::default();
//! assert!(judge.verdict().provisional);
//! let kind = Kind::Ended { why: EndReason::Done };
//! judge.push(&Event { seq: 1, at_us: 10, until_us: None, source: Source::Runner, kind });
//! assert!(!judge.verdict().provisional);
//! assert!(judge.verdict().overlaps.is_empty());
//! ```

mod effects;
mod facts;
mod foreign;
mod outcomes;
mod overlap;
mod stale;
mod takeover;
#[cfg(test)]
mod tests;

use borsh::{BorshDeserialize, BorshSerialize};

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::ids::{AttemptId, Slot};
use crate::machine::Outcome;
use crate::sorted::{Map, by_numbers};
use facts::{Attempt, Facts, Grant};

/// The fold. A clone of it is a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Judge {
    facts: Facts,
}

impl Judge {
    /// Take the next event, in order of arrival.
    pub fn push(&mut self, event: &Event) {
        self.facts.take(event);
    }

    /// What is found so far; provisional until the run has ended.
    pub fn verdict(&self) -> Verdict {
        self.verdict_since(0, 0)
    }

    /// The same for attempts that began at or after the first time, in microseconds, and for what was completed
    /// at or after the second: since the strategy was last changed, say, and since the guard was.
    pub fn verdict_since(&self, began_us: u64, done_us: u64) -> Verdict {
        let view = View::new(&self.facts, began_us, done_us);
        Verdict {
            provisional: self.facts.ended.is_none(),
            overlaps: overlap::find(&view),
            effects_per_slot: effects::count(&view),
            stale_effects: stale::find(&view),
            foreign_releases: foreign::find(&view),
            takeover_ms: takeover::measure(&view),
            missed_slots: outcomes::missed(&view),
            outcomes: outcomes::list(&view),
        }
    }

    /// How many attempts it knows of.
    pub fn attempts(&self) -> usize {
        self.facts.attempts.len()
    }

    /// Stale effects of the whole run, whatever was changed meanwhile.
    pub fn stale_effects(&self) -> Vec<Finding> {
        stale::find(&View::new(&self.facts, 0, 0))
    }
}

/// The facts, and from when on they count.
struct View<'a> {
    facts: &'a Facts,
    /// Attempts count that began since then.
    began_us: u64,
    /// Findings count that were completed since then.
    done_us: u64,
    /// All grants of each lock that a store answered, in order of time; also those of attempts that do not
    /// count.
    grants: Map<&'a str, Vec<Granted<'a>>>,
}

/// A grant and whose it is.
struct Granted<'a> {
    id: &'a AttemptId,
    attempt: &'a Attempt,
    grant: &'a Grant,
    /// The highest epoch of this grant and all before it.
    highest_epoch: Option<u64>,
}

impl<'a> View<'a> {
    fn new(facts: &'a Facts, began_us: u64, done_us: u64) -> View<'a> {
        let mut grants: Map<&str, Vec<Granted>> = Map::new();
        // Of several stores a quorum granted, whatever others left unanswered.
        let by_quorum = |attempt: &Attempt| attempt.granted.as_ref().is_some_and(|grant| !grant.nodes.is_empty());
        for (id, attempt) in facts.attempts.iter().filter(|(_, attempt)| !attempt.guessed || by_quorum(attempt)) {
            if let (Some(lock), Some(grant)) = (&attempt.lock, &attempt.granted) {
                let granted = Granted { id, attempt, grant, highest_epoch: grant.epoch };
                grants.or_default(lock).push(granted);
            }
        }
        for of_lock in grants.values_mut() {
            by_numbers(of_lock, |granted| (granted.grant.stamp.at_us, granted.grant.stamp.seq));
            let mut highest = None;
            for granted in of_lock {
                highest = highest.max(granted.grant.epoch);
                granted.highest_epoch = highest;
            }
        }
        View { facts, began_us, done_us, grants }
    }

    /// The attempts that count.
    fn attempts(&self) -> impl Iterator<Item = (&'a AttemptId, &'a Attempt)> {
        let began_us = self.began_us;
        let all = self.facts.attempts.iter().map(|(id, attempt)| (id, &**attempt));
        all.filter(move |(_, attempt)| attempt.began_us >= began_us)
    }

    fn counts(&self, id: &AttemptId) -> bool {
        self.facts.attempts.get(id).is_none_or(|attempt| attempt.began_us >= self.began_us)
    }

    /// Findings that were completed in time, in the order of their completion.
    fn done(&self, mut found: Vec<Finding>) -> Vec<Finding> {
        found.retain(|finding| finding.until_us >= self.done_us);
        by_numbers(&mut found, |finding| (finding.until_us, finding.completed_by()));
        found
    }

    /// The grants of a lock, in order of time.
    fn grants(&self, lock: &str) -> &[Granted<'a>] {
        self.grants.get(lock).map_or(&[], |of_lock| &of_lock[..])
    }
}

/// Two attempts as people call them: by replica, or in full if it is the same one.
fn names(a: &AttemptId, b: &AttemptId) -> (String, String) {
    if a.replica == b.replica { (a.to_string(), b.to_string()) } else { (a.replica.clone(), b.replica.clone()) }
}

/// What the judge found. While a run goes on it is provisional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Verdict {
    /// The run has not ended.
    pub provisional: bool,
    /// Pairs of critical sections of the same lock, by different attempts, that intersect.
    pub overlaps: Vec<Finding>,
    /// Accepted effects of each slot that has any.
    pub effects_per_slot: Map<Slot, u32>,
    /// Effects accepted although a newer grant had been answered.
    pub stale_effects: Vec<Finding>,
    /// Releases, renewals or expiries that took effect on another attempt's grant.
    pub foreign_releases: Vec<Finding>,
    /// From each fault on a holder to the next grant by another, in milliseconds; `None`: there was none.
    pub takeover_ms: Vec<Option<u64>>,
    /// Slots fired, without an accepted effect.
    pub missed_slots: Vec<Slot>,
    /// Per replica, its outcomes by slot.
    pub outcomes: Map<String, Vec<Outcome>>,
}

impl Verdict {
    /// The largest number of accepted effects of any one slot.
    pub fn most_effects(&self) -> u32 {
        self.effects_per_slot.values().copied().max().unwrap_or(0)
    }
}

/// One thing that the judge found, with the events that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub struct Finding {
    /// Numbers of the events that prove it, in order of time; the last one completes the proof.
    pub events: Vec<u64>,
    /// Certain, or undecided because intervals overlap.
    pub certain: bool,
    /// When it began, in microseconds.
    pub from_us: u64,
    /// When it ended, in microseconds.
    pub until_us: u64,
    /// In words.
    pub text: String,
}

impl Finding {
    /// The event that completes the proof.
    fn completed_by(&self) -> u64 {
        self.events.last().copied().unwrap_or_default()
    }
}
