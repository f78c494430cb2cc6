//! Reads the lines of a stream, each of bounded size.

use crate::message::RequestId;
use offcut::json::{Lexer, Position, Token, TokenKind};
use std::io::{self, BufRead, BufReader, Read};

/// The capacity of the buffer between messages, so that one large message does not occupy memory for ever.
const IDLE_CAPACITY: usize = 1 << 20;

/// Reads lines. A line that is longer than `largest` is read to its end and not held.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    largest: usize,
    line: Vec<u8>,
}

/// One line.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// Without its line feed; a carriage return stays.
    Whole(&'a [u8]),
    /// The stream ended within it.
    Unended(&'a [u8]),
    /// It was too long to hold.
    TooLong(TooLong),
}

/// What is known about a message that was too long, or is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    pub(crate) bytes: u64,
    pub(crate) id: Option<RequestId>,
    pub(crate) direction: Direction,
}

/// Whether a message is a request or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Response,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, largest: usize) -> Lines<R> {
        Lines { reader: BufReader::with_capacity(64 << 10, reader), largest, line: Vec::new() }
    }

    /// The next line, or nothing at the end of the stream.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        self.line.shrink_to(IDLE_CAPACITY);
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

/// What is known about a line that is not JSON.
pub(crate) fn outline(line: &[u8]) -> TooLong {
    let mut outline = Outline::default();
    outline.observe(line);
    outline.finish()
}

/// Finds the id of a message that is too long to hold. Only the beginning of each top-level member is held.
#[derive(Debug, Default)]
struct Outline {
    bytes: u64,
    depth: u64,
    position: Position,
    member: Vec<u8>,
    id: Option<RequestId>,
    has_method: bool,
}

/// The most bytes that are held of a member: no id is longer.
const MEMBER: usize = 1024;

impl Outline {
    fn observe(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let mut lexer = Lexer::resume(bytes, self.position);
        for Token { kind, start, end } in &mut lexer {
            match kind {
                TokenKind::ObjectStart | TokenKind::ArrayStart => self.depth += 1,
                TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.take_member();
                    }
                }
                TokenKind::Comma if self.depth == 1 => self.take_member(),
                _ if self.depth == 1 => {
                    let room = MEMBER.saturating_sub(self.member.len());
                    self.member.extend_from_slice(&bytes[start..end.min(start.saturating_add(room))]);
                }
                _ => {}
            }
        }
        self.position = lexer.position();
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
        let direction = if self.has_method { Direction::Request } else { Direction::Response };
        TooLong { bytes: self.bytes, id: self.id, direction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, largest: usize) -> Vec<String> {
        // The worst case: one byte per read.
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
    fn reads_lines_and_outlines_long_messages() {
        let check = |text: &str, expected: &[&str]| assert_eq!(read(text, 20), expected, "{text:?}");
        check("", &[]);
        check("a\r\n\nb", &["a\r", "", "unended b"]);
        check("12345678901234567890\nx\n", &["12345678901234567890", "x"]);
        check(r#"{"result":{"id":1,"x":"}"},"id":"a,b"}"#, &["38 \"a,b\" Response"]);
        check("{ \"method\" : \"x\", \"id\" : 42 , \"params\":[1]}\nnext\n", &["43 42 Request", "next"]);
        check(r#"{"a":"\"id\":1,","b":[{"id":2}]}"#, &["32 - Response"]);
        check(&format!("{}\n{{}}\n", "x".repeat(100)), &["100 - Response", "{}"]);
    }
}
