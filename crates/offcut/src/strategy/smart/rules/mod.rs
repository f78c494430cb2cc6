//! Rules that recognise lines of known tools.
//!
//! Each rule is one row of a table: keywords, a pattern, and the [`Role`] of a line that matches. A line is tried
//! against a rule's pattern only if it contains one of the rule's keywords; all keywords are found in one scan. The
//! first rule that matches wins, so harmless lines come first and vague wording comes last.
//!
//! To support a new tool, add a row with one line that must match (`hit`) and one that must not (`miss`); the tests
//! check both. The build script includes this module and compiles the patterns.

mod builds;
mod compilers;
mod quiet;
mod runners;
mod shapes;
mod traces;
mod words;

use std::sync::LazyLock;

/// Only this many bytes of a line are matched.
pub(super) const MATCHED_BYTES: usize = 400;

/// What a line tells the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Names a test or step that failed.
    Failed,
    /// Says that what the previous line names has failed.
    Verdict,
    /// A compiler's error; its snippet and notes follow.
    Diagnostic,
    /// A linter's error. Unlike a compiler's first error, a linter's first error causes no others.
    Lint,
    /// A linter's error under a line that names the file.
    Finding,
    /// The message of an exception or a panic; frames may follow.
    Exception,
    /// Opens a traceback whose message comes last.
    Traceback,
    /// One frame of a stack in the user's code.
    Frame,
    /// One frame of a stack in a library or a test runner.
    LibraryFrame,
    /// An expected value, an actual value, or a line of the source.
    Detail,
    /// Names a group of tests, some of which may fail.
    SuiteTitle,
    /// Names what surrounds the problem on the next line: `In function 'main':`.
    Context,
    /// Introduces the problem on the next line: `required from here`, `1) Failure:`.
    LeadIn,
    /// The source location of the problem on the previous line.
    Location,
    /// The overall result.
    Summary,
    /// Heads a list of failed tests or of reasons.
    ListHeading,
    /// A command, a target or a job gave up.
    Stopped,
    /// A message that calls itself fatal, however many other errors there are.
    Fatal,
    /// A warning.
    Warning,
    /// Contains a word that often indicates a problem.
    Suspect,
    /// Heads a section: a file of a diff, a hunk.
    Heading,
    /// Heads a section about tests that passed.
    PassedSection,
    /// Says that a test or a step passed.
    Passed,
    /// Says that a test starts.
    TestStart,
    /// Contains an error word but indicates no problem.
    Harmless,
    /// Set-up and clean-up of the CI runner itself.
    Housekeeping,
}

impl Role {
    /// Whether a line of this role is never worth showing for its own sake.
    pub(super) fn is_unimportant(self) -> bool {
        matches!(
            self,
            Role::PassedSection | Role::Passed | Role::TestStart | Role::Harmless | Role::Housekeeping
        )
    }

    /// Whether a line of this role reports a problem by itself.
    pub(super) fn is_problem(self) -> bool {
        let is_accompanying = matches!(
            self,
            Role::Heading
                | Role::SuiteTitle
                | Role::Context
                | Role::Summary
                | Role::Frame
                | Role::LibraryFrame
                | Role::Location
        );
        !self.is_unimportant() && !is_accompanying
    }
}

/// The groups of rules. Each can be disabled, to measure what it contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Lines that look like problems and are none.
    Quiet,
    /// Compilers, linters and linkers.
    Compilers,
    /// Test runners.
    Runners,
    /// Exceptions, crashes and stack frames.
    Traces,
    /// Build tools, package managers, shells, CI runners.
    Builds,
    /// Headings of sections, such as the files of a diff.
    Shapes,
    /// Words that often indicate a problem.
    Words,
}

impl Group {
    /// Every group.
    pub const ALL: [Group; 7] = [
        Group::Quiet,
        Group::Compilers,
        Group::Runners,
        Group::Traces,
        Group::Builds,
        Group::Shapes,
        Group::Words,
    ];
}

/// One row of the table.
pub(super) struct Rule {
    #[allow(dead_code, reason = "read by the tests and by the build script")]
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) role: Role,
    /// Every line that the pattern matches contains one of these, in upper or lower case.
    pub(super) keywords: &'static [&'static str],
    /// The regular expression, which the build script compiles.
    #[allow(dead_code, reason = "read by the build script only")]
    pub(super) pattern: &'static str,
    /// A line that the rule must match.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the tests of the table"))]
    pub(super) hit: &'static str,
    /// A line that the rule must not match.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the tests of the table"))]
    pub(super) miss: &'static str,
}

/// Every rule, in the order of precedence.
pub(super) static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let lists = [&[quiet::RULES, shapes::RULES][..], &runners::PRECEDENCE];
    let after_runners = [compilers::RULES, traces::RULES, builds::RULES, words::RULES];
    lists.into_iter().flatten().copied().chain(after_runners).flatten().collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_names_are_unique_and_keywords_are_not_empty() {
        for (number, rule) in RULES.iter().enumerate() {
            assert!(RULES[..number].iter().all(|other| other.name != rule.name), "{}", rule.name);
            assert!(
                !rule.keywords.is_empty() && rule.keywords.iter().all(|keyword| !keyword.is_empty()),
                "{}",
                rule.name
            );
        }
    }
}
