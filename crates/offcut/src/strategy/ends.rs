//! Keeps the beginning and the end of a text while it is read.

use crate::cut::{LinePosition, Piece, PieceKind, Segment};
use crate::measure::LineConvention;
use crate::render::Control;
use crate::{boundary, measure};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Extra bytes before the closing ones, to recognise a character that crosses their start.
const CONTEXT: usize = 4;

/// The first and the last bytes of a text as the reader would see it, and the size of the original. Most strategies need
/// nothing else.
#[derive(Debug)]
pub struct Ends {
    opening: Vec<u8>,
    opening_capacity: usize,
    opening_rendered: VecDeque<RenderedRange>,
    closing: Vec<u8>,
    closing_capacity: usize,
    closing_rendered: VecDeque<RenderedRange>,
    /// Bytes of the original.
    bytes: u64,
    /// Bytes of the text.
    length: u64,
    newlines: u64,
    last: u8,
    control: Control,
}

/// A range of the text that is not the original's bytes but what a terminal shows of them.
#[derive(Clone, Copy, Debug)]
struct RenderedRange {
    /// Its offsets in the text.
    from: u64,
    to: u64,
    /// Its offsets in the original.
    start: u64,
    end: u64,
}

impl Ends {
    pub(crate) fn new(opening_capacity: usize, closing_capacity: usize) -> Ends {
        Ends {
            opening: Vec::new(),
            opening_capacity,
            opening_rendered: VecDeque::new(),
            closing: Vec::new(),
            closing_capacity: closing_capacity + CONTEXT,
            closing_rendered: VecDeque::new(),
            bytes: 0,
            length: 0,
            newlines: 0,
            last: b'\n',
            control: Control::Absent,
        }
    }

    /// Adds the next segment.
    pub(crate) fn observe(&mut self, segment: Segment<'_>) {
        if segment.start == segment.end {
            return;
        }
        let Segment { text, start, end, form } = segment;
        let opening_is_whole = self.opening.len() as u64 == self.length;
        let from = self.length;
        self.length += text.len() as u64;
        self.bytes = end;
        self.newlines += measure::newlines(text);
        // A line without a line feed is open, whatever a terminal shows of it.
        self.last = text.last().copied().unwrap_or_default();
        if form != PieceKind::Verbatim {
            self.control = Control::LeftOut;
            let rendered = RenderedRange { from, to: self.length, start, end };
            self.closing_rendered.push_back(rendered);
            if opening_is_whole {
                self.opening_rendered.push_back(rendered);
            }
        }
        let fresh = text.len().min(self.opening_capacity - self.opening.len());
        self.opening.extend_from_slice(&text[..fresh]);
        self.close(text);
    }

    fn close(&mut self, text: &[u8]) {
        let fresh = &text[text.len().saturating_sub(self.closing_capacity)..];
        // The buffer grows to twice its capacity before it is compacted, so each byte is moved at most once.
        if self.closing.len() + fresh.len() > 2 * self.closing_capacity {
            let kept = self.closing_capacity.min(self.closing.len());
            let from = self.closing.len() - kept;
            self.closing.copy_within(from.., 0);
            self.closing.truncate(kept);
        }
        self.closing.extend_from_slice(fresh);
        let start = self.length - self.closing.len() as u64;
        while self.closing_rendered.front().is_some_and(|rendered| rendered.to < start) {
            self.closing_rendered.pop_front();
        }
    }

    /// The first bytes of the text: all of them, or at least as many as may be shown.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The last bytes of the text: all of them, or at least as many as may be shown.
    pub fn closing(&self) -> &[u8] {
        &self.closing[self.closing.len().saturating_sub(self.closing_capacity)..]
    }

    /// The size of the original in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of lines of the whole text. A line ends with `\n`; an unterminated last line counts.
    pub fn lines(&self) -> u64 {
        self.newlines + u64::from(self.last != b'\n')
    }

