//! A replica: one scheduler process. It binds the catalog to timers by itself, on its own clock, and
//! performs what its strategy says. It knows nothing of the other replicas, the log or the judge.
//!
//! Everything but handlers and standard input lives on one thread, the lock thread: a handler that blocks
//! it starves the lock's upkeep, as in a real scheduler that works on its own event loop.
//!
//! | module | what it does |
//! |---|---|
//! | [`control`] | what the server tells a replica |
//! | `process` | the process: control lines in, one driver a schedule |
//! | `binder` | from the catalog to slots, on the replica's own wall clock |
//! | `driver` | performs what a strategy says, behind gates |
//! | `gates` | what waits where |
//! | `handler` | the work |
//! | `session` | pinned connections, one a session |
//! | `effect` | sends effects to the sink |
//! | `audit` | writes what became of each attempt into the audit table |
//! | `me` | who the replica is, its voice, clocks and random numbers |

mod audit;
mod binder;
pub mod control;
mod driver;
mod effect;
mod gates;
mod handler;
mod me;
mod process;
mod session;
mod voice;

use std::io::BufRead;
use std::process::ExitCode;

use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::say;
use control::Control;

/// What a replica exits with when it was told something that it cannot understand or do.
const USAGE: u8 = 2;
/// What it exits with when a part of it panicked; the runtime's own number for that.
const PANICKED: u8 = 101;

/// `aegis replica`: obey control lines until told to end.
pub fn main() -> ExitCode {
    end_on_panic();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say::error(format_args!("replica: no runtime: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let (lines, controls) = mpsc::unbounded_channel();
    let reader = std::thread::Builder::new().name("control".to_owned()).spawn(move || read(&lines));
    if let Err(error) = reader {
        say::error(format_args!("replica: no thread: {error}"));
        return ExitCode::FAILURE;
    }
    match LocalSet::new().block_on(&runtime, process::run(controls)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(format_args!("replica: {error}"));
            ExitCode::from(USAGE)
        }
    }
}

/// A part that panics must not leave the others running as if nothing were wrong.
fn end_on_panic() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        hook(panic);
        std::process::exit(i32::from(PANICKED));
    }));
}

/// Read control lines on a thread of their own, so that the end of standard input ends the process even
/// while the lock thread is blocked.
fn read(lines: &mpsc::UnboundedSender<Control>) {
    for line in std::io::stdin().lock().lines() {
        let control = line
            .map_err(|error| error.to_string())
            .and_then(|line| serde_json::from_str(&line).map_err(|error| format!("{error}: {line}")));
        match control {
            // Nobody listens any more when the lock thread is about to end the process.
            Ok(control) => drop(lines.send(control)),
            Err(error) => {
                say::error(format_args!("replica: not a control line: {error}"));
                std::process::exit(i32::from(USAGE));
            }
        }
    }
    std::process::exit(0);
}
