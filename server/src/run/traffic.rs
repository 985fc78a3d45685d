//! What replicas say and what links pass, on their way to the log. Lines of a replica are recorded as they
//! come; a link's word is recorded once it is known which command it was.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use locks::event::{Kind, Line, Source};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::correlate::{Correlator, Labelled, PATIENCE_US, Passage, SessionKey};
use super::log::Recorder;
use crate::clock;
use crate::link::Passed;
use crate::replica::control::SessionName;

/// See the module.
pub struct Traffic {
    recorder: Recorder,
    correlator: Mutex<Correlator>,
    /// Something waits for an announcement.
    waiting: Notify,
}

impl Traffic {
    /// Towards that log.
    pub fn new(recorder: Recorder) -> Traffic {
        Traffic { recorder, correlator: Mutex::default(), waiting: Notify::new() }
    }

    /// A line that a replica wrote.
    pub fn line(&self, name: &str, incarnation: u32, line: Line) {
        let mut correlator = self.lock();
        correlator.line(name, incarnation, line.at_us, &line.kind);
        let source = Source::Replica { name: name.to_owned(), incarnation };
        self.recorder.record(line.at_us, None, source, line.kind);
        self.record(correlator.due(clock::now_us()));
    }

    /// A link passed something on.
    pub fn passed(&self, passed: Passed) {
        let mut correlator = self.lock();
        let now_us = clock::now_us();
        correlator.passed(now_us, passage(passed));
        self.record(correlator.due(now_us));
        if correlator.is_waiting() {
            self.waiting.notify_one();
        }
    }

    /// A replica's process is gone and its lines are read to their end.
    pub fn gone(&self, name: &str, incarnation: u32) {
        self.lock().gone(name, incarnation);
    }

    /// Record what waited in vain. Goes on until it is dropped.
    pub async fn run(&self) {
        loop {
            self.waiting.notified().await;
            while self.lock().is_waiting() {
                sleep(Duration::from_micros(PATIENCE_US / 2)).await;
                let mut correlator = self.lock();
                self.record(correlator.due(clock::now_us()));
            }
        }
    }

    /// Record whatever still waits: nothing more will come.
    pub fn flush(&self) {
        let mut correlator = self.lock();
        self.record(correlator.due(u64::MAX));
    }

    fn record(&self, due: Vec<Labelled>) {
        for (passage, label) in due {
            let (command, name, attempt) = match label {
                Some(label) => (label.command, Some(label.name), label.attempt),
                None => (None, None, None),
            };
            let kind = Kind::LinkPassed {
                session: passage.session.map(|key| key.session),
                command,
                name,
                attempt,
                direction: passage.direction,
                kept_us: passage.kept_us,
            };
            let source = Source::Link { replica: passage.replica, endpoint: passage.endpoint };
            self.recorder.record(passage.at_us, None, source, kind);
        }
    }

    /// Poisoning is no matter: each call leaves the correlator whole.
    fn lock(&self) -> MutexGuard<'_, Correlator> {
        self.correlator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn passage(passed: Passed) -> Passage {
    let session = passed.session.as_deref().and_then(|name| name.parse::<SessionName>().ok());
    let session = session.map(|name| SessionKey {
        replica: name.replica,
        incarnation: name.incarnation,
        endpoint: passed.endpoint,
        session: name.session,
    });
    Passage {
        at_us: passed.at_us,
        kept_us: passed.kept_us,
        replica: passed.replica,
        endpoint: passed.endpoint,
        connection: passed.connection,
        session,
        direction: passed.direction,
    }
}
