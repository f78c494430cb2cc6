//! Search hits: every file, its hits, and the number of both.

use super::definitions::definition;
use super::failures::Failures;
use super::{Contents, Format, Gaps, Row, count, is_regular};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many files are counted. With more, the remark says `at least`.
const MAX_FILES: usize = 200_000;

/// What the first hit of a file and a path on its own line are worth more: every file is named before more of any is shown.
const FIRST_OF_FILE: i32 = 240;

/// What a hit is worth more than a line around it.
const MATCH: i32 = 25;

/// What a line between two groups of hits is worth more.
const SEPARATOR: i32 = -60;

/// Of hits without numbers, at most this percentage is in another file than the hit before, and more if at least
/// [`FOUND_PERCENT`] of them are lines of files rather than messages.
const CHANGES_PERCENT: u64 = 33;
const FOUND_CHANGES_PERCENT: u64 = 80;
const FOUND_PERCENT: u64 = 90;

/// At most one match in this many looks like a diagnostic.
const MATCHES_PER_DIAGNOSTIC: u64 = 50;

/// `path:line:text`, as `grep -n` and ripgrep print it, `path:text`, `line:text`; or a path with `line:text` below it.
/// Lines around a hit have `-` instead of `:`.
#[derive(Default)]
pub(super) struct Hits {
    lines: u64,
    /// Lines of another form, some of which may be hits as well.
    irregular: u64,
    matches: u64,
    files: HashSet<u64>,
    /// How often a file followed another.
    changes: u64,
    /// The file of the last line, and the number of the line in it.
    path: Vec<u8>,
    number: u64,
    /// Hits without a line number, and what they say: they may be messages of a tool.
    unnumbered: u64,
    /// Those of them whose text is a line of a file rather than a message.
    found: u64,
    failures: Failures,
    /// Hits that look like diagnostics of a compiler.
    diagnostics: u64,
    /// Whether a path on its own line was seen, with hits below it.
    has_headings: bool,
    /// Whether the line before names the file, so that the next one need not.
    is_named: bool,
    is_settled: bool,
}

/// One line, by its form.
#[derive(Debug, PartialEq, Eq)]
enum Form<'l> {
    /// A hit, or a line around one. The path and the number may be missing.
    Hit {
        path: &'l [u8],
        number: Option<u64>,
        text: &'l [u8],
        kind: Kind,
    },
    Heading(&'l [u8]),
    Separator,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Match,
    Context,
}

/// The number at the start of a text, and the length of its digits.
fn leading_number(text: &[u8]) -> Option<(u64, usize)> {
    let digits = text.iter().take(18).take_while(|byte| byte.is_ascii_digit()).count();
    let number = text[..digits].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    (digits > 0).then_some((number, digits))
}

/// `12:text` or `12-text`
fn numbered<'l>(path: &'l [u8], rest: &'l [u8]) -> Option<Form<'l>> {
    let (number, digits) = leading_number(rest)?;
    let kind = match rest.get(digits)? {
        b':' => Kind::Match,
        b'-' => Kind::Context,
        _ => return None,
    };
    Some(Form::Hit { path, number: Some(number), text: &rest[digits + 1..], kind })
}

fn form(line: &[u8]) -> Form<'_> {
    if line.is_empty() || line == b"--" {
        return Form::Separator;
    }
    if line[0].is_ascii_digit()
        && let Some(hit) = numbered(b"", line)
    {
        return hit;
    }
    let end = line.iter().position(|byte| matches!(byte, b':' | b' ' | b'\t')).unwrap_or(line.len());
    let path = &line[..end];
    let is_path = path.iter().any(|byte| matches!(byte, b'/' | b'.'))
        && !matches!(path[0], b'(' | b'-' | b'#')
        && !path.contains(&b'[')
        && path.len() < 400;
    if !is_path {
        return Form::Other;
    }
    let rest = line.get(end + 1..).unwrap_or_default();
    if line.get(end) == Some(&b':')
        && let Some(hit @ Form::Hit { kind: Kind::Match, .. }) = numbered(path, rest)
    {
        return hit;
    }
    // The path of a line around a hit ends where a number follows. It may itself contain such a number.
    let mut contexts = memchr::memchr_iter(b'-', path).filter_map(|at| {
        let hit = numbered(&path[..at], &line[at + 1..])?;
        matches!(hit, Form::Hit { kind: Kind::Context, .. }).then_some(hit)
    });
    let has_extension = |form: &Form<'_>| match form {
        Form::Hit { path, .. } => {
            path.rsplit(|&byte| byte == b'/').next().is_some_and(|name| name.contains(&b'.'))
        }
        _ => false,
    };
    if let Some(context) = contexts.clone().find(has_extension).or_else(|| contexts.next()) {
        return context;
    }
    match line.get(end) {
        None => Form::Heading(path),
        Some(b':') if !rest.starts_with(b"/") => {
            Form::Hit { path, number: None, text: rest, kind: Kind::Match }
        }
        _ => Form::Other,
    }
}

