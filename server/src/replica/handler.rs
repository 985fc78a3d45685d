//! The work: it takes its time and does nothing else, on a thread of its own, so that the lock thread can
//! tell it to stop. What it does when told is the handler's kind. A `blocking` one is never started here:
//! the driver runs it on the lock thread.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use locks::event::WorkEnd;
use locks::setup::Handler;

/// A handler at work. Dropping it tells it to stop.
pub(super) struct AtWork {
    tell: Sender<Told>,
}

/// What a handler is told.
enum Told {
    /// Stop, if you are one that does.
    Stop,
    /// You are done.
    End,
}

/// Stack of a handler's thread; it only waits.
const STACK: usize = 64 * 1024;

/// Start the work; `done` is called on the handler's thread when it ends.
pub(super) fn start(
    kind: Handler,
    work: Duration,
    done: impl FnOnce(WorkEnd) + Send + 'static,
) -> std::io::Result<AtWork> {
    let (tell, told) = channel();
    let deadline = Instant::now() + work;
    let left = move || deadline.saturating_duration_since(Instant::now());
    std::thread::Builder::new().name("handler".to_owned()).stack_size(STACK).spawn(move || {
        let how = loop {
            match told.recv_timeout(left()) {
                Err(RecvTimeoutError::Timeout) | Ok(Told::End) => break WorkEnd::Done,
                _ if kind == Handler::Cooperative => break WorkEnd::Stopped,
                Ok(Told::Stop) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(left());
                    break WorkEnd::Done;
                }
            }
        };
        done(how);
    })?;
    Ok(AtWork { tell })
}

impl AtWork {
    /// Tell it to stop.
    pub(super) fn stop(&self) {
        // A handler that is through has hung up.
        let _ = self.tell.send(Told::Stop);
    }

    /// Its work has taken its time.
    pub(super) fn end(&self) {
        let _ = self.tell.send(Told::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn ends(kind: Handler, work: Duration, told: bool) -> WorkEnd {
        ends_when(kind, work, |at_work| {
            if told {
                at_work.stop();
            }
        })
    }

    fn ends_when(kind: Handler, work: Duration, tell: impl Fn(&AtWork)) -> WorkEnd {
        let (report, ended) = channel();
        let at_work = start(kind, work, move |how| report.send(how).unwrap()).unwrap();
        tell(&at_work);
        ended.recv_timeout(Duration::from_secs(5)).expect("the handler ends")
    }

    #[test]
    fn a_cooperative_handler_stops_at_once_when_told() {
        assert_eq!(ends(Handler::Cooperative, LONG, true), WorkEnd::Stopped);
        assert_eq!(ends(Handler::Cooperative, Duration::from_millis(5), false), WorkEnd::Done);
    }

    #[test]
    fn work_that_is_ended_is_done_whatever_kind_of_handler() {
        assert_eq!(ends_when(Handler::Cooperative, LONG, AtWork::end), WorkEnd::Done);
        let told_both = |at_work: &AtWork| {
            at_work.stop();
            at_work.end();
        };
        assert_eq!(ends_when(Handler::Stubborn, LONG, told_both), WorkEnd::Done);
    }

    #[test]
    fn a_stubborn_handler_does_its_work_whatever_it_is_told() {
        let begun = Instant::now();
        assert_eq!(ends(Handler::Stubborn, Duration::from_millis(50), true), WorkEnd::Done);
        assert!(begun.elapsed() >= Duration::from_millis(50));
    }
}
