//! Chooses which rows are shown, those with the highest scores first, and marks the gaps between them.

use super::{HEADING_SCORE, Row};
use crate::cut::{LinePosition, Piece, PieceKind};
use crate::notice::{Message, Notice, Tag};
use crate::strategy::smart::lines::Coverage;
use crate::strategy::{Cost, Ends, Room};
use std::borrow::Cow;

/// The score of a line at an end of the text: more than any other but a heading.
const END_SCORE: u32 = HEADING_SCORE - 1;

struct Choices<'t, 'r> {
    rows: &'r [&'t Row],
    chosen: Vec<bool>,
    /// Bytes and lines of the original.
    bytes: u64,
    lines: u64,
    room: &'r Room<'r>,
    /// The highest cost of a marker between lines, and the extra cost of one inside a line.
    marker: Cost,
    inside: Cost,
    /// Distinguishes markers from lines of the text that look like them.
    tag: Tag,
    spent: Cost,
}

/// The pieces to show, with a marker in each gap; none if no line can be shown.
pub(super) fn choose<'t>(
    rows: &[&'t Row],
    (head, tail): (u32, u32),
    ends: &Ends,
    room: &Room<'_>,
) -> Vec<Piece<'t>> {
    let room = &room.less_gaps(1);
    let widest = Gap { start: ends.bytes(), end: ends.bytes(), first: ends.lines(), last: ends.lines() * 2 };
    let is_like_marker = |row: &&Row| row.text.starts_with(b"[line") || row.text.starts_with(b"[bytes");
    let tag = if rows.iter().copied().any(|row| is_like_marker(&row)) { Tag::Plain } else { Tag::None };
    let cost =
        |part| Cost::of(widest.marker(part, &tag).as_bytes(), &room.limits, room.conventions, room.tokens);
    let (marker, inside) =
        (cost(LinePosition::Start), cost(LinePosition::Inside).beyond(cost(LinePosition::Start)));
    let (bytes, lines) = (ends.bytes(), ends.lines());
    let mut choices = Choices {
        rows,
        chosen: vec![false; rows.len()],
        bytes,
        lines,
        room,
        marker,
        inside,
        tag,
        spent: marker,
    };
    let share = |most: Option<u64>, all: u64, percent: u32| {
        (u128::from(most.unwrap_or(u64::MAX).min(all)) * u128::from(percent) / 100) as u64
    };
    let of_bytes = |percent| share(room.limits.bytes, bytes, percent);
    let of_lines = |percent| share(room.limits.lines, lines, percent);
    let score = |row: &Row| {
        let is_first = row.end <= of_bytes(head) && row.number <= of_lines(head);
        let is_last = row.start >= bytes - of_bytes(tail) && row.number > lines - of_lines(tail);
        if is_first || is_last { row.score.max(END_SCORE) } else { row.score }
    };
    // A rendered line can only be shown as a whole.
    let is_showable = |row: &Row| row.coverage == Coverage::Whole || row.form == PieceKind::Verbatim;
    let mut order: Vec<usize> = (0..rows.len()).filter(|&at| is_showable(rows[at])).collect();
    order.sort_by_key(|&at| (u32::MAX - score(rows[at]), at));
    // Once a line did not fit, no line with a lower score is tried: it would be shown only because it is short.
    let mut refused = 0;
    for &at in &order {
        let score = score(rows[at]);
        if score < refused {
            break;
        }
        // A line without a score is shown only after a line that is shown.
        if (score > 0 || choices.follows_chosen(at)) && !choices.admit(at) && score < END_SCORE {
            refused = score.max(1);
        }
    }
    choices.fill_cheap_gaps();
    let mut pieces = choices.pieces();
    // Tokens do not add up exactly. If the sum was too low, the weakest lines are removed.
    while !pieces.is_empty() && !room.fits(&text(&pieces)) {
        order.retain(|&at| choices.chosen[at]);
        for weakest in order.split_off(order.len() * 7 / 8) {
            choices.chosen[weakest] = false;
        }
        pieces = choices.pieces();
    }
    pieces
}

