//! Reads server-sent events, each of bounded size.

use crate::line::{Line, Lines, TooLong};
use std::io::{self, Read};
use std::time::Duration;

/// The longest pause before reconnecting that a server may request.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The pause before reconnecting, unless the server sets one.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Events<R> {
    lines: Lines<NormalizedLines<R>>,
    /// The pause before reconnecting.
    pub(crate) pause: Duration,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message, and its event id.
    Message { data: Vec<u8>, id: Option<String> },
    /// A line of a message was too long to hold.
    TooLong(TooLong),
}

impl<R: Read> Events<R> {
    /// The events of a stream; no line may have more than `largest` bytes.
    pub(crate) fn new(reader: R, largest: usize) -> Events<R> {
        let lines = Lines::new(NormalizedLines { reader, after_return: false }, largest);
        Events { lines, pause: PAUSE }
    }

    /// The next event; nothing at the end of the stream.
    pub(crate) fn next(&mut self) -> io::Result<Option<Event>> {
        let mut data: Option<Vec<u8>> = None;
        let mut id = None;
        while let Some(line) = self.lines.next()? {
            let line = match line {
                Line::Whole(line) => line,
                Line::TooLong(long) => return Ok(Some(Event::TooLong(long))),
                // Its event is incomplete.
                Line::Unended(_) => return Ok(None),
            };
            if line.is_empty() {
                match (data.take(), id.take()) {
                    (None, None) => continue,
                    (data, id) => return Ok(Some(Event::Message { data: data.unwrap_or_default(), id })),
                }
            }
            let colon = memchr::memchr(b':', line).unwrap_or(line.len());
            let value = line.get(colon + 1..).unwrap_or_default();
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &line[..colon] {
                b"data" => match &mut data {
                    // In a message of several lines, the line ends are between values.
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => data = Some(value.to_vec()),
                },
                b"id" => id = String::from_utf8(value.to_vec()).ok(),
                b"retry" => {
                    let pause = std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok());
                    self.pause = pause.map_or(self.pause, Duration::from_millis).min(LONGEST_PAUSE);
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

/// A stream in which every line ends with a line feed. Lines of events may also end with a carriage return, or with both.
struct NormalizedLines<R> {
    reader: R,
    after_return: bool,
}

impl<R: Read> Read for NormalizedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.reader.read(buffer)?;
            let mut kept = 0;
            for at in 0..count {
                let byte = buffer[at];
                let is_second_half = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !is_second_half {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            // Zero means the end of the stream.
            if kept > 0 || count == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_events_of_every_form() {
        let check = |text: &str, expected: &[(&str, Option<&str>)]| {
            let mut events = Events::new(text.as_bytes(), 100);
            let mut found = Vec::new();
            while let Some(event) = events.next().unwrap() {
                match event {
                    Event::Message { data, id } => found.push((String::from_utf8(data).unwrap(), id)),
                    Event::TooLong(long) => found.push((format!("{} bytes", long.bytes), None)),
                }
            }
            let expected: Vec<_> =
                expected.iter().map(|&(data, id)| (data.to_owned(), id.map(str::to_owned))).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("", &[]);
        check("data: {}\n\n", &[("{}", None)]);
        check("event: message\r\nid: 7\r\ndata:{\"a\": 1}\r\n\r\n", &[("{\"a\": 1}", Some("7"))]);
        check("data: {\ndata: }\n\n", &[("{\n}", None)]);
        check("id: 7\rdata: {\rdata: }\r\rdata: 2\r\n\r\n\r", &[("{\n}", Some("7")), ("2", None)]);
        check(": a comment\n\n\ndata: 1\n\n", &[("1", None)]);
        check("id: first\ndata:\nretry: 20\n\ndata: 2\n\n", &[("", Some("first")), ("2", None)]);
        check("data: cut off", &[]);
        check("data: cut off\n", &[]);
        check(&format!("data: {}\n\ndata: 1\n\n", "x".repeat(200)), &[("206 bytes", None), ("1", None)]);
    }
}
