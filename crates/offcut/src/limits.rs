//! How much may be shown: the four limits, and whether an output exceeds one.

use crate::boundary;
use crate::measure::{self, Conventions, CountTokens, LineConvention};
use parse_size::Config;
use serde::Deserialize;
use std::fmt;

/// The most bytes in memory if no limit bounds the bytes, so that a line limit alone does not hold a line of 10 GB.
pub const CEILING_BYTES: u64 = 8 << 20;

/// One value for each unit in which output is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PerUnit<T: Default> {
    /// Lines, by the profile's convention.
    pub lines: T,
    /// Bytes.
    pub bytes: T,
    /// Characters, by the profile's convention.
    pub chars: T,
    /// Tokens, by the truncator's counter.
    pub tokens: T,
}

impl<T: Copy + Default> PerUnit<T> {
    /// The value for each unit.
    pub fn each(self) -> [(Unit, T); 4] {
        [
            (Unit::Lines, self.lines),
            (Unit::Bytes, self.bytes),
            (Unit::Chars, self.chars),
            (Unit::Tokens, self.tokens),
        ]
    }

    /// The result of `function` for each value.
    pub fn map<U: Default>(self, mut function: impl FnMut(T) -> U) -> PerUnit<U> {
        PerUnit {
            lines: function(self.lines),
            bytes: function(self.bytes),
            chars: function(self.chars),
            tokens: function(self.tokens),
        }
    }

    /// The result of `function` for each value and the value of `other` for the same unit.
    pub fn zip_with<U: Copy + Default, V: Default>(
        self,
        other: PerUnit<U>,
        mut function: impl FnMut(T, U) -> V,
    ) -> PerUnit<V> {
        PerUnit {
            lines: function(self.lines, other.lines),
            bytes: function(self.bytes, other.bytes),
            chars: function(self.chars, other.chars),
            tokens: function(self.tokens, other.tokens),
        }
    }
}

/// A limit that switches off the limit of a profile or of a rule with a lower precedence.
pub const UNLIMITED: u64 = i64::MAX as u64;

/// A limit for each unit. In a rule, `None` keeps the limit of the next lower precedence; if nothing sets it, the unit is
/// unlimited.
///
/// ```
/// use offcut::Limits;
/// use offcut::measure::{Conventions, EstimatedTokens};
///
/// let limits = Limits { lines: Some(2), ..Limits::default() };
/// assert!(limits.fit(b"one\ntwo\n", Conventions::default(), &EstimatedTokens));
/// assert!(!limits.fit(b"one\ntwo\nthree\n", Conventions::default(), &EstimatedTokens));
/// ```
pub type Limits = PerUnit<Option<u64>>;

/// Which limit an output exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Too many lines.
    Lines,
    /// Too many bytes.
    Bytes,
    /// Too many characters.
    Chars,
    /// Too many tokens.
    Tokens,
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Unit::Lines => "lines",
            Unit::Bytes => "bytes",
            Unit::Chars => "chars",
            Unit::Tokens => "tokens",
        })
    }
}

/// A limit that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// The limit is 0.
    #[error("a limit of 0 {unit} shows nothing: give at least 1, or leave the limit out")]
    Zero {
        /// The unit that was limited.
        unit: Unit,
    },
    /// The notice would not fit.
    #[error("a limit of {given} {unit} is too small for the notice and some output: give at least {least}")]
    TooSmall {
        /// The unit that was limited.
        unit: Unit,
        /// The requested limit.
        given: u64,
        /// The smallest limit that is accepted.
        least: u64,
    },
    /// The text is not a size.
    #[error("{text:?}: expected a positive size, for example 2000, 8k or 50KiB")]
    NotASize {
        /// The text.
        text: String,
    },
}

/// The smallest limits that a profile accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// The notice counts against the limits, so the notice and some output must fit.
    #[default]
    Notice,
    /// Any positive limit, because the notice of the profile does not count.
    One,
}

impl Limits {
    /// These limits; unset ones are taken from `base`.
    pub fn or(self, base: Limits) -> Limits {
        self.zip_with(base, Option::or)
    }

    /// These limits; a unit whose limit is switched off is unbounded.
    pub(crate) fn without_unlimited(self) -> Limits {
        self.map(|limit| limit.filter(|&most| most < UNLIMITED))
    }

    /// The smaller limit for each unit; a unit that only one of them limits has that limit.
    pub fn at_most(self, other: Limits) -> Limits {
        self.zip_with(other, |this, other| [this, other].into_iter().flatten().min())
    }

    /// Rejects limits that are too small to show anything.
    pub fn check(self, floor: Floor) -> Result<Limits, LimitError> {
        let least = PerUnit { lines: 4, bytes: 256, chars: 256, tokens: 128 };
        for (unit, (given, least)) in self.zip_with(least, |given, least| (given, least)).each() {
            match given {
                Some(0) => return Err(LimitError::Zero { unit }),
                Some(given) if floor == Floor::Notice && given < least => {
                    return Err(LimitError::TooSmall { unit, given, least });
                }
                _ => {}
            }
        }
        Ok(self)
    }

    /// The largest size in bytes of a text within these limits.
    pub fn ceiling(&self) -> u64 {
        let by_chars = self.chars.map(|chars| chars.saturating_mul(4));
        [self.bytes, by_chars].into_iter().flatten().min().unwrap_or(CEILING_BYTES)
    }

