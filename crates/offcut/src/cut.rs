//! What is shown and what is left out, as positions in the original.

use crate::measure::{self, Conventions, CountTokens, LineConvention};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

/// Why a part of the original is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GapReason {
    /// Whole lines, or a run that spans several.
    Omitted,
    /// Lines similar to lines that are shown.
    Repeated,
    /// Part of one long line.
    Line,
    /// Terminal control sequences.
    Control,
    /// A custom strategy returned its own text, so what it left out is not known.
    Opaque,
    /// The output was stored and shown to nobody.
    Unseen,
}

impl GapReason {
    /// The name of the reason in JSON and in stored metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            GapReason::Omitted => "omitted",
            GapReason::Repeated => "repeated",
            GapReason::Line => "line",
            GapReason::Control => "control",
            GapReason::Opaque => "opaque",
            GapReason::Unseen => "unseen",
        }
    }

    /// The reason with this name.
    pub fn from_word(word: &str) -> Option<GapReason> {
        [
            GapReason::Omitted,
            GapReason::Repeated,
            GapReason::Line,
            GapReason::Control,
            GapReason::Opaque,
            GapReason::Unseen,
        ]
        .into_iter()
        .find(|why| why.as_str() == word)
    }
}

/// A run of bytes that is not shown. Lines are counted from 1 and end at `\n`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The offset of the first byte left out.
    pub start: u64,
    /// The offset after the last byte left out.
    pub end: u64,
    /// The first line of which this gap hides a part.
    pub first_line: u64,
    /// The last line of which this gap hides a part.
    pub last_line: u64,
    /// Whether the gap begins inside `first_line` or at its start.
    #[serde(skip)]
    pub from: LinePosition,
    /// Whether the text goes on inside `last_line` or at the start of the next line.
    #[serde(skip)]
    pub to: LinePosition,
    /// Why it is left out.
    pub why: GapReason,
}

impl Gap {
    /// The gap of an output of which nothing is known to be shown.
    pub(crate) fn whole(original: Size, why: GapReason) -> Gap {
        let (start, end) = (0, original.bytes);
        let (first_line, last_line) = (1, original.lines.max(1));
        let (from, to) = (LinePosition::Start, LinePosition::Start);
        Gap { start, end, first_line, last_line, from, to, why }
    }

    /// Whether it hides whole lines and nothing else.
    pub fn is_of_whole_lines(&self) -> bool {
        (self.from, self.to) == (LinePosition::Start, LinePosition::Start)
    }

    /// The number of bytes left out.
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// What a strategy knows about a gap between its pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GapNote {
    /// The bytes of the gap. A note about other bytes than those of a gap is ignored.
    pub bytes: Range<u64>,
    /// The range of the number in which its lines differ, such as `score 0…9987`; nothing if empty. If the gap is repeated, its
    /// marker says this after `: `. It takes room from the pieces.
    pub contents: String,
    /// Whether a reader may want to read it.
    pub interest: Interest,
}

/// Whether a reader may want to read a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interest {
    /// Nothing is known.
    #[default]
    Unknown,
    /// It has lines that would be shown if there were more room.
    Notable,
    /// It has nothing but repeated lines, passed tests and other routine.
    Routine,
}

/// Where in its line a position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePosition {
    /// At the first byte of the line.
    Start,
    /// After the first byte of the line.
    Inside,
}

/// How a text represents a range of the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PieceKind {
    /// It is those bytes.
    #[default]
    Verbatim,
    /// It is what a terminal would show of them.
    Rendered,
    /// It is the beginning of what a terminal would show of them.
    RenderedStart,
    /// It is the end of what a terminal would show of them.
    RenderedEnd,
    /// It is what a custom strategy made of them.
    Opaque,
    /// It is those bytes, and was printed while the command ran: the preview continues after it.
    PrintedEarlier,
    /// It is a strategy's own marker: the bytes are left out, and this replaces the notice's marker.
    Mark,
}

/// A range of the original that a strategy chose to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'text> {
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// Whether the text is these bytes or represents them.
    pub form: PieceKind,
    /// The line of the first byte, counted from 1; lines end at `\n`.
    pub line: u64,
    /// Where in that line the first byte is.
    pub part: LinePosition,
    /// What is shown.
    pub text: Cow<'text, [u8]>,
}

