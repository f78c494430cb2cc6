//! Tables: the header, the first and last rows, and rows that tell of trouble.

use super::{HEADING, STRAY, Shape, are_most, count};
use crate::strategy::smart::content;
use std::ops::Range;

/// A heading is looked for in so many lines.
const PREAMBLE: u64 = 8;

/// A quote that is open for more lines is only a character.
const LONGEST_RECORD: u64 = 50;

/// Columns under a header: `ls -l`, `ps`, `docker ps`, `kubectl get`, psql, Markdown, CSV.
#[derive(Default)]
pub(super) struct Table {
    lines: u64,
    alike: u64,
    rows: u64,
    others: u64,
    style: Style,
    /// Where the names of the columns stand, and the first of them.
    names: Vec<Range<usize>>,
    first_name: Vec<u8>,
    /// The words of the line before, while a heading is looked for.
    previous: Vec<Range<usize>>,
    /// How many separators of the record were seen, and whether it goes on inside quotes.
    separators: usize,
    is_quoted: bool,
    /// How many lines of it were seen, and how many lines of all records were not the last of theirs.
    record_lines: u64,
    continued: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    /// Nothing but blank lines yet.
    #[default]
    Unknown,
    /// So many bars a line.
    Bars(usize),
    /// Modes, owners and names, as `ls -l` prints them.
    Files,
    /// Columns under their names.
    Columns,
    /// The same, under names that could be words of a sentence.
    Named,
    /// Fields with this between them, so many times a record.
    Separated(u8, usize),
    None,
}

/// Words of a row that a person would look for.
const TROUBLE: [&[u8]; 14] = [
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

fn bars(line: &[u8]) -> usize {
    line.iter().filter(|&&byte| byte == b'|').count()
}

fn is_rule(line: &[u8]) -> bool {
    line.len() >= 3 && line.iter().all(|byte| b"+-=|: ".contains(byte))
}

/// `-rw-r--r-- 1 …`
fn is_file(line: &[u8]) -> bool {
    let (Some(kind), Some(modes)) = (line.first(), line.get(1..10)) else { return false };
    b"-dlbcps".contains(kind) && modes.iter().all(|byte| b"-rwxsStT?".contains(byte))
}

/// Where the words of a line stand.
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
    // Names stand over columns, so not all of them are just one blank apart, as words are.
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
    /// How many of the columns begin or end where their names do, and of how many; the first one always does.
    fn aligned(&self, line: &[u8]) -> (usize, usize) {
        let is_blank = |at: Option<usize>| at.and_then(|at| line.get(at)).is_none_or(u8::is_ascii_whitespace);
        let begins = |at: usize| is_blank(at.checked_sub(1)) && !is_blank(Some(at));
        let ends = |at: usize| !is_blank(at.checked_sub(1)) && is_blank(Some(at));
        let names = self.names.get(1..).unwrap_or_default();
        (names.iter().filter(|name| begins(name.start) || ends(name.end)).count(), names.len())
    }

    /// Whether the line is a row, or the last one of it.
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
            Style::Separated(_, count) => std::mem::take(&mut self.separators) == count,
            Style::Unknown | Style::None => false,
        }
    }

    /// Whether the record goes on in the next line, because a quote is open.
    fn goes_on(&mut self, line: &[u8]) -> bool {
        let Style::Separated(separator, _) = self.style else { return false };
        // A quote opens only where a field begins, or doubles the one before it.
        let mut previous = separator;
        for &byte in line {
            match (byte, self.is_quoted) {
                (b'"', true) => self.is_quoted = false,
                (b'"', false) => self.is_quoted = previous == separator || previous == b'"',
                (_, quoted) => self.separators += usize::from(byte == separator && !quoted),
            }
            previous = byte;
        }
        self.record_lines = if self.is_quoted { self.record_lines + 1 } else { 0 };
        self.is_quoted &= self.record_lines < LONGEST_RECORD;
        self.continued += u64::from(self.is_quoted);
        self.is_quoted
    }

    /// Names of any kind with a line under all or each of them; above them may be a legend.
    fn is_underlined(&mut self, line: &[u8]) -> bool {
        let is_line = line.iter().any(|byte| b"-=".contains(byte)) && is_rule(line);
        let words = std::mem::replace(&mut self.previous, words(line));
        if !is_line {
            return false;
        }
        self.names = if self.previous.len() > 1 { self.previous.clone() } else { words };
        self.names.len() > 2 || self.previous.len() > 1
    }
}

impl Shape for Table {
    fn worth(&mut self, line: &[u8]) -> u32 {
        self.lines += 1;
        self.alike += 1;
        if matches!(self.style, Style::Unknown | Style::Bars(0)) {
            let found = style(line);
            if found != Style::Unknown {
                // With bars, the first line is a row unless a rule follows.
                let is_row = is_file(line) || (self.style == Style::Unknown && bars(line) > 0);
                self.style = found;
                self.names = words(line);
                self.first_name =
                    self.names.first().map_or_else(Vec::new, |name| line[name.clone()].to_vec());
                self.previous = self.names.clone();
                self.rows += u64::from(is_row);
                return HEADING;
            }
            return 0;
        }
        if matches!(self.style, Style::None | Style::Named) && self.lines <= PREAMBLE {
            if self.is_underlined(line) {
                (self.style, self.alike, self.others, self.rows) = (Style::Columns, self.lines, 0, 0);
                return HEADING;
            }
            if self.style == Style::None {
                self.others += 1;
                self.alike -= 1;
                return HEADING;
            }
        }
        if self.goes_on(line) {
            return 0;
        }
        let is_row = self.is_row(line);
        if is_rule(line) || line.is_empty() || is_total(line) {
            if matches!(self.style, Style::Bars(_)) && self.rows == 1 {
                self.rows = 0;
            }
            return 900;
        }
        if !is_row {
            self.alike -= 1;
            self.others += 1;
            return STRAY;
        }
        self.rows += 1;
        let troubled = TROUBLE.iter().any(|word| memchr::memmem::find(line, word).is_some());
        if troubled { 500 } else { 0 }
    }

    fn is_met(&self) -> bool {
        !matches!(self.style, Style::Unknown | Style::None)
            && (self.rows + self.continued) * 2 > self.lines
            && are_most(self.alike, self.lines, 96)
    }

    fn remark(&self) -> String {
        match self.style {
            Style::Files => format!("listing of {}", count(self.rows, "entry", "entries")),
            // What does not look like a row here may be one, or the last words under a table.
            Style::Columns | Style::Named | Style::Separated(..) if self.others > 0 => {
                format!("table of at least {}", count(self.rows, "row", "rows"))
            }
            _ => format!("table of {}", count(self.rows, "row", "rows")),
        }
    }

    fn ends(&self) -> (u32, u32) {
        (45, 25)
    }
}
