//! The two ends of a text, held while it streams by.

use crate::cut::{LinePart, Piece};
use crate::measure;
use std::borrow::Cow;

/// Context in front of the closing bytes, so that a character across their edge is recognised.
const CONTEXT: usize = 4;

/// The first and the last bytes of a text, and its size: all that most strategies need.
#[derive(Debug)]
pub struct Ends {
    opening: Vec<u8>,
    opening_capacity: usize,
    closing: Vec<u8>,
    closing_capacity: usize,
    bytes: u64,
    newlines: u64,
    last: u8,
}

impl Ends {
    pub(crate) fn new(opening_capacity: usize, closing_capacity: usize) -> Ends {
        Ends {
            opening: Vec::new(),
            opening_capacity,
            closing: Vec::new(),
            closing_capacity: closing_capacity + CONTEXT,
            bytes: 0,
            newlines: 0,
            last: b'\n',
        }
    }

    /// Takes in the next chunk.
    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        let Some(&last) = chunk.last() else { return };
        self.last = last;
        self.bytes += chunk.len() as u64;
        self.newlines += measure::newlines(chunk);
        let fresh = chunk.len().min(self.opening_capacity - self.opening.len());
        self.opening.extend_from_slice(&chunk[..fresh]);
        self.close(chunk);
    }

    fn close(&mut self, chunk: &[u8]) {
        let fresh = &chunk[chunk.len().saturating_sub(self.closing_capacity)..];
        // The buffer runs to twice what is needed before it is moved down: each byte is moved once at the most.
        if self.closing.len() + fresh.len() > 2 * self.closing_capacity {
            let kept = self.closing_capacity.min(self.closing.len());
            let from = self.closing.len() - kept;
            self.closing.copy_within(from.., 0);
            self.closing.truncate(kept);
        }
        self.closing.extend_from_slice(fresh);
    }

    /// The first bytes: all of them, or at least as many as may be shown.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The last bytes: all of them, or at least as many as may be shown.
    pub fn closing(&self) -> &[u8] {
        &self.closing[self.closing.len().saturating_sub(self.closing_capacity)..]
    }

    /// The number of bytes of the whole text.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of lines of the whole text; a line ends with `\n`, and an open end counts.
    pub fn lines(&self) -> u64 {
        self.newlines + u64::from(self.last != b'\n')
    }

    /// The number of line feeds of the whole text.
    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    /// The piece of the first `length` bytes of [`Ends::opening`].
    pub fn first(&self, length: usize) -> Piece<'_> {
        let text = Cow::Borrowed(&self.opening()[..length]);
        Piece { start: 0, end: length as u64, line: 1, part: LinePart::Start, text }
    }

    /// The piece of [`Ends::closing`] from its byte `from` on.
    pub fn last(&self, from: usize) -> Piece<'_> {
        let closing = self.closing();
        let text = &closing[from..];
        let start = self.bytes - text.len() as u64;
        let at_start = start == 0 || from.checked_sub(1).is_some_and(|before| closing[before] == b'\n');
        Piece {
            start,
            end: self.bytes,
            line: 1 + self.newlines - measure::newlines(text),
            part: if at_start { LinePart::Start } else { LinePart::Inside },
            text: Cow::Borrowed(text),
        }
    }
}
