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
