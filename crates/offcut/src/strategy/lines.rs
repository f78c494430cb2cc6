//! Assembles lines from segments. The result does not depend on how the text was divided into segments.

use super::fingerprint::FoldedText;
use crate::cut::{PieceKind, Segment};

/// One line of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Its first bytes; all of them, with the line feed, if the line is short enough.
    pub(super) text: &'a [u8],
    pub(super) extent: Extent,
    /// The hash of its text with the digits folded; zero if lines are read without fingerprints.
    pub(super) fingerprint: u64,
    /// The offset of `text` in the segment, unless it was copied.
    pub(super) offset: Option<usize>,
}

/// Where a line, or a range of whole lines, is in the original, and what is known of its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The offset of its first byte.
    pub(super) start: u64,
    /// The offset after its last byte, line feed included.
    pub(super) end: u64,
    /// The number of its first line, counted from 1.
    pub(super) number: u64,
    /// How much of the text is known.
    pub(super) coverage: Coverage,
    /// Whether the text is from the original, or what a terminal would show of it.
    pub(super) form: PieceKind,
}

/// How many bytes are folded at a time: a block fits into the L1 cache.
const BLOCK: usize = 12 << 10;

/// How much of a line is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// All of it.
    Whole,
    /// Only its beginning.
    Beginning,
}

/// Assembles lines. Of a long line only the beginning is kept.
pub(super) struct Lines {
    open: Vec<u8>,
    /// The full length of the open line, and the kind of its first segment.
    open_length: usize,
    open_form: PieceKind,
    open_start: u64,
    open_end: u64,
    number: u64,
    max_line_bytes: usize,
    /// Only if lines have fingerprints.
    folded: Option<FoldedText>,
}

impl Lines {
    /// Keeps at most `max_line_bytes` bytes of a line, and computes its fingerprint.
    pub(super) fn with_fingerprints(max_line_bytes: usize) -> Lines {
        Lines { folded: Some(FoldedText::default()), ..Lines::new(max_line_bytes) }
    }

    /// Keeps at most `max_line_bytes` bytes of a line.
    pub(super) fn new(max_line_bytes: usize) -> Lines {
        Lines {
            open: Vec::new(),
            open_length: 0,
            open_form: PieceKind::Verbatim,
            open_start: 0,
            open_end: 0,
            number: 1,
            max_line_bytes,
            folded: None,
        }
    }

    /// Calls `each` with every line that `segment` completes.
    pub(super) fn observe(&mut self, segment: Segment<'_>, each: &mut impl FnMut(Line<'_>)) {
        if segment.form != PieceKind::Verbatim {
            // A line as a terminal would show it, or part of one. Its bytes are not those of the original.
            if self.open_end == self.open_start {
                self.open_form = segment.form;
            }
            self.extend(segment.text, segment.end);
            if segment.text.ends_with(b"\n") {
                self.flush(each);
            }
            return;
        }
        let text = segment.text;
        let mut from = 0;
        while from < text.len() {
            let rest = &text[from..];
            let is_open = self.open_end > self.open_start;
            let near = &rest[..rest.len().min(BLOCK)];
            let last = if is_open { None } else { memchr::memrchr(b'\n', near) };
            let length = match last {
                Some(feed) => {
                    self.emit(&near[..=feed], from, each);
                    feed + 1
                }
                // The rest of an open line, or a line longer than a block.
                None => {
                    let feed = memchr::memchr(b'\n', rest);
                    let length = feed.map_or(rest.len(), |feed| feed + 1);
                    self.extend(&rest[..length], segment.start + (from + length) as u64);
                    if feed.is_some() {
                        self.flush(each);
                    }
                    length
                }
            };
            from += length;
        }
    }

    /// Calls `each` with the lines of a block, which is at `offset` in the segment.
    fn emit(&mut self, block: &[u8], offset: usize, each: &mut impl FnMut(Line<'_>)) {
        if let Some(folded) = &mut self.folded {
            folded.fold(block);
        }
        let (mut from, mut number, mut start) = (0, self.number, self.open_start);
        for feed in memchr::memchr_iter(b'\n', block) {
            let length = feed + 1 - from;
            let coverage = if length > self.max_line_bytes { Coverage::Beginning } else { Coverage::Whole };
            let shown = length.min(self.max_line_bytes);
            let end = start + length as u64;
            each(Line {
                text: &block[from..from + shown],
                extent: Extent { start, end, number, coverage, form: PieceKind::Verbatim },
                fingerprint: self.fingerprint(from, shown),
                offset: Some(offset + from),
            });
            (from, number, start) = (feed + 1, number + 1, end);
        }
        (self.number, self.open_start, self.open_end) = (number, start, start);
    }

    /// The last byte that may be kept is left out: whether it is a lone zero depends on a byte that may be missing.
    #[inline]
    fn fingerprint(&self, start: usize, length: usize) -> u64 {
        let end = start + length.min(self.max_line_bytes - 1);
        self.folded.as_ref().map_or(0, |folded| folded.fingerprint(start, end))
    }

    fn extend(&mut self, text: &[u8], end: u64) {
        let fresh = text.len().min(self.max_line_bytes - self.open.len().min(self.max_line_bytes));
        self.open.extend_from_slice(&text[..fresh]);
        self.open_length += text.len();
        self.open_end = end;
    }

    /// The number and the offset of the next line.
    pub(super) fn next(&self) -> (u64, u64) {
        (self.number, self.open_start)
    }

    /// Calls `each` with the open line, if there is one.
    pub(super) fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.open_end == self.open_start {
            return;
        }
        let (start, end) = (self.open_start, self.open_end);
        let coverage =
            if self.open_length == self.open.len() { Coverage::Whole } else { Coverage::Beginning };
        if let Some(folded) = &mut self.folded {
            folded.fold(&self.open);
        }
        each(Line {
            text: &self.open,
            extent: Extent { start, end, number: self.number, coverage, form: self.open_form },
            fingerprint: self.fingerprint(0, self.open.len()),
            offset: None,
        });
        self.open.clear();
        (self.open_length, self.open_form) = (0, PieceKind::Verbatim);
        self.number += 1;
        self.open_start = end;
    }
}
