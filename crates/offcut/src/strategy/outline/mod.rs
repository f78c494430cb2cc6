//! Outlines text of a known format: a diff, a history, search hits, a table, a tree, source code.
//!
//! A [`Format`] values each line and counts what it sees; everything else is common to all. The counts decide whether
//! a text has the format: those of its beginning choose the format, those of the whole text confirm it. An outline shows
//! the lines with the highest values and both ends, and a remark such as `table of 30 rows`.

mod code;
mod commits;
mod diff;
mod hits;
mod irregular_lines;
mod marks;
mod table;
mod tree;

use super::end_lines::{clip, head_lines, tail_lines};
use super::lines::{Coverage, Line, Lines};
use super::pool::{Pool, Pooled, SMALL_GAP_BYTES};
use super::select::{self, Unit};
use super::{Ends, Room, Selection, Selector};
use crate::cut::{PieceKind, Segment};
use irregular_lines::IrregularLines;
use marks::Marks;
use std::cmp::Reverse;
use std::ops::Range;

/// One format of text.
pub(super) trait Format: Send {
    /// The value of the next line. Lines without a value are shown only at the ends and where there is room left. A line
    /// that does not have this format has [`IRREGULAR_VALUE`].
    fn value(&mut self, line: &[u8]) -> i32;

    /// Whether the lines so far have this format.
    fn is_match(&self) -> bool;

    /// Describes all lines so far, for the notice.
    fn remark(&self) -> String;

    /// The percentages of the room that go to the beginning and to the end first.
    fn ends(&self) -> (u32, u32) {
        (10, 10)
    }
}

/// The value of column names: without them no row can be understood.
const HEADING_VALUE: i32 = i32::MAX;

/// The value of a line at an end of the text: more than any other but a heading.
const END_VALUE: i32 = HEADING_VALUE - 1;

/// The value of a line that does not have the format of the others, such as the one file that could not be read.
const IRREGULAR_VALUE: i32 = HEADING_VALUE / 2;

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
            format.value(content(line));
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
    value: i32,
}

impl Pooled for Row {
    fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    fn text(&self) -> &[u8] {
        &self.text
    }
}

/// The least memory for rows: for short lines most of it is overhead.
const MIN_POOL_BYTES: usize = 1 << 20;

/// Keeps the lines with the highest values. It selects nothing if the text turns out not to have the format.
pub(super) struct Outline {
    lines: Lines,
    rows: Rows,
    /// The rows at the end, in text order.
    chosen: Vec<Row>,
    /// Of a longer line only the beginning is shown.
    max_line_bytes: usize,
}

struct Rows {
    format: Box<dyn Format>,
    irregular_lines: IrregularLines,
    best: Pool<Row>,
    /// Lines without a value after the last of the best, as long as they make up only a small gap.
    gap: Vec<Row>,
    gap_bytes: u64,
}

impl Outline {
    fn new(format: Box<dyn Format>, most_bytes: u64) -> Outline {
        let max_bytes = usize::try_from(most_bytes).unwrap_or(usize::MAX / 16).clamp(2048, 8 << 20);
        let rows = Rows {
            format,
            irregular_lines: IrregularLines::default(),
            best: Pool::new((6 * max_bytes).max(MIN_POOL_BYTES)),
            gap: Vec::new(),
            gap_bytes: 0,
        };
        let max_line_bytes = (max_bytes / 20).clamp(160, 2048);
        Outline { lines: Lines::new(max_line_bytes + 8), rows, chosen: Vec::new(), max_line_bytes }
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
    /// Keeps a line with a value, and the lines between it and the one before if they are a small gap.
    fn add(&mut self, line: &Line<'_>) {
        let Line { text, start, end, number, coverage, form, .. } = *line;
        let value = match self.format.value(content(text)) {
            IRREGULAR_VALUE => self.irregular_lines.value(text),
            value => value,
        };
        self.gap_bytes = if value > 0 { 0 } else { self.gap_bytes + text.len() as u64 };
        if self.gap_bytes > SMALL_GAP_BYTES {
            return self.gap.clear();
        }
        self.gap.push(Row { text: text.to_vec(), start, end, number, coverage, form, value });
        if value > 0 {
            for row in self.gap.drain(..) {
                self.best.add(row, |row| row.value);
            }
        }
    }
}

impl Selector for Outline {
    fn observe(&mut self, segment: Segment<'_>) {
        let Outline { lines, rows, .. } = self;
        lines.observe(segment, &mut |line| rows.add(&line));
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let Outline { lines, rows, chosen, max_line_bytes } = self;
        lines.flush(&mut |line| rows.add(&line));
        if !rows.format.is_match() {
            return Selection::default();
        }
        let remark = rows.format.remark();
        *chosen = rows.best.take();
        let room = &room.less_remark(&remark).less_gaps(1);
        let units = units(chosen, rows.format.ends(), ends, room, *max_line_bytes);
        let marks = Marks::new(&units, ends, room);
        let shown = select::select(units, ends.bytes(), room, marks.cost());
        Selection { pieces: marks.between(select::pieces(&shown)), remark, ..Selection::default() }
    }
}

/// Every line that may be shown, once, in text order: the rows, and the lines at both ends.
fn units<'t>(
    rows: &'t [Row],
    (head, tail): (u32, u32),
    ends: &'t Ends,
    room: &Room<'_>,
    max_line_bytes: usize,
) -> Vec<Unit<'t>> {
    let (bytes, lines) = (ends.bytes(), ends.lines());
    let share = |most: Option<u64>, all: u64, percent: u32| {
        (u128::from(most.unwrap_or(u64::MAX).min(all)) * u128::from(percent) / 100) as u64
    };
    let of_bytes = |percent| share(room.limits.bytes, bytes, percent);
    let of_lines = |percent| share(room.limits.lines, lines, percent);
    let mut units: Vec<Unit<'t>> = rows
        .iter()
        .map(|row| {
            let (text, coverage) = clip(&row.text, row.coverage, max_line_bytes);
            let Row { start, end, number, form, value, .. } = *row;
            Unit { text, start, end, number, coverage, form, value, order: start as i64 }
        })
        .collect();
    let most = room.limits.bytes.unwrap_or(bytes).min(bytes);
    let at_ends = [head_lines(ends, most, max_line_bytes), tail_lines(ends, most, max_line_bytes)];
    units.extend(at_ends.into_iter().flatten());
    units.sort_by_key(|unit| (unit.start, Reverse(unit.value)));
    units.dedup_by_key(|unit| unit.start);
    for unit in &mut units {
        let is_first = unit.end <= of_bytes(head) && unit.number <= of_lines(head);
        let is_last = unit.start >= bytes - of_bytes(tail) && unit.number > lines - of_lines(tail);
        if is_first || is_last {
            unit.value = unit.value.max(END_VALUE);
        }
    }
    // A rendered line can only be shown as a whole.
    units.retain(|unit| unit.coverage == Coverage::Whole || unit.form == PieceKind::Verbatim);
    units
}
