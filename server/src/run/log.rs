//! The event log of one run, in memory: append-only, numbered without gaps in order of arrival. Readers
//! follow it by number, so that a slow one is caught up from the log and never skips an event. Nothing
//! is ever changed or removed; behind `ended` nothing is written any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use locks::event::{Event, Kind, Source};
use rand::RngExt;
use tokio::sync::watch;

use crate::clock;

/// The 128-bit identity of a run, hexadecimal.
pub type RunId = String;

/// A fresh identity, not to be guessed: who knows it may read the run when it is over.
pub fn new_run_id() -> RunId {
    format!("{:032x}", rand::rng().random::<u128>())
}

/// The events of one run.
#[derive(Debug)]
pub struct Log {
    events: Mutex<Vec<Arc<Event>>>,
    /// The newest number; what readers wait on.
    newest: watch::Sender<u64>,
}

impl Default for Log {
    fn default() -> Self {
        Log { events: Mutex::default(), newest: watch::Sender::new(0) }
    }
}

impl Log {
    /// A log of events that exist already, in order of their numbers from 1 (an imported run).
    pub fn of(events: Vec<Event>) -> Log {
        let newest = events.len() as u64;
        Log { events: Mutex::new(events.into_iter().map(Arc::new).collect()), newest: watch::Sender::new(newest) }
    }

    /// All events with a number above `seq`.
    pub fn after(&self, seq: u64) -> Vec<Arc<Event>> {
        self.page(seq, usize::MAX)
    }

    /// At most `limit` events with a number above `seq`, the oldest of them.
    pub fn page(&self, seq: u64, limit: usize) -> Vec<Arc<Event>> {
        let events = self.lock();
        let from = usize::try_from(seq).unwrap_or(usize::MAX).min(events.len());
        events[from..].iter().take(limit).cloned().collect()
    }

    /// The newest number; 0 while there is no event.
    pub fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// Wakes with each change of the newest number. Take it *before* reading [`Log::after`].
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Is the last event written?
    pub fn is_ended(&self) -> bool {
        self.lock().last().is_some_and(|event| matches!(event.kind, Kind::Ended { .. }))
    }

    /// Poisoning is no matter here: a push is one act, so that a panic elsewhere leaves no half of it.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Event>>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, at_us: u64, until_us: Option<u64>, source: Source, kind: Kind) -> Option<u64> {
        let mut events = self.lock();
        if events.last().is_some_and(|event| matches!(event.kind, Kind::Ended { .. })) {
            tracing::debug!(%source, ?kind, "an event came behind the run's end");
            return None;
        }
        let seq = events.len() as u64 + 1;
        events.push(Arc::new(Event { seq, at_us, until_us, source, kind }));
        // Within the lock, so that numbers are announced in order.
        self.newest.send_replace(seq);
        Some(seq)
    }
}

/// Writes to the log of a run that goes on. Clones write to the same log. A live session that grows long
/// goes on in a new segment: the recorder then leads to the new log, and every source follows.
#[derive(Clone, Debug)]
pub struct Recorder {
    log: Arc<Mutex<Arc<Log>>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder { log: Arc::new(Mutex::new(Arc::new(Log::default()))) }
    }
}

impl Recorder {
    /// The log that is being written.
    pub fn log(&self) -> Arc<Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Append an event; its number, or `None` behind the run's end.
    pub fn record(&self, at_us: u64, until_us: Option<u64>, source: Source, kind: Kind) -> Option<u64> {
        // Within the outer lock, so that no event goes to a segment that was just ended.
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(at_us, until_us, source, kind)
    }

    /// Append an event of the runner that happens now.
    pub fn note(&self, kind: Kind) -> Option<u64> {
        self.record(clock::now_us(), None, Source::Runner, kind)
    }

    /// End the present log with `last` and go on in a new one that begins with `first`.
    pub fn new_segment(&self, last: Kind, first: Vec<Kind>) -> Arc<Log> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::now_us();
        log.push(now, None, Source::Runner, last);
        let next = Arc::new(Log::default());
        for kind in first {
            next.push(now, None, Source::Runner, kind);
        }
        *log = next.clone();
        next
    }
}

#[cfg(test)]
mod tests {
    use locks::event::EndReason;

    use super::*;

    fn ready(recorder: &Recorder) -> Option<u64> {
        recorder.note(Kind::Ready)
    }

    #[test]
    fn numbers_have_no_gaps_whoever_writes() {
        let recorder = Recorder::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..250).for_each(|_| assert!(ready(&recorder).is_some())));
            }
        });
        let seqs: Vec<u64> = recorder.log().after(0).iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=1000).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_lagging_reader_is_caught_up() {
        let recorder = Recorder::default();
        let log = recorder.log();
        let mut changed = log.changed();
        (0..100).for_each(|_| assert!(ready(&recorder).is_some()));
        changed.changed().await.unwrap();
        assert_eq!(log.after(0).len(), 100);
        assert_eq!(log.page(10, 5).iter().map(|event| event.seq).collect::<Vec<_>>(), [11, 12, 13, 14, 15]);
        assert!(log.after(1000).is_empty());
    }

    #[test]
    fn ended_is_the_last_event() {
        let recorder = Recorder::default();
        ready(&recorder);
        recorder.note(Kind::Ended { why: EndReason::Done });
        assert_eq!(ready(&recorder), None);
        assert!(recorder.log().is_ended());
        assert_eq!(recorder.log().newest(), 2);
    }

    #[test]
    fn a_new_segment_takes_over_from_the_old() {
        let recorder = Recorder::default();
        ready(&recorder);
        let old = recorder.log();
        recorder.new_segment(Kind::Ended { why: EndReason::Segment }, vec![Kind::Ready]);
        assert!(old.is_ended());
        assert_eq!(ready(&recorder), Some(2), "numbers begin again");
    }
}
