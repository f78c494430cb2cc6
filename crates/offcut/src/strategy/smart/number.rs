//! The words of a line that its template ignores, and the numbers among them: `took 12.5 ms`, `score=-1`, `"size":4096`.

use crate::strategy::fingerprint;
use std::fmt;
use std::ops::Range;

/// The most digits of a number. Longer ones are names; shorter ones are compared exactly.
const MAX_DIGITS: usize = 15;

/// The longest name and the longest unit that is part of the word.
const MAX_NAME_BYTES: usize = 24;
const MAX_SUFFIX_BYTES: usize = 3;

/// Between the name of a number and the number are at most this many marks: `"size": [4`.
const MAX_MARKS: usize = 4;

/// How many digits a group has: `1,234`.
const GROUP_DIGITS: usize = 3;

/// Units that are words of their own.
const UNITS: [&str; 25] = [
    "ns", "us", "µs", "ms", "s", "sec", "secs", "seconds", "min", "mins", "minutes", "h", "hours", "B", "kB",
    "KB", "KiB", "MB", "MiB", "GB", "GiB", "bytes", "%", "ns/op", "ns/iter",
];

/// What a word that a template ignores is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    /// Part of a time or a date, whose changes mean nothing.
    Time,
    Path(u32),
    Number(Number),
    /// Any other word, by its hash.
    Text(u32),
}

/// The number in a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    /// How many digits are after the point.
    pub(super) decimals: usize,
    /// A hash of the rest of the word: only numbers with the same are compared.
    pub(super) rest: u64,
}

impl Word {
    /// The word at this place in a line.
    pub(super) fn of(line: &[u8], range: &Range<usize>, is_path: bool) -> Word {
        let text = &line[range.clone()];
        match is_path {
            true => Word::Path(hash(text)),
            false if is_time(line, range) => Word::Time,
            false if is_grouped(line, range) => Word::Text(hash(text)),
            false => Number::of(text).map_or_else(|| Word::Text(hash(text)), Word::Number),
        }
    }

    /// A number that distinguishes it from others.
    pub(super) fn hash(self) -> u64 {
        match self {
            Word::Time => 0,
            Word::Path(hash) | Word::Text(hash) => u64::from(hash),
            Word::Number(Number { value, rest, .. }) => fingerprint::mix(rest, value.to_bits()),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.*}", self.decimals, self.value)
    }
}

impl Number {
    /// The number of a word, unless the word is a version, an address or the like.
    fn of(word: &[u8]) -> Option<Number> {
        let (before, rest) = word.split_at(word.iter().position(u8::is_ascii_digit)?);
        let (whole, rest) = digits(rest);
        let (fraction, after) = match rest.strip_prefix(b".").map(digits) {
            Some((fraction, after)) if !fraction.is_empty() => (fraction, after),
            _ => (&rest[..0], rest),
        };
        let (sign, before) = match before {
            b"-" => (-1.0, &before[1..]),
            b"+" => (1.0, &before[1..]),
            _ => (1.0, before),
        };
        // The end of a sentence.
        let after = after.strip_suffix(b".").unwrap_or(after);
        let is_number = whole.len() + fraction.len() <= MAX_DIGITS
            && (whole[0] != b'0' || whole.len() == 1)
            && (before.is_empty() || fraction.is_empty());
        let is_unit = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'%';
        if !is_number || after.len() > MAX_SUFFIX_BYTES || !after.iter().all(is_unit) {
            return None;
        }
        let all = whole.iter().chain(fraction);
        let digits = all.fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        Some(Number {
            value: sign * digits as f64 / 10_f64.powi(fraction.len() as i32),
            decimals: fraction.len(),
            rest: fingerprint::mix(u64::from(hash(before)), u64::from(hash(after))),
        })
    }
}

/// The hash of a short word.
#[inline]
fn hash(word: &[u8]) -> u32 {
    let (chunks, rest) = word.as_chunks::<8>();
    let words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).chain([fingerprint::load(rest)]);
    (words.fold(word.len() as u64, fingerprint::mix) >> 32) as u32
}

/// The digits that a text begins with, and the rest.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn is_digit(line: &[u8], at: usize) -> bool {
    line.get(at).is_some_and(u8::is_ascii_digit)
}

/// Whether a word is part of a number with groups of digits (`1,234`), or its decimals (the `50` of `12,50`).
fn is_grouped(line: &[u8], word: &Range<usize>) -> bool {
    has_comma(line, word) && digits(&line[word.end + 1..]).0.len() == GROUP_DIGITS
        || word.start >= 2 && line[word.start - 1] == b',' && is_digit(line, word.start - 2)
}

/// Whether a word is the part of a number before a comma.
fn has_comma(line: &[u8], word: &Range<usize>) -> bool {
    line.get(word.end) == Some(&b',') && is_digit(line, word.end + 1)
}

