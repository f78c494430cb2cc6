//! The numbers of a line, with their names and units: `took 12.5 ms`, `score=-1`, `"size":4096`.

use super::constant_fields::is_time;
use crate::strategy::fingerprint;
use std::ops::Range;

/// The value of a number, in units of 10⁻¹⁸, so that numbers are compared exactly.
pub(super) type Value = i128;

/// The most digits before and after the decimal point. Longer numbers are names.
const MAX_DIGITS: usize = 18;

/// The longest name and the longest unit that is part of the word.
const MAX_NAME_BYTES: usize = 24;
const MAX_SUFFIX_BYTES: usize = 3;

/// Between the name of a number and the number are at most this many marks: `"size": [4`.
const MAX_MARKS: usize = 4;

/// Units that are words of their own.
const UNITS: [&str; 25] = [
    "ns", "us", "µs", "ms", "s", "sec", "secs", "seconds", "min", "mins", "minutes", "h", "hours", "B", "kB",
    "KB", "KiB", "MB", "MiB", "GB", "GiB", "bytes", "%", "ns/op", "ns/iter",
];

/// A number in a line.
#[derive(Clone, Debug)]
pub(super) struct Number<'l> {
    pub(super) value: Value,
    pub(super) is_decimal: bool,
    /// The word before it; nothing if there is none.
    pub(super) name: &'l str,
    /// What follows it, such as `ms` or ` ms`.
    pub(super) unit: &'l str,
    line: &'l [u8],
    /// Where it is, with its sign.
    range: Range<usize>,
}

/// Eight bytes of a line that contain a number or its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    start: usize,
    /// The bits of the number.
    mask: u64,
    /// Whether all of the number is in it.
    pub(super) is_whole: bool,
}

impl Window {
    /// The number's bytes. Of two numbers in lines of one fingerprint, those of the greater number are greater, unless both are
    /// negative.
    #[inline]
    pub(super) fn load(&self, text: &[u8]) -> Option<u64> {
        let bytes = text.get(self.start..)?.first_chunk()?;
        Some(u64::from_be_bytes(*bytes) & self.mask)
    }
}

