//! Two hashes of a line: a fast one, and one that ignores what varies.
//!
//! The fingerprint is a hash of the line with each digit replaced by `1`. Folding is one vectorized pass over a block of
//! lines, and the products of the hash do not depend on each other. It recognises the lines of a repetitive log without
//! further analysis; a number that grows by a digit gives a new fingerprint, which costs one more analysis.
//!
//! The [`template`] hash also ignores words with digits (hashes, addresses, versions, times) and paths. Lines with the
//! same template count as the same message.

use super::eight_bytes::{at_least, each};
use super::words::{
    self, BACKSLASH, Classes, DIGIT, DOT, HYPHEN, LOWER, SIGN, SLASH, SPACE, UNDERSCORE, UPPER,
};
use multiversion::multiversion;
use std::ops::Range;

const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
const SEED: u64 = 0x2545_F491_4F6C_DD1D;

/// How many bytes are hashed at a time, and how many bytes of padding follow a folded text.
const BLOCK: usize = 32;

pub(super) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(PRIME)
}

/// Mixes the upper bits of a product, which are the best mixed, into the lower ones.
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(PRIME);
    hash ^ (hash >> 29)
}

#[inline(always)]
fn is_digit(byte: u8) -> bool {
    byte.wrapping_sub(b'0') < 10
}

/// Folds a byte between two others: a digit becomes `1`, except a lone `0`, because `0 errors` is not `3 errors`.
#[inline(always)]
fn fold_byte(before: u8, byte: u8, after: u8) -> u8 {
    let lone_zero = (byte == b'0') & !is_digit(before) & !is_digit(after);
    if is_digit(byte) & !lone_zero { b'1' } else { byte }
}

/// Folds every byte of a text but the first and the last.
#[multiversion(targets("x86_64+avx2"))]
fn fold_inner(text: &[u8], inner: &mut [u8]) {
    let triples = text.iter().zip(text.get(1..).unwrap_or_default()).zip(text.get(2..).unwrap_or_default());
    for (folded, ((&before, &byte), &after)) in inner.iter_mut().zip(triples) {
        *folded = fold_byte(before, byte, after);
    }
}

/// A text with its digits folded.
#[derive(Default)]
pub(super) struct FoldedText(Vec<u8>);

impl FoldedText {
    /// Folds `text`, which consists of whole lines.
    pub(super) fn fold(&mut self, text: &[u8]) {
        self.0.resize(text.len() + BLOCK, 0);
        let at = |index: usize| text.get(index).copied().unwrap_or(b'\n');
        let inner = text.len().saturating_sub(1).max(1);
        fold_inner(text, &mut self.0[1..]);
        for edge in [0, inner].into_iter().filter(|&edge| edge < text.len()) {
            self.0[edge] = fold_byte(at(edge.wrapping_sub(1)), at(edge), at(edge + 1));
        }
    }

    /// The fingerprint of the line at `start..end` of the text that was folded last.
    #[inline(always)]
    pub(super) fn fingerprint(&self, start: usize, end: usize) -> u64 {
        let line = &self.0[start..end];
        let (blocks, _) = line.as_chunks::<BLOCK>();
        let (mut sum, mut key) = (line.len() as u64, SEED);
        for block in blocks {
            sum = sum.wrapping_add(products(block, key));
            key = key.wrapping_add(PRIME);
        }
        // The last bytes overlap with those hashed before. A short line is padded, so that what follows does not count.
        let last = match line.last_chunk() {
            Some(last) => products(last, key),
            None => products(&padded(line), key),
        };
        finish(sum.wrapping_add(last))
    }
}

#[inline(never)]
fn padded(line: &[u8]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..line.len()].copy_from_slice(line);
    block
}

/// The sum of products of two words each. The keys make it depend on the position of each word.
#[inline]
fn products(block: &[u8; BLOCK], key: u64) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    let word = |at: usize, key: u64| u64::from_le_bytes(words[at]) ^ key;
    let first = product(word(0, key), word(1, key.rotate_left(32)));
    let second = product(word(2, !key), word(3, !key.rotate_left(32)));
    first.wrapping_add(second)
}