    /// The number of line feeds of the whole text.
    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    /// The first `length` bytes of [`Ends::opening`] as pieces: one piece, unless a part of it was rendered.
    pub fn first(&self, length: usize) -> Vec<Piece<'_>> {
        let origin = Origin { text: 0, start: 0, line: 1 };
        pieces(&self.opening, origin, &self.opening_rendered, 0, length)
    }

    /// The bytes of [`Ends::closing`] from `from` on as pieces.
    pub fn last(&self, from: usize) -> Vec<Piece<'_>> {
        let closing = self.closing();
        let text = self.length - closing.len() as u64;
        let start = match self.closing_rendered.iter().find(|rendered| rendered.to >= text) {
            Some(rendered) => rendered.start.saturating_sub(rendered.from.saturating_sub(text)),
            None => self.bytes - closing.len() as u64,
        };
        let line = 1 + self.newlines - measure::newlines(closing);
        pieces(closing, Origin { text, start, line }, &self.closing_rendered, from, closing.len())
    }

    /// The bytes of this range of the original from its start on, as far as they are kept and not rendered.
    #[cfg(feature = "smart")]
    pub(crate) fn verbatim(&self, range: std::ops::Range<u64>) -> &[u8] {
        let kept = self.first(self.opening.len()).into_iter().chain(self.last(0));
        let parts = kept.filter_map(|piece| match piece {
            Piece { form: PieceKind::Verbatim, text: Cow::Borrowed(text), start, end, .. }
                if (start..end).contains(&range.start) =>
            {
                Some(&text[(range.start - start) as usize..(range.end.min(end) - start) as usize])
            }
            _ => None,
        });
        parts.max_by_key(|part| part.len()).unwrap_or_default()
    }

    /// The whole text as pieces, if a part of it was rendered and all of it is in the opening.
    pub(crate) fn rendered_whole(&self) -> Option<Vec<Piece<'_>>> {
        let whole = self.opening.len() as u64 == self.length && !self.opening_rendered.is_empty();
        whole.then(|| self.first(self.opening.len()))
    }

    /// Whether control characters were removed from the text.
    pub(crate) fn control(&self) -> Control {
        self.control
    }

    /// The page of the original that begins at `start` and has at most `most` bytes and `most_lines` lines: the number of
    /// whole lines, and the offset where it ends.
    pub(crate) fn page(&self, start: u64, most: u64, most_lines: u64) -> (u64, u64) {
        let (mut at, mut lines) = (start, 0);
        for piece in self.first(self.opening.len()) {
            let left = start + most - at;
            if piece.end <= at || left == 0 || lines >= most_lines {
                continue;
            }
            if piece.form == PieceKind::Verbatim {
                let text = &piece.text[(at.max(piece.start) - piece.start) as usize..];
                let length = usize::try_from(left).map_or(text.len(), |left| left.min(text.len()));
                let length = LineConvention::Terminated.prefix(&text[..length], most_lines - lines);
                let length = boundary::floor(text, length);
                lines += measure::newlines(&text[..length]);
                at += length as u64;
                if length < text.len() {
                    break;
                }
            } else if piece.form == PieceKind::Rendered && piece.end - at <= left {
                lines += measure::newlines(&piece.text);
                at = piece.end;
            } else {
                break;
            }
        }
        if at == start {
            return (0, self.bytes.min(start + most));
        }
        (lines + u64::from(at == self.bytes && self.last != b'\n'), at)
    }
}

/// Where a kept text begins: its offset in the whole text, its offset in the original, and its line number.
struct Origin {
    text: u64,
    start: u64,
    line: u64,
}

/// The pieces of `text[from..to]`. Bytes outside of the rendered ranges are the original's.
fn pieces<'t>(
    text: &'t [u8],
    origin: Origin,
    rendered: &VecDeque<RenderedRange>,
    from: usize,
    to: usize,
) -> Vec<Piece<'t>> {
    let (first, last) = (origin.text + from as u64, origin.text + to as u64);
    let mut pieces = Vec::new();
    let mut line = origin.line + measure::newlines(&text[..from]);
    let mut add = |span: (u64, u64), start: u64, end: u64, form: PieceKind| {
        let place = |at: u64| (at - origin.text) as usize;
        let shown = &text[place(span.0)..place(span.1)];
        let at_start = match place(span.0).checked_sub(1) {
            Some(before) => text[before] == b'\n',
            None => start == 0,
        };
        let part = if at_start { LinePosition::Start } else { LinePosition::Inside };
        pieces.push(Piece { start, end, form, line, part, text: Cow::Borrowed(shown) });
        line += measure::newlines(shown);
    };
    // The first byte of the whole text that is not in a piece yet, and where it is in the original.
    let (mut at, mut start) = (origin.text, origin.start);
    for range in rendered.iter().filter(|range| range.to >= origin.text) {
        let plain = (at.max(first), range.from.min(last));
        if plain.0 < plain.1 {
            add(plain, start + (plain.0 - at), start + (plain.1 - at), PieceKind::Verbatim);
        }
        let shown = (range.from.max(first), range.to.min(last));
        let form = match (shown.0 == range.from, shown.1 == range.to) {
            (true, true) => PieceKind::Rendered,
            (true, false) => PieceKind::RenderedStart,
            (false, _) => PieceKind::RenderedEnd,
        };
        // A range without text is shown if its position is.
        if shown.0 < shown.1 || (range.from == range.to && first <= range.from && range.to <= last) {
            add(shown, range.start, range.end, form);
        }
        (at, start) = (range.to, range.end);
    }
    let plain = (at.max(first), last);
    if plain.0 < plain.1 {
        add(plain, start + (plain.0 - at), start + (plain.1 - at), PieceKind::Verbatim);
    }
    pieces
}
