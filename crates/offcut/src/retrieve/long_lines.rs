//! A text whose very long lines are split by additional line feeds, because a search needs a whole line in memory.

use crate::retrieve::Source;
use std::cell::RefCell;
use std::io::{self, Read};

/// Each part of a long line begins with this many bytes of the part before it: a match of at most this length is in one of them.
const OVERLAP: u64 = 4096;

/// Reads a text, and adds a line feed after each `longest` bytes without one. `longest` is more than the overlap.
pub(super) struct SplitLines<'a> {
    source: &'a Source<'a>,
    /// The offset up to which the text was read.
    pub(super) offset: u64,
    longest: usize,
    /// The length of the current line so far.
    length: usize,
    added: &'a AddedFeeds,
}

/// The positions of the line feeds that were added, in the text with them.
#[derive(Default)]
pub(super) struct AddedFeeds(RefCell<Vec<u64>>);

impl<'a> SplitLines<'a> {
    pub(super) fn new(source: &'a Source<'a>, longest: usize, added: &'a AddedFeeds) -> SplitLines<'a> {
        SplitLines { source, offset: 0, longest, length: 0, added }
    }
}

impl Read for SplitLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        if self.length == self.longest {
            *first = b'\n';
            self.length = 0;
            let mut added = self.added.0.borrow_mut();
            let position = self.offset + added.len() as u64 * (1 + OVERLAP);
            added.push(position);
            self.offset -= OVERLAP;
            return Ok(1);
        }
        let room = buffer.len().min(self.longest - self.length);
        let count = self.source.read(self.offset, &mut buffer[..room]).map_err(io::Error::other)?;
        self.offset += count as u64;
        self.length = match memchr::memrchr(b'\n', &buffer[..count]) {
            Some(feed) => count - feed - 1,
            None => self.length + count,
        };
        Ok(count)
    }
}

impl AddedFeeds {
    /// The place in the original text of an offset and a line number in the text with the added line feeds.
    pub(super) fn original(&self, offset: u64, line: u64) -> (u64, u64) {
        let before = self.0.borrow().partition_point(|&feed| feed < offset) as u64;
        (offset - before * (1 + OVERLAP), line - before)
    }
}