    /// Whether a whole text is within the limits. A text exactly at a limit is within it.
    pub fn fit(&self, text: &[u8], conventions: Conventions, tokens: &dyn CountTokens) -> bool {
        let bytes = text.len() as u64;
        bytes <= self.ceiling()
            // A text has at most as many characters as bytes, and at most one line more. Most texts need no scan.
            && self.lines.is_none_or(|most| bytes < most || !exceeds_lines(text, most, conventions.lines))
            && self.chars.is_none_or(|most| bytes <= most || measure::chars(text, conventions.chars) <= most)
            && self.tokens.is_none_or(|most| tokens.count(text) <= most)
    }

    /// The limit that a text over the limits exceeds first. `opening` is at least its first `ceiling` bytes.
    pub fn first_exceeded(&self, opening: &[u8], conventions: Conventions, tokens: &dyn CountTokens) -> Unit {
        let reach = opening.len().min(usize::try_from(self.ceiling()).unwrap_or(usize::MAX));
        // How many bytes each limit allows; the limit that allows the fewest is exceeded first.
        let lines = self.lines.map(|most| (conventions.lines.prefix(opening, most), Unit::Lines));
        let chars =
            self.chars.map(|most| (boundary::prefix_of_chars(opening, most, conventions.chars), Unit::Chars));
        let few = Limits { tokens: self.tokens, ..Limits::default() };
        let tokens = self
            .tokens
            .map(|_| (few.within_tokens(reach, tokens, |length| &opening[..length]), Unit::Tokens));
        let bytes = Some((reach, Unit::Bytes)).filter(|_| self.bytes.is_some() || self.chars.is_none());
        [lines, chars, tokens, bytes]
            .into_iter()
            .flatten()
            .min_by_key(|&(place, _)| place)
            .map_or(Unit::Bytes, |(_, unit)| unit)
    }
}

/// Whether `text` has more than `most` lines, without counting further than needed.
fn exceeds_lines(text: &[u8], most: u64, convention: LineConvention) -> bool {
    let mut counter = measure::LineCounter::new(convention);
    text.chunks(64 << 10).any(|chunk| {
        counter.observe(chunk);
        counter.lines() > most
    })
}

/// Parses a size such as `2000`, `50KiB`, `8k` or `1MB`. Zero, negative and fractional sizes are errors.
pub fn parse_size(text: &str) -> Result<u64, LimitError> {
    let not_a_size = || LimitError::NotASize { text: text.chars().take(40).collect() };
    let trimmed = text.trim();
    if trimmed.contains(['.', 'e', 'E', '-', '+']) {
        return Err(not_a_size());
    }
    match Config::new().with_decimal().parse_size(trimmed) {
        Ok(size) if size > 0 && size <= i64::MAX as u64 => Ok(size),
        _ => Err(not_a_size()),
    }
}

/// Parses a limit: a size, or `none`, which switches the limit off.
pub fn parse_limit(text: &str) -> Result<u64, LimitError> {
    if text.trim() == "none" { Ok(UNLIMITED) } else { parse_size(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::EstimatedTokens;

    #[test]
    fn sizes() {
        for (text, size) in
            [("1", 1), ("2000", 2000), ("8k", 8000), ("50KiB", 51_200), ("1MB", 1_000_000), (" 7 ", 7)]
        {
            assert_eq!(parse_size(text), Ok(size), "{text:?}");
        }
        for text in
            ["", "0", "-1", "-5KiB", "+3", "1.5k", "1e3", "abc", "99999999999999999999", "9EiB", "k", "1 2 x"]
        {
            assert!(parse_size(text).is_err(), "{text:?} {:?}", parse_size(text));
        }
    }

    #[test]
    fn exactly_at_the_limit_fits() {
        let check = |text: &str, limits: Limits, fits: bool| {
            assert_eq!(
                limits.fit(text.as_bytes(), Conventions::default(), &EstimatedTokens),
                fits,
                "{text:?} {limits:?}"
            );
        };
        let lines = |most| Limits { lines: Some(most), ..Limits::default() };
        check("a\nb\nc\n", lines(3), true);
        check("a\nb\nc", lines(3), true);
        check("a\nb\nc\nd", lines(3), false);
        check("a\nb\nc\n\n", lines(3), false);
        let bytes = |most| Limits { bytes: Some(most), ..Limits::default() };
        check("abc", bytes(3), true);
        check("abcd", bytes(3), false);
        let chars = |most| Limits { chars: Some(most), ..Limits::default() };
        check("漢字", chars(2), true);
        check("漢字1", chars(2), false);
        let tokens = |most| Limits { tokens: Some(most), ..Limits::default() };
        check("abcd", tokens(1), true);
        check("abcde", tokens(1), false);
        check("", lines(1), true);
    }

    #[test]
    fn refused() {
        let bytes = |bytes| Limits { bytes: Some(bytes), ..Limits::default() };
        assert_eq!(bytes(0).check(Floor::One), Err(LimitError::Zero { unit: Unit::Bytes }));
        assert!(bytes(1).check(Floor::One).is_ok());
        assert!(bytes(255).check(Floor::Notice).is_err());
        assert!(bytes(256).check(Floor::Notice).is_ok());
        assert!(Limits { lines: Some(3), ..Limits::default() }.check(Floor::Notice).is_err());
    }

    #[test]
    fn first_exceeded_is_by_position() {
        let limits = Limits { lines: Some(4), bytes: Some(256), ..Limits::default() };
        let first =
            |text: &str| limits.first_exceeded(text.as_bytes(), Conventions::default(), &EstimatedTokens);
        assert_eq!(first(&"x\n".repeat(1000)), Unit::Lines);
        assert_eq!(first(&"x".repeat(1000)), Unit::Bytes);
        assert_eq!(first(&format!("{}\n{}", "x".repeat(300), "y\n".repeat(100))), Unit::Bytes);
    }
}
