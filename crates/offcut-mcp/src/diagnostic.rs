//! Messages for people on standard error.

use offcut::terminal::printable;
use std::io::Write;

/// Longer messages are truncated: they may quote the other side.
const MAX_CHARS: usize = 2000;

/// Prints one line. A standard error that cannot be written must not end the session.
pub(crate) fn say(message: &str) {
    let line = format!("offcut: {}\n", printable(message, MAX_CHARS));
    let _ = std::io::stderr().write_all(line.as_bytes());
}
