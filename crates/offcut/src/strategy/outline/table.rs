//! Tables: the header, the first and last rows, and rows that tell of trouble.

use super::{Shape, are_most, count};
use std::ops::Range;

/// Columns under a header: `ls -l`, `ps`, `docker ps`, `kubectl get`, psql, Markdown.
#[derive(Default)]
pub(super) struct Table {
    lines: u64,
    alike: u64,
    rows: u64,
    style: Style,
    /// Where the names of the columns stand.
    names: Vec<Range<usize>>,
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
    b"-dlbcps".contains(kind) && modes.iter().all(|byte| b"-rwxsStT".contains(byte))
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
        0 if line.starts_with(b"+--") => return Style::Bars(0),
        0 => {}
        bars => return Style::Bars(bars),
    }
    let is_name = |word: &Range<usize>| {
        line[word.clone()].iter().all(|byte| byte.is_ascii_uppercase() || b"%()/_-#".contains(byte))
    };
    let words = words(line);
    // Names stand over columns, so not all of them are just one blank apart, as words are.
    let are_apart = words.windows(2).any(|pair| pair[1].start - pair[0].end > 1);
    if words.len() >= 3 && are_apart && words.iter().all(is_name) { Style::Columns } else { Style::None }
}

fn is_total(line: &[u8]) -> bool {
    line.strip_prefix(b"total ")
        .is_some_and(|number| number.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.'))
}

impl Table {
    /// Whether half of the columns begin or end where their names do; the first one always does.
    fn is_aligned(&self, line: &[u8]) -> bool {
        let is_blank = |at: Option<usize>| at.and_then(|at| line.get(at)).is_none_or(u8::is_ascii_whitespace);
        let begins = |at: usize| is_blank(at.checked_sub(1)) && !is_blank(Some(at));
        let ends = |at: usize| !is_blank(at.checked_sub(1)) && is_blank(Some(at));
        let names = self.names.get(1..).unwrap_or_default();
        let aligned = names.iter().filter(|name| begins(name.start) || ends(name.end)).count();
        !names.is_empty() && aligned * 2 >= names.len()
    }
}

impl Shape for Table {
    fn worth(&mut self, line: &[u8]) -> u32 {
        self.lines += 1;
        self.alike += 1;
        if matches!(self.style, Style::Unknown | Style::Bars(0)) {
            let found = style(line);
            if found != Style::Unknown {
                self.style = found;
                self.names = words(line);
                self.rows += u64::from(is_file(line));
                return 1000;
            }
            return 0;
        }
        // Names of any kind with a line under each of them.
        if self.style == Style::None && self.lines == 2 && line.contains(&b'-') && is_rule(line) {
            self.names = words(line);
            if self.names.len() > 1 {
                self.style = Style::Columns;
                return 1000;
            }
        }
        let is_row = match self.style {
            Style::Bars(count) => bars(line) >= count.min(2) && bars(line) > 0,
            Style::Files => is_file(line),
            Style::Columns => self.is_aligned(line),
            Style::Unknown | Style::None => false,
        };
        if is_rule(line) || line.is_empty() || is_total(line) {
            return 900;
        }
        if !is_row {
            self.alike -= 1;
            return 0;
        }
        self.rows += 1;
        let troubled = TROUBLE.iter().any(|word| memchr::memmem::find(line, word).is_some());
        if troubled { 500 } else { 0 }
    }

    fn is_met(&self) -> bool {
        !matches!(self.style, Style::Unknown | Style::None)
            && self.rows * 2 > self.lines
            && are_most(self.alike, self.lines, 96)
    }

    fn remark(&self) -> String {
        match self.style {
            Style::Files => format!("listing of {}", count(self.rows, "file", "files")),
            _ => format!("table of {}", count(self.rows, "row", "rows")),
        }
    }

    fn ends(&self) -> (u32, u32) {
        (45, 25)
    }
}
