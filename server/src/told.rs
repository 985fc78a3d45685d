//! Signals that tell a process of the lab to end: Ctrl-C, SIGTERM, and the end of its terminal (HUP) unless
//! it was started with HUP ignored, as `nohup` does. It only hears; what ending means is the listener's.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::say;
use crate::warden::linux;

/// Hears them from now on.
pub struct Told {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl Told {
    /// Begin to listen; until then a signal ends the process at once.
    pub fn listen() -> io::Result<Told> {
        let hang_up = SignalKind::hangup();
        let hang_up = if linux::ignores(hang_up.as_raw_value()) { None } else { Some(signal(hang_up)?) };
        Ok(Told { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
    }

    /// Resolves when the process is told to end.
    pub async fn end(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hung_up(&mut self.hang_up) => {}
        }
    }

    /// Resolves when somebody insists. The end of a terminal is told twice, by the kernel and by the shell.
    pub async fn at_once(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

async fn hung_up(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// A token that is cancelled when the process is told to end. Whoever insists ends it at once, with that exit
/// status, and the warden cleans up.
pub fn cancels(insisted: u8) -> io::Result<CancellationToken> {
    let mut told = Told::listen()?;
    let token = CancellationToken::new();
    let told_to_end = token.clone();
    tokio::spawn(async move {
        told.end().await;
        say::error("told to end; ending what runs ...");
        told_to_end.cancel();
        told.at_once().await;
        std::process::exit(insisted.into());
    });
    Ok(token)
}
