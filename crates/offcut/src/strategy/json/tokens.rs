//! The tokens of JSON, checked by the grammar and hashed so that they can be compared.

use crate::strategy::eight_bytes::{BYTES, no_digits, two_positions};
use crate::strategy::fingerprint;
use crate::strategy::words::ByteSet;

/// A string of this length is free text. It is not compared.
const MAX_STRING_BYTES: usize = 40;

/// The hash of all strings that are not compared.
const FREE_TEXT: u64 = 1;

/// The position after white space.
#[inline]
pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

/// The position after a number or a literal.
#[inline]
pub(super) fn word_end(text: &[u8], at: usize) -> usize {
    static WORD: ByteSet = ByteSet::alphanumeric_and(b"+-._");
    at + WORD.split(&text[at..]).0.len()
}

/// The position after the string that begins at `start`, if it ends.
pub(super) fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The hash of a string without its quotes.
pub(super) fn string_hash(body: &[u8]) -> u64 {
    if body.len() >= MAX_STRING_BYTES {
        return FREE_TEXT;
    }
    let (words, rest) = body.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| fingerprint::mix(hash, u64::from_le_bytes(*word)));
    last_mix(hash, fingerprint::load(rest), rest.len() as u32)
}

/// Adds the last bytes of a string to its hash.
fn last_mix(hash: u64, rest: u64, length: u32) -> u64 {
    fingerprint::mix(hash, rest ^ (u64::from(length + 1) << 56))
}

/// A one in each byte of a word.
const ONES: u64 = u64::MAX / 255;

/// The end and the hash of a short string without escapes and control characters, as most are: eight bytes at a time.
pub(super) fn plain_string(text: &[u8], start: usize) -> Option<(usize, u64)> {
    // The highest bit of the first byte less than `limit` is set; of the bytes after it, any may be.
    let less = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & (ONES << 7);
    let equal = |word: u64, byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let (words, _) = text[start + 1..].as_chunks::<8>();
    let mut hash = 0;
    for (at, word) in words.iter().take(MAX_STRING_BYTES / 8).enumerate() {
        let word = u64::from_le_bytes(*word);
        let (quote, special) = (equal(word, b'"'), equal(word, b'\\') | less(word, b' '));
        if quote == 0 && special == 0 {
            hash = fingerprint::mix(hash, word);
            continue;
        }
        if special != 0 && special.trailing_zeros() < quote.trailing_zeros() {
            return None;
        }
        let length = quote.trailing_zeros() / 8;
        let rest = word & ((1 << (8 * length)) - 1);
        return Some((start + 8 * at + length as usize + 2, last_mix(hash, rest, length)));
    }
    None
}

/// Whether the rest of a string after its opening quote has only valid escapes and no control characters.
pub(super) fn is_strict(mut text: &[u8]) -> bool {
    if text.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < b' ' {
        return false;
    }
    while let Some(at) = memchr::memchr(b'\\', text) {
        text = match &text[at + 1..] {
            [] => return true,
            [b'u', after @ ..] if after.iter().take(4).all(u8::is_ascii_hexdigit) => after,
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => after,
            _ => return false,
        };
    }
    true
}

/// The end of a short number without sign and exponent, as most are, if something other than a word follows.
pub(super) fn plain_number(text: &[u8], start: usize) -> Option<usize> {
    let bytes = text[start..].first_chunk::<BYTES>()?;
    let (first, second) = two_positions(no_digits(u64::from_le_bytes(*bytes)));
    let end = if bytes.get(first) == Some(&b'.') { second } else { first };
    let has_digits = first > 0 && end != first + 1 && (first == 1 || bytes[0] != b'0');
    let is_end = matches!(bytes.get(end), Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'));
    (has_digits && is_end).then_some(start + end)
}

pub(super) fn is_number(word: &[u8]) -> bool {
    let digits = |word: &[u8]| word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-")).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_numbers() {
        let digits = ["", "0", "1", "01", "12", "1234567", "12345678", "-1", "+", "x"];
        let fractions = ["", ".", ".5", ".25", ".1.2", "e9", ".e", "_"];
        let ends = [",", "]", "}", " ", "\n", "\"", ":", ""];
        for (digits, fraction, end) in digits
            .iter()
            .flat_map(|digits| fractions.iter().map(move |fraction| (digits, fraction)))
            .flat_map(|(digits, fraction)| ends.iter().map(move |end| (digits, fraction, end)))
        {
            let text = format!("{digits}{fraction}{end} 12345678");
            let length = word_end(text.as_bytes(), 0);
            if let Some(found) = plain_number(text.as_bytes(), 0) {
                assert_eq!(found, length, "{text}");
                assert!(is_number(&text.as_bytes()[..length]), "{text}");
            }
        }
        assert_eq!(plain_number(b"[12.5, 1234567]", 1), Some(5));
    }
}
