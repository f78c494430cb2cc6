//! The tokens of JSON, checked by the grammar and hashed so that they can be compared.

use crate::strategy::fingerprint;

/// A string of this length is free text. It is not compared.
const MAX_STRING_BYTES: usize = 40;

/// The hash of all strings that are not compared.
const FREE_TEXT: u64 = 1;

/// The position after white space.
#[inline]
pub(super) fn skip_blanks(text: &[u8], at: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    at + text[at..].iter().take_while(is_blank).count()
}

/// The position after a number or a literal.
#[inline]
pub(super) fn word_end(text: &[u8], at: usize) -> usize {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
    at + text[at..].iter().take_while(is_word).count()
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
    for (word, at) in words.iter().zip((start + 1..start + MAX_STRING_BYTES).step_by(8)) {
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
        return Some((at + length as usize + 1, last_mix(hash, rest, length)));
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
