//! The codes by which linters and compilers name the kind of a message: `E0602`, `TS2304`, `(no-undef)`, `[attr-defined]`.

use crate::strategy::fingerprint;
use std::ops::RangeInclusive;

/// The code of a message, as a small hash. Two codes may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageCode(u8);

/// How many letters and digits a code such as `E0602` has.
const LETTERS: RangeInclusive<usize> = 1..=5;
const DIGITS: RangeInclusive<usize> = 2..=5;

/// How long a name such as `no-undef` is.
const NAME_BYTES: RangeInclusive<usize> = 3..=60;

impl MessageCode {
    /// How many there are.
    pub(super) const COUNT: usize = 1 << u8::BITS;

    /// The code of a message: a name in brackets at its end, a word of letters and digits, or any name in brackets.
    pub(super) fn of(message: &[u8]) -> Option<MessageCode> {
        let message = message.trim_ascii();
        let at_end = || message.strip_suffix(b")").or(message.strip_suffix(b"]")).map(last_in_brackets);
        let numbered =
            || message.split(|byte| !byte.is_ascii_alphanumeric()).find(|word| is_numbered_code(word));
        let in_brackets = || {
            let mut words =
                message.split(|byte| matches!(byte, b'(' | b')' | b'[' | b']')).skip(1).step_by(2);
            words.find(|word| word.contains(&b'-') && is_name(word))
        };
        let code = at_end().filter(|word| is_name(word)).or_else(numbered).or_else(in_brackets)?;
        Some(MessageCode((fingerprint::exact(code) >> (u64::BITS - u8::BITS)) as u8))
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What follows the last opening bracket.
fn last_in_brackets(text: &[u8]) -> &[u8] {
    memchr::memrchr2(b'(', b'[', text).map_or(&[], |at| &text[at + 1..])
}

/// `E0602`
fn is_numbered_code(word: &[u8]) -> bool {
    let (letters, digits) = word.split_at(word.iter().take_while(|byte| byte.is_ascii_uppercase()).count());
    LETTERS.contains(&letters.len())
        && DIGITS.contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
}

/// `no-undef`, `reportMissingImports`
fn is_name(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_/:".contains(byte);
    NAME_BYTES.contains(&word.len())
        && word[0] != b'/'
        && word.iter().all(is_part)
        && !word[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_with_the_same_code_are_recognised() {
        let same: [[&str; 2]; 6] = [
            ["a.py:1:2: E0602: Undefined variable 'a' (undefined-variable)", "b.py: (undefined-variable)"],
            [
                "x eslint(no-control-regex): Unexpected control character",
                "! eslint(no-control-regex): Another",
            ],
            [
                "a.ts(1,2): error TS2304: Cannot find name 'a'.",
                "b.ts(30,4): error TS2304: Cannot find name 'b'.",
            ],
            ["F821 Undefined name `a`", "a.py:1:2: F821 Undefined name `b`"],
            ["a.py:1: error: no attribute [attr-defined]", "b.py:22: error: \"X\" has none [attr-defined]"],
            ["a.c:1:2: error: unused [-Werror=unused]", "b.c:1:2: error: unused [-Werror=unused]"],
        ];
        for [one, other] in same {
            let [one, other] = [one, other].map(|message| MessageCode::of(message.as_bytes()));
            assert_eq!(one, other);
        }
        let codes = ["E0602 a", "E0603 a", "a (no-undef)", "a [attr-defined]"];
        let codes = codes.map(|message| MessageCode::of(message.as_bytes()).expect(message).index());
        assert_eq!(std::collections::HashSet::from(codes).len(), codes.len());
        for message in ["error: expected `;` (line 3)", "an error in f(x)", "ABC-123 failed", ""] {
            assert_eq!(MessageCode::of(message.as_bytes()), None, "{message}");
        }
    }
}
