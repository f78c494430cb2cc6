//! The marks of an outline: what is not shown between its lines. They are shorter than the markers of the engine,
//! because an outline has many.

use crate::cut::{LinePosition, Piece, PieceKind};
use crate::notice::{Message, Notice, Tag};
use crate::strategy::select::{MarkerCost, Unit};
use crate::strategy::{Cost, Ends, Room};
use std::borrow::Cow;

/// Marks the gaps of one text.
pub(super) struct Marks {
    /// Distinguishes marks from lines of the text that look like them.
    tag: Tag,
    cost: MarkerCost,
    /// Bytes and lines of the original.
    bytes: u64,
    lines: u64,
}

/// What is not shown between two lines.
struct Gap {
    start: u64,
    end: u64,
    first: u64,
    last: u64,
    from: LinePosition,
}

impl Gap {
    fn mark(&self, tag: &Tag) -> String {
        let Gap { start, end, first, last, from } = *self;
        let tag = tag.clone();
        match from {
            LinePosition::Start => format!("{}\n", Notice { tag, message: Message::Lines { first, last } }),
            LinePosition::Inside => {
                let line = Some(first).filter(|first| *first == last);
                format!("\n{}\n", Notice { tag, message: Message::Bytes { start, end, line } })
            }
        }
    }
}

impl Marks {
    pub(super) fn new(units: &[Unit<'_>], ends: &Ends, room: &Room<'_>) -> Marks {
        let (bytes, lines) = (ends.bytes(), ends.lines());
        let is_like_mark =
            |unit: &Unit<'_>| unit.text.starts_with(b"[line") || unit.text.starts_with(b"[bytes");
        let tag = if units.iter().any(is_like_mark) { Tag::Plain } else { Tag::None };
        let cost = |from| {
            // The mark of a gap inside of one line names the line; any other names two at most.
            let last = if from == LinePosition::Inside { lines } else { lines * 2 };
            let widest = Gap { start: bytes, end: bytes, first: lines, last, from };
            Cost::of(widest.mark(&tag).as_bytes(), &room.limits, room.conventions, room.tokens)
        };
        let between_lines = cost(LinePosition::Start);
        let extra_inside = cost(LinePosition::Inside).beyond(between_lines);
        Marks { cost: MarkerCost { between_lines, extra_inside }, tag, bytes, lines }
    }

    pub(super) fn cost(&self) -> MarkerCost {
        self.cost
    }

    /// The pieces with a mark in each gap; none if nothing is shown.
    pub(super) fn between<'t>(&self, shown: Vec<Piece<'t>>) -> Vec<Piece<'t>> {
        if shown.is_empty() {
            return shown;
        }
        let mut pieces = Vec::with_capacity(2 * shown.len() + 1);
        // Where the part that is not in a piece yet begins.
        let (mut start, mut first, mut from) = (0, 1, LinePosition::Start);
        for piece in shown {
            let ends_line = piece.text.ends_with(b"\n");
            self.add(&mut pieces, Gap { start, end: piece.start, first, last: piece.line - 1, from });
            let line_feeds = memchr::memchr_iter(b'\n', &piece.text).count() as u64;
            (start, first) = (piece.end, piece.line + line_feeds);
            from = if ends_line { LinePosition::Start } else { LinePosition::Inside };
            pieces.push(piece);
        }
        self.add(&mut pieces, Gap { start, end: self.bytes, first, last: self.lines.max(first), from });
        pieces
    }

    fn add(&self, pieces: &mut Vec<Piece<'_>>, gap: Gap) {
        if gap.start < gap.end {
            let Gap { start, end, first, from, .. } = gap;
            let text = Cow::Owned(gap.mark(&self.tag).into_bytes());
            pieces.push(Piece { start, end, form: PieceKind::Mark, line: first, part: from, text });
        }
    }
}
