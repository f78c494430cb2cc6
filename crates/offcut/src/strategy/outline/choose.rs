//! Chooses among the lines that are held, the most worth first, and says in a few words what is left out between them.

use super::{HEADING, Row};
use crate::cut::{LinePosition, Piece, PieceKind};
use crate::strategy::smart::lines::Coverage;
use crate::strategy::{Cost, Ends, Room};
use std::borrow::Cow;

/// What a line at an end of the text is worth: more than any other but a heading.
const END: u32 = HEADING - 1;

struct Choices<'t, 'r> {
    rows: &'r [&'t Row],
    chosen: Vec<bool>,
    /// Bytes and lines of the original.
    bytes: u64,
    lines: u64,
    room: &'r Room<'r>,
    /// What our words for a gap of whole lines cost at the most, and how much more inside a line.
    words: Cost,
    inside: Cost,
    /// What tells our words from lines of the text that look like them.
    tag: &'static str,
    spent: Cost,
}

/// The pieces to show, with marks in all gaps; nothing if no line can be shown.
pub(super) fn choose<'t>(
    rows: &[&'t Row],
    (head, tail): (u32, u32),
    ends: &Ends,
    room: &Room<'_>,
) -> Vec<Piece<'t>> {
    let room = &room.less_gaps(1);
    let widest = Gap { start: ends.bytes(), end: ends.bytes(), first: ends.lines(), last: ends.lines() * 2 };
    let is_like_ours = |row: &&Row| row.text.starts_with(b"[line") || row.text.starts_with(b"[bytes");
    let tag = if rows.iter().copied().any(|row| is_like_ours(&row)) { "offcut: " } else { "" };
    let cost =
        |part| Cost::of(widest.words(part, tag).as_bytes(), &room.limits, room.conventions, room.tokens);
    let (words, inside) =
        (cost(LinePosition::Start), cost(LinePosition::Inside).beyond(cost(LinePosition::Start)));
    let (bytes, lines) = (ends.bytes(), ends.lines());
    let mut choices = Choices {
        rows,
        chosen: vec![false; rows.len()],
        bytes,
        lines,
        room,
        words,
        inside,
        tag,
        spent: words,
    };
    let share = |most: Option<u64>, all: u64, hundredths: u32| {
        (u128::from(most.unwrap_or(u64::MAX).min(all)) * u128::from(hundredths) / 100) as u64
    };
    let of_bytes = |hundredths| share(room.limits.bytes, bytes, hundredths);
    let of_lines = |hundredths| share(room.limits.lines, lines, hundredths);
    let worth = |row: &Row| {
        let is_first = row.end <= of_bytes(head) && row.number <= of_lines(head);
        let is_last = row.start >= bytes - of_bytes(tail) && row.number > lines - of_lines(tail);
        if is_first || is_last { row.worth.max(END) } else { row.worth }
    };
    // Of a line that was drawn, only the whole can be shown.
    let is_showable = |row: &Row| row.coverage == Coverage::Whole || row.form == PieceKind::Verbatim;
    let mut order: Vec<usize> = (0..rows.len()).filter(|&at| is_showable(rows[at])).collect();
    order.sort_by_key(|&at| (u32::MAX - worth(rows[at]), at));
    // Where a line found no room, a lesser one would only be one that happens to be short.
    let mut refused = 0;
    for &at in &order {
        let worth = worth(rows[at]);
        if worth < refused {
            break;
        }
        // What is worth nothing goes on from what is shown, or is left out.
        if (worth > 0 || choices.goes_on(at)) && !choices.admit(at) && worth < END {
            refused = worth.max(1);
        }
    }
    choices.bridge();
    let mut pieces = choices.pieces();
    // Tokens do not add up exactly: if the sum was wrong, the weakest go.
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

/// What is left out between two lines.
struct Gap {
    start: u64,
    end: u64,
    first: u64,
    last: u64,
}

impl Gap {
    fn words(&self, from: LinePosition, tag: &str) -> String {
        let Gap { start, end, first, last } = *self;
        match from {
            LinePosition::Start if first == last => format!("[{tag}line {first} missing]\n"),
            LinePosition::Start => format!("[{tag}lines {first}:{last} missing]\n"),
            LinePosition::Inside if first == last => {
                format!("\n[{tag}bytes {start}:{end} missing, inside line {first}]\n")
            }
            LinePosition::Inside => {
                format!("\n[{tag}bytes {start}:{end} missing, in lines {first}:{last}]\n")
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
    fn goes_on(&self, at: usize) -> bool {
        at > 0 && self.chosen[at - 1] && self.touch(at - 1, at)
    }

    /// Shows a line if there is room for it and for the gap that it may open; says whether it is shown.
    fn admit(&mut self, at: usize) -> bool {
        let row = self.rows[at];
        let is_part = row.coverage == Coverage::Beginning;
        let joins_left = row.start == 0 || self.goes_on(at);
        let joins_right = row.end == self.bytes
            || (at + 1 < self.rows.len() && self.chosen[at + 1] && self.touch(at, at + 1));
        let opened = 1 + u64::from(is_part && joins_right);
        let closed = u64::from(joins_left) + u64::from(joins_right && !is_part);
        let inside = self.inside.times(u64::from(is_part));
        let sum =
            (self.spent + self.cost(at) + self.words.times(opened) + inside).beyond(self.words.times(closed));
        if self.room.limits.afford(sum) {
            self.spent = sum;
            self.chosen[at] = true;
        }
        self.chosen[at]
    }

    /// Shows what lies between two lines that are shown, or at an end, where our words for it would be no shorter.
    fn bridge(&mut self) {
        let chosen: Vec<usize> = (0..self.rows.len()).filter(|&at| self.chosen[at]).collect();
        let froms = std::iter::once(0).chain(chosen.iter().map(|at| at + 1));
        let tos = chosen.iter().copied().chain([self.rows.len()]);
        for (from, to) in froms.zip(tos) {
            self.bridge_one(from, to);
        }
    }

    /// The same for the rows of one gap. All of them are held if each touches the next and the edges of the gap.
    fn bridge_one(&mut self, from: usize, to: usize) {
        let between = &self.rows[from..to];
        let (Some(first), Some(last)) = (between.first(), between.last()) else { return };
        let start = if from == 0 { 0 } else { self.rows[from - 1].end };
        let end = self.rows.get(to).map_or(self.bytes, |row| row.start);
        let follows_part = from > 0 && self.rows[from - 1].coverage == Coverage::Beginning;
        let is_held = first.start == start
            && last.end == end
            && between.windows(2).all(|pair| pair[0].end == pair[1].start)
            && between.iter().all(|row| row.coverage == Coverage::Whole);
        let gap = Gap { start, end, first: first.number, last: last.number };
        let length: usize = between.iter().map(|row| row.text.len()).sum();
        if follows_part || !is_held || length > gap.words(LinePosition::Start, self.tag).len() {
            return;
        }
        let cost = (from..to).fold(Cost::default(), |sum, at| sum + self.cost(at));
        let sum = (self.spent + cost).beyond(self.words);
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
                let text = Cow::Owned(gap.words(part, self.tag).into_bytes());
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
        // Marks alone show nothing.
        if pieces.len() == 1 && pieces[0].form == PieceKind::Mark { Vec::new() } else { pieces }
    }
}
