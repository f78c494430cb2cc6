//! Messages for people on standard error.
//!
//! A standard error that is full, closed or non-blocking must not end a call, so failed writes are ignored; `eprintln!`, which
//! panics, is denied by a lint.

use offcut::terminal::printable;
use std::fmt::Display;
use std::io::Write;

/// Longer messages are truncated. They may quote configuration values, metadata and answers of servers.
const MAX_CHARS: usize = 2000;

/// Prints one line.
pub(crate) fn say(message: impl Display) {
    print(&format!("offcut: {}\n", printable(&message.to_string(), MAX_CHARS)));
}

/// Prints one line about something that does not stop the call.
pub(crate) fn warn(message: impl Display) {
    say(format_args!("warning: {message}"));
}

/// Prints text that is already made for a terminal.
pub(crate) fn print(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
