//! Outlines of texts that have a known shape: the lines that carry it, and how much there is in all.
//!
//! A [`Shape`] says what each line is worth and counts what it sees; everything else is the same for all of them. The
//! same counts tell whether a text has the shape: of its beginning, to choose it, and of all of it, to stay with it.

mod choose;
mod code;
mod commits;
mod diff;
mod hits;
mod strays;
mod table;
mod tree;

use super::smart::lines::{Coverage, Line, Lines};
use super::{Ends, Room, Selection, Selector};
use crate::cut::{PieceKind, Segment};
use std::collections::VecDeque;
use strays::Strays;

/// What a kind of text match_budget like.
pub(super) trait Shape: Send {
    /// What the next line is worth; lines worth nothing are shown at the ends and where there is room left, and a
    /// [`STRAY`] is one that is not of this shape.
    fn worth(&mut self, line: &[u8]) -> u32;

    /// Whether the lines so far have this shape.
    fn is_met(&self) -> bool;

    /// What there is to say of all of them.
    fn remark(&self) -> String;

    /// How many hundredths of the room go to the beginning and to the end before anything else.
    fn ends(&self) -> (u32, u32) {
        (10, 10)
    }
}

/// What the names of columns are worth: without them no row can be read.
const HEADING: u32 = u32::MAX;

/// What a line among others of a known shape is worth that has another, like the one file that could not be read.
const STRAY: u32 = HEADING / 2;

/// Every shape, the most distinct first.
const SHAPES: [fn() -> Box<dyn Shape>; 6] = [
    || Box::<diff::Diff>::default(),
    || Box::<commits::Commits>::default(),
    || Box::<hits::Hits>::default(),
    || Box::<table::Table>::default(),
    || Box::<tree::Tree>::default(),
    || Box::<code::Code>::default(),
];

/// Starts the outline of a text that begins like this, if its shape is known.
pub(super) fn recognise(opening: &[u8], most_bytes: u64) -> Option<Outline> {
    // The last line may be a part of one.
    let opening = &opening[..memchr::memrchr(b'\n', opening).map_or(0, |feed| feed + 1)];
    let start = SHAPES.into_iter().find(|start| {
        let mut shape = start();
        for line in opening.split_inclusive(|&byte| byte == b'\n') {
            shape.worth(content(line));
        }
        shape.is_met()
    })?;
    Some(Outline::new(start(), most_bytes))
}

/// The line without what ends it.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether so many hundredths of all lines, and enough of them, are alike.
fn are_most(alike: u64, lines: u64, hundredths: u64) -> bool {
    lines >= 12 && alike * 100 >= lines * hundredths
}

/// Whether a line is one path and nothing else, blanks and colons in its names aside.
fn is_path(line: &[u8]) -> bool {
    let first = line.iter().position(|byte| matches!(byte, b'/' | b' ' | b'\t' | b':'));
    match first.map(|at| line[at]) {
        Some(b'/') => memchr::memmem::find(line, b": ").is_none(),
        Some(_) => false,
        None => line == b"." || (line.contains(&b'.') && !line.ends_with(b".")),
    }
}

/// A number with its noun.
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
    worth: u32,
    /// What it is worth to hold it.
    hold: u32,
}

/// What a row costs us besides its text.
const OVERHEAD: usize = 80;

impl Row {
    fn weight(&self) -> usize {
        self.text.len() + OVERHEAD
    }
}

/// So much is held in any case: of short lines the overhead is the most of it.
const LEAST_CAPACITY: usize = 1 << 20;

/// Our words for a gap are about so long; fewer bytes than that are rather shown.
const SMALL_GAP: usize = 40;

/// Holds the lines that are worth most, and the last ones. It chooses nothing if the text lost its shape.
pub(super) struct Outline {
    lines: Lines,
    rows: Rows,
}

struct Rows {
    shape: Box<dyn Shape>,
    strays: Strays,
    best: Vec<Row>,
    best_bytes: usize,
    /// How much of that is the very beginning, which is never forgotten.
    beginning_bytes: usize,
    /// Lines worth nothing behind the last of the best, while they are short together.
    crumbs: Vec<Row>,
    crumb_bytes: usize,
    recent: VecDeque<Row>,
    recent_bytes: usize,
    /// So many bytes of the best are held; with more, the weaker half goes.
    capacity: usize,
    /// About so many bytes may be shown.
    most: usize,
}

