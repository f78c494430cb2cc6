//! What to search for, and the matcher that finds it.

use super::MOST_CONTEXT;
use crate::retrieve::RetrieveError;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;

/// What to search for. Programs may write it as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// A regular expression. It matches inside one line, and `$` also matches before a carriage return at the end of a line.
    /// A line of more than 64 MiB, less with context, is searched in parts that overlap: a match of more than 4 KiB can be
    /// missed there.
    pub pattern: String,
    /// More patterns. A line matches if one of all patterns does.
    #[serde(default)]
    pub alternatives: Vec<String>,
    /// The patterns are text instead of regular expressions.
    #[serde(default)]
    pub literal: bool,
    /// Upper and lower case match each other.
    #[serde(default, alias = "ignoreCase")]
    pub ignore_case: bool,
    /// Only whole words match.
    #[serde(default)]
    pub word: bool,
    /// The lines that do not match are found instead. A line that is searched in parts is found if one of them does not match.
    #[serde(default)]
    pub invert: bool,
    /// Each match is a hit of its own, without the rest of its line.
    #[serde(default, alias = "onlyMatching")]
    pub only_matching: bool,
    /// The number of lines to show before and after a match, at most 1000.
    #[serde(default)]
    pub context: usize,
    /// The number of lines to show before a match, if it is not `context`.
    #[serde(default)]
    pub before: Option<usize>,
    /// The number of lines to show after a match, if it is not `context`.
    #[serde(default)]
    pub after: Option<usize>,
    /// The most matches to show of each output; all are counted.
    #[serde(default, alias = "maxCount")]
    pub max_count: Option<u64>,
}

impl Query {
    /// The numbers of lines to show before and after a match.
    pub(super) fn context_lines(&self) -> (usize, usize) {
        let lines = |lines: Option<usize>| lines.unwrap_or(self.context).min(MOST_CONTEXT);
        (lines(self.before), lines(self.after))
    }

    pub(super) fn matcher(&self) -> Result<RegexMatcher, RetrieveError> {
        let all = [&self.pattern].into_iter().chain(&self.alternatives);
        let patterns: Vec<String> = match self.literal {
            true => all.cloned().collect(),
            false => all.map(|pattern| with_carriage_returns(pattern)).collect(),
        };
        RegexMatcherBuilder::new()
            .case_insensitive(self.ignore_case)
            .fixed_strings(self.literal)
            .word(self.word)
            .line_terminator(Some(b'\n'))
            .build_many(&patterns)
            .map_err(|error| RetrieveError::NotAPattern { reason: reason(&error.to_string()) })
    }
}

/// The pattern in which `$` also matches before a carriage return at the end of a line. A mode of the engine for such line
/// ends exists, but there a carriage return ends a line anywhere, and a pattern cannot contain it.
fn with_carriage_returns(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut classes = 0_u32;
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '$' if classes == 0 => {
                text.push_str(r"(?:\r??$)");
                continue;
            }
            '[' => {
                classes += 1;
                text.push('[');
                // A bracket at the start of a class is a literal.
                for literal in ['^', ']'] {
                    text.extend(chars.next_if_eq(&literal));
                }
                continue;
            }
            ']' => classes = classes.saturating_sub(1),
            _ => {}
        }
        text.push(char);
        if char == '\\' {
            text.extend(chars.next());
        }
    }
    text
}

/// The longest reason that is quoted in full.
const LONGEST_REASON: usize = 1000;

/// What is wrong with a pattern. The error quotes the pattern on several lines, and its last line says what is wrong.
fn reason(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).chars().take(LONGEST_REASON).collect()
}
