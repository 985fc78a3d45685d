//! How a replica says what happens: one line an event on standard output. Each line is stamped and its
//! write(2) has returned before the act that it announces; nothing is handed to another task. What announces
//! only acts of other tasks may wait for the end of its task's turn, when one write says it all: so five
//! commands that are sent at once cost one. What announces no act may wait for [`PATIENCE`]: so five answers that
//! come together cost one too.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use locks::event::{Kind, Line};
use tokio::time::Instant;

use crate::clock::now_us;
use crate::say;

/// A pipe takes so much whole or not at all, so that nobody who is killed is cut short.
const WHOLE: usize = 4096;

/// How long what announces nothing may wait.
const PATIENCE: Duration = Duration::from_millis(1);

/// The voice of one replica.
pub(super) struct Voice {
    mouth: RefCell<Mouth>,
}

struct Mouth {
    out: Box<dyn Write>,
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// When they are to be written at the latest.
    until: Option<Instant>,
}

impl Voice {
    /// A voice on standard output, past the standard library's buffer.
    pub(super) fn stdout() -> std::io::Result<Voice> {
        let out = std::io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Voice::to(File::from(out)))
    }

    /// A voice that writes there.
    pub(super) fn to(out: impl Write + 'static) -> Voice {
        Voice { mouth: RefCell::new(Mouth { out: Box::new(out), lines: Vec::new(), until: None }) }
    }

    /// Say it, behind all that was noted, and return the stamp that it was given.
    pub(super) fn say(&self, kind: Kind) -> u64 {
        let at_us = self.note(kind);
        self.speak();
        at_us
    }

    /// Say it once [`Voice::speak`] is called; its stamp is of now.
    pub(super) fn note(&self, kind: Kind) -> u64 {
        let at_us = now_us();
        heard(self.mouth.borrow_mut().note(&Line { at_us, kind }));
        at_us
    }

    /// Say what was noted.
    pub(super) fn speak(&self) {
        heard(self.mouth.borrow_mut().speak());
    }

    /// When what was noted is to be said at the latest, if it announces nothing; `None`: nothing is noted.
    pub(super) fn patience(&self) -> Option<Instant> {
        self.mouth.borrow().until
    }
}

impl Mouth {
    fn note(&mut self, line: &Line) -> std::io::Result<()> {
        let before = self.lines.len();
        if self.until.is_none() {
            self.until = Some(Instant::now() + PATIENCE);
        }
        serde_json::to_writer(&mut self.lines, line)?;
        self.lines.push(b'\n');
        if self.lines.len() <= WHOLE {
            return Ok(());
        }
        self.out.write_all(&self.lines[..before])?;
        self.lines.drain(..before);
        Ok(())
    }

    fn speak(&mut self) -> std::io::Result<()> {
        self.until = None;
        if self.lines.is_empty() {
            return Ok(());
        }
        self.out.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }
}

/// A replica that nobody hears ends: the server is gone.
fn heard(written: std::io::Result<()>) {
    if let Err(error) = written {
        say::error(format_args!("replica: nobody hears: {error}"));
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    /// Keeps each write apart.
    #[derive(Clone, Default)]
    struct Ear(Rc<RefCell<Vec<String>>>);

    impl Write for Ear {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_noted_is_said_in_order_and_before_what_is_said() {
        let ear = Ear::default();
        let voice = Voice::to(ear.clone());
        voice.note(Kind::Ready);
        assert!(ear.0.borrow().is_empty());
        voice.say(Kind::ClockSet { shift_ms: 0, elapsed_ms: 0 });
        voice.speak();
        let heard = ear.0.borrow();
        assert_eq!(heard.len(), 1, "{heard:?}");
        let kinds: Vec<_> = heard[0].lines().map(|line| line.contains("ready")).collect();
        assert_eq!(kinds, [true, false]);
    }

    #[test]
    fn what_is_noted_has_its_time_until_it_is_said() {
        let voice = Voice::to(Ear::default());
        assert_eq!(voice.patience(), None);
        voice.note(Kind::Ready);
        let first = voice.patience().unwrap();
        assert!(first <= Instant::now() + PATIENCE);
        voice.note(Kind::Ready);
        assert_eq!(voice.patience(), Some(first), "a second one does not put it off");
        voice.speak();
        assert_eq!(voice.patience(), None);
    }

    #[test]
    fn no_write_is_larger_than_what_a_pipe_takes_whole() {
        let ear = Ear::default();
        let voice = Voice::to(ear.clone());
        for _ in 0..200 {
            voice.note(Kind::Ready);
        }
        voice.speak();
        let heard = ear.0.borrow();
        assert!(
            heard.len() > 1 && heard.iter().all(|write| write.len() <= WHOLE && write.ends_with('\n')),
            "{heard:?}"
        );
        assert_eq!(heard.concat().lines().count(), 200);
    }
}
