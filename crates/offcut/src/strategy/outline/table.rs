//! Tables: the header, the first and last rows, and rows that report problems.

use super::cells::{CellText, cells, scan};
use super::columns::{Columns, UNUSUAL};
use super::{Contents, Format, Row, count, is_regular};
use crate::strategy::content;
use multiversion::multiversion;
use std::ops::Range;

/// How many lines at the start may come before the heading.
const MAX_PREAMBLE_LINES: u64 = 8;

/// A quote that is open for more lines than this is a plain character.
const MAX_RECORD_LINES: u64 = 50;

/// Columns under a header: `ls -l`, `ps`, `docker ps`, `kubectl get`, psql, Markdown, CSV.
#[derive(Default)]
pub(super) struct Table {
    lines: u64,
    irregular: u64,
    rows: u64,
    style: Style,
    /// The ranges of the column names, and the first of them.
    names: Vec<Range<usize>>,
    first_name: Vec<u8>,
    /// The words of the previous line, while no heading was found.
    previous: Vec<Range<usize>>,
    /// Where the separators of the line are, and how many its record had in the lines before.
    separators: Vec<usize>,
    separators_before: usize,
    /// Whether a quote is open, and how many lines of the record there were.
    is_quoted: bool,
    record_lines: u64,
    /// How many lines in all were continued in the next line.
    continued: u64,
    columns: Columns,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    /// Nothing but blank lines yet.
    #[default]
    Unknown,
    /// Columns between bars, with this many bars per line.
    Bars(usize),
    /// Modes, owners and names, as `ls -l` prints them.
    Files,
    /// Columns under their names.
    Columns,
    /// The same, under names that could also be words of a sentence.
    Named,
    /// Fields with a separator, and the number of separators per record.
    Separated(u8, usize),
    None,
}

/// What a row that reports a problem is worth more.
const PROBLEM: i32 = 300;

/// Words that indicate a problem in a row. Some follow a lower-case letter: `ImagePullBackOff`.
const PROBLEMS: [&[u8]; 14] = [
    b"Error",
    b"ERROR",
    b"CrashLoop",
    b"BackOff",
    b"Evicted",
    b"Pending",
    b"Failed",
    b"FAILED",
    b"unhealthy",
    b"Exited (1",
    b"NotReady",
    b"<defunct>",
    b"OOMKilled",
    b"Terminating",
];

/// A cell without the quotes around it.
fn unquoted(cell: &[u8]) -> &[u8] {
    let inner = cell.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    inner.unwrap_or(cell)
}

/// How many positions are tested at once.
const LANES: usize = 32;

/// Whether three letters of the row begin one of [`PROBLEMS`].
#[multiversion(targets("x86_64+avx2"))]
fn may_have_problem(line: &[u8]) -> bool {
    // Without branches, so that the compiler vectorizes it.
    let test = |letters: &[u8; LANES + 2]| {
        let begins = |at: usize, word: &[u8]| {
            (letters[at] == word[0]) & (letters[at + 1] == word[1]) & (letters[at + 2] == word[2])
        };
        (0..LANES)
            .fold(false, |found, at| PROBLEMS.iter().fold(found, |found, word| found | begins(at, word)))
    };
    let mut found = false;
    let mut rest = line;
    while let Some(letters) = rest.first_chunk() {
        found |= test(letters);
        rest = &rest[LANES..];
    }
    let mut short = [0; LANES + 2];
    found
        | test(line.last_chunk().unwrap_or_else(|| {
            short[..line.len()].copy_from_slice(line);
            &short
        }))
}

/// Whether a word of the row indicates a problem.
fn has_problem(line: &[u8]) -> bool {
    may_have_problem(line)
        && (0..line.len()).any(|at| PROBLEMS.iter().any(|word| line[at..].starts_with(word)))
}

fn bars(line: &[u8]) -> usize {
    line.iter().filter(|&&byte| byte == b'|').count()
}

fn is_divider(line: &[u8]) -> bool {
    line.len() >= 3 && line.iter().all(|byte| b"+-=|: ".contains(byte))
}

/// `-rw-r--r-- 1 …`
fn is_file(line: &[u8]) -> bool {
    let (Some(kind), Some(modes)) = (line.first(), line.get(1..10)) else { return false };
    b"-dlbcps".contains(kind) && modes.iter().all(|byte| b"-rwxsStT?".contains(byte))
}

/// Whether only a table begins with this line: modes of a file, or column names in capitals.
pub(super) fn is_clear_start(line: &[u8]) -> bool {
    let is_lower = |line: &[u8]| line.iter().any(u8::is_ascii_lowercase);
    is_file(line) || is_total(line) || (!is_lower(line) && style(line) == Style::Columns)
}

