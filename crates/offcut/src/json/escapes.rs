//! Positions inside a JSON string that do not split an escape.

use crate::boundary;
use std::ops::Range;

/// The last position at or before `at` that is neither inside a character nor inside an escape.
pub(crate) fn escape_floor(text: &[u8], body: &Range<usize>, at: usize) -> usize {
    match escape_across(text, body, at) {
        Some(escape) => escape.start,
        None => boundary::floor(&text[..body.end], at).max(body.start),
    }
}

/// The first position at or after `at` that is neither inside a character nor inside an escape.
pub(crate) fn escape_ceil(text: &[u8], body: &Range<usize>, at: usize) -> usize {
    match escape_across(text, body, at) {
        Some(escape) => escape.end.min(body.end),
        None => boundary::ceil(&text[..body.end], at),
    }
}

/// The escape that begins before `at` and ends after it.
fn escape_across(text: &[u8], body: &Range<usize>, at: usize) -> Option<Range<usize>> {
    let mut from = body.start;
    while from < at {
        let start = from + memchr::memchr(b'\\', &text[from..at])?;
        from = start + escape_length(&text[start..body.end]);
        if from > at {
            return Some(start..from);
        }
    }
    None
}

/// The length of the escape at the start of `text`. A surrogate pair counts as one escape.
fn escape_length(text: &[u8]) -> usize {
    let half = |at: usize, digits: &[u8]| matches!(text.get(at..at + 6), Some([b'\\', b'u', b'd' | b'D', digit, ..]) if digits.contains(digit));
    match text.get(1) {
        Some(b'u') if half(0, b"89abAB") && half(6, b"cdefCDEF") => 12,
        Some(b'u') => 6,
        _ => 2,
    }
}

/// How many bytes a part of a string has when it is decoded. An unpaired surrogate has three.
pub(crate) fn decoded_length(text: &[u8]) -> usize {
    offset_of_decoded(text, usize::MAX).1
}

/// The offset in a part of a string at which `decoded` bytes of the decoded text, or all of it, have ended, and how many
/// bytes that are.
pub(crate) fn offset_of_decoded(text: &[u8], decoded: usize) -> (usize, usize) {
    let (mut at, mut done) = (0, 0);
    while at < text.len() && done < decoded {
        let plain = memchr::memchr(b'\\', &text[at..]).unwrap_or(text.len() - at);
        let step = plain.min(decoded - done);
        (at, done) = (at + step, done + step);
        if step == plain && at < text.len() && done < decoded {
            let raw = escape_length(&text[at..]).min(text.len() - at);
            done += decoded_escape_length(&text[at..at + raw]);
            at += raw;
        }
    }
    (at, done)
}

/// The length of the character that an escape is, as UTF-8.
fn decoded_escape_length(escape: &[u8]) -> usize {
    let digits = escape.get(2..6).and_then(|digits| std::str::from_utf8(digits).ok());
    match (escape.len(), digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())) {
        (12, _) => 4,
        (6, Some(0x80..0x800)) => 2,
        (6, Some(0x800..)) => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Node;

    #[test]
    fn floor_and_ceil_do_not_split_escapes() {
        let text = br"ab\ncd\u00e9\ud83d\ude00x\\n";
        let body = 0..text.len();
        let places: Vec<(usize, usize)> = [1, 3, 4, 7, 13, 18, 19, 25, 26]
            .map(|at| (escape_floor(text, &body, at), escape_ceil(text, &body, at)))
            .to_vec();
        assert_eq!(
            places,
            [(1, 1), (2, 4), (4, 4), (6, 12), (12, 24), (12, 24), (12, 24), (25, 25), (25, 27)]
        );
    }

    #[test]
    fn decoded_length_is_the_length_of_the_decoded_text() {
        for text in [r"", r"plain é", r#"a\n\\n\"\/"#, r"\u0041\u00e9\u6f22\ud83d\ude00", r"\ud83dx\ude00"] {
            let decoded = Node::parse(&format!("\"{text}\"")).unwrap().text().unwrap();
            assert_eq!(decoded_length(text.as_bytes()), decoded.len(), "{text}");
        }
    }

    #[test]
    fn offset_of_decoded_is_after_as_many_decoded_bytes() {
        let text = br"ab\n\u00e9x".as_slice();
        let offsets = [0, 1, 2, 3, 4, 5, 6, 9].map(|decoded| offset_of_decoded(text, decoded));
        assert_eq!(offsets, [(0, 0), (1, 1), (2, 2), (4, 3), (10, 5), (10, 5), (11, 6), (11, 6)]);
    }
}