fn text(pieces: &[Piece<'_>]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.text.iter().copied()).collect()
}

/// The lines that are not shown between two others.
struct Gap {
    start: u64,
    end: u64,
    first: u64,
    last: u64,
}

impl Gap {
    fn marker(&self, from: LinePosition, tag: &Tag) -> String {
        let Gap { start, end, first, last } = *self;
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

impl<'t> Choices<'t, '_> {
    fn cost(&self, at: usize) -> Cost {
        Cost::of(&self.rows[at].text, &self.room.limits, self.room.conventions, self.room.tokens)
    }

    fn touch(&self, left: usize, right: usize) -> bool {
        self.rows[left].end == self.rows[right].start
    }

    /// Whether the line before this one is shown.
    fn follows_chosen(&self, at: usize) -> bool {
        at > 0 && self.chosen[at - 1] && self.touch(at - 1, at)
    }

    /// Chooses a line if it fits together with the marker that it may add. Returns whether it is chosen.
    fn admit(&mut self, at: usize) -> bool {
        let row = self.rows[at];
        let is_part = row.coverage == Coverage::Beginning;
        let joins_left = row.start == 0 || self.follows_chosen(at);
        let joins_right = row.end == self.bytes
            || (at + 1 < self.rows.len() && self.chosen[at + 1] && self.touch(at, at + 1));
        let opened = 1 + u64::from(is_part && joins_right);
        let closed = u64::from(joins_left) + u64::from(joins_right && !is_part);
        let inside = self.inside.times(u64::from(is_part));
        let sum = (self.spent + self.cost(at) + self.marker.times(opened) + inside)
            .beyond(self.marker.times(closed));
        if self.room.limits.afford(sum) {
            self.spent = sum;
            self.chosen[at] = true;
        }
        self.chosen[at]
    }

    /// Chooses the lines of each gap whose marker would be no shorter.
    fn fill_cheap_gaps(&mut self) {
        let chosen: Vec<usize> = (0..self.rows.len()).filter(|&at| self.chosen[at]).collect();
        let froms = std::iter::once(0).chain(chosen.iter().map(|at| at + 1));
        let tos = chosen.iter().copied().chain([self.rows.len()]);
        for (from, to) in froms.zip(tos) {
            self.fill_gap(from, to);
        }
    }

    /// The same for one gap, if no row of it is missing: each row touches the next and the edges of the gap.
    fn fill_gap(&mut self, from: usize, to: usize) {
        let between = &self.rows[from..to];
        let (Some(first), Some(last)) = (between.first(), between.last()) else { return };
        let start = if from == 0 { 0 } else { self.rows[from - 1].end };
        let end = self.rows.get(to).map_or(self.bytes, |row| row.start);
        let follows_part = from > 0 && self.rows[from - 1].coverage == Coverage::Beginning;
        let is_complete = first.start == start
            && last.end == end
            && between.windows(2).all(|pair| pair[0].end == pair[1].start)
            && between.iter().all(|row| row.coverage == Coverage::Whole);
        let gap = Gap { start, end, first: first.number, last: last.number };
        let length: usize = between.iter().map(|row| row.text.len()).sum();
        if follows_part || !is_complete || length > gap.marker(LinePosition::Start, &self.tag).len() {
            return;
        }
        let cost = (from..to).fold(Cost::default(), |sum, at| sum + self.cost(at));
        let sum = (self.spent + cost).beyond(self.marker);
        if self.room.limits.afford(sum) {
            self.spent = sum;
            self.chosen[from..to].fill(true);
        }
    }

    fn pieces(&self) -> Vec<Piece<'t>> {
        let mut pieces = Vec::new();
        let (mut at, mut line, mut part) = (0, 1, LinePosition::Start);
        let mark = |pieces: &mut Vec<Piece<'t>>, gap: Gap, part: LinePosition| {
            if gap.start < gap.end {
                let (start, end, line) = (gap.start, gap.end, gap.first);
                let text = Cow::Owned(gap.marker(part, &self.tag).into_bytes());
                pieces.push(Piece { start, end, form: PieceKind::Mark, line, part, text });
            }
        };
        for row in self.rows.iter().zip(&self.chosen).filter(|(_, chosen)| **chosen).map(|(row, _)| row) {
            mark(&mut pieces, Gap { start: at, end: row.start, first: line, last: row.number - 1 }, part);
            let text = &row.text[..];
            let whole = row.coverage == Coverage::Whole;
            let length = if whole { text.len() } else { crate::boundary::floor(text, text.len() - 4) };
            let end = if whole { row.end } else { row.start + length as u64 };
            let (start, form, number) = (row.start, row.form, row.number);
            let text = Cow::Borrowed(&text[..length]);
            pieces.push(Piece { start, end, form, line: number, part: LinePosition::Start, text });
            (at, line, part) = match whole {
                true => (end, number + 1, LinePosition::Start),
                false => (end, number, LinePosition::Inside),
            };
        }
        mark(&mut pieces, Gap { start: at, end: self.bytes, first: line, last: self.lines.max(line) }, part);
        // Markers alone show nothing.
        if pieces.len() == 1 && pieces[0].form == PieceKind::Mark { Vec::new() } else { pieces }
    }
}