/// The ranges of the words of a line.
fn words(line: &[u8]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for at in (0..line.len()).filter(|&at| !line[at].is_ascii_whitespace()) {
        match words.last_mut() {
            Some(word) if word.end == at => word.end = at + 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}

fn style(line: &[u8]) -> Style {
    if line.trim_ascii().is_empty() {
        return Style::Unknown;
    }
    if is_file(line) || is_total(line) {
        return Style::Files;
    }
    match bars(line) {
        _ if content::strip_service_name(line).is_some() => return Style::None,
        0 if line.starts_with(b"+--") => return Style::Bars(0),
        0 => {}
        bars => return Style::Bars(bars),
    }
    if let Some(style) = separated(line) {
        return style;
    }
    let is_name = |word: &Range<usize>| {
        line[word.clone()].iter().all(|byte| byte.is_ascii_uppercase() || b"%()/_-#".contains(byte))
    };
    let is_word = |word: &Range<usize>| {
        line[word.clone()].iter().all(|byte| byte.is_ascii_alphanumeric() || b"%()/_-#".contains(byte))
    };
    let words = words(line);
    // Column names are aligned, so some are more than one space apart, unlike the words of a sentence.
    let are_apart = words.windows(2).any(|pair| pair[1].start - pair[0].end > 1);
    match words.len() >= 3 && are_apart {
        true if words.iter().all(is_name) => Style::Columns,
        true if line[words[0].start].is_ascii_alphabetic() && words.iter().all(is_word) => Style::Named,
        _ => Style::None,
    }
}

/// The style of a line that names fields: `id,name,value`.
fn separated(line: &[u8]) -> Option<Style> {
    let is_name = |field: &[u8]| {
        let field = field.strip_prefix(b"\"").unwrap_or(field);
        let is_plain =
            |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b" _-./()%#\"".contains(byte);
        matches!(field.first(), Some(byte) if byte.is_ascii_alphabetic() || b"_#".contains(byte))
            && field.len() <= 60
            && field.iter().all(is_plain)
    };
    [b',', b'\t', b';'].into_iter().find_map(|separator| {
        let count = memchr::memchr_iter(separator, line).count();
        let are_names = count >= 2 && line.split(|&byte| byte == separator).all(is_name);
        are_names.then_some(Style::Separated(separator, count))
    })
}

pub(super) fn is_total(line: &[u8]) -> bool {
    line.strip_prefix(b"total ")
        .is_some_and(|number| number.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.'))
}

impl Table {
    /// How many columns begin or end where their names do, and the number of columns. The first column is not counted.
    fn aligned(&self, line: &[u8]) -> (usize, usize) {
        let is_blank = |at: Option<usize>| at.and_then(|at| line.get(at)).is_none_or(u8::is_ascii_whitespace);
        let begins = |at: usize| is_blank(at.checked_sub(1)) && !is_blank(Some(at));
        let ends = |at: usize| !is_blank(at.checked_sub(1)) && is_blank(Some(at));
        let names = self.names.get(1..).unwrap_or_default();
        (names.iter().filter(|name| begins(name.start) || ends(name.end)).count(), names.len())
    }

    /// Whether the line is a row, or the last line of one.
    fn is_row(&mut self, line: &[u8]) -> bool {
        match self.style {
            Style::Bars(count) => bars(line) >= count.min(2) && bars(line) > 0,
            Style::Files => is_file(line),
            Style::Columns => {
                let (aligned, names) = self.aligned(line);
                names > 0 && aligned * 2 >= names
            }
            Style::Named => {
                let (aligned, names) = self.aligned(line);
                aligned * 3 >= names * 2
                    && line.iter().any(u8::is_ascii_digit)
                    && !line.trim_ascii_start().starts_with(&self.first_name)
            }
            Style::Separated(..) | Style::Unknown | Style::None => false,
        }
    }

    /// Reads a line of fields with this many separators. A quoted field may go on in the next line. `None` if it is no record.
    fn read_record(&mut self, line: &[u8], separator: u8, count: usize) -> Option<Row> {
        let signs = scan(line, separator, &mut self.separators);
        let has_quote = self.is_quoted || signs.has_quote;
        if has_quote {
            self.find_unquoted_separators(line, separator);
        }
        if self.is_quoted {
            self.continued += 1;
            self.separators_before += self.separators.len();
            return Some(Row::unit(0));
        }
        let before = std::mem::take(&mut self.separators_before);
        if before + self.separators.len() != count {
            return None;
        }
        let cells = || cells(line, self.separators.iter().copied());
        let is_unusual = match has_quote {
            // The last line of a record of several lines lacks the first cells.
            true if before > 0 => false,
            true => self.columns.add(cells().map(|cell| CellText::of(unquoted(cell.text)))),
            false => self.columns.add(cells()),
        };
        Some(self.row(signs.may_have_letter && has_problem(line), is_unusual))
    }

    /// Finds the separators that are not between quotes, and whether a quote is open at the end of the line.
    fn find_unquoted_separators(&mut self, line: &[u8], separator: u8) {
        self.separators.clear();
        // A quote opens only at the start of a field, or doubles the quote before it.
        let mut previous = separator;
        for (at, &byte) in line.iter().enumerate() {
            match (byte, self.is_quoted) {
                (b'"', true) => self.is_quoted = false,
                (b'"', false) => self.is_quoted = previous == separator || previous == b'"',
                (_, quoted) if byte == separator && !quoted => self.separators.push(at),
                _ => {}
            }
            previous = byte;
        }
        self.record_lines = if self.is_quoted { self.record_lines + 1 } else { 0 };
        self.is_quoted &= self.record_lines < MAX_RECORD_LINES;
    }

    /// Counts a row, and says what it is worth.
    fn row(&mut self, is_problem: bool, is_unusual: bool) -> Row {
        self.rows += 1;
        Row::unit(match (is_problem, is_unusual) {
            (true, _) => PROBLEM,
            (false, true) => UNUSUAL,
            (false, false) => 0,
        })
    }

    /// Whether the line underlines the column names, which may follow a legend.
    fn is_underlined(&mut self, line: &[u8]) -> bool {
        let is_line = line.iter().any(|byte| b"-=".contains(byte)) && is_divider(line);
        let words = std::mem::replace(&mut self.previous, words(line));
        if !is_line {
            return false;
        }
        self.names = if self.previous.len() > 1 { self.previous.clone() } else { words };
        self.names.len() > 2 || self.previous.len() > 1
    }
}

impl Format for Table {
    fn read(&mut self, line: &[u8]) -> Row {
        self.lines += 1;
        if matches!(self.style, Style::Unknown | Style::Bars(0)) {
            let found = style(line);
            if found != Style::Unknown {
                // With bars, the first line is a row unless a divider follows.
                let is_row = is_file(line) || (self.style == Style::Unknown && bars(line) > 0);
                self.style = found;
                self.names = words(line);
                self.first_name =
                    self.names.first().map_or_else(Vec::new, |name| line[name.clone()].to_vec());
                self.previous = self.names.clone();
                self.rows += u64::from(is_row);
                return Row::heading();
            }
            return Row::unit(0);
        }
        if matches!(self.style, Style::None | Style::Named) && self.lines <= MAX_PREAMBLE_LINES {
            if self.is_underlined(line) {
                (self.style, self.irregular, self.rows) = (Style::Columns, 0, 0);
                return Row::heading();
            }
            if self.style == Style::None {
                self.irregular += 1;
                return Row::heading();
            }
        }
        if let Style::Separated(separator, count) = self.style
            && let Some(row) = self.read_record(line, separator, count)
        {
            return row;
        }
        let is_row = self.is_row(line);
        if is_divider(line) || line.is_empty() || is_total(line) {
            if matches!(self.style, Style::Bars(_)) && self.rows == 1 {
                self.rows = 0;
            }
            return Row::unit(0);
        }
        if !is_row {
            self.irregular += 1;
            return Row::irregular();
        }
        let is_unusual = match self.style {
            Style::Bars(_) => self.columns.add(cells(line, memchr::memchr_iter(b'|', line))),
            _ => {
                let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                self.columns.add(words.map(CellText::of))
            }
        };
        self.row(has_problem(line), is_unusual)
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let lines = self.lines + lines_left;
        // The heading may follow other lines.
        let is_regular = self.style != Style::None && is_regular(self.irregular, lines);
        (is_regular || (self.lines < MAX_PREAMBLE_LINES && lines_left > 0))
            && (self.rows + self.continued + lines_left) * 2 > lines
    }

    fn remark(&self) -> String {
        match self.style {
            Style::Files => format!("listing of {}", count(self.rows, "entry")),
            // A line that does not look like a row may be one, or may be a footer.
            Style::Columns | Style::Named | Style::Separated(..) if self.irregular > 0 => {
                format!("table of at least {}", count(self.rows, "row"))
            }
            _ => format!("table of {}", count(self.rows, "row")),
        }
    }

    fn contents(&self) -> Contents {
        [self.rows, 0, 0, 0, 0]
    }

    fn nouns(&self) -> &'static [&'static str] {
        if self.style == Style::Files { &["entry"] } else { &["row"] }
    }

    fn ends(&self) -> (u32, u32) {
        (20, 20)
    }
}
