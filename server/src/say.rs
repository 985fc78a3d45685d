//! What the command line says to a person: results on standard output, everything else on standard
//! error. The only place that prints; the rest of the lab traces.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fmt::Display;
use std::io::Write;

/// A line of a result. A reader that went away is no error of ours.
pub fn line(text: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

/// A line about an error.
pub fn error(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "aegis: {text}");
}
