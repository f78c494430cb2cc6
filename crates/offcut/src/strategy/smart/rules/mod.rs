//! What lines look like that matter, as data.
//!
//! A rule is a row of a table: words of which one must occur, a pattern that the line's content must then match, and
//! the role that such a line plays. To teach a new tool, add a row with a line that must match and one that must not;
//! the tests check both. The words of all rules are looked up at once, and a pattern is looked at only if one of its
//! words occurs in a line that is unlike those seen before. The first row that matches wins, so what is to be ignored
//! stands first and what is vague stands last. The build script reads this module too and compiles the patterns.

mod builds;
mod compilers;
mod more_runners;
mod quiet;
mod runners;
mod shapes;
mod traces;
mod words;

use std::sync::LazyLock;

/// Only so much of a line is matched; what a line says, it says soon.
pub(super) const MATCHED_BYTES: usize = 400;

/// What a line is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Names a test or step that failed.
    Failed,
    /// Says that what the line before names has failed.
    Verdict,
    /// A compiler's or linter's error, with its snippet and notes below.
    Diagnostic,
    /// The same from a linter, whose first one causes no others.
    Lint,
    /// The same, under a line that names the file.
    Finding,
    /// The message of an exception or a panic; frames may follow.
    Exception,
    /// Opens a traceback whose message comes last.
    Traceback,
    /// One frame of a stack.
    Frame,
    /// The same, of a library or a runner: whoever looks has not written it.
    Library,
    /// What was expected, what was found, which line of the source.
    Detail,
    /// Names several tests, of which some may fail.
    Title,
    /// Says around what the next line tells of something.
    Context,
    /// Says whence what the next line tells of comes.
    Lead,
    /// Says where what the line before tells of is.
    Place,
    /// How it all ended.
    Summary,
    /// Heads a list: of failed tests, of reasons.
    List,
    /// A command, a target or a job gave up.
    Stopped,
    /// The same by its own word, however many errors there were.
    Fatal,
    /// A warning.
    Warning,
    /// Has a word that often means trouble.
    Suspect,
    /// Heads a part of a text that has parts: a file of a diff, a hunk.
    Heading,
    /// Heads a part that tells of what went well.
    Passes,
    /// Says that a test or a step went well.
    Passed,
    /// Says that a test begins.
    Begins,
    /// Looks like trouble and is none.
    Quiet,
    /// What a runner does for itself, before and after.
    Chore,
}

impl Role {
    /// Whether there is nothing to look for in such a line.
    pub(super) fn is_idle(self) -> bool {
        matches!(self, Role::Passes | Role::Passed | Role::Begins | Role::Quiet | Role::Chore)
    }

    /// Whether a line of this role is worth a look by itself.
    pub(super) fn is_trouble(self) -> bool {
        let is_part = matches!(
            self,
            Role::Heading
                | Role::Title
                | Role::Context
                | Role::Summary
                | Role::Frame
                | Role::Library
                | Role::Place
        );
        !self.is_idle() && !is_part
    }
}

/// The groups of rules, so that it can be measured what each adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What looks like trouble and is none.
    Quiet,
    /// Compilers, linters and linkers.
    Compilers,
    /// Test runners.
    Runners,
    /// Exceptions and their frames.
    Traces,
    /// Build tools, package managers, shells, CI runners.
    Builds,
    /// Headings of texts that have parts.
    Shapes,
    /// Words that often mean trouble.
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

/// One row.
pub(super) struct Rule {
    #[allow(dead_code, reason = "read by the tests and by the build script")]
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) role: Role,
    /// Words, in any case: every line that the pattern matches has one of them, so it is looked at only then.
    pub(super) words: &'static [&'static str],
    /// Compiled by the build script.
    #[allow(dead_code, reason = "read by the build script only")]
    pub(super) pattern: &'static str,
    /// A line that must match.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test of the table"))]
    pub(super) hit: &'static str,
    /// A line that must not.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test of the table"))]
    pub(super) miss: &'static str,
}

/// Every rule, in the order of precedence.
pub(super) static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    [
        quiet::RULES,
        shapes::RULES,
        runners::RULES,
        more_runners::RULES,
        compilers::RULES,
        traces::RULES,
        builds::RULES,
        words::RULES,
    ]
    .into_iter()
    .flatten()
    .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_rule_has_words() {
        for (number, rule) in RULES.iter().enumerate() {
            assert!(RULES[..number].iter().all(|other| other.name != rule.name), "{}", rule.name);
            assert!(
                !rule.words.is_empty() && rule.words.iter().all(|word| !word.is_empty()),
                "{}",
                rule.name
            );
        }
    }
}
