//! The last few lines, whose values later lines can still raise.
//!
//! Most lines leave the window without having mattered. Their text is therefore not copied while its segment lasts, and
//! a run of lines that are worth nothing is kept as a short summary until a line that matters follows.

use super::candidates::{Candidate, LineText, Occurrence};
use super::line_tables::{LineInfo, Opening};
use crate::cut::{LinePosition, PieceKind};
use crate::strategy::lines::{Coverage, Extent, Line};
use std::collections::VecDeque;

/// How many lines back a value can still be raised.
const WINDOW: usize = 48;

/// The last [`WINDOW`] lines.
pub(super) struct Window {
    lines: VecDeque<Candidate>,
    /// How many lines have been added since the last one with a value.
    since_valued: usize,
    /// How many lines have been added since the segment began.
    since_segment: usize,
    quiet_run: QuietRun,
}

impl Window {
    pub(super) fn new() -> Window {
        Window {
            lines: VecDeque::with_capacity(WINDOW),
            since_valued: 0,
            since_segment: 0,
            quiet_run: QuietRun::new(),
        }
    }

    /// Adds a line that is worth nothing to the quiet run, if no line in the window is worth anything either.
    #[inline(always)]
    pub(super) fn add_to_quiet_run(&mut self, line: &Line<'_>, info: &LineInfo) -> bool {
        if self.since_valued < WINDOW || line.extent.coverage != Coverage::Whole {
            return false;
        }
        line.offset.is_some_and(|offset| {
            self.quiet_run.push(offset, line, info);
            true
        })
    }

    /// Moves the last lines of the quiet run into the window, instead of lines that are worth nothing.
    #[inline]
    pub(super) fn expand(&mut self) {
        if self.quiet_run.count > 0 {
            self.expand_quiet_run();
        }
    }

    #[inline(never)]
    fn expand_quiet_run(&mut self) {
        let quiet_run = std::mem::replace(&mut self.quiet_run, QuietRun::new());
        for line in quiet_run.candidates() {
            self.push(line);
        }
    }

    /// Adds the next line. Returns the one that leaves the window.
    pub(super) fn push(&mut self, line: Candidate) -> Option<Candidate> {
        self.since_valued = if line.value > 0 || line.role.is_some() { 0 } else { self.since_valued + 1 };
        self.since_segment += 1;
        let oldest = if self.lines.len() == WINDOW { self.lines.pop_front() } else { None };
        self.lines.push_back(line);
        oldest
    }

    /// Every line, from the last one to the first.
    pub(super) fn backwards(&mut self) -> impl Iterator<Item = &mut Candidate> {
        self.lines.iter_mut().rev()
    }

    /// Copies the texts that are still in the segment, because it ends.
    pub(super) fn end_segment(&mut self, segment: &[u8]) {
        self.expand();
        let since_segment = std::mem::take(&mut self.since_segment);
        self.backwards().take(since_segment).for_each(|line| line.text.copy(segment));
    }

    /// Every line, in text order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Candidate> {
        self.lines.drain(..)
    }
}

/// How many lines of a quiet run are kept: a power of two, so that an index needs no bounds check.
const QUIET_LINES: usize = 64;

/// Consecutive lines of one segment that are worth nothing. Only the last few are kept.
struct QuietRun {
    lines: [QuietLine; QUIET_LINES],
    count: usize,
    /// The number of the last line, and the offset after it.
    number: u64,
    end: u64,
}

/// What is needed to restore a line.
#[derive(Clone, Copy, Default)]
struct QuietLine {
    template: u64,
    /// Its offset in the segment.
    start: usize,
    length: u32,
    indent: u8,
    opening: Opening,
}

impl QuietRun {
    fn new() -> QuietRun {
        QuietRun { lines: [QuietLine::default(); QUIET_LINES], count: 0, number: 0, end: 0 }
    }

    #[inline]
    fn push(&mut self, start: usize, line: &Line<'_>, info: &LineInfo) {
        let &LineInfo { template, indent, opening, .. } = info;
        let length = line.text.len() as u32;
        self.lines[self.count % QUIET_LINES] = QuietLine { template, start, length, indent, opening };
        self.count += 1;
        (self.number, self.end) = (line.extent.number, line.extent.end);
    }

    /// The last lines, as many as fit into the window.
    fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let last = self.count.min(WINDOW);
        let kept = (self.count - last..self.count).map(|at| &self.lines[at % QUIET_LINES]);
        let newest = &self.lines[(self.count - 1) % QUIET_LINES];
        // Where the segment starts.
        let base = self.end - u64::from(newest.length) - newest.start as u64;
        kept.zip(0..).map(move |(line, at)| {
            let &QuietLine { template, start, length, indent, opening } = line;
            Candidate {
                text: LineText::InSegment(start..start + length as usize),
                extent: Extent {
                    start: base + start as u64,
                    begins: LinePosition::Start,
                    end: base + start as u64 + u64::from(length),
                    number: self.number + 1 + at - last as u64,
                    coverage: Coverage::Whole,
                    form: PieceKind::Verbatim,
                },
                own: 0,
                value: 0,
                occurrence: Occurrence::Later,
                template,
                role: None,
                indent,
                opening,
            }
        })
    }
}
