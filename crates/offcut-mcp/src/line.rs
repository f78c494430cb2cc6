//! Lines of a stream, each of bounded size.

use crate::message::RequestId;
use std::io::{self, BufRead, BufReader, Read};

/// What is kept of the buffer between messages, so that one large message does not stay.
const KEPT: usize = 1 << 20;

/// Reads lines. A line longer than the largest is read to its end and not held.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    largest: usize,
    line: Vec<u8>,
}

/// One line.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// With the line feed that ends it taken off; a carriage return stays.
    Whole(&'a [u8]),
    /// The stream ended within it.
    Unended(&'a [u8]),
    /// It was too long to be held.
    TooLong(TooLong),
}

/// What is known of a message that was too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    pub(crate) bytes: u64,
    pub(crate) id: Option<RequestId>,
    pub(crate) direction: Direction,
}

/// Whether a message asks or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Asks,
    Answers,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, largest: usize) -> Lines<R> {
        Lines { reader: BufReader::with_capacity(64 << 10, reader), largest, line: Vec::new() }
    }

    /// The next line, or nothing at the end of the stream.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        let mut outline: Option<Outline> = None;
        loop {
            let block = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                block => block?,
            };
            let is_end = block.is_empty();
            let feed = memchr::memchr(b'\n', block);
            let part = &block[..feed.unwrap_or(block.len())];
            if let Some(outline) = &mut outline {
                outline.observe(part);
            } else if self.line.len() + part.len() > self.largest {
                let mut begun = Outline::default();
                begun.observe(&self.line);
                begun.observe(part);
                outline = Some(begun);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(feed.is_some());
            self.reader.consume(used);
            if feed.is_some() || is_end {
                return Ok(match outline {
                    Some(outline) => Some(Line::TooLong(outline.finish())),
                    None if feed.is_some() => Some(Line::Whole(&self.line)),
                    None if self.line.is_empty() => None,
                    None => Some(Line::Unended(&self.line)),
                });
            }
        }
    }
}

/// Finds the id of a message that passes by: only the beginning of each of its own members is held.
#[derive(Debug, Default)]
struct Outline {
    bytes: u64,
    depth: u64,
    inside: Inside,
    member: Vec<u8>,
    id: Option<RequestId>,
    has_method: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Nothing,
    Text,
    Escape,
}

/// More of a member is not held: no id is as long.
const MEMBER: usize = 1024;

impl Outline {
    fn observe(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        for &byte in bytes {
            let ends_member =
                self.inside == Inside::Nothing && self.depth == 1 && matches!(byte, b',' | b'}');
            if ends_member {
                self.take_member();
            } else if self.depth == 1 && self.member.len() < MEMBER {
                self.member.push(byte);
            }
            self.inside = match (self.inside, byte) {
                (Inside::Nothing, b'"') => Inside::Text,
                (Inside::Text, b'\\') => Inside::Escape,
                (Inside::Text, b'"') => Inside::Nothing,
                (Inside::Escape, _) => Inside::Text,
                (same, _) => same,
            };
            if self.inside == Inside::Nothing {
                match byte {
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }

    fn take_member(&mut self) {
        let member = std::mem::take(&mut self.member);
        let Ok(member) = std::str::from_utf8(&member) else { return };
        let Some((name, value)) = member.split_once(':') else { return };
        match name.trim() {
            "\"id\"" => self.id = RequestId::of(value.trim()),
            "\"method\"" => self.has_method = true,
            _ => {}
        }
    }

    fn finish(self) -> TooLong {
        let direction = if self.has_method { Direction::Asks } else { Direction::Answers };
        TooLong { bytes: self.bytes, id: self.id, direction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, largest: usize) -> Vec<String> {
        // A reader that gives one byte at a time is the worst case.
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.0.len().min(1).min(buffer.len());
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let mut lines = Lines::new(Slow(text.as_bytes()), largest);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::Unended(line) => format!("unended {}", String::from_utf8_lossy(line)),
                Line::TooLong(TooLong { bytes, id, direction }) => {
                    format!("{bytes} {} {direction:?}", id.map_or("-".to_owned(), |id| id.json().to_owned()))
                }
            });
        }
        found
    }

    #[test]
    fn lines_ends_and_what_is_too_long() {
        let check = |text: &str, expected: &[&str]| assert_eq!(read(text, 20), expected, "{text:?}");
        check("", &[]);
        check("a\r\n\nb", &["a\r", "", "unended b"]);
        check("12345678901234567890\nx\n", &["12345678901234567890", "x"]);
        check(r#"{"result":{"id":1,"x":"}"},"id":"a,b"}"#, &["38 \"a,b\" Answers"]);
        check("{ \"method\" : \"x\", \"id\" : 42 , \"params\":[1]}\nnext\n", &["43 42 Asks", "next"]);
        check(r#"{"a":"\"id\":1,","b":[{"id":2}]}"#, &["32 - Answers"]);
        check(&format!("{}\n{{}}\n", "x".repeat(100)), &["100 - Answers", "{}"]);
    }
}
