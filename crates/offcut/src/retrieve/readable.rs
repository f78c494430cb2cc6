//! The readable form of JSON: indented, with the line breaks in its strings as line breaks.
//!
//! A result that is one long line cannot be paged or searched by lines; its readable form can. The conversion is one
//! pass over the tokens at any depth, and takes the text in chunks: the readable form can be a hundred times longer and
//! need not be in memory. Numbers, order and duplicates are unchanged, and so is text that is not JSON, apart from its
//! white space.

use crate::json::{Lexer, Position, TokenKind};
use std::ops::ControlFlow;

/// The readable form of a JSON text.
pub fn readable(json: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(json.len() + json.len() / 8);
    let mut conversion = Conversion::default();
    conversion.push(json, &mut text);
    conversion.finish(&mut text);
    text
}

/// How many bytes of JSON are converted at once, so that their readable form stays short.
pub(crate) const CHUNK: usize = 16 << 10;

/// The size of the readable form of a JSON text.
pub(crate) fn size(json: &[u8]) -> u64 {
    let mut bytes = 0;
    in_chunks(json, |text| {
        bytes += text.len() as u64;
        ControlFlow::Continue(())
    });
    bytes
}

/// The readable form of a JSON text, if it has at most this many bytes.
pub(crate) fn up_to(json: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    in_chunks(json, |text| {
        whole.extend_from_slice(text);
        if whole.len() as u64 > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    (whole.len() as u64 <= most).then_some(whole)
}

/// The number of line breaks in the strings of a JSON text.
pub(crate) fn escaped_line_breaks(json: &[u8]) -> u64 {
    let mut bytes = json.iter();
    let mut breaks = 0;
    while bytes.any(|&byte| byte == b'\\') {
        breaks += u64::from(bytes.next() == Some(&b'n'));
    }
    breaks
}

/// Passes on the readable form of a JSON text in chunks, until `take` breaks.
pub(crate) fn in_chunks(json: &[u8], mut take: impl FnMut(&[u8]) -> ControlFlow<()>) {
    let mut conversion = Conversion::default();
    let mut text = Vec::new();
    for chunk in json.chunks(CHUNK) {
        text.clear();
        conversion.push(chunk, &mut text);
        if take(&text).is_break() {
            return;
        }
    }
    text.clear();
    conversion.finish(&mut text);
    let _ = take(&text);
}

/// A conversion between two chunks of JSON.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversion {
    position: Position,
    depth: usize,
    /// A container was opened, and nothing has followed yet: it is on one line if it is empty.
    opened: Option<TokenKind>,
    /// The beginning of an escape that the chunk did not complete.
    escape: Vec<u8>,
}

impl Conversion {
    /// Adds the readable form of the next chunk.
    pub(crate) fn push(&mut self, json: &[u8], text: &mut Vec<u8>) {
        let mut lexer = Lexer::resume(json, self.position);
        for token in &mut lexer {
            let bytes = &json[token.start..token.end];
            if let Some(opening) = self.opened.take() {
                let closing = match opening {
                    TokenKind::ObjectStart => TokenKind::ObjectEnd,
                    _ => TokenKind::ArrayEnd,
                };
                if token.kind == closing {
                    text.extend_from_slice(bytes);
                    continue;
                }
                self.depth += 1;
                new_line(text, self.depth);
            }
            match token.kind {
                TokenKind::ObjectStart | TokenKind::ArrayStart => {
                    text.extend_from_slice(bytes);
                    self.opened = Some(token.kind);
                }
                TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                    self.depth = self.depth.saturating_sub(1);
                    new_line(text, self.depth);
                    text.extend_from_slice(bytes);
                }
                TokenKind::Comma => {
                    text.extend_from_slice(bytes);
                    new_line(text, self.depth);
                }
                TokenKind::Colon => text.extend_from_slice(b": "),
                TokenKind::String => self.string(bytes, StringEnd::Closed, text),
                TokenKind::OpenString => self.string(bytes, StringEnd::Open, text),
                TokenKind::Word | TokenKind::Other => text.extend_from_slice(bytes),
            }
        }
        self.position = lexer.position();
    }

    /// Adds what remains after the last chunk.
    pub(crate) fn finish(mut self, text: &mut Vec<u8>) {
        if self.opened.is_some() {
            new_line(text, self.depth + 1);
        }
        self.string(&[], StringEnd::Closed, text);
    }

    /// Adds a part of a string. An escape at its end waits for the next chunk.
    fn string(&mut self, json: &[u8], end: StringEnd, text: &mut Vec<u8>) {
        let converted = match self.escape.is_empty() {
            true => json.len() - string(json, end, text),
            false => {
                let whole = [&self.escape, json].concat();
                self.escape.clear();
                let rest = string(&whole, end, text);
                self.escape.extend_from_slice(&whole[whole.len() - rest..]);
                return;
            }
        };
        self.escape.extend_from_slice(&json[converted..]);
    }
}

