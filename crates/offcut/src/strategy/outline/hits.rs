//! Search hits: the number of hits and files, and some hits of each file.

use super::{Format, IRREGULAR_VALUE, count, is_majority};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many files are counted. With more, the remark says `at least`.
const MAX_FILES: usize = 200_000;

/// `path:line:text`, as `grep -n` and ripgrep print it; or a path with `line:text` below it.
#[derive(Default)]
pub(super) struct Hits {
    lines: u64,
    regular: u64,
    /// Lines of another form, some of which may be hits as well.
    others: u64,
    matches: u64,
    files: HashSet<u64>,
    /// The file of the last hit, and how many of its hits there were.
    file: u64,
    hits_in_file: i32,
    /// Hits that look like diagnostics of a compiler.
    diagnostics: u64,
    /// Whether a path on its own line was seen, with hits below it.
    has_headings: bool,
}

enum Row<'l> {
    Match(&'l [u8], &'l [u8]),
    Context,
    Heading(&'l [u8]),
    Separator,
    Other,
}

fn row(line: &[u8]) -> Row<'_> {
    if line.is_empty() || line == b"--" {
        return Row::Separator;
    }
    let number = |rest: &[u8]| rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = number(line);
    if digits > 0 {
        return match line.get(digits) {
            Some(b':') => Row::Match(b"", &line[digits + 1..]),
            Some(b'-') => Row::Context,
            _ => Row::Other,
        };
    }
    let end = line.iter().position(|byte| matches!(byte, b':' | b' ' | b'\t')).unwrap_or(line.len());
    let path = &line[..end];
    let is_path = path.iter().any(|byte| matches!(byte, b'/' | b'.')) && path[0] != b'[' && path.len() < 400;
    if !is_path {
        return Row::Other;
    }
    let rest = line.get(end + 1..).unwrap_or_default();
    let digits = number(rest);
    if digits > 0 && line[end] == b':' && rest.get(digits) == Some(&b':') {
        return Row::Match(path, &rest[digits + 1..]);
    }
    let is_context = memchr::memchr_iter(b'-', path).any(|at| {
        let digits = number(&path[at + 1..]);
        digits > 0 && path.get(at + 1 + digits) == Some(&b'-')
    });
    match is_context {
        true => Row::Context,
        false if end == line.len() => Row::Heading(path),
        false => Row::Other,
    }
}

/// Whether the text of a hit is a diagnostic: ` error: …`, `12: warning …`, ` E501 …`. A diagnostic is separated from the
/// colon by one space; a line that was found follows the colon directly.
fn is_diagnostic(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = match text.get(digits) {
        Some(b':') if digits > 0 => &text[digits + 1..],
        _ => text,
    };
    let Some(text) = text.strip_prefix(b" ") else { return false };
    let words: [&[u8]; 9] =
        [b"error", b"warning", b"fatal", b"note:", b"Error", b"Warning", b"undefined", b"info:", b"hint:"];
    let is_code = matches!(text, [b'A'..=b'Z', digit, ..] if digit.is_ascii_digit());
    is_code || words.iter().any(|word| text.starts_with(word))
}

impl Hits {
    fn enter_file(&mut self, path: &[u8]) {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        let file = hasher.finish();
        if file != self.file {
            (self.file, self.hits_in_file) = (file, 0);
        }
        if self.files.len() < MAX_FILES {
            self.files.insert(file);
        }
    }
}

impl Format for Hits {
    fn value(&mut self, line: &[u8]) -> i32 {
        self.lines += 1;
        self.regular += 1;
        match row(line) {
            Row::Match(path, text) => {
                self.matches += 1;
                self.diagnostics += u64::from(is_diagnostic(text));
                if !path.is_empty() {
                    self.enter_file(path);
                } else if !self.has_headings {
                    self.regular -= 1;
                }
                self.hits_in_file += 1;
                (900 - self.hits_in_file.saturating_mul(100)).max(100 - self.hits_in_file).max(2)
            }
            Row::Heading(path) => {
                self.enter_file(path);
                self.has_headings = true;
                1000
            }
            Row::Context | Row::Separator => 0,
            Row::Other => {
                self.regular -= 1;
                self.others += 1;
                IRREGULAR_VALUE
            }
        }
    }

    fn is_match(&self) -> bool {
        self.matches * 4 > self.lines
            && self.diagnostics * 50 <= self.matches
            && is_majority(self.regular, self.lines, 95)
    }

    fn remark(&self) -> String {
        let least = |is_least: bool| if is_least { "at least " } else { "" };
        let (others, many) = (self.others > 0, self.files.len() == MAX_FILES);
        let files = count(self.files.len() as u64, "file", "files");
        let matches = count(self.matches, "match", "matches");
        format!("{}{matches} in {}{files}", least(others), least(others || many))
    }

    fn ends(&self) -> (u32, u32) {
        (3, 3)
    }
}
