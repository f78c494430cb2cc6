//! Classifies single lines, for strategies that value lines in another way.

use crate::strategy::rules::{Matcher, Role};
use crate::strategy::{content, fingerprint};

/// Finds templates, problems and failures.
#[derive(Default)]
pub(in crate::strategy) struct LineClassifier {
    buffer: Vec<u8>,
    matcher: Matcher,
    /// The hashes of some lines that report no failure. Configuration and documents repeat lines, with other numbers.
    harmless: Vec<u64>,
}

/// How many lines that report no failure are remembered.
const HARMLESS_LINES: usize = 1 << 10;

impl LineClassifier {
    /// The template of a line, and whether the line reports a problem.
    pub(in crate::strategy) fn classify(&mut self, line: &[u8]) -> (u64, bool) {
        let content = content::matched(line, &mut self.buffer);
        let role = self.matcher.find(content);
        (fingerprint::template(content), role.is_some_and(Role::is_problem))
    }

    /// Whether a line reports a failure, as only a tool does. Words such as `error` alone do not count.
    pub(in crate::strategy) fn is_failure(&mut self, line: &[u8]) -> bool {
        use Role::{Diagnostic, Exception, Failed, Stopped, Summary, Verdict};
        self.harmless.resize(HARMLESS_LINES, 0);
        let hash = fingerprint::without_digits(line);
        let slot = &mut self.harmless[hash as usize % HARMLESS_LINES];
        if *slot == hash {
            return false;
        }
        let role = self.matcher.find(content::matched(line, &mut self.buffer));
        let is_failure = matches!(role, Some(Failed | Verdict | Diagnostic | Exception | Stopped | Summary));
        if !is_failure {
            *slot = hash;
        }
        is_failure
    }
}
