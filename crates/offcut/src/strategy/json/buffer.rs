//! The part of a JSON text that is kept in memory, with the positions of what was dropped.
//!
//! A text that does not fit is shortened while it is read. For each hole the buffer knows how many bytes, lines and values
//! were dropped, so that counts and positions stay exact.

use crate::cut::{LinePosition, Piece, PieceKind};
use crate::measure;
use std::borrow::Cow;
use std::ops::Range;

/// The bytes in memory, and the holes between them.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) text: Vec<u8>,
    /// In order of position.
    pub(super) holes: Vec<Hole>,
}

/// A part of the original that is not in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    /// Its position: before this byte of the buffer.
    pub(super) at: usize,
    pub(super) bytes: u64,
    pub(super) line_feeds: u64,
    /// How many whole values of a container it was; 0 for a part of a string.
    pub(super) values: u64,
    /// The position in its line of the byte after the hole.
    pub(super) next: LinePosition,
}

/// One step of a shorter text: a range of the buffer, with its holes, that is kept or omitted.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Keep(Range<usize>),
    /// Without a mark, the engine marks the gap.
    Omit {
        range: Range<usize>,
        values: u64,
        mark: Option<String>,
    },
}

impl Step {
    /// The range that it keeps.
    pub(super) fn kept(&self) -> Option<&Range<usize>> {
        match self {
            Step::Keep(range) => Some(range),
            Step::Omit { .. } => None,
        }
    }
}

impl Buffer {
    /// The holes in a range, those at its edges included.
    pub(super) fn holes_in(&self, range: &Range<usize>) -> &[Hole] {
        let from = self.holes.partition_point(|hole| hole.at < range.start);
        let to = self.holes.partition_point(|hole| hole.at <= range.end);
        &self.holes[from..to.max(from)]
    }

    /// The size of a range in the original, holes included.
    pub(super) fn bytes_of(&self, range: &Range<usize>) -> u64 {
        range.len() as u64 + self.holes_in(range).iter().map(|hole| hole.bytes).sum::<u64>()
    }

    fn line_feeds_of(&self, range: &Range<usize>) -> u64 {
        measure::newlines(&self.text[range.clone()])
            + self.holes_in(range).iter().map(|hole| hole.line_feeds).sum::<u64>()
    }

    /// The position in its line of the byte after a range that is omitted; `None` for an empty range.
    fn next_position(&self, range: &Range<usize>) -> Option<LinePosition> {
        match self.holes_in(&(range.end..range.end)).last() {
            Some(hole) => Some(hole.next),
            None => position_after(&self.text[range.clone()]),
        }
    }

    /// Drops everything that the steps omit.
    pub(super) fn keep(&mut self, steps: &[Step]) {
        let mut kept = Buffer::default();
        let mut holes = self.holes.iter().peekable();
        for step in steps {
            match step {
                Step::Keep(range) => {
                    while let Some(hole) = holes.next_if(|hole| hole.at < range.end) {
                        let at = kept.text.len() + hole.at.saturating_sub(range.start);
                        kept.holes.push(Hole { at, ..*hole });
                    }
                    kept.text.extend_from_slice(&self.text[range.clone()]);
                }
                Step::Omit { range, values, .. } => {
                    kept.holes.push(Hole {
                        at: kept.text.len(),
                        bytes: self.bytes_of(range),
                        line_feeds: self.line_feeds_of(range),
                        values: *values,
                        next: self.next_position(range).unwrap_or(LinePosition::Inside),
                    });
                    while holes.next_if(|hole| hole.at <= range.end).is_some() {}
                }
            }
        }
        *self = kept;
    }

    /// The pieces that the steps show.
    pub(super) fn pieces(&self, steps: Vec<Step>) -> Vec<Piece<'_>> {
        let (mut start, mut line, mut part) = (0, 1, LinePosition::Start);
        let mut pieces = Vec::with_capacity(steps.len());
        for step in steps {
            let (form, shown, bytes, feeds, next) = match step {
                Step::Keep(range) => {
                    let text = &self.text[range];
                    let (bytes, feeds) = (text.len() as u64, measure::newlines(text));
                    (PieceKind::Verbatim, Some(Cow::Borrowed(text)), bytes, feeds, position_after(text))
                }
                Step::Omit { range, mark, .. } => {
                    let mark = mark.map(|mark| Cow::Owned(mark.into_bytes()));
                    let (bytes, feeds) = (self.bytes_of(&range), self.line_feeds_of(&range));
                    (PieceKind::Mark, mark, bytes, feeds, self.next_position(&range))
                }
            };
            if let Some(text) = shown {
                pieces.push(Piece { start, end: start + bytes, form, line, part, text });
            }
            start += bytes;
            line += feeds;
            part = next.unwrap_or(part);
        }
        pieces
    }
}

/// The position in its line of the byte after a text; `None` for an empty text.
fn position_after(text: &[u8]) -> Option<LinePosition> {
    text.last().map(|last| if *last == b'\n' { LinePosition::Start } else { LinePosition::Inside })
}
