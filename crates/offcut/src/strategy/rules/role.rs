//! The roles and groups that the files in `rules/` name. The build script includes this file.

use serde::Deserialize;

/// What a line tells the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Names a test or step that failed.
    Failed,
    /// Says that what the previous line names has failed.
    Verdict,
    /// A compiler's or a linter's error; its snippet and notes follow.
    Diagnostic,
    /// The message of an exception or a panic; frames may follow.
    Exception,
    /// Opens a traceback whose message comes last.
    Traceback,
    /// One frame of a stack in the user's code.
    Frame,
    /// One frame of a stack in a library or a test runner.
    LibraryFrame,
    /// An expected value, an actual value, a line of the source, or what introduces a problem.
    Detail,
    /// The source location of the problem on the previous line.
    Location,
    /// The overall result, or the heading of a list of failures.
    Summary,
    /// A command, a target or a job gave up.
    Stopped,
    /// A message that calls itself fatal, however many other errors there are.
    Fatal,
    /// A warning.
    Warning,
    /// Contains a word that often indicates a problem.
    Suspect,
    /// A CI runner begins a step. The text is what several commands printed, one after the other.
    Step,
    /// Names a group of tests, some of which may fail.
    Title,
    /// Heads a section about tests that passed.
    PassedSection,
    /// Says that a test or a step passed.
    Passed,
    /// Reports no problem, even if it contains words such as `error`.
    Noise,
    /// Reports no problem by its level, but contains words such as `error`. It matters only if it is unlike the others.
    Info,
}

/// The groups of rules. Each can be disabled, to measure what it contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
