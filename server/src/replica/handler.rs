//! The work: it takes its time and does nothing else, on a thread of its own, so that the lock thread can
//! tell it to stop. What it does when told is the handler's kind. A `blocking` one is never started here:
//! the driver runs it on the lock thread.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use locks::event::WorkEnd;
use locks::setup::Handler;

/// A handler at work. Dropping it tells it to stop.
pub(super) struct AtWork {
    stop: Sender<()>,
}

/// Stack of a handler's thread; it only waits.
const STACK: usize = 64 * 1024;

/// Start the work; `done` is called on the handler's thread when it ends.
pub(super) fn start(
    kind: Handler,
    work: Duration,
    done: impl FnOnce(WorkEnd) + Send + 'static,
) -> std::io::Result<AtWork> {
    let (stop, told) = channel();
    let deadline = Instant::now() + work;
    let left = move || deadline.saturating_duration_since(Instant::now());
    std::thread::Builder::new().name("handler".to_owned()).stack_size(STACK).spawn(move || {
        let how = match told.recv_timeout(left()) {
            Err(RecvTimeoutError::Timeout) => WorkEnd::Done,
            _ if kind == Handler::Cooperative => WorkEnd::Stopped,
            _ => {
                std::thread::sleep(left());
                WorkEnd::Done
            }
        };
        done(how);
    })?;
    Ok(AtWork { stop })
}

impl AtWork {
    /// Tell it to stop.
    pub(super) fn stop(&self) {
        // A handler that is through has hung up.
        let _ = self.stop.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn ends(kind: Handler, work: Duration, told: bool) -> WorkEnd {
        let (report, ended) = channel();
        let at_work = start(kind, work, move |how| report.send(how).unwrap()).unwrap();
        if told {
            at_work.stop();
        }
        ended.recv_timeout(Duration::from_secs(5)).expect("the handler ends")
    }

    #[test]
    fn a_cooperative_handler_stops_at_once_when_told() {
        assert_eq!(ends(Handler::Cooperative, LONG, true), WorkEnd::Stopped);
        assert_eq!(ends(Handler::Cooperative, Duration::from_millis(5), false), WorkEnd::Done);
    }

    #[test]
    fn a_stubborn_handler_does_its_work_whatever_it_is_told() {
        let begun = Instant::now();
        assert_eq!(ends(Handler::Stubborn, Duration::from_millis(50), true), WorkEnd::Done);
        assert!(begun.elapsed() >= Duration::from_millis(50));
    }
}