/// Whether a part of a string is its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringEnd {
    Closed,
    Open,
}

/// The deepest indentation: without a limit the text could grow with the square of the depth.
const DEEPEST_INDENTATION: usize = 64;

fn new_line(text: &mut Vec<u8>, depth: usize) {
    text.push(b'\n');
    text.resize(text.len() + 2 * depth.min(DEEPEST_INDENTATION), b' ');
}

/// Writes a part of a string with its quotes and returns how many bytes at its end wait for more. Only line breaks and
/// printable characters are decoded, so that a backslash in the decoded text remains distinguishable from an escape.
fn string(mut json: &[u8], end: StringEnd, text: &mut Vec<u8>) -> usize {
    while let Some(plain) = memchr::memchr(b'\\', json) {
        text.extend_from_slice(&json[..plain]);
        let escape = &json[plain..];
        if end == StringEnd::Open && !is_complete(escape) {
            return escape.len();
        }
        let (printable, length) = match escape.get(1) {
            Some(b'n') => (Some('\n'), 2),
            Some(b'u') => printable(escape).map_or((None, 2), |char| (Some(char), 6 * char.len_utf16())),
            _ => (None, escape.len().min(2)),
        };
        match printable {
            Some(char) => text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            None => text.extend_from_slice(&escape[..length]),
        }
        json = &escape[length..];
    }
    text.extend_from_slice(json);
    0
}

/// Whether an escape at the start of a text is there in full. The second half of a surrogate pair belongs to it.
fn is_complete(escape: &[u8]) -> bool {
    match escape.get(1) {
        None => false,
        Some(b'u') => {
            let is_first_half =
                matches!(escape.get(2..4), Some([b'd' | b'D', b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B']));
            escape.len() >= if is_first_half { 12 } else { 6 }
        }
        Some(_) => true,
    }
}

/// The character of a `\u` escape, or of a surrogate pair, if it is printable without an escape.
fn printable(escape: &[u8]) -> Option<char> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let units = [unit(0), unit(6)].into_iter().map_while(|unit| unit);
    let char = char::decode_utf16(units).next()?.ok()?;
    (!char.is_control() && char != '"' && char != '\\').then_some(char)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn readable_indents_and_decodes_printable_escapes() {
        let check = |json: &str, expected: &str| {
            assert_eq!(String::from_utf8_lossy(&readable(json.as_bytes())), expected, "{json}");
        };
        check(
            r#"{"a":[1,1e2, {} , [ ]],"b":"x\ny","a":null}"#,
            "{\n  \"a\": [\n    1,\n    1e2,\n    {},\n    []\n  ],\n  \"b\": \"x\ny\",\n  \"a\": null\n}",
        );
        check(
            r#""C:\\new \" \u00e9\ud83d\ude00 \u0041\t\u001b \ud800""#,
            "\"C:\\\\new \\\" é😀 A\\t\\u001b \\ud800\"",
        );
        check("\"cut off \\", "\"cut off \\");
        check("[", "[\n  ");
        check("}}", "\n}\n}");
        let deep = "[".repeat(100_000);
        assert!(readable(deep.as_bytes()).len() < 100_000 * 140);
    }

    proptest! {
        #[test]
        fn chunks_do_not_change_the_readable_form(
            json in r#"[\[{\]},:" 1a]{0,12}"([a"\\]|\\n|\\u00e9|\\ud83d\\ude00|\\ud800|\\u00){0,12}[",\]}]{0,4}"#,
            size in 1_usize..20,
        ) {
            let (mut conversion, mut text) = (Conversion::default(), Vec::new());
            json.as_bytes().chunks(size).for_each(|chunk| conversion.push(chunk, &mut text));
            conversion.finish(&mut text);
            prop_assert_eq!(text.escape_ascii().to_string(), readable(json.as_bytes()).escape_ascii().to_string());
        }
    }
}
