//! The browser's side of streams and commands.
