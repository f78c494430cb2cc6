//! Two hashes of a line: one that is fast, and one that sees through what varies.
//!
//! The fingerprint is the hash of a line whose digits are folded, each for itself: folding is one pass over a whole
//! block of lines by vector instructions, and hashing is a sum of products that do not wait for each other. Lines of a
//! repetitive log are recognised by it without being looked at any further; a number that grows by a digit makes a
//! new one, which costs one more look. [`template`] also folds words with digits in them (hashes, addresses,
//! versions, times) and paths, and tells how common a line is.

use multiversion::multiversion;
use std::ops::Range;

const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
const SEED: u64 = 0x2545_F491_4F6C_DD1D;

/// So many bytes are hashed at a time, and so many behind a folded text may be read.
const BLOCK: usize = 32;

pub(in crate::strategy) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(PRIME)
}

/// Spreads the upper bits, which a product leaves the best mixed, over the lower ones.
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(PRIME);
    hash ^ (hash >> 29)
}

#[inline(always)]
fn is_digit(byte: u8) -> bool {
    byte.wrapping_sub(b'0') < 10
}

/// A digit between two bytes; a lone `0` stays apart, for `0 errors` is not `3 errors`.
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
pub(super) struct Folded(Vec<u8>);

impl Folded {
    /// Folds `text`, before and behind which a line ends.
    pub(super) fn fold(&mut self, text: &[u8]) {
        self.0.resize(text.len() + BLOCK, 0);
        let at = |index: usize| text.get(index).copied().unwrap_or(b'\n');
        let inner = text.len().saturating_sub(1).max(1);
        fold_inner(text, &mut self.0[1..]);
        for edge in [0, inner].into_iter().filter(|&edge| edge < text.len()) {
            self.0[edge] = fold_byte(at(edge.wrapping_sub(1)), at(edge), at(edge + 1));
        }
    }

    /// The fingerprint of a line, by its place in the text that was folded last.
    #[inline(always)]
    pub(super) fn fingerprint(&self, start: usize, end: usize) -> u64 {
        let line = &self.0[start..end];
        let (blocks, _) = line.as_chunks::<BLOCK>();
        let (mut sum, mut key) = (line.len() as u64, SEED);
        for block in blocks {
            sum = sum.wrapping_add(products(block, key));
            key = key.wrapping_add(PRIME);
        }
        // The rest, together with some of what was before it; of a short line, without what stands behind it.
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

/// The sum of the products of two words each, folded; it tells in which places they stood, by the keys.
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

/// The first eight bytes, or as many as there are.
fn load(bytes: &[u8]) -> (u64, usize) {
    match bytes.first_chunk::<8>() {
        Some(chunk) => (u64::from_le_bytes(*chunk), 8),
        None => {
            let mut chunk = [0; 8];
            chunk[..bytes.len()].copy_from_slice(bytes);
            (u64::from_le_bytes(chunk), bytes.len())
        }
    }
}

/// What a byte is to a template.
const MARK: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SLASH: u8 = 4;
const SPACE: u8 = 8;
const BACKSLASH: u8 = 16;
const WORD: u8 = LETTER | DIGIT | SLASH | BACKSLASH;

static CLASSES: [u8; 256] = {
    let mut classes = [MARK; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'-' | b'@' | b'+' | b'~' | b'%' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'/' => SLASH,
            b'\\' => BACKSLASH,
            b' ' | b'\t' | b'\r' | b'\n' | 0x0C => SPACE,
            _ => MARK,
        };
        byte += 1;
    }
    classes
};

/// The hash of a line with words that have digits in them, paths and the width of white space folded.
pub(super) fn template(content: &[u8]) -> u64 {
    let mut hash = PRIME;
    let mut rest = content;
    while let Some(&first) = rest.first() {
        let class = CLASSES[usize::from(first)];
        if class & WORD != 0 {
            let mut kinds = 0;
            let length = rest
                .iter()
                .take_while(|&&byte| {
                    let class = CLASSES[usize::from(byte)];
                    kinds |= class & WORD;
                    class & WORD != 0
                })
                .count();
            hash = match kinds {
                _ if kinds & SLASH != 0 || is_windows_path(kinds, &rest[..length]) => mix(hash, 0x50),
                _ if kinds & DIGIT != 0 => mix(hash, 0x23),
                _ => letters(hash, &rest[..length]),
            };
            rest = &rest[length..];
        } else if class == SPACE {
            let length = rest.iter().take_while(|&&byte| CLASSES[usize::from(byte)] == SPACE).count();
            hash = mix(hash, 0x20);
            rest = &rest[length..];
        } else {
            hash = mix(hash, u64::from(first));
            rest = &rest[1..];
        }
    }
    finish(hash)
}

/// `\Users\me\cart.txt`, but not `Shop\Cart`, which is the name of a class.
fn is_windows_path(kinds: u8, word: &[u8]) -> bool {
    kinds & BACKSLASH != 0 && (kinds & DIGIT != 0 || word.contains(&b'.'))
}

/// Where the words stand that [`template`] folds for the digits in them.
pub(super) fn folded_words(content: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < content.len() {
            let start = at;
            let mut kinds = 0;
            while at < content.len() && CLASSES[usize::from(content[at])] & WORD != 0 {
                kinds |= CLASSES[usize::from(content[at])];
                at += 1;
            }
            let end = at;
            at += usize::from(at == start);
            if kinds & DIGIT != 0 && kinds & (SLASH | BACKSLASH) == 0 {
                return Some(start..end);
            }
        }
        None
    })
}

