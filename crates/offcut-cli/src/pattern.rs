//! The patterns of `offcut grep` and of the filter `--grep`.

use crate::diagnostic;
use grep_regex::RegexMatcher;

/// The regular expression that a pattern stands for. A pattern that does not compile is searched as text, and a message
/// names it.
pub(crate) fn regex_or_text(pattern: &str) -> String {
    let Err(error) = RegexMatcher::new(pattern) else { return pattern.to_owned() };
    // The error quotes the pattern on several lines, and its last line says what is wrong.
    let error = error.to_string();
    let last = error.lines().last().unwrap_or_default();
    let reason = last.strip_prefix("error: ").unwrap_or(last);
    diagnostic::say(format_args!(
        "{pattern:?} is not a regular expression ({reason}): searching for it as text"
    ));
    regex_syntax::escape(pattern)
}
