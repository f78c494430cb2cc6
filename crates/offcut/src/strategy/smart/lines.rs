//! Puts lines together from runs, however the text was divided.

use super::fingerprint::Folded;
use crate::cut::{PieceKind, Segment};

/// One line of the text.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategy) struct Line<'a> {
    /// Its first bytes, with the line feed if it is short enough to be held whole.
    pub(in crate::strategy) text: &'a [u8],
    /// The offset of its first byte.
    pub(in crate::strategy) start: u64,
    /// The offset behind its last byte, the line feed included.
    pub(in crate::strategy) end: u64,
    /// Its number, counted from 1.
    pub(in crate::strategy) number: u64,
    /// Whether the text is all of it.
    pub(in crate::strategy) held: Held,
    /// Whether the text is the original's, or what a terminal would show of it.
    pub(in crate::strategy) form: PieceKind,
    /// The hash of its text with the digits folded.
    pub(in crate::strategy) fingerprint: u64,
    /// Where its text stands in the run, if it does.
    pub(in crate::strategy) place: Option<usize>,
}

/// So much is folded at a time: it stays in the nearest cache.
const BLOCK: usize = 12 << 10;

/// How much of a line is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategy) enum Held {
    /// All of it.
    Whole,
    /// Only the beginning.
    Beginning,
}

/// Assembles lines; of a long one only the beginning is held.
pub(in crate::strategy) struct Lines {
    open: Vec<u8>,
    /// How long the text of the open line is, held or not, and what its beginning is.
    open_length: usize,
    open_form: PieceKind,
    open_start: u64,
    open_end: u64,
    number: u64,
    most: usize,
    folded: Folded,
}

impl Lines {
    /// Holds at most `most` bytes of a line.
    pub(in crate::strategy) fn new(most: usize) -> Lines {
        Lines {
            open: Vec::new(),
            open_length: 0,
            open_form: PieceKind::Verbatim,
            open_start: 0,
            open_end: 0,
            number: 1,
            most,
            folded: Folded::default(),
        }
    }

    /// Gives every line that `run` completes to `each`.
    pub(in crate::strategy) fn observe(&mut self, run: Segment<'_>, each: &mut impl FnMut(Line<'_>)) {
        if run.form != PieceKind::Verbatim {
            // A line as a terminal would show it, or a part of one: it stands for bytes that are not in the text.
            if self.open_end == self.open_start {
                self.open_form = run.form;
            }
            self.extend(run.text, run.end);
            if run.text.ends_with(b"\n") {
                self.flush(each);
            }
            return;
        }
        let text = run.text;
        let mut from = 0;
        while from < text.len() {
            let rest = &text[from..];
            let is_open = self.open_end > self.open_start;
            let near = &rest[..rest.len().min(BLOCK)];
            let last = if is_open { None } else { memchr::memrchr(b'\n', near) };
            let length = match last {
                Some(feed) => {
                    self.give(&near[..=feed], from, each);
                    feed + 1
                }
                // The rest of an open line, or a line that is longer than a block.
                None => {
                    let feed = memchr::memchr(b'\n', rest);
                    let length = feed.map_or(rest.len(), |feed| feed + 1);
                    self.extend(&rest[..length], run.start + (from + length) as u64);
                    if feed.is_some() {
                        self.flush(each);
                    }
                    length
                }
            };
            from += length;
        }
    }

    /// Gives the lines that a block is made of.
    fn give(&mut self, block: &[u8], place: usize, each: &mut impl FnMut(Line<'_>)) {
        self.folded.fold(block);
        let (mut from, mut number, mut start) = (0, self.number, self.open_start);
        for feed in memchr::memchr_iter(b'\n', block) {
            let length = feed + 1 - from;
            let held = if length > self.most { Held::Beginning } else { Held::Whole };
            let shown = length.min(self.most);
            let end = start + length as u64;
            each(Line {
                text: &block[from..from + shown],
                start,
                end,
                number,
                held,
                form: PieceKind::Verbatim,
                fingerprint: self.fingerprint(from, shown),
                place: Some(place + from),
            });
            (from, number, start) = (feed + 1, number + 1, end);
        }
        (self.number, self.open_start, self.open_end) = (number, start, start);
    }

    /// Whether the last byte of what is held is a lone zero is known only if all is held, so it is left out.
    #[inline]
    fn fingerprint(&self, start: usize, length: usize) -> u64 {
        self.folded.fingerprint(start, start + length.min(self.most - 1))
    }

    fn extend(&mut self, text: &[u8], end: u64) {
        let fresh = text.len().min(self.most - self.open.len().min(self.most));
        self.open.extend_from_slice(&text[..fresh]);
        self.open_length += text.len();
        self.open_end = end;
    }

    /// The number of the next line, and its offset.
    pub(in crate::strategy) fn next(&self) -> (u64, u64) {
        (self.number, self.open_start)
    }

    /// Gives the line that is still open to `each`.
    pub(in crate::strategy) fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.open_end == self.open_start {
            return;
        }
        let (start, end) = (self.open_start, self.open_end);
        let held = if self.open_length == self.open.len() { Held::Whole } else { Held::Beginning };
        self.folded.fold(&self.open);
        each(Line {
            text: &self.open,
            start,
            end,
            number: self.number,
            held,
            form: self.open_form,
            fingerprint: self.fingerprint(0, self.open.len()),
            place: None,
        });
        self.open.clear();
        (self.open_length, self.open_form) = (0, PieceKind::Verbatim);
        self.number += 1;
        self.open_start = end;
    }
}
