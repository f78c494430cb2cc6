//! The last few lines, whose values later lines can still raise.
//!
//! Most lines leave the window without having mattered. Their text is therefore not copied while its segment lasts, and
//! a run of lines that are worth nothing is kept as a short summary until a line that matters follows.

use super::candidates::{Candidate, Occurrence};
use super::line_tables::{LineInfo, Opening};
use crate::cut::{LinePosition, PieceKind};
use crate::strategy::lines::{Coverage, Extent, Line};
use std::ops::Range;

/// How many lines back a value can still be raised.
const WINDOW: usize = 48;

/// A ring buffer of lines.
pub(super) struct Window {
    lines: Vec<Candidate>,
    /// Where the text of each line is in the current segment, unless the line has it.
    places: [Option<Range<usize>>; WINDOW],
    /// Where the next line goes, in place of the oldest one.
    next: usize,
    /// How many lines have been added since the last one with a value.
    since_valued: usize,
    /// How many lines have been added since the segment began.
    since_segment: usize,
    quiet_run: QuietRun,
}

impl Window {
    pub(super) fn new() -> Window {
        Window {
            lines: Vec::with_capacity(WINDOW),
            places: [const { None }; WINDOW],
            next: 0,
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

    /// Moves the last lines of the quiet run into the window.
    #[inline]
    pub(super) fn expand(&mut self) {
        if self.quiet_run.count > 0 {
            self.expand_quiet_run();
        }
    }

    #[inline(never)]
    fn expand_quiet_run(&mut self) {
        let quiet_run = std::mem::replace(&mut self.quiet_run, QuietRun::new());
        quiet_run.candidates().for_each(|(line, place)| self.push(line, Some(place)));
    }

    /// The line that the next one replaces.
    #[inline]
    pub(super) fn leaving(&self) -> Option<&Candidate> {
        self.lines.get(self.next)
    }

    /// A line with its text, by its index in the ring.
    fn take(&mut self, at: usize, segment: &[u8]) -> Candidate {
        self.copy(at, segment);
        let text = std::mem::take(&mut self.lines[at].text);
        Candidate { text, ..self.lines[at].clone() }
    }

    /// The line that the next one replaces, with its text.
    pub(super) fn take_leaving(&mut self, segment: &[u8]) -> Candidate {
        self.take(self.next, segment)
    }

    /// Adds the next line. `place` says where its text is in the segment, unless the line has it.
    pub(super) fn push(&mut self, line: Candidate, place: Option<Range<usize>>) {
        self.since_valued = if line.value > 0 || line.role.is_some() { 0 } else { self.since_valued + 1 };
        self.places[self.next] = place;
        match self.lines.get_mut(self.next) {
            Some(slot) => *slot = line,
            None => self.lines.push(line),
        }
        self.next = if self.next + 1 == WINDOW { 0 } else { self.next + 1 };
        self.since_segment += 1;
    }

    /// Copies the text of a line, if it is in the segment.
    fn copy(&mut self, at: usize, segment: &[u8]) {
        if let Some(place) = self.places[at].take() {
            self.lines[at].text.extend_from_slice(&segment[place]);
        }
    }

    /// The index in the ring of the line `back` lines ago; 1 is the last one.
    fn index(&self, back: usize) -> Option<usize> {
        let newest = if self.next < back { self.next + WINDOW } else { self.next };
        newest.checked_sub(back).filter(|&at| back > 0 && at < self.lines.len())
    }

    /// The line `back` lines ago; 1 is the last one.
    pub(super) fn recent(&mut self, back: usize) -> Option<&mut Candidate> {
        self.index(back).map(|at| &mut self.lines[at])
    }

    /// How many lines it has.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// How many lines ago the last line that `is_wanted` was.
    pub(super) fn find(&mut self, is_wanted: impl Fn(&Candidate) -> bool) -> Option<usize> {
        (1..=WINDOW).find(|&back| self.recent(back).is_some_and(|line| is_wanted(line)))
    }

    /// Copies the texts that are still in the segment, because it ends.
    pub(super) fn end_segment(&mut self, segment: &[u8]) {
        self.expand();
        let since_segment = std::mem::take(&mut self.since_segment).min(WINDOW);
        for back in 1..=since_segment {
            if let Some(at) = self.index(back) {
                self.copy(at, segment);
            }
        }
    }

    /// Every line, in text order.
    pub(super) fn drain(&mut self) -> Vec<Candidate> {
        let oldest = if self.lines.len() < WINDOW { 0 } else { self.next };
        let lines = (0..self.lines.len()).map(|at| self.take((oldest + at) % WINDOW, &[])).collect();
        self.lines.clear();
        self.next = 0;
        lines
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
    fn candidates(&self) -> impl Iterator<Item = (Candidate, Range<usize>)> {
        let last = self.count.min(WINDOW);
        let kept = (self.count - last..self.count).map(|at| &self.lines[at % QUIET_LINES]);
        let newest = &self.lines[(self.count - 1) % QUIET_LINES];
        // Where the segment starts.
        let base = self.end - u64::from(newest.length) - newest.start as u64;
        kept.zip(0..).map(move |(line, at)| {
            let &QuietLine { template, start, length, indent, opening } = line;
            let candidate = Candidate {
                text: Vec::new(),
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
            };
            (candidate, start..start + length as usize)
        })
    }
}
