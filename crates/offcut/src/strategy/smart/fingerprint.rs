//! Two hashes of a line: one that is fast, and one that sees through what varies.
//!
//! [`fingerprint`] folds digits only and reads eight bytes at a time: lines of a repetitive log are recognised by it
//! without being looked at any further. [`template`] also folds words with digits in them (hashes, addresses,
//! versions, times) and paths, and tells how common a line is.

const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
const LOW_BITS: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(PRIME)
}

/// Spreads the upper bits, which a product leaves the best mixed, over the lower ones.
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(PRIME);
    hash ^ (hash >> 29)
}

/// The hash of a line with its numbers folded; a lone `0` stays apart, for `0 errors` is not `3 errors`.
pub(super) fn fingerprint(line: &[u8]) -> u64 {
    let mut hash = PRIME;
    let mut rest = line;
    while !rest.is_empty() {
        let (word, length) = load(rest);
        let digits = digit_bits(word) & low_bytes(length) & HIGH_BITS;
        if digits == 0 {
            hash = mix(hash, word ^ length as u64);
            rest = &rest[length..];
            continue;
        }
        let plain = digits.trailing_zeros() as usize / 8;
        if plain > 0 {
            hash = mix(hash, (word & low_bytes(plain)) ^ plain as u64);
        }
        let number = &rest[plain..];
        let in_word =
            ((!(digits >> (8 * plain)) & HIGH_BITS).trailing_zeros() as usize / 8).min(length - plain);
        let run = match plain + in_word {
            8 => in_word + number[in_word..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
            _ => in_word,
        };
        hash = mix(hash, if run == 1 && number[0] == b'0' { 0x5A } else { 0x23 });
        rest = &number[run..];
    }
    finish(hash)
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

fn low_bytes(count: usize) -> u64 {
    if count >= 8 { u64::MAX } else { (1 << (8 * count)) - 1 }
}

/// The high bit of each byte that is an ASCII digit.
fn digit_bits(word: u64) -> u64 {
    let from_zero = word ^ 0x3030_3030_3030_3030;
    // A byte of ten or more carries into its high bit; a byte that had it set already is none either.
    let others = ((from_zero & LOW_BITS) + 0x7676_7676_7676_7676) | from_zero;
    !others & HIGH_BITS
}

/// What a byte is to a template.
const MARK: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SLASH: u8 = 4;
const SPACE: u8 = 8;
const WORD: u8 = LETTER | DIGIT | SLASH;

static CLASSES: [u8; 256] = {
    let mut classes = [MARK; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'-' | b'@' | b'+' | b'~' | b'%' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'/' | b'\\' => SLASH,
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
                _ if kinds & SLASH != 0 => mix(hash, 0x50),
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

    #[track_caller]
    fn check(hash: fn(&[u8]) -> u64, one: &str, other: &str, same: bool) {
        assert_eq!(hash(one.as_bytes()) == hash(other.as_bytes()), same, "{one:?} {other:?}");
    }

    #[test]
    fn numbers_fold() {
        check(fingerprint, "step 9 of 100 is done", "step 10 of 1000 is done", true);
        check(fingerprint, "1", "1234567890123", true);
        check(fingerprint, "abcdefg1", "abcdefg22", true);
        check(fingerprint, "abcdefgh1", "abcdefgh22", true);
        check(fingerprint, "3 errors", "0 errors", false);
        check(fingerprint, "10 errors", "20 errors", true);
        check(fingerprint, "a longer line that ends with x", "a longer line that ends with y", false);
        check(fingerprint, "MIDDLE", "12345", false);
        check(fingerprint, "a1b", "ab1", false);
        check(fingerprint, "", "a", false);
        check(fingerprint, "a\u{130}1", "a\u{131}1", false);
    }

    #[test]
    fn words_with_digits_and_paths_fold() {
        check(template, "commit 3f2a9c done", "commit 00ffee1 done", true);
        check(template, "Downloading https://a.b/c/d.jar", "Downloading https://x.y/z.jar", true);
        check(template, "  a   b", " a b", true);
        check(template, "FAIL: test_one", "FAIL: test_two", false);
        check(template, "a: b", "a; b", false);
    }

    /// Numbers fold wherever they stand against the words of eight bytes.
    #[test]
    fn folding_does_not_depend_on_alignment() {
        for before in 0..20 {
            for after in 0..20 {
                let line = |number: &str| format!("{}{number}{}", "x".repeat(before), "y".repeat(after));
                check(fingerprint, &line("7"), &line("123456789"), true);
                check(fingerprint, &line("7"), &line(""), false);
            }
        }
    }
}
