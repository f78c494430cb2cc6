//! Finds the cells of a row, and what each contains. It reads eight bytes at a time: large tables consist of short cells.

use crate::strategy::eight_bytes::{BYTES, each, equal, no_digits, position, two_positions};
use crate::strategy::fingerprint;

/// The number in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategy) struct Number {
    /// How many digits are before the decimal point.
    pub(in crate::strategy) digits: usize,
    pub(in crate::strategy) is_negative: bool,
}

/// The text of a cell, and its first eight bytes, padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategy) struct CellText<'c> {
    pub(super) text: &'c [u8],
    pub(super) word: u64,
}

impl<'c> CellText<'c> {
    #[inline]
    pub(in crate::strategy) fn of(text: &'c [u8]) -> CellText<'c> {
        CellText { text, word: fingerprint::load(text) }
    }

    /// Whether it is equal to another cell with the same word.
    #[inline]
    pub(super) fn is_equal(self, other: &[u8]) -> bool {
        self.text.len() == other.len() && (other.len() <= BYTES || self.text == other)
    }

    /// The number of digits before the decimal point of a short number without sign and unit, as most are.
    #[inline]
    pub(in crate::strategy) fn short_number(self) -> Option<usize> {
        let (first, second) = two_positions(no_digits(self.word));
        let is_fraction = second == self.text.len() && self.text.get(first) == Some(&b'.');
        (first > 0 && (first == self.text.len() || is_fraction)).then_some(first)
    }
}

impl Number {
    /// The number that a cell consists of, if it does.
    pub(in crate::strategy) fn of(cell: &[u8]) -> Option<Number> {
        let (magnitude, is_negative) = match cell {
            [b'-', rest @ ..] => (rest, true),
            _ => (cell, false),
        };
        let mut digits = leading_digits(magnitude);
        while magnitude.get(digits) == Some(&b',') {
            digits += 1 + leading_digits(&magnitude[digits + 1..]);
        }
        // A unit may follow: `12.5%`, `3ms`, `4K`. A date, a version or an address is no number.
        let rest = &magnitude[digits..];
        let rest = rest.strip_prefix(b".").map_or(rest, |rest| &rest[leading_digits(rest)..]);
        let is_unit = rest.len() <= 3 && rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'%');
        (digits > 0 && is_unit).then_some(Number { digits, is_negative })
    }
}

/// What is between separators at these positions.
pub(super) fn cells(
    line: &[u8],
    separators: impl Iterator<Item = usize>,
) -> impl Iterator<Item = CellText<'_>> {
    let mut start = 0;
    separators.chain([line.len()]).map(move |end| {
        let text = &line[start..end];
        // Reading what follows in the line, too, is faster than copying a few bytes.
        let cell = match line[start..].first_chunk() {
            Some(bytes) => CellText { text, word: u64::from_le_bytes(*bytes) & lowest_bytes(text.len()) },
            None => CellText::of(text),
        };
        start = end + 1;
        cell
    })
}

/// A word of which this many bytes count.
#[inline]
fn lowest_bytes(count: usize) -> u64 {
    u64::MAX.checked_shr(8 * BYTES.saturating_sub(count) as u32).unwrap_or(0)
}

/// What a line has besides separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signs {
    pub(super) has_quote: bool,
    /// A letter of ASCII, or one of a few other bytes.
    pub(super) may_have_letter: bool,
}

/// Finds the separators of a line.
pub(super) fn scan(line: &[u8], separator: u8, separators: &mut Vec<usize>) -> Signs {
    separators.clear();
    let (mut quotes, mut bits) = (0, 0);
    let (words, rest) = line.as_chunks::<BYTES>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain([fingerprint::load(rest)]);
    for (at, word) in words.enumerate() {
        let mut found = equal(word, separator);
        while found != 0 {
            separators.push(at * BYTES + position(found));
            found &= found - 1;
        }
        quotes |= equal(word, b'"');
        bits |= word;
    }
    Signs { has_quote: quotes != 0, may_have_letter: bits & each(0x40) != 0 }
}

/// How many digits a text begins with.
fn leading_digits(text: &[u8]) -> usize {
    let mut rest = text;
    while !rest.is_empty() {
        let others = no_digits(fingerprint::load(rest));
        if others != 0 {
            return text.len() - rest.len() + position(others);
        }
        rest = &rest[BYTES..];
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_to_the_first_other_byte() {
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for length in 0..20 {
                let mut text = b"01234567890123456789"[..length].to_vec();
                assert_eq!(leading_digits(&text), length);
                text.push(byte);
                text.extend(b"12345678");
                assert_eq!(leading_digits(&text), length, "{text:?}");
            }
        }
    }

    #[test]
    fn cells_and_signs_are_found_at_any_position() {
        for length in 0..20 {
            for byte in 0..=u8::MAX {
                let line = [&b"1,,".repeat(length)[..], &[byte], &b",2"[..]].concat();
                let mut separators = Vec::new();
                let signs = scan(&line, b',', &mut separators);
                let expected: Vec<_> = line.split(|byte| *byte == b',').map(CellText::of).collect();
                assert_eq!(cells(&line, separators.into_iter()).collect::<Vec<_>>(), expected);
                assert_eq!(signs.has_quote, byte == b'"');
                assert!(signs.may_have_letter || !byte.is_ascii_alphabetic());
                assert!(!signs.may_have_letter || !byte.is_ascii_digit());
            }
        }
    }

    #[test]
    fn numbers_may_have_a_sign_and_a_unit() {
        let number = |digits| Some(Number { digits, is_negative: false });
        let negative = |digits| Some(Number { digits, is_negative: true });
        for (cell, expected) in [
            ("7", number(1)),
            ("12345678", number(8)),
            ("1234.678", number(4)),
            ("12.345678", number(2)),
            ("1.2345.", None),
            ("1234567890.25", number(10)),
            ("1,234.5ms", number(5)),
            ("-12%", negative(2)),
            ("12.", number(2)),
            (".5", None),
            ("2026-01-02", None),
            ("1.2.3", None),
            ("NULL", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(Number::of(cell.as_bytes()), expected, "{cell}");
            if let Some(digits) = CellText::of(cell.as_bytes()).short_number() {
                assert_eq!(number(digits), expected, "{cell}");
            }
        }
    }
}