impl<'text> Piece<'text> {
    /// The piece that shows only `range` of this one's text.
    pub fn slice(self, range: Range<usize>) -> Piece<'text> {
        let (from, to, length) = (range.start, range.end.min(self.text.len()), self.text.len());
        let before = &self.text[..from];
        let line = self.line + measure::newlines(before);
        let part = match before.last() {
            None => self.part,
            Some(b'\n') => LinePosition::Start,
            Some(_) => LinePosition::Inside,
        };
        let (start, end, form) = match self.form {
            form @ (PieceKind::Verbatim | PieceKind::PrintedEarlier) => {
                (self.start + from as u64, self.start + to as u64, form)
            }
            form @ (PieceKind::Opaque | PieceKind::Mark) => (self.start, self.end, form),
            form if from == 0 && to == length => (self.start, self.end, form),
            _ if from == 0 => (self.start, self.end, PieceKind::RenderedStart),
            _ => (self.start, self.end, PieceKind::RenderedEnd),
        };
        let text = match self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[from..to]),
            Cow::Owned(text) => Cow::Owned(text[from..to].to_vec()),
        };
        Piece { start, end, form, line, part, text }
    }
}

/// The next part of an output, as the reader would see it.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Bytes of the original, with any number of lines and parts of lines; or one whole line, including its line feed,
    /// as a terminal would show it. A line of more than 64 KiB may be split.
    pub text: &'a [u8],
    /// The offset of the first byte in the original, where the previous segment ended.
    pub start: u64,
    /// The offset after the last byte in the original.
    pub end: u64,
    /// Whether the text is those bytes ([`PieceKind::Verbatim`]) or represents them ([`PieceKind::Rendered`]).
    pub form: PieceKind,
}

impl<'a> Segment<'a> {
    /// Unchanged bytes of the original.
    pub fn verbatim(text: &'a [u8], start: u64) -> Segment<'a> {
        Segment { text, start, end: start + text.len() as u64, form: PieceKind::Verbatim }
    }
}

/// The size of a text in each unit.
///
/// ```
/// use offcut::Size;
///
/// let size = Size { bytes: 12, lines: 2, ..Size::default() };
/// assert_eq!(size.tokens, None, "nothing needed the tokens, so they were not counted");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Bytes.
    pub bytes: u64,
    /// Lines, by the profile's convention.
    pub lines: u64,
    /// Characters, if a limit needs them.
    pub chars: Option<u64>,
    /// Tokens, if a limit needs them.
    pub tokens: Option<u64>,
}

/// Which parts of the original are shown and which are not.
///
/// Pieces and gaps cover the whole original without overlaps: the only constructor computes the gaps from the pieces.
#[derive(Clone, Debug)]
pub struct Cut<'text> {
    pieces: Vec<Piece<'text>>,
    gaps: Vec<Gap>,
    /// What the strategy knows about some of the gaps, in order.
    notes: Vec<GapNote>,
}

