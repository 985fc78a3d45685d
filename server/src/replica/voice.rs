//! How a replica says what happens: one line an event on standard output. Each line is stamped and its
//! write(2) has returned before the caller goes on to the act that it announces; so nothing here is
//! buffered, and nothing is handed to another task.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use locks::event::{Kind, Line};

use crate::clock::now_us;
use crate::say;

/// The voice of one replica.
pub(super) struct Voice {
    out: RefCell<Box<dyn Write>>,
}

impl Voice {
    /// A voice on standard output, past the standard library's buffer.
    pub(super) fn stdout() -> std::io::Result<Voice> {
        let out = std::io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Voice::to(File::from(out)))
    }

    /// A voice that writes there.
    pub(super) fn to(out: impl Write + 'static) -> Voice {
        Voice { out: RefCell::new(Box::new(out)) }
    }

    /// Say it, and return the stamp that it was given. A replica that nobody hears ends: the server is gone.
    pub(super) fn say(&self, kind: Kind) -> u64 {
        let at_us = now_us();
        let written = serde_json::to_vec(&Line { at_us, kind }).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.out.borrow_mut().write_all(&line)
        });
        if let Err(error) = written {
            say::error(format_args!("replica: nobody hears: {error}"));
            std::process::exit(1);
        }
        at_us
    }
}
