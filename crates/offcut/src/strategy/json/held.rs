//! A text of which parts were left out on the way, because all of it would not fit into memory.

use crate::cut::{LinePosition, Piece, PieceKind};
use crate::measure;
use std::borrow::Cow;
use std::ops::Range;

/// What is held of the text, and where something is missing in it.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) text: Vec<u8>,
    /// In order of their places.
    pub(super) holes: Vec<Hole>,
}

/// A part of the original that is not held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    /// It stood before this byte of what is held.
    pub(super) at: usize,
    pub(super) bytes: u64,
    pub(super) feeds: u64,
    /// How many whole values of a container it was; of a string it is a part.
    pub(super) values: u64,
    /// Where in its line the byte behind it stands.
    pub(super) behind: LinePosition,
}

/// One step of a shorter text: bytes that are held, or a range of them (with its holes) that is left out.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Keep(Range<usize>),
    /// Without words the notice's own marker stands for it.
    Leave {
        range: Range<usize>,
        values: u64,
        words: Option<String>,
    },
}

impl Held {
    /// The holes in a range, both its edges included.
    pub(super) fn holes_in(&self, range: &Range<usize>) -> &[Hole] {
        let from = self.holes.partition_point(|hole| hole.at < range.start);
        let to = self.holes.partition_point(|hole| hole.at <= range.end);
        &self.holes[from..to.max(from)]
    }

    /// How many bytes of the original a range stands for, its holes included.
    pub(super) fn bytes_of(&self, range: &Range<usize>) -> u64 {
        range.len() as u64 + self.holes_in(range).iter().map(|hole| hole.bytes).sum::<u64>()
    }

    fn feeds_of(&self, range: &Range<usize>) -> u64 {
        measure::newlines(&self.text[range.clone()])
            + self.holes_in(range).iter().map(|hole| hole.feeds).sum::<u64>()
    }

    /// Where in its line the byte behind a range stands; nothing for an empty range.
    fn behind(&self, range: &Range<usize>) -> Option<LinePosition> {
        if let Some(hole) = self.holes_in(&(range.end..range.end)).last() {
            return Some(hole.behind);
        }
        let last = range.clone().next_back().map(|last| self.text[last])?;
        Some(if last == b'\n' { LinePosition::Start } else { LinePosition::Inside })
    }

    /// Holds only what the steps keep.
    pub(super) fn keep(&mut self, steps: &[Step]) {
        let mut kept = Held::default();
        for step in steps {
            match step {
                Step::Keep(range) => kept.text.extend_from_slice(&self.text[range.clone()]),
                Step::Leave { range, values, .. } => kept.holes.push(Hole {
                    at: kept.text.len(),
                    bytes: self.bytes_of(range),
                    feeds: self.feeds_of(range),
                    values: *values,
                    behind: self.behind(range).unwrap_or(LinePosition::Inside),
                }),
            }
        }
        *self = kept;
    }

    /// The pieces that the steps show.
    pub(super) fn pieces(&self, steps: Vec<Step>) -> Vec<Piece<'_>> {
        let (mut start, mut line, mut part) = (0, 1, LinePosition::Start);
        let mut pieces = Vec::with_capacity(steps.len());
        for step in steps {
            let (range, words) = match step {
                Step::Keep(range) => (range, None),
                Step::Leave { range, words, .. } => (range, Some(words)),
            };
            let text = &self.text[range.clone()];
            let (bytes, feeds) = match words {
                None => (text.len() as u64, measure::newlines(text)),
                Some(_) => (self.bytes_of(&range), self.feeds_of(&range)),
            };
            let (form, shown) = match words {
                None => (PieceKind::Verbatim, Some(Cow::Borrowed(text))),
                Some(words) => (PieceKind::Mark, words.map(|words| Cow::Owned(words.into_bytes()))),
            };
            if let Some(text) = shown {
                pieces.push(Piece { start, end: start + bytes, form, line, part, text });
            }
            start += bytes;
            line += feeds;
            part = match form {
                PieceKind::Mark => self.behind(&range),
                _ if text.ends_with(b"\n") => Some(LinePosition::Start),
                _ if text.is_empty() => None,
                _ => Some(LinePosition::Inside),
            }
            .unwrap_or(part);
        }
        pieces
    }
}
