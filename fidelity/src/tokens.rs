//! Finds the specific tokens of a text: what an agent cites of a tool result, such as a path, `name:line`, an identifier
//! or a hash. The used facts of a set are such tokens.

use std::collections::HashSet;

const SHORTEST: usize = 6;
const LONGEST: usize = 120;
/// A longer run of token characters is data, such as a key or an encoded image, and has no pieces that people cite.
const LONGEST_RUN: usize = 3 * LONGEST;

/// The specific tokens of a text.
pub(crate) fn tokens(text: &[u8]) -> HashSet<&[u8]> {
    let mut found = HashSet::new();
    for run in runs(text).filter(|run| run.len() <= LONGEST_RUN) {
        pieces(run, |piece| {
            if is_specific(piece) {
                found.insert(piece);
            }
        });
    }
    found
}

/// The runs of token characters, each from its first word character to its last.
fn runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            // `\n` inside a JSON string separates words; its letter is not the beginning of the next.
            let is_escape = text[at] == b'\\' && matches!(text.get(at + 1), Some(b'n' | b'r' | b't' | b'"'));
            if is_escape || !is_word(text[at]) {
                at += if is_escape { 2 } else { 1 };
                continue;
            }
            let start = at;
            let len = text[start..].iter().position(|&byte| !is_token(byte)).unwrap_or(text.len() - start);
            at += len;
            let last = text[start..at].iter().rposition(|&byte| is_word(byte)).unwrap_or_default();
            return Some(&text[start..=start + last]);
        }
        None
    })
}

/// A run, and what people cite of it: `path`, `path:line`, what follows them, and a diff's paths without `a/`.
fn pieces<'a>(mut run: &'a [u8], mut take: impl FnMut(&'a [u8])) {
    take(run);
    if let Some(rest) = run.strip_prefix(b"a/").or_else(|| run.strip_prefix(b"b/")) {
        run = rest;
        take(run);
    }
    if !run.contains(&b':') || run.windows(3).any(|window| window == b"://") {
        return;
    }
    let mut parts = run.split(|&byte| byte == b':');
    let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    take(first);
    take(second);
    parts.for_each(&mut take);
    if !second.is_empty() && second.iter().all(u8::is_ascii_digit) {
        take(&run[..first.len() + 1 + second.len()]);
    }
}

/// Not an ordinary word: a path, a dotted or mixed-case name, a name with a digit, `name:line`.
fn is_specific(token: &[u8]) -> bool {
    if !(SHORTEST..=LONGEST).contains(&token.len()) {
        return false;
    }
    let is_marked = token.iter().any(|byte| matches!(byte, b'/' | b'_'))
        || token.windows(2).any(|pair| match pair[0] {
            b'.' => is_word(pair[1]),
            b':' => pair[1].is_ascii_digit(),
            byte => byte.is_ascii_lowercase() && pair[1].is_ascii_uppercase(),
        });
    is_marked || token.iter().any(u8::is_ascii_digit) && token.iter().any(u8::is_ascii_alphabetic)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'/' | b':' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found: Vec<String> = tokens(text.as_bytes())
            .into_iter()
            .map(|token| String::from_utf8_lossy(token).into_owned())
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn specific_tokens_of_texts() {
        check("an ordinary sentence, without names", &[]);
        check("see (src/main.rs).", &["src/main.rs"]);
        check("src/main.rs:12:7: error", &["src/main.rs", "src/main.rs:12", "src/main.rs:12:7"]);
        check("+++ b/src/lib.rs", &["b/src/lib.rs", "src/lib.rs"]);
        check("https://example.org/page", &["https://example.org/page"]);
        check(r#"{"text":"first\nsecond_line\tuserName"}"#, &["second_line", "userName"]);
        check(r"C:\temp_dir \\next_line", &["emp_dir", "ext_line"]);
        check("--work-tree2-- 123456 a1b2c3 abc12", &["a1b2c3", "work-tree2"]);
        check("std::collections", &[]);
        check(&format!("x{}", "_".repeat(LONGEST)), &[]);
        check(&format!("{}:abc_def", "x".repeat(LONGEST_RUN)), &[]);
    }
}
