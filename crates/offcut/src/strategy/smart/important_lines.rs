//! Recognises lines that a reader wants to see at once, while the command still runs.

use crate::strategy::rules::{Matcher, Role};
use crate::strategy::{content, fingerprint};
use std::collections::HashSet;

/// What servers and watchers print when they are ready, in lower case.
const READY: [&str; 14] = [
    "listening on",
    "listening at",
    "listening for",
    "server running",
    "server started",
    "server is running",
    "started server",
    "running on http",
    "running at http",
    "ready in ",
    "ready on ",
    "serving at",
    "serving on",
    "compiled successfully",
];

/// The most kinds of lines that are remembered.
const MAX_TEMPLATES: usize = 1000;

/// Recognises failures and ready servers, the first line of each kind.
#[derive(Default)]
pub(crate) struct ImportantLines {
    buffer: Vec<u8>,
    matcher: Matcher,
    seen: HashSet<u64>,
}

impl ImportantLines {
    /// Whether this line is worth printing at once. A line that differs from an earlier one only in numbers is not.
    pub(crate) fn is_important(&mut self, line: &[u8]) -> bool {
        let content = content::matched(line, &mut self.buffer);
        let is_failure = self.matcher.find(content).is_some_and(|role| {
            matches!(role, Role::Failed | Role::Diagnostic | Role::Exception | Role::Stopped | Role::Fatal)
        });
        if self.seen.len() >= MAX_TEMPLATES || !(is_failure || is_ready(content)) {
            return false;
        }
        self.seen.insert(fingerprint::template(content))
    }
}

fn is_ready(content: &[u8]) -> bool {
    let lower = content.to_ascii_lowercase();
    READY.iter().any(|words| {
        let found = memchr::memmem::find(&lower, words.as_bytes());
        // Not `already in use`.
        found.is_some_and(|at| at == 0 || !lower[at - 1].is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn important_lines_are_new_failures_and_ready_servers() {
        let mut lines = ImportantLines::default();
        for (line, expected) in [
            ("src/a.c:1:5: error: expected ';'", true),
            ("Compiling one of many", false),
            ("Server listening on port 3000", true),
            ("Server listening on port 3001", false),
            ("  ➜  ready in 312 ms", true),
            ("FAILED tests/test_a.py::test_one - assert 1 == 2", true),
            ("warning: unused variable", false),
            ("Already on 'main'", false),
            ("the name is already in use", false),
            ("", false),
        ] {
            assert_eq!(lines.is_important(line.as_bytes()), expected, "{line}");
        }
    }
}