impl<'l> Number<'l> {
    /// Every word with digits that is not a path, as a number if it is one. Times, dates, versions and addresses are none.
    pub(super) fn all(line: &'l [u8]) -> Vec<Option<Number<'l>>> {
        let mut numbers = Vec::new();
        fingerprint::template_with_words(line, |word| numbers.push(Number::of(line, word)));
        numbers
    }

    fn of(line: &'l [u8], word: Range<usize>) -> Option<Number<'l>> {
        let digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
        let is_grouped = line.get(word.end) == Some(&b',') && digit(word.end + 1)
            || word.start >= 2 && line[word.start - 1] == b',' && digit(word.start - 2);
        if is_grouped || is_time(line, &word) {
            return None;
        }
        let text = std::str::from_utf8(&line[word.clone()]).ok()?;
        let magnitude = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = digits(magnitude);
        let (fraction, suffix) = match rest.strip_prefix('.').map(digits) {
            Some((fraction, suffix)) if !fraction.is_empty() => (fraction, suffix),
            _ => ("", rest),
        };
        // The end of a sentence.
        let suffix = suffix.strip_suffix('.').unwrap_or(suffix);
        let is_number = (1..=MAX_DIGITS).contains(&whole.len()) && fraction.len() <= MAX_DIGITS;
        let is_unit = |byte: u8| byte.is_ascii_alphabetic() || byte == b'%';
        if !is_number || suffix.len() > MAX_SUFFIX_BYTES || !suffix.bytes().all(is_unit) {
            return None;
        }
        let scale = |digits: &str| {
            digits.bytes().fold(0, |value: Value, digit| value * 10 + Value::from(digit - b'0'))
        };
        let missing = (MAX_DIGITS - fraction.len()) as u32;
        let value = scale(whole) * 10_i128.pow(MAX_DIGITS as u32) + scale(fraction) * 10_i128.pow(missing);
        let length = text.len() - rest.len() + if fraction.is_empty() { 0 } else { fraction.len() + 1 };
        let range = word.start..word.start + length;
        Some(Number {
            value: if text.starts_with('-') { -value } else { value },
            is_decimal: !fraction.is_empty(),
            name: name_before(&line[..range.start]),
            unit: if suffix.is_empty() { unit_after(&line[range.end..]) } else { suffix },
            line,
            range,
        })
    }

    /// Whether it is a measurement and not the number of something.
    pub(super) fn is_measurement(&self) -> bool {
        self.is_decimal || !self.unit.is_empty()
    }

    /// Its text, with the sign.
    pub(super) fn text(&self) -> &'l [u8] {
        &self.line[self.range.clone()]
    }

    /// Where it is in the line; nothing if the line is too short.
    pub(super) fn window(&self) -> Option<Window> {
        const BYTES: usize = size_of::<u64>();
        let Range { start, end } = self.range;
        let is_whole = end - start <= BYTES;
        let other_bits = 8 * BYTES.saturating_sub(end - start);
        // The eight bytes begin with the number, or, at the end of a line, end with it.
        let (start, mask) = match start + BYTES <= self.line.len() {
            true => (start, u64::MAX << other_bits),
            false => (end.checked_sub(BYTES)?, u64::MAX >> other_bits),
        };
        Some(Window { start, mask, is_whole })
    }
}

/// The digits that a text begins with, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The word that a number after this text is the value of.
fn name_before(text: &[u8]) -> &str {
    let is_mark = |byte: &&u8| b" \t=:\"'([{$".contains(byte);
    let marks = text.iter().rev().take_while(is_mark).count();
    let text = &text[..text.len() - marks];
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let length = text.iter().rev().take_while(is_letter).count();
    let (before, word) = text.split_at(text.len() - length);
    let is_part = before.last().is_some_and(|byte| byte.is_ascii_digit() || !byte.is_ascii());
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

    /// Checks the words with digits of a line: those that are numbers, as name, number and unit, and `-` for each other.
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let show = |number: Option<Number<'_>>| {
            number.map_or_else(
                || "-".to_owned(),
                |number| {
                    let text = String::from_utf8_lossy(number.text());
                    let bytes =
                        number.window().and_then(|window| window.load(line.as_bytes())).unwrap_or_default();
                    let loaded: Vec<u8> = bytes.to_be_bytes().into_iter().filter(|byte| *byte > 0).collect();
                    assert!(
                        loaded.is_empty() == (line.len() < 8) && number.text().starts_with(&loaded),
                        "{line}"
                    );
                    format!("{}={text}{}", number.name, number.unit)
                },
            )
        };
        let found: Vec<String> = Number::all(line.as_bytes()).into_iter().map(show).collect();
        assert_eq!(found.join("; "), expected, "{line}");
    }

    #[test]
    fn numbers_have_names_and_units() {
        check("user 7 score -1", "user=7; score=-1");
        check("64 bytes: icmp_seq=1 ttl=57 time=11.4 ms", "=64 bytes; icmp_seq=1; ttl=57; time=11.4 ms");
        check(r#"{"status": 200,"ms":78}"#, "status=200; ms=78");
        check("took 12ms, 3.5% of 4 (x)", "took=12ms; =3.5%; of=4");
        check("loss: 0.6931471824645996.", "loss=0.6931471824645996");
        check("<td>5</td> $8.22", "=5; =8.22");
        check("p95=3 v2 = 4", "-; =3; -; =4");
        check("5", "=5");
    }

    #[test]
    fn times_versions_names_and_groups_of_digits_are_no_numbers() {
        check("2026-11-16 12:00:01 main.c:12:5", "-; -; -; -; -; -");
        check("v1.2 1.2.3 3f2a 0x7f 10.0.0.1 1e-05 row_12", "-; -; -; -; -; -; -");
        check("1,234 of 5,6 1234567890123456789", "-; -; -; -; -");
    }

    #[test]
    fn values_are_exact() {
        let value = |text: &str| Number::all(text.as_bytes())[0].as_ref().map(|number| number.value);
        assert_eq!(value("0.10"), value("0.1"));
        assert_eq!(value("-3"), value("+3").map(|value| -value));
        assert!(value("9.99") < value("10") && value("-2") < value("-1.5"));
        assert_eq!(value("0.000000000000000001"), Some(1));
    }
}
