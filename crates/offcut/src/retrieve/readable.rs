//! The readable form of JSON: indented, with the line breaks in its strings as line breaks.
//!
//! A result that is one long line cannot be paged or searched by lines; its readable form can. The conversion is one
//! pass over the tokens at any depth. Numbers, order and duplicates are unchanged, and so is text that is not JSON,
//! apart from its white space.

use crate::json::{Lexer, Token, TokenKind};

/// The readable form of a JSON text.
pub fn readable(json: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(json.len() + json.len() / 8);
    let mut depth = 0_usize;
    let mut tokens = Lexer::new(json).peekable();
    while let Some(Token { kind, start, end }) = tokens.next() {
        let bytes = &json[start..end];
        match kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => {
                text.extend_from_slice(bytes);
                let is_object = kind == TokenKind::ObjectStart;
                let closing = if is_object { TokenKind::ObjectEnd } else { TokenKind::ArrayEnd };
                if let Some(end) = tokens.next_if(|next| next.kind == closing) {
                    text.push(json[end.start]);
                } else {
                    depth += 1;
                    new_line(&mut text, depth);
                }
            }
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.extend_from_slice(bytes);
            }
            TokenKind::Comma => {
                text.extend_from_slice(bytes);
                new_line(&mut text, depth);
            }
            TokenKind::Colon => text.extend_from_slice(b": "),
            TokenKind::String | TokenKind::OpenString => string(bytes, &mut text),
            TokenKind::Word | TokenKind::Other => text.extend_from_slice(bytes),
        }
    }
    text
}

/// The deepest indentation: without a limit the text could grow with the square of the depth.
const DEEPEST_INDENTATION: usize = 64;

fn new_line(text: &mut Vec<u8>, depth: usize) {
    text.push(b'\n');
    text.resize(text.len() + 2 * depth.min(DEEPEST_INDENTATION), b' ');
}

/// Writes a string with its quotes. Only line breaks and printable characters are decoded, so that a backslash in the
/// decoded text remains distinguishable from an escape.
fn string(mut json: &[u8], text: &mut Vec<u8>) {
    while let Some(plain) = memchr::memchr(b'\\', json) {
        text.extend_from_slice(&json[..plain]);
        let escape = &json[plain..];
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
    use super::readable;

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
}