/// Whether two paths name one file: some tools print the paths of hits relative to a directory, but not those of the lines
/// around them.
fn is_same_file(one: &[u8], other: &[u8]) -> bool {
    let is_end = |absolute: &[u8], relative: &[u8]| {
        absolute.starts_with(b"/")
            && !relative.starts_with(b"/")
            && !relative.is_empty()
            && absolute.strip_suffix(relative).is_some_and(|before| before.ends_with(b"/"))
    };
    one == other || is_end(one, other) || is_end(other, one)
}

/// Whether the text of a hit is a diagnostic: ` error: …`, `12: any message`, ` E501 …`. A diagnostic is separated from the
/// colon by one space; a line that was found follows the colon directly.
fn is_diagnostic(text: &[u8]) -> bool {
    let message = |text: &[u8]| matches!(text, [b' ', first, ..] if !first.is_ascii_whitespace());
    if let Some((_, digits)) = leading_number(text)
        && let Some(text) = text[digits..].strip_prefix(b":")
    {
        return message(text);
    }
    let Some(text) = text.strip_prefix(b" ") else { return false };
    let words: [&[u8]; 9] =
        [b"error", b"warning", b"fatal", b"note:", b"Error", b"Warning", b"undefined", b"info:", b"hint:"];
    let is_code = matches!(text, [b'A'..=b'Z', digit, ..] if digit.is_ascii_digit());
    is_code || words.iter().any(|word| text.starts_with(word))
}

/// Whether the text after a path and a colon is a line of that file. A message is separated from the colon by one space.
fn is_found_line(path: &[u8], text: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let is_file = name.len() < path.len() && name.contains(&b'.');
    let is_message = matches!(text, [] | [b':', ..]) || matches!(text, [b' ', next, ..] if *next != b' ');
    is_file && !is_message
}

impl Hits {
    /// Whether a line belongs to another file than the one before.
    fn enter_file(&mut self, path: &[u8]) -> bool {
        if is_same_file(&self.path, path) {
            return false;
        }
        self.path.clear();
        self.path.extend_from_slice(path);
        (self.number, self.changes) = (0, self.changes + 1);
        if self.files.len() < MAX_FILES {
            let mut hasher = DefaultHasher::new();
            path.hash(&mut hasher);
            self.files.insert(hasher.finish());
        }
        true
    }

    fn read_hit(&mut self, line: &[u8], path: &[u8], number: Option<u64>, text: &[u8], kind: Kind) -> Row {
        let is_new_file = !path.is_empty() && self.enter_file(path);
        let separator = usize::from(number.is_some());
        let was_named = std::mem::replace(&mut self.is_named, true);
        let repeats = was_named && !is_new_file && !path.is_empty();
        let repeated = if repeats { path.len() + separator } else { 0 };
        match number {
            // Without a path, only growing numbers say that these are lines of one file.
            Some(number) if path.is_empty() && !self.has_headings && number <= self.number => {
                self.irregular += 1;
            }
            Some(number) => self.number = number,
            None => {
                self.unnumbered += 1;
                self.found += u64::from(is_found_line(path, text));
                self.failures.read(line);
            }
        }
        match kind {
            Kind::Match => {
                self.matches += 1;
                self.diagnostics += u64::from(is_diagnostic(text));
                let more = if is_new_file { FIRST_OF_FILE } else { MATCH };
                // The definition is what many searches are for.
                let defined = if self.is_settled { None } else { definition(text) };
                Row::unit(more + defined.unwrap_or(0)).repeating(repeated)
            }
            Kind::Context => Row::unit(0).repeating(repeated),
        }
    }
}