/// Whether a line has a word of letters alone, which [`template`] does not fold.
pub(super) fn has_words(content: &[u8]) -> bool {
    content
        .split(|&byte| CLASSES[usize::from(byte)] & WORD == 0)
        .any(|word| word.len() >= 3 && word.iter().all(u8::is_ascii_alphabetic))
}

/// The hash of all of a word.
pub(in crate::strategy) fn exact(word: &[u8]) -> u64 {
    finish(letters(PRIME, word))
}

fn letters(mut hash: u64, mut word: &[u8]) -> u64 {
    while !word.is_empty() {
        let (letters, length) = load(word);
        hash = mix(hash, letters ^ length as u64);
        word = &word[length..];
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(line: &[u8]) -> u64 {
        let mut folded = Folded::default();
        folded.fold(line);
        folded.fingerprint(0, line.len())
    }

    #[track_caller]
    fn check(hash: fn(&[u8]) -> u64, one: &str, other: &str, same: bool) {
        assert_eq!(hash(one.as_bytes()) == hash(other.as_bytes()), same, "{one:?} {other:?}");
    }

    #[test]
    fn digits_fold() {
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
    fn words_with_digits_and_paths_fold() {
        check(template, "commit 3f2a9c done", "commit 00ffee1 done", true);
        check(template, "Downloading https://a.b/c/d.jar", "Downloading https://x.y/z.jar", true);
        check(template, "Copy C:\\a\\b.txt", "Copy C:\\x\\y\\z.txt", true);
        check(template, "no class Shop\\Cart", "no class Shop\\Item", false);
        check(template, "  a   b", " a b", true);
        check(template, "FAIL: test_one", "FAIL: test_two", false);
        check(template, "a: b", "a; b", false);
    }

    /// A line has the same fingerprint alone and among others, wherever it stands.
    #[test]
    fn neighbours_do_not_matter() {
        for length in 0..40 {
            for line in ["x".repeat(length) + "70", "0".to_owned() + &"y".repeat(length) + "0"] {
                for before in 0..10 {
                    let text = format!("{}\n{line}\n1 0 1\n", "9".repeat(before));
                    let mut folded = Folded::default();
                    folded.fold(text.as_bytes());
                    let (start, end) = (before + 1, before + 1 + line.len());
                    assert_eq!(folded.fingerprint(start, end), fingerprint(line.as_bytes()), "{text:?}");
                }
            }
        }
    }
}
