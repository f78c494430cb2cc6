//! What is shown and what is left out, as positions in the original.

use crate::measure;
use std::borrow::Cow;

/// Why a part of the original is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Whole lines, or a run that spans several.
    Omitted,
    /// Lines like others that are shown.
    Repeated,
    /// Part of one long line.
    Line,
    /// Terminal control.
    Control,
    /// A foreign strategy returned text of its own, so what it left out is not known.
    Opaque,
}

impl Why {
    /// The word for it in formats and stored metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Omitted => "omitted",
            Why::Repeated => "repeated",
            Why::Line => "line",
            Why::Control => "control",
            Why::Opaque => "opaque",
        }
    }

    /// The reason that `word` names.
    pub fn from_word(word: &str) -> Option<Why> {
        [Why::Omitted, Why::Repeated, Why::Line, Why::Control, Why::Opaque]
            .into_iter()
            .find(|why| why.as_str() == word)
    }
}

/// A run of bytes that is not shown. Lines are counted from 1 and end at `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The offset of the first byte left out.
    pub start: u64,
    /// The offset behind the last byte left out.
    pub end: u64,
    /// The first line that is not shown whole because of this gap.
    pub first_line: u64,
    /// The last line that is not shown whole because of this gap.
    pub last_line: u64,
    /// The gap begins inside `first_line` rather than at its start.
    pub from: LinePart,
    /// Why it is left out.
    pub why: Why,
}

impl Gap {
    /// The number of bytes left out.
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Where in its line a position stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePart {
    /// At the first byte of the line.
    Start,
    /// Behind the first byte of the line.
    Inside,
}

/// A run of the original that a strategy wants shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'text> {
    /// The offset of the first byte.
    pub start: u64,
    /// The offset behind the last byte. The text is these bytes, or stands for them as a terminal would show them.
    pub end: u64,
    /// The line of the first byte, counted from 1; lines end at `\n`.
    pub line: u64,
    /// Where in that line the first byte stands.
    pub part: LinePart,
    /// The bytes themselves.
    pub text: Cow<'text, [u8]>,
}

/// A run of the original that streams by, as the reader would see it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The bytes of the original, of any number of lines and parts of lines; or one whole line of it, with its line
    /// feed, as a terminal would show it.
    pub text: &'a [u8],
    /// The offset of the first byte in the original.
    pub start: u64,
    /// The offset behind the last byte in the original. Less the start it is the length of the text, unless the text
    /// is a line as a terminal would show it.
    pub end: u64,
}

/// How much of something there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes.
    pub bytes: u64,
    /// Lines, by the profile's convention.
    pub lines: u64,
    /// Characters, if a limit speaks of them.
    pub chars: Option<u64>,
    /// Tokens, if a limit speaks of them.
    pub tokens: Option<u64>,
}

/// The decision: what of the original is shown, and what is not.
#[derive(Clone, Debug)]
pub struct Cut<'text> {
    /// What is shown, in order, without overlaps.
    pub pieces: Vec<Piece<'text>>,
    /// What is not, in order. Pieces and gaps together are the whole original.
    pub gaps: Vec<Gap>,
}

impl<'text> Cut<'text> {
    /// The cut that shows `pieces` of a text of `total` bytes and `lines` lines.
    ///
    /// Foreign strategies make mistakes, so the pieces may overlap, touch or stand in any order.
    pub fn new(mut pieces: Vec<Piece<'text>>, total: u64, lines: u64) -> Cut<'text> {
        pieces.retain(|piece| !piece.text.is_empty() && piece.end <= total);
        pieces.sort_by_key(|piece| piece.start);
        let mut kept: Vec<Piece<'text>> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match kept.last_mut() {
                Some(before) if piece.start <= before.end => {
                    if piece.end > before.end {
                        let fresh = (before.end - piece.start) as usize;
                        before.text.to_mut().extend_from_slice(&piece.text[fresh..]);
                        before.end = piece.end;
                    }
                }
                _ => kept.push(piece),
            }
        }
        let gaps = gaps(&kept, total, lines);
        Cut { pieces: kept, gaps }
    }

    /// What is shown, without the gaps.
    pub fn text(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.text.iter().copied()).collect()
    }

    /// The bytes shown.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.text.len() as u64).sum()
    }
}

fn gaps(pieces: &[Piece<'_>], total: u64, lines: u64) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let (mut at, mut line, mut from) = (0, 1, LinePart::Start);
    let mut push = |start, end, first_line, last_line: u64, from, until| {
        if start < end {
            let last_line = last_line.max(first_line);
            let inside = from == LinePart::Inside || until == LinePart::Inside;
            let why = if inside && first_line == last_line { Why::Line } else { Why::Omitted };
            gaps.push(Gap { start, end, first_line, last_line, from, why });
        }
    };
    for piece in pieces {
        let last_line = match piece.part {
            LinePart::Start => piece.line.saturating_sub(1),
            LinePart::Inside => piece.line,
        };
        push(at, piece.start, line, last_line, from, piece.part);
        at = piece.end;
        line = piece.line + measure::newlines(&piece.text);
        from = if piece.text.ends_with(b"\n") { LinePart::Start } else { LinePart::Inside };
    }
    push(at, total, line, lines, from, LinePart::Start);
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, start: usize, end: usize) -> Piece<'_> {
        let before = &text.as_bytes()[..start];
        Piece {
            start: start as u64,
            end: end as u64,
            line: 1 + measure::newlines(before),
            part: if before.is_empty() || before.ends_with(b"\n") {
                LinePart::Start
            } else {
                LinePart::Inside
            },
            text: Cow::Borrowed(&text.as_bytes()[start..end]),
        }
    }

    /// One door: which ranges are shown, and the gaps as `start..end lines why`.
    #[track_caller]
    fn check(text: &str, shown: &[(usize, usize)], expected: &[&str]) {
        let pieces = shown.iter().map(|&(start, end)| piece(text, start, end)).collect();
        let lines = measure::lines(text.as_bytes(), measure::LineConvention::Terminated);
        let cut = Cut::new(pieces, text.len() as u64, lines);
        let gaps: Vec<String> = cut
            .gaps
            .iter()
            .map(|gap| {
                format!(
                    "{}..{} {}-{} {}",
                    gap.start,
                    gap.end,
                    gap.first_line,
                    gap.last_line,
                    gap.why.as_str()
                )
            })
            .collect();
        assert_eq!(gaps, expected, "{text:?} {shown:?}");
    }

    #[test]
    fn gaps_between_pieces() {
        check("a\nb\nc\nd\n", &[(0, 2), (6, 8)], &["2..6 2-3 omitted"]);
        check("a\nb\nc\nd\n", &[(0, 1)], &["1..8 1-4 omitted"]);
        check("a\nb\nc", &[(4, 5)], &["0..4 1-2 omitted"]);
        check("a\nb\nc", &[(0, 4)], &["4..5 3-3 omitted"]);
        check("aaaaaaaaaa", &[(0, 2), (8, 10)], &["2..8 1-1 line"]);
        check("aaaaaaaaaa", &[(8, 10)], &["0..8 1-1 line"]);
        check("a\n", &[(0, 1)], &["1..2 1-1 line"]);
        check("a\nbbbb\n", &[(0, 4)], &["4..7 2-2 line"]);
    }

    #[test]
    fn pieces_may_overlap_touch_and_stand_in_any_order() {
        check("0123456789", &[(8, 10), (0, 3), (2, 5), (5, 6), (1, 2)], &["6..8 1-1 line"]);
        check("0123456789", &[(0, 10)], &[]);
        check("0123456789", &[], &["0..10 1-1 omitted"]);
    }
}
