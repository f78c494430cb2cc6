//! Outlines text of a known format: a diff, a history, search hits, a table, a tree, source code.
//!
//! A [`Format`] scores each line and counts what it sees; everything else is common to all. The counts decide whether
//! a text has the format: those of its beginning choose the format, those of the whole text confirm it. An outline shows
//! the lines with the highest scores and both ends, and a remark such as `table of 30 rows`.

mod choose;
mod code;
mod commits;
mod diff;
mod hits;
mod irregular_lines;
mod table;
mod tree;

use super::smart::lines::{Coverage, Line, Lines};
use super::{Ends, Room, Selection, Selector};
use crate::cut::{PieceKind, Segment};
use irregular_lines::IrregularLines;
use std::collections::VecDeque;

/// One format of text.
pub(super) trait Format: Send {
    /// The score of the next line. Lines that score 0 are shown only at the ends and where there is room left. A line
    /// that does not have this format scores [`IRREGULAR_SCORE`].
    fn score(&mut self, line: &[u8]) -> u32;

    /// Whether the lines so far have this format.
    fn is_match(&self) -> bool;

    /// Describes all lines so far, for the notice.
    fn remark(&self) -> String;

    /// The percentages of the room that go to the beginning and to the end first.
    fn ends(&self) -> (u32, u32) {
        (10, 10)
    }
}

/// The score of column names: without them no row can be understood.
const HEADING_SCORE: u32 = u32::MAX;

/// The score of a line that does not have the format of the others, such as the one file that could not be read.
const IRREGULAR_SCORE: u32 = HEADING_SCORE / 2;

/// All formats, the most distinctive first.
const FORMATS: [fn() -> Box<dyn Format>; 6] = [
    || Box::<diff::Diff>::default(),
    || Box::<commits::Commits>::default(),
    || Box::<hits::Hits>::default(),
    || Box::<table::Table>::default(),
    || Box::<tree::Tree>::default(),
    || Box::<code::Code>::default(),
];

/// Starts the outline of a text with this beginning, if it has a known format.
pub(super) fn recognise(opening: &[u8], most_bytes: u64) -> Option<Outline> {
    // The last line may be incomplete.
    let opening = &opening[..memchr::memrchr(b'\n', opening).map_or(0, |feed| feed + 1)];
    let start = FORMATS.into_iter().find(|start| {
        let mut format = start();
        for line in opening.split_inclusive(|&byte| byte == b'\n') {
            format.score(content(line));
        }
        format.is_match()
    })?;
    Some(Outline::new(start(), most_bytes))
}

/// A line without its line ending.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether at least `percent` of all lines are regular, and there are enough lines to tell.
fn is_majority(regular: u64, lines: u64, percent: u64) -> bool {
    lines >= 12 && regular * 100 >= lines * percent
}

/// Whether a line is a path and nothing else. Its names may contain spaces and colons.
fn is_path(line: &[u8]) -> bool {
    let first = line.iter().position(|byte| matches!(byte, b'/' | b' ' | b'\t' | b':'));
    match first.map(|at| line[at]) {
        Some(b'/') => memchr::memmem::find(line, b": ").is_none(),
        Some(_) => false,
        None => line == b"." || (line.contains(&b'.') && !line.ends_with(b".")),
    }
}

/// A number with its noun, singular or plural.
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A line that may be shown.
struct Row {
    text: Vec<u8>,
    start: u64,
    end: u64,
    number: u64,
    coverage: Coverage,
    form: PieceKind,
    score: u32,
    /// The score for keeping it in memory.
    keep_score: u32,
}

/// The memory that a row takes besides its text.
const OVERHEAD_BYTES: usize = 80;

impl Row {
    fn memory_bytes(&self) -> usize {
        self.text.len() + OVERHEAD_BYTES
    }
}

/// The least capacity for rows: for short lines most of it is overhead.
const MIN_CAPACITY_BYTES: usize = 1 << 20;

/// A gap of at most this many bytes is about as long as its marker, so its bytes are shown instead.
const SMALL_GAP_BYTES: usize = 40;

/// Keeps the lines with the highest scores, and the last ones. It selects nothing if the text turns out not to have the
/// format.
pub(super) struct Outline {
    lines: Lines,
    rows: Rows,
}

struct Rows {
    format: Box<dyn Format>,
    irregular_lines: IrregularLines,
    best: Vec<Row>,
    best_bytes: usize,
    /// How much of `best_bytes` is the beginning of the text, which is never dropped.
    beginning_bytes: usize,
    /// Lines without a score after the last of the best, as long as they make up only a small gap.
    gap_rows: Vec<Row>,
    gap_bytes: usize,
    recent: VecDeque<Row>,
    recent_bytes: usize,
    /// The most bytes of the best lines. With more, the weaker half is dropped.
    capacity: usize,
    /// About how many bytes may be shown.
    max_bytes: usize,
}