/// Whether a word is part of a date or a time: `12:46:31`, `2026-11-16`. Positions in a file (`12:5`) count as times.
fn is_time(line: &[u8], word: &Range<usize>) -> bool {
    let is_after = word.start >= 2 && line[word.start - 1] == b':' && is_digit(line, word.start - 2);
    let is_before = line.get(word.end) == Some(&b':') && is_digit(line, word.end + 1);
    is_after || is_before || line[word.clone()].iter().filter(|&&byte| byte == b'-').count() >= 2
}

/// The word before a number, and the unit after it, as in `took 12 ms` and `size=4kB`; nothing if it has neither, is part of a
/// name, or has decimals after a comma.
pub(super) fn name_and_unit(line: &[u8], word: &Range<usize>) -> Option<(String, String)> {
    let text = &line[word.clone()];
    let start = text.iter().position(u8::is_ascii_digit)?;
    if has_comma(line, word) {
        return None;
    }
    let is_unit = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'%';
    let suffix = text.strip_suffix(b".").unwrap_or(text).iter().rev().take_while(is_unit).count();
    let name = name_before(&line[..word.start]);
    let unit = match suffix {
        0 => unit_after(&line[word.end..]),
        _ => std::str::from_utf8(&text[text.len() - suffix..]).unwrap_or_default(),
    };
    let is_number = matches!(text[..start], [] | [b'-' | b'+']);
    (is_number && !(name.is_empty() && unit.is_empty())).then(|| (name.to_owned(), unit.to_owned()))
}

/// The word that a number after this text is the value of.
fn name_before(text: &[u8]) -> &str {
    let is_mark = |byte: &&u8| b" \t=:\"'([{$".contains(byte);
    let marks = text.iter().rev().take_while(is_mark).count();
    let text = &text[..text.len() - marks];
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let length = text.iter().rev().take_while(is_letter).count();
    let (before, word) = text.split_at(text.len() - length);
    let is_part =
        before.last().is_some_and(|byte| byte.is_ascii_digit() || b"./\\".contains(byte) || !byte.is_ascii());
    let is_name = marks <= MAX_MARKS && length <= MAX_NAME_BYTES && !is_part;
    let word = if is_name { std::str::from_utf8(word).unwrap_or_default() } else { "" };
    word.trim_start_matches(['-', '_'])
}

/// The unit that follows a number as a word of its own, with the space before it.
fn unit_after(text: &[u8]) -> &str {
    let Some(rest) = text.strip_prefix(b" ") else { return "" };
    let length =
        rest.iter().take_while(|byte| !byte.is_ascii_whitespace() && !b",;:)]}".contains(byte)).count();
    let unit = std::str::from_utf8(&text[..1 + length]).unwrap_or_default();
    if unit.get(1..).is_some_and(|unit| UNITS.contains(&unit)) { unit } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the words of a line that its template ignores: numbers with names and units, and `-` for each other.
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut found = Vec::new();
        fingerprint::template_with_words(line.as_bytes(), |range, is_path| {
            found.push(match Word::of(line.as_bytes(), &range, is_path) {
                Word::Number(number) => {
                    let (name, unit) = name_and_unit(line.as_bytes(), &range).unwrap_or_default();
                    format!("{name}={number}{unit}")
                }
                _ => "-".to_owned(),
            });
        });
        assert_eq!(found.join("; "), expected, "{line}");
    }

    #[test]
    fn numbers_have_names_and_units() {
        check("user 7 score -1", "user=7; score=-1");
        check("64 bytes: icmp_seq=1 ttl=57 time=11.4 ms", "=64 bytes; icmp_seq=1; ttl=57; time=11.4 ms");
        check(r#"{"status": 200,"ms":78}"#, "status=200; ms=78");
        check("took 12ms, 3.50% of 4 (x)", "took=12ms; =3.50%; of=4");
        check("loss: 0.69314718246459.", "loss=0.69314718246459");
        check("<td>5</td> $8.22", "=5; -; =8.22");
        check("p95=3 v2 = 4 row_12", "=95; =3; =2; =4; =12");
        check("Cart.java:17: warning", "=17");
    }

    #[test]
    fn times_versions_names_and_groups_of_digits_are_no_numbers() {
        check("2026-11-16 12:00:01 main.c:12:5", "-; -; -; -; -; -");
        check("v1.2 1.2.3 3f2a 0x7f 10.0.0.1 1e-05 007 a/7.c", "-; -; -; -; -; -; -; -");
        check("1,234 of 5 1234567890123456", "-; -; of=5; -");
    }

    #[test]
    fn number_with_decimals_after_a_comma_is_its_whole_part() {
        check("took 99117,20 ms", "=99117; -");
        check("1,2345 1,234,567", "=1; -; -; -; -");
    }

    #[test]
    fn numbers_are_compared_with_their_kind() {
        let number = |word: &str| Number::of(word.as_bytes()).unwrap();
        assert_eq!(number("0.10").value, number("0.1").value);
        assert_eq!(number("-3").value, -number("+3").value);
        assert!(number("9.99").value < number("10").value && number("-2").value < number("-1.5").value);
        assert_eq!(number("7ms").rest, number("8ms").rest);
        assert!(number("7ms").rest != number("7s").rest && number("row7").rest != number("col7").rest);
    }
}