#[inline]
fn product(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// The first eight bytes, padded with zeros. Most words are shorter, and a copy of a few bytes would cost a call.
#[inline]
pub(super) fn load(bytes: &[u8]) -> u64 {
    if let Some(chunk) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*chunk);
    }
    let at = |index: usize| u64::from(bytes[index]) << (8 * index);
    match (bytes.len(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two halves overlap in bytes that are equal.
        (length, Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            u64::from(first) | u64::from(last) << (8 * (length - 4))
        }
        (0, ..) => 0,
        (length, ..) => at(0) | at(length / 2) | at(length - 1),
    }
}

/// The classes of the bytes of a word.
const WORD: Classes = LOWER | UPPER | DIGIT | DOT | HYPHEN | UNDERSCORE | SLASH | BACKSLASH | SIGN;

/// The hash of a line that ignores words with digits, paths and the width of white space.
pub(super) fn template(content: &[u8]) -> u64 {
    template_with_words(content, |_, _| {})
}

/// The same. Calls `each` with the range of each word that is ignored, and whether it is a path.
pub(super) fn template_with_words(content: &[u8], mut each: impl FnMut(Range<usize>, bool)) -> u64 {
    let mut hash = PRIME;
    let mut rest = content;
    while let Some(&first) = rest.first() {
        let length = match words::class(first) {
            0 => {
                hash = mix(hash, u64::from(first));
                1
            }
            SPACE => {
                hash = mix(hash, 0x20);
                words::run(rest, SPACE).0
            }
            _ => {
                let (length, classes) = words::run(rest, WORD);
                let start = content.len() - rest.len();
                hash = match classes {
                    _ if classes & SLASH != 0 || is_windows_path(classes) => {
                        each(start..start + length, true);
                        mix(hash, 0x50)
                    }
                    _ if classes & DIGIT != 0 => {
                        each(start..start + length, false);
                        mix(hash, 0x23)
                    }
                    _ => letters(hash, &rest[..length]),
                };
                length
            }
        };
        rest = &rest[length..];
    }
    finish(hash)
}

/// Whether a word is a path such as `\Users\me\cart.txt`, not a class name such as `Shop\Cart`.
fn is_windows_path(classes: Classes) -> bool {
    classes & BACKSLASH != 0 && classes & (DIGIT | DOT) != 0
}

/// Whether a line has a word of letters only, which [`template`] does not ignore. Of a script such as Chinese, one character is
/// enough.
pub(super) fn has_words(content: &[u8]) -> bool {
    let is_foreign =
        |word: &[u8]| word.len() >= 3 && LETTER_STARTS.contains(&word[0]) && word[0] != SYMBOL_START;
    content
        .split(|&byte| words::class(byte) & WORD == 0)
        .any(|word| word.len() >= 3 && word.iter().all(u8::is_ascii_alphabetic))
        || content.split(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic()).any(is_foreign)
}

/// The first bytes of most letters in UTF-8 that are not ASCII, and that of symbols among them: boxes, arrows, check marks.
const LETTER_STARTS: std::ops::RangeInclusive<u8> = 0xC3..=0xED;
const SYMBOL_START: u8 = 0xE2;

/// The hash of a word with nothing ignored.
pub(super) fn exact(word: &[u8]) -> u64 {
    finish(letters(PRIME, word))
}

/// The hash of a line in which all digits but zero count as the same.
pub(super) fn without_digits(line: &[u8]) -> u64 {
    let (words, rest) = line.as_chunks::<8>();
    let hash = words.iter().fold(PRIME, |hash, word| mix(hash, fold_digits(u64::from_le_bytes(*word))));
    finish(mix(hash, fold_digits(load(rest)) ^ line.len() as u64))
}

/// Folds the digits `1` to `9` in a word.
fn fold_digits(word: u64) -> u64 {
    let digits = at_least(word, b'1') & !at_least(word, b'9' + 1);
    // All bits of each byte that is one.
    let digits = (digits >> 7) * 0xFF;
    word & !digits | each(b'1') & digits
}