impl Outline {
    fn new(format: Box<dyn Format>, most_bytes: u64) -> Outline {
        let max_bytes = usize::try_from(most_bytes).unwrap_or(usize::MAX / 16).clamp(2048, 8 << 20);
        let rows = Rows {
            format,
            irregular_lines: IrregularLines::default(),
            best: Vec::new(),
            best_bytes: 0,
            beginning_bytes: 0,
            gap_rows: Vec::new(),
            gap_bytes: 0,
            recent: VecDeque::new(),
            recent_bytes: 0,
            capacity: (6 * max_bytes).max(MIN_CAPACITY_BYTES),
            max_bytes,
        };
        // Of a line that is longer than a twentieth of what may be shown, only the beginning is shown.
        Outline { lines: Lines::new((max_bytes / 20).clamp(160, 2048)), rows }
    }

    /// Whether the text so far has the format.
    #[cfg(test)]
    pub(super) fn is_match(&self) -> bool {
        self.rows.format.is_match()
    }

    /// Describes the text so far.
    #[cfg(test)]
    pub(super) fn remark(&self) -> String {
        self.rows.format.remark()
    }
}

impl Rows {
    fn add(&mut self, line: &Line<'_>) {
        let Line { text, start, end, number, coverage, form, .. } = *line;
        let score = match self.format.score(content(text)) {
            IRREGULAR_SCORE => self.irregular_lines.score(text),
            score => score,
        };
        self.recent_bytes += text.len() + OVERHEAD_BYTES;
        self.recent.push_back(Row {
            text: text.to_vec(),
            start,
            end,
            number,
            coverage,
            form,
            score,
            keep_score: score,
        });
        while self.recent_bytes > self.max_bytes
            && let Some(mut row) = self.recent.pop_front()
        {
            self.recent_bytes -= row.text.len() + OVERHEAD_BYTES;
            // The beginning is always kept: it is shown first, and fills the room that is left.
            if self.beginning_bytes < self.max_bytes {
                self.beginning_bytes += row.text.len() + OVERHEAD_BYTES;
                row.keep_score = HEADING_SCORE;
            } else if row.start < self.max_bytes as u64 {
                row.keep_score = row.keep_score.max(1);
            }
            self.keep(row);
        }
        if self.best_bytes > self.capacity {
            self.prune();
        }
    }

    /// Keeps a line with a score, and the lines between it and the one before if they are a small gap.
    fn keep(&mut self, row: Row) {
        self.gap_bytes = if row.keep_score > 0 { 0 } else { self.gap_bytes + row.text.len() };
        let is_in_gap = row.keep_score == 0;
        self.gap_rows.push(row);
        if is_in_gap && self.gap_bytes > SMALL_GAP_BYTES {
            self.gap_rows.clear();
        }
        if !is_in_gap {
            self.best_bytes += self.gap_rows.iter().map(Row::memory_bytes).sum::<usize>();
            self.best.append(&mut self.gap_rows);
        }
    }

    /// Drops the weaker half, but keeps small gaps between two lines of the stronger half.
    fn prune(&mut self) {
        let key = |row: &Row| (u32::MAX - row.keep_score, row.start);
        let mut order: Vec<((u32, u64), usize)> =
            self.best.iter().map(|row| (key(row), row.memory_bytes())).collect();
        order.sort_unstable();
        let mut bytes = 0;
        let kept = order.iter().take_while(|row| {
            bytes += row.1;
            bytes <= self.capacity / 2
        });
        let last = kept.last().map_or((0, 0), |row| row.0);
        let mut is_kept: Vec<bool> = self.best.iter().map(|row| key(row) <= last).collect();
        let strong: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        let mut allowed = self.capacity / 8;
        for pair in strong.windows(2) {
            let between = &self.best[pair[0] + 1..pair[1]];
            let memory = between.iter().map(Row::memory_bytes).sum::<usize>();
            let length = self.best[pair[1]].start - self.best[pair[0]].end;
            if length <= SMALL_GAP_BYTES as u64 && memory <= allowed {
                allowed -= memory;
                is_kept[pair[0]..pair[1]].fill(true);
            }
        }
        let mut flags = is_kept.into_iter();
        self.best.retain(|_| flags.next().unwrap_or(false));
        self.best_bytes = self.best.iter().map(Row::memory_bytes).sum();
    }
}

impl Selector for Outline {
    fn observe(&mut self, segment: Segment<'_>) {
        let Outline { lines, rows } = self;
        lines.observe(segment, &mut |line| rows.add(&line));
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let Outline { lines, rows } = self;
        lines.flush(&mut |line| rows.add(&line));
        if !rows.format.is_match() {
            return Selection::default();
        }
        let remark = rows.format.remark();
        let all: Vec<&Row> = rows.best.iter().chain(&rows.gap_rows).chain(&rows.recent).collect();
        let pieces = choose::choose(&all, rows.format.ends(), ends, &room.less_remark(&remark));
        Selection { pieces, remark, ..Selection::default() }
    }
}
