//! A log in memory, with a checkpoint of the stage every so many events: the stage at any event is the
//! nearest checkpoint before it and a fold of what lies between.

use locks::event::Event;

use super::Stage;

/// Events between two checkpoints.
const EVERY: u64 = 1000;

/// A log, from its first event on without a gap, and its checkpoints.
#[derive(Clone, Debug, Default)]
pub struct Reel {
    events: Vec<Event>,
    checkpoints: Vec<Stage>,
    end: Stage,
}

impl Reel {
    /// Append the next event. Others than the next one are passed over.
    pub fn push(&mut self, event: Event) {
        if event.seq != self.len() + 1 {
            return;
        }
        if self.len().is_multiple_of(EVERY) {
            self.checkpoints.push(self.end.clone());
        }
        self.end.push(&event);
        self.events.push(event);
    }

    /// The number of the last event.
    pub fn len(&self) -> u64 {
        self.events.len() as u64
    }

    /// Is there no event?
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events, the first one first.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The stage at an event.
    pub fn at(&self, seq: u64) -> Stage {
        let seq = seq.min(self.len());
        let mut stage = self.checkpoints.get((seq.saturating_sub(1) / EVERY) as usize).cloned().unwrap_or_default();
        let from = stage.seq as usize;
        for event in self.events.get(from..seq as usize).unwrap_or_default() {
            stage.push(event);
        }
        stage.judge();
        stage
    }

    /// The last event that happened at or before a moment.
    pub fn seq_at(&self, at_us: u64) -> u64 {
        // Order of arrival is nearly the order of time; a stopped replica's late lines are the exception,
        // so look for the last arrival that is not later.
        self.events.iter().rev().find(|event| event.at_us <= at_us).map_or(1, |event| event.seq)
    }
}