impl<'text> Cut<'text> {
    /// The cut that shows `pieces` of a text of `total` bytes and `lines` lines.
    ///
    /// Custom strategies make mistakes, so the pieces may overlap, touch or be in any order.
    pub fn new(mut pieces: Vec<Piece<'text>>, total: u64, lines: u64) -> Cut<'text> {
        pieces.retain(|piece| piece.start < piece.end && piece.end <= total);
        // A line that a terminal shows as empty is kept, and so is an empty mark, which hides what need not be said;
        // other pieces without text show nothing.
        pieces.retain(|piece| {
            !piece.text.is_empty() || matches!(piece.form, PieceKind::Rendered | PieceKind::Mark)
        });
        for piece in &mut pieces {
            // A text of another length cannot be the bytes of this range.
            if piece.form == PieceKind::Verbatim && piece.text.len() as u64 != piece.end - piece.start {
                piece.form = PieceKind::Rendered;
            }
        }
        pieces.sort_by_key(|piece| piece.start);
        let mut kept: Vec<Piece<'text>> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match kept.last_mut() {
                Some(before) if piece.start <= before.end => {
                    if let Some(piece) = join(before, piece) {
                        kept.push(piece);
                    }
                }
                _ => kept.push(piece),
            }
        }
        let gaps = gaps(kept.iter().filter(|piece| piece.form != PieceKind::Mark), total, lines);
        Cut { pieces: kept, gaps, notes: Vec::new() }
    }

    /// What is shown, in order, and the strategy's marks.
    pub fn pieces(&self) -> &[Piece<'text>] {
        &self.pieces
    }

    /// What is not shown, in order.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// What is shown, without a copy.
    pub(crate) fn into_pieces(self) -> Vec<Piece<'text>> {
        self.pieces
    }

    /// What is not shown, without a copy.
    pub(crate) fn into_gaps(self) -> Vec<Gap> {
        self.gaps
    }

    /// Marks gaps as repeated if they begin a line and are inside one of these ranges, which are in order.
    pub(crate) fn folded(mut self, repeats: &[Range<u64>]) -> Cut<'text> {
        for gap in &mut self.gaps {
            let at = repeats.partition_point(|range| range.end < gap.end);
            let is_inside = repeats.get(at).is_some_and(|range| range.start <= gap.start);
            let is_omitted = matches!(gap.why, GapReason::Omitted | GapReason::Line);
            if is_inside && is_omitted && gap.from == LinePosition::Start {
                gap.why = GapReason::Repeated;
            }
        }
        self
    }

    /// The cut with what the strategy knows about its gaps, in order.
    pub(crate) fn with_notes(self, notes: Vec<GapNote>) -> Cut<'text> {
        Cut { notes, ..self }
    }

    /// What the strategy knows about a gap.
    pub(crate) fn note(&self, gap: &Gap) -> Option<&GapNote> {
        let at = self.notes.partition_point(|note| note.bytes.start < gap.start);
        self.notes.get(at).filter(|note| note.bytes == (gap.start..gap.end))
    }

    /// What the marker of a gap says about its lines.
    pub(crate) fn contents(&self, gap: &Gap) -> &str {
        match self.note(gap) {
            Some(note) if gap.why == GapReason::Repeated => &note.contents,
            _ => "",
        }
    }

    /// The cut without the line feeds before its gaps, and at the end of the text. Those before a mark stay, and so does
    /// one that is all there is to show.
    pub(crate) fn without_last_line_feeds(self, total: u64, lines: u64) -> Cut<'text> {
        let starts: Vec<u64> =
            self.pieces.iter().skip(1).map(|piece| piece.start).chain([u64::MAX]).collect();
        let first = self.pieces.first().cloned();
        let trim = |(piece, next): (Piece<'text>, u64)| {
            let is_text = !matches!(piece.form, PieceKind::Mark | PieceKind::Opaque);
            match piece.text.split_last() {
                Some((b'\n', rest)) if is_text && piece.end < next => {
                    let length = rest.len();
                    piece.slice(0..length)
                }
                _ => piece,
            }
        };
        let cut = Cut::new(self.pieces.into_iter().zip(starts).map(trim).collect(), total, lines);
        if cut.pieces.is_empty() { Cut::new(Vec::from_iter(first), total, lines) } else { cut }
    }

    /// The pieces that show part of the original: all except marks.
    pub fn shown(&self) -> impl Iterator<Item = &Piece<'text>> {
        self.pieces.iter().filter(|piece| piece.form != PieceKind::Mark)
    }

    /// What is shown, without the gaps.
    pub fn text(&self) -> Vec<u8> {
        self.shown().flat_map(|piece| piece.text.iter().copied()).collect()
    }

    /// Whether the strategy's own marker is in this gap.
    pub(crate) fn is_marked(&self, gap: &Gap) -> bool {
        let from = self.pieces.partition_point(|piece| piece.start < gap.start);
        self.pieces[from..]
            .iter()
            .take_while(|piece| piece.start < gap.end)
            .any(|piece| piece.form == PieceKind::Mark)
    }

    /// The number of bytes shown, including those that show what a terminal would show of the original.
    ///
    /// A text that is longer than the bytes it represents (spaces up to a column) counts only as many bytes as those.
    pub fn bytes(&self) -> u64 {
        self.shown().map(|piece| (piece.text.len() as u64).min(piece.end - piece.start)).sum()
    }

    /// How much of the original is shown, in the units that the original was measured in.
    pub(crate) fn size(&self, conventions: &Conventions, tokens: &dyn CountTokens, original: Size) -> Size {
        let sum =
            |measure: &dyn Fn(&[u8]) -> u64| self.shown().map(|piece| measure(&piece.text)).sum::<u64>();
        // By the convention of separated lines, a line feed begins a line: none of it is shown before a mark.
        let begun = self.pieces.windows(2).filter(|pair| {
            pair[0].form != PieceKind::Mark
                && pair[0].text.ends_with(b"\n")
                && pair[1].form == PieceKind::Mark
        });
        let begun = if conventions.lines == LineConvention::Separated { begun.count() as u64 } else { 0 };
        Size {
            bytes: self.bytes().min(original.bytes),
            lines: sum(&|text| measure::lines(text, conventions.lines))
                .saturating_sub(self.continued_lines() + begun)
                .clamp(u64::from(self.bytes() > 0).min(original.lines), original.lines),
            chars: original.chars.map(|_| sum(&|text| measure::chars(text, conventions.chars))),
            tokens: original.tokens.map(|_| sum(&|text| tokens.count(text))),
        }
    }

    /// The number of pieces that begin in the line in which the previous piece ended. Such a line is counted once.
    fn continued_lines(&self) -> u64 {
        let mut ended_in = None;
        let mut count = 0;
        for piece in self.shown() {
            count += u64::from(piece.part == LinePosition::Inside && ended_in == Some(piece.line));
            let ends_inside = !piece.text.ends_with(b"\n");
            ended_in = ends_inside.then(|| piece.line + measure::newlines(&piece.text));
        }
        count
    }

    /// The gaps that hide something a terminal would show. Each of them gets a marker.
    pub fn missing(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|gap| gap.why != GapReason::Control)
    }
}

