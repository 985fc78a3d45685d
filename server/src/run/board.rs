//! Waiting for how a run stands. A board is the shared fold of a run's log, caught up whenever it is
//! looked at; waits look again with each new event and always have a limit. It never polls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::log::{Log, Recorder};
use super::standing::Standing;

/// The shared fold of a run's log.
#[derive(Debug)]
pub struct Board {
    recorder: Recorder,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    log: Arc<Log>,
    seq: u64,
    standing: Standing,
}

impl Seen {
    fn catch_up(&mut self, log: &Arc<Log>) {
        self.read();
        if !Arc::ptr_eq(&self.log, log) {
            self.log = log.clone();
            self.seq = 0;
            self.read();
        }
    }

    fn read(&mut self) {
        for event in self.log.after(self.seq) {
            self.standing.push(&event);
            self.seq = event.seq;
        }
    }
}

impl Board {
    /// The board of what that recorder writes.
    pub fn new(recorder: Recorder) -> Board {
        let seen = Seen { log: recorder.log(), seq: 0, standing: Standing::default() };
        Board { recorder, seen: Mutex::new(seen) }
    }

    /// Look at how the run stands now.
    pub fn look<T>(&self, look: impl FnOnce(&Standing) -> T) -> T {
        let log = self.recorder.log();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.catch_up(&log);
        look(&seen.standing)
    }

    /// Look again with each event until there is an answer; `None` when the limit ran out.
    pub async fn until<T>(&self, limit: Duration, mut look: impl FnMut(&Standing) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        loop {
            let mut changed = self.recorder.log().changed();
            if let Some(found) = self.look(&mut look) {
                return Some(found);
            }
            timeout_at(deadline, changed.changed()).await.ok()?.ok()?;
        }
    }
}