fn letters(mut hash: u64, mut word: &[u8]) -> u64 {
    while !word.is_empty() {
        let length = word.len().min(8);
        hash = mix(hash, load(word) ^ length as u64);
        word = &word[length..];
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(line: &[u8]) -> u64 {
        let mut folded = FoldedText::default();
        folded.fold(line);
        folded.fingerprint(0, line.len())
    }

    #[track_caller]
    fn check(hash: fn(&[u8]) -> u64, one: &str, other: &str, same: bool) {
        assert_eq!(hash(one.as_bytes()) == hash(other.as_bytes()), same, "{one:?} {other:?}");
    }

    #[test]
    fn load_pads_short_words() {
        for length in 0..=8 {
            let mut padded = [0; 8];
            padded[..length].copy_from_slice(&b"abcdefgh"[..length]);
            assert_eq!(load(&b"abcdefgh"[..length]), u64::from_le_bytes(padded), "{length}");
        }
    }

    #[test]
    fn fingerprint_ignores_digits_except_a_lone_zero() {
        check(fingerprint, "step 19 of 100 is done", "step 20 of 999 is done", true);
        check(fingerprint, "1", "7", true);
        check(fingerprint, "1", "0", false);
        check(fingerprint, "10", "57", true);
        check(fingerprint, "00", "57", true);
        check(fingerprint, "3 errors", "0 errors", false);
        check(fingerprint, "errors: 3", "errors: 0", false);
        check(fingerprint, "10 errors", "20 errors", true);
        check(fingerprint, "a longer line that ends with x", "a longer line that ends with y", false);
        check(fingerprint, "twelve bytesABCDEFGH", "ABCDEFGHtwelve bytes", false);
        check(fingerprint, "MIDDLE", "123456", false);
        check(fingerprint, "a1b", "ab1", false);
        check(fingerprint, "", "a", false);
        check(fingerprint, "a\u{130}1", "a\u{131}1", false);
    }

    #[test]
    fn lines_that_differ_in_digits_have_one_hash() {
        check(without_digits, "port 1234: 5 ms", "port 9876: 2 ms", true);
        check(without_digits, "0 errors", "3 errors", false);
        check(without_digits, "port 12", "port 123", false);
        for byte in (0..=u8::MAX).filter(|byte| !(b'1'..=b'9').contains(byte)) {
            let word = [byte; 8];
            assert_eq!(fold_digits(u64::from_le_bytes(word)).to_le_bytes(), word);
        }
    }

    #[test]
    fn template_ignores_words_with_digits_and_paths() {
        check(template, "commit 3f2a9c done", "commit 00ffee1 done", true);
        check(template, "Downloading https://a.b/c/d.jar", "Downloading https://x.y/z.jar", true);
        check(template, "Copy C:\\a\\b.txt", "Copy C:\\x\\y\\z.txt", true);
        check(template, "no class Shop\\Cart", "no class Shop\\Item", false);
        check(template, "  a   b", " a b", true);
        check(template, "FAIL: test_one", "FAIL: test_two", false);
        check(template, "a: b", "a; b", false);
    }

    #[test]
    fn words_have_letters_of_any_script() {
        for line in ["12 done", "\u{2502}done\u{2502}", "Задача 7", "任务 7", "任务7 12", "7: été"]
        {
            assert!(has_words(line.as_bytes()), "{line}");
        }
        for line in ["12 ok", "a1b2 ./x", "\u{2502} 12 \u{2502}", "\u{2714} 12", "é 12", "12 µs", "12 €"]
        {
            assert!(!has_words(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn fingerprint_does_not_depend_on_neighbouring_lines() {
        for length in 0..40 {
            for line in ["x".repeat(length) + "70", "0".to_owned() + &"y".repeat(length) + "0"] {
                for before in 0..10 {
                    let text = format!("{}\n{line}\n1 0 1\n", "9".repeat(before));
                    let mut folded = FoldedText::default();
                    folded.fold(text.as_bytes());
                    let (start, end) = (before + 1, before + 1 + line.len());
                    assert_eq!(folded.fingerprint(start, end), fingerprint(line.as_bytes()), "{text:?}");
                }
            }
        }
    }
}
