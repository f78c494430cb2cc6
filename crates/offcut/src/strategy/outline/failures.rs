//! Whether a text is the log of a tool after all: source code and prose mention failures, but do not report them.

use crate::strategy::smart::LineClassifier;

/// One message in this many lines that clearly have another format may be a quotation, and so may these many in all.
const LINES_PER_QUOTATION: u64 = 50;
pub(super) const MAX_QUOTATIONS: u64 = 3;

/// At most one line in this many has the time stamp or the level of a logger.
const LINES_PER_LOGGED: u64 = 20;

/// Counts lines that report a failure, messages about a place in a file, and messages of a logger.
#[derive(Default)]
pub(super) struct Failures {
    lines: u64,
    count: u64,
    logged: u64,
    classifier: LineClassifier,
}

impl Failures {
    /// Reads a line, and returns whether it reports a failure.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        self.lines += 1;
        self.logged += u64::from(is_logged(line));
        let is_failure = self.is_failure(line);
        self.count += u64::from(is_failure);
        is_failure
    }

    /// Whether a line reports a failure.
    pub(super) fn is_failure(&mut self, line: &[u8]) -> bool {
        is_located(line) || self.classifier.is_failure(line)
    }

    /// Whether a line reported a failure.
    pub(super) fn has_some(&self) -> bool {
        self.count > 0
    }

    /// Whether there are too many for a text of which this many lines clearly have another format, even if as many as
    /// `lines_left` follow.
    pub(super) fn outweigh(&self, clear: u64, lines_left: u64) -> bool {
        self.outweigh_quotations(MAX_QUOTATIONS, clear, lines_left)
    }

    /// The same for a text that may quote this many messages.
    pub(super) fn outweigh_quotations(&self, most: u64, clear: u64, lines_left: u64) -> bool {
        self.count > most
            || self.count * LINES_PER_QUOTATION > clear + lines_left
            || self.logged * LINES_PER_LOGGED > self.lines + lines_left
    }
}

/// Whether a line begins with a time stamp, or has a level among its first words.
fn is_logged(line: &[u8]) -> bool {
    // The number of an issue (`bpo-45495:`) and a date in parentheses are no time stamps.
    let is_time = |word: &[u8]| {
        word.iter().all(|byte| byte.is_ascii_digit() || b":-./,+TZ".contains(byte))
            && word.iter().filter(|byte| byte.is_ascii_digit()).count() >= 4
            && word.iter().filter(|byte| matches!(byte, b':' | b'-')).count() >= 2
    };
    let is_level =
        |word: &[u8]| matches!(word, b"INFO" | b"DEBUG" | b"WARN" | b"WARNING" | b"ERROR" | b"TRACE");
    let words =
        line.split(|&byte| matches!(byte, b' ' | b'\t' | b'[' | b']')).filter(|word| !word.is_empty());
    let mut words = words.take(4).enumerate();
    words.any(|(at, word)| (at < 2 && is_time(word)) || is_level(word.trim_ascii_end()))
}

/// Whether a line is a message about a place: `src/a.c:12:5: warning: …`, `[WARN] /src/A.java:12: …`.
fn is_located(line: &[u8]) -> bool {
    let line = match line.first() {
        Some(b'[') => line.iter().position(|&byte| byte == b' ').map_or(line, |end| &line[end + 1..]),
        _ => line,
    };
    let end = line.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(line.len());
    let Some(location) = line[..end].strip_suffix(b":") else { return false };
    let mut parts = location.split(|&byte| byte == b':');
    let is_path = parts.next().is_some_and(|path| path.iter().any(|byte| matches!(byte, b'/' | b'.')));
    is_path && parts.next().is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_logger_are_recognised() {
        for (line, expected) in [
            ("2026-01-02 12:00:01 INFO it goes on", true),
            ("[12:00:01] it is done", true),
            ("main INFO it goes on", true),
            ("The time is 12:00:01 and all is well.", false),
            ("- INFO is a level", true),
            ("It goes on.", false),
        ] {
            assert_eq!(is_logged(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn messages_about_a_place_are_recognised() {
        for (line, expected) in [
            ("src/a.c:12:5: warning: unused", true),
            ("[WARN] /src/A.java:12: Line is longer than 80 characters.", true),
            ("a.py:3: note", true),
            ("src/a.c:12", false),
            ("src/a.c: it is here", false),
            ("12:30: it begins", false),
            ("    let a = b.c:12;", false),
            ("", false),
        ] {
            assert_eq!(is_located(line.as_bytes()), expected, "{line}");
        }
    }
}