/// Joins a piece with the previous one, which it touches or overlaps. Returns what remains to be shown after that.
fn join<'text>(before: &mut Piece<'text>, piece: Piece<'text>) -> Option<Piece<'text>> {
    let same = before.start == piece.start && before.end == piece.end;
    match (before.form, piece.form) {
        (PieceKind::Verbatim, PieceKind::Verbatim) => {
            if piece.end > before.end {
                let fresh = (before.end - piece.start) as usize;
                before.text.to_mut().extend_from_slice(&piece.text[fresh..]);
                before.end = piece.end;
            }
            None
        }
        (_, PieceKind::Verbatim) if piece.end > before.end => {
            let (fresh, length) = ((before.end - piece.start) as usize, piece.text.len());
            Some(piece.slice(fresh..length))
        }
        // A line of which a part was printed: how it looks at the end.
        (PieceKind::PrintedEarlier, PieceKind::Rendered) if piece.end > before.end => {
            Some(Piece { start: before.end, ..piece })
        }
        (PieceKind::RenderedStart, PieceKind::RenderedEnd) if same => Some(piece),
        (PieceKind::RenderedStart | PieceKind::RenderedEnd, PieceKind::Rendered) if same => {
            *before = piece;
            None
        }
        _ => (piece.start >= before.end).then_some(piece),
    }
}

/// The gaps between the pieces. If only a part of a rendered line is shown, the gap contains the whole line, because it
/// is unknown which of its bytes produced that part.
fn gaps<'p, 't: 'p>(pieces: impl Iterator<Item = &'p Piece<'t>>, total: u64, lines: u64) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    let (mut at, mut line, mut from) = (0, 1, LinePosition::Start);
    for piece in pieces {
        let (until, last_line) = match (piece.form, piece.part) {
            (PieceKind::RenderedEnd, _) => (piece.end, piece.line),
            (_, LinePosition::Inside) => (piece.start, piece.line),
            (_, LinePosition::Start) => (piece.start, piece.line.saturating_sub(1)),
        };
        let to = if piece.form == PieceKind::RenderedEnd { LinePosition::Inside } else { piece.part };
        push(&mut gaps, at..until, line..=last_line, (from, to), reason((from, to), line, last_line));
        if piece.form == PieceKind::Rendered {
            let edges = (piece.part, LinePosition::Start);
            push(&mut gaps, piece.start..piece.end, piece.line..=piece.line, edges, GapReason::Control);
        }
        if piece.form == PieceKind::Opaque {
            // All that is known about these lines is that the strategy has seen them.
            let seen = if piece.end == total { lines } else { piece.line };
            let edges = (piece.part, LinePosition::Start);
            push(&mut gaps, piece.start..piece.end, piece.line..=seen, edges, GapReason::Opaque);
            (at, line, from) = (piece.end, seen + 1, LinePosition::Start);
        } else if piece.form == PieceKind::RenderedStart {
            (at, line, from) = (piece.start, piece.line, LinePosition::Inside);
        } else {
            at = piece.end;
            line = piece.line + measure::newlines(&piece.text);
            from = if piece.text.ends_with(b"\n") { LinePosition::Start } else { LinePosition::Inside };
        }
    }
    let edges = (from, LinePosition::Start);
    push(&mut gaps, at..total, line..=lines, edges, reason(edges, line, lines));
    gaps
}

fn reason(edges: (LinePosition, LinePosition), first_line: u64, last_line: u64) -> GapReason {
    let is_inside = edges != (LinePosition::Start, LinePosition::Start);
    if is_inside && last_line <= first_line { GapReason::Line } else { GapReason::Omitted }
}

fn push(
    gaps: &mut Vec<Gap>,
    bytes: Range<u64>,
    lines: RangeInclusive<u64>,
    (from, to): (LinePosition, LinePosition),
    why: GapReason,
) {
    if bytes.is_empty() {
        return;
    }
    let last_line = (*lines.end()).max(*lines.start());
    match gaps.last_mut() {
        // Consecutive lines with control sequences share one gap.
        Some(before) if why == GapReason::Control && before.why == why && before.end == bytes.start => {
            before.end = bytes.end;
            before.last_line = last_line;
        }
        _ => gaps.push(Gap {
            start: bytes.start,
            end: bytes.end,
            first_line: *lines.start(),
            last_line,
            from,
            to,
            why,
        }),
    }
}

#[cfg(test)]
mod tests;