impl Format for Hits {
    fn read(&mut self, line: &[u8]) -> Row {
        self.lines += 1;
        match form(line) {
            Form::Hit { path, number, text, kind } => self.read_hit(line, path, number, text, kind),
            Form::Heading(path) => {
                self.enter_file(path);
                self.has_headings = true;
                Row::unit(FIRST_OF_FILE)
            }
            Form::Separator => {
                self.is_named = false;
                Row::unit(SEPARATOR)
            }
            Form::Other => {
                self.irregular += 1;
                Row::irregular()
            }
        }
    }

    fn can_match(&self, lines_left: u64) -> bool {
        // A log may begin its lines with paths, too, but seldom with few different ones that do not alternate.
        // Lines of files may alternate more, but some file has several: a list with one line per file has no hits.
        let changes_at_most = |percent| self.changes * 100 <= self.unnumbered * percent;
        let are_found = self.found * 100 >= self.unnumbered * FOUND_PERCENT;
        let is_grouped = self.unnumbered == 0
            || changes_at_most(CHANGES_PERCENT)
            || (are_found && changes_at_most(FOUND_CHANGES_PERCENT));
        let matches = self.matches + lines_left;
        matches > 0
            && (is_grouped || lines_left > 0)
            && !self.failures.outweigh(0, lines_left)
            && self.diagnostics * MATCHES_PER_DIAGNOSTIC <= matches
            && is_regular(self.irregular, self.lines + lines_left)
    }

    fn remark(&self) -> String {
        let least = |is_least: bool| if is_least { "at least " } else { "" };
        let (others, many) = (self.irregular > 0, self.files.len() == MAX_FILES);
        let matches = count(self.matches, "match");
        match self.files.len() as u64 {
            0 => format!("{}{matches}", least(others)),
            files => {
                let files = count(files, "file");
                format!("{}{matches} in {}{files}", least(others), least(others || many))
            }
        }
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }

    fn contents(&self) -> Contents {
        [self.matches, self.changes, 0, 0, 0]
    }

    fn nouns(&self) -> &'static [&'static str] {
        &["match", "more file"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, path: &str, number: Option<u64>, kind: Kind) {
        match form(line.as_bytes()) {
            Form::Hit { path: found, number: at, kind: of, .. } => {
                assert_eq!((String::from_utf8_lossy(found).as_ref(), at, of), (path, number, kind), "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn hits_are_recognised_in_every_form() {
        check("src/a.rs:12:let a = 1;", "src/a.rs", Some(12), Kind::Match);
        check("src/a.rs-12-let a: u8 = 1;", "src/a.rs", Some(12), Kind::Context);
        check("src/a.rs-12-", "src/a.rs", Some(12), Kind::Context);
        check("/x/2026-01-02-notes.md-7-- item", "/x/2026-01-02-notes.md", Some(7), Kind::Context);
        check("src/a.py:    index = 1", "src/a.py", None, Kind::Match);
        check("291:type Strategy interface {", "", Some(291), Kind::Match);
        check("292-\t// Name", "", Some(292), Kind::Context);
        for line in ["plain words", "INFO: it goes on", "https://a.b/c d", "    at f (a.js:1:2)"] {
            assert!(!matches!(form(line.as_bytes()), Form::Hit { .. }), "{line}");
        }
    }

    #[test]
    fn hits_without_numbers_differ_from_messages_about_files() {
        for (text, is_match) in [("use memchr;", true), ("    let a = 1;", true), (" cannot be read", false)]
        {
            let mut hits = Hits::default();
            for file in 0..20 {
                for _ in 0..2 {
                    hits.read(format!("src/file{file}.rs:{text}").as_bytes());
                }
            }
            assert_eq!(hits.is_match(), is_match, "{text}");
        }
        // One line about each file, aligned.
        let mut list = Hits::default();
        for file in 10..50 {
            list.read(format!("images/{file}.png:   PNG image data").as_bytes());
        }
        assert!(!list.is_match());
    }

    #[test]
    fn paths_that_end_alike_name_one_file() {
        for (one, other, same) in [
            ("a/b.rs", "a/b.rs", true),
            ("/home/x/a/b.rs", "a/b.rs", true),
            ("a/b.rs", "xa/b.rs", false),
            ("sub/a/b.rs", "a/b.rs", false),
            ("a/b.rs", "a/c.rs", false),
            ("", "a/b.rs", false),
        ] {
            assert_eq!(is_same_file(one.as_bytes(), other.as_bytes()), same, "{one} {other}");
        }
    }
}