impl Outline {
    fn new(shape: Box<dyn Shape>, most_bytes: u64) -> Outline {
        let most = usize::try_from(most_bytes).unwrap_or(usize::MAX / 16).clamp(2048, 8 << 20);
        let rows = Rows {
            shape,
            strays: Strays::default(),
            best: Vec::new(),
            best_bytes: 0,
            beginning_bytes: 0,
            crumbs: Vec::new(),
            crumb_bytes: 0,
            recent: VecDeque::new(),
            recent_bytes: 0,
            capacity: (6 * most).max(LEAST_CAPACITY),
            most,
        };
        // A line may take a twentieth of what is shown; the rest of it is told to be missing.
        Outline { lines: Lines::new((most / 20).clamp(160, 2048)), rows }
    }

    /// Whether the text so far has the shape.
    #[cfg(test)]
    pub(super) fn is_met(&self) -> bool {
        self.rows.shape.is_met()
    }

    /// What it says of the text so far.
    #[cfg(test)]
    pub(super) fn remark(&self) -> String {
        self.rows.shape.remark()
    }
}

impl Rows {
    fn take(&mut self, line: &Line<'_>) {
        let Line { text, start, end, number, coverage, form, .. } = *line;
        let worth = match self.shape.worth(content(text)) {
            STRAY => self.strays.worth(text),
            worth => worth,
        };
        self.recent_bytes += text.len() + OVERHEAD;
        self.recent.push_back(Row {
            text: text.to_vec(),
            start,
            end,
            number,
            coverage,
            form,
            worth,
            hold: worth,
        });
        while self.recent_bytes > self.most
            && let Some(mut row) = self.recent.pop_front()
        {
            self.recent_bytes -= row.text.len() + OVERHEAD;
            // The beginning is shown for what it is, and fills what room is left.
            if self.beginning_bytes < self.most {
                self.beginning_bytes += row.text.len() + OVERHEAD;
                row.hold = HEADING;
            } else if row.start < self.most as u64 {
                row.hold = row.hold.max(1);
            }
            self.settle(row);
        }
        if self.best_bytes > self.capacity {
            self.prune();
        }
    }

    /// Holds a line that is worth something, and what lies between it and the one before if that is little.
    fn settle(&mut self, row: Row) {
        self.crumb_bytes = if row.hold > 0 { 0 } else { self.crumb_bytes + row.text.len() };
        let is_crumb = row.hold == 0;
        self.crumbs.push(row);
        if is_crumb && self.crumb_bytes > SMALL_GAP {
            self.crumbs.clear();
        }
        if !is_crumb {
            self.best_bytes += self.crumbs.iter().map(Row::weight).sum::<usize>();
            self.best.append(&mut self.crumbs);
        }
    }

    /// Forgets the weaker half, but not the little that lies between two lines of the other.
    fn prune(&mut self) {
        let key = |row: &Row| (u32::MAX - row.hold, row.start);
        let mut order: Vec<((u32, u64), usize)> =
            self.best.iter().map(|row| (key(row), row.weight())).collect();
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
            let weight = between.iter().map(Row::weight).sum::<usize>();
            let length = self.best[pair[1]].start - self.best[pair[0]].end;
            if length <= SMALL_GAP as u64 && weight <= allowed {
                allowed -= weight;
                is_kept[pair[0]..pair[1]].fill(true);
            }
        }
        let mut flags = is_kept.into_iter();
        self.best.retain(|_| flags.next().unwrap_or(false));
        self.best_bytes = self.best.iter().map(Row::weight).sum();
    }
}

impl Selector for Outline {
    fn observe(&mut self, run: Segment<'_>) {
        let Outline { lines, rows } = self;
        lines.observe(run, &mut |line| rows.take(&line));
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let Outline { lines, rows } = self;
        lines.flush(&mut |line| rows.take(&line));
        if !rows.shape.is_met() {
            return Selection::default();
        }
        let remark = rows.shape.remark();
        let all: Vec<&Row> = rows.best.iter().chain(&rows.crumbs).chain(&rows.recent).collect();
        let pieces = choose::choose(&all, rows.shape.ends(), ends, &room.less_remark(&remark));
        Selection { pieces, remark, ..Selection::default() }
    }
}
