//! How much may be shown: the four limits, and whether an output exceeds one.

use crate::boundary;
use crate::measure::{self, Conventions, CountTokens, LineConvention};
use parse_size::Config;
use serde::Deserialize;
use std::fmt;

/// What is held at most when no limit bounds the bytes, so that a line limit alone cannot hold a 10 GB line.
pub const CEILING_BYTES: u64 = 8 << 20;

/// A bound on each unit; `None` leaves the unit unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Lines, by the profile's convention.
    pub lines: Option<u64>,
    /// Bytes, as they came.
    pub bytes: Option<u64>,
    /// Characters, by the profile's convention.
    pub chars: Option<u64>,
    /// Tokens, by the truncator's counter.
    pub tokens: Option<u64>,
}

/// Which limit an output exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub enum LimitError {
    /// A limit of nothing would show nothing.
    #[error("a limit of {unit} must be at least 1; leave it out for no limit of that kind")]
    Zero {
        /// The unit that was limited.
        unit: Unit,
    },
    /// The notice itself would not fit.
    #[error(
        "a limit of {given} {unit} is too small: the least is {least}, so that the notice and some output fit"
    )]
    TooSmall {
        /// The unit that was limited.
        unit: Unit,
        /// What was asked for.
        given: u64,
        /// The least that is accepted.
        least: u64,
    },
    /// The text is not a size.
    #[error("{text:?} is not a size: write a whole number from 1 on, such as 2000, or 50KiB, 8k, 1MB")]
    NotASize {
        /// What was given.
        text: String,
    },
}

/// The least limits a profile accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// The notice is paid from the limit, so it and some output must fit.
    #[default]
    Notice,
    /// Anything from one on: the profile's notice is not counted.
    One,
}

impl Limits {
    /// These limits, with what is unset taken from `base`.
    pub fn or(self, base: Limits) -> Limits {
        Limits {
            lines: self.lines.or(base.lines),
            bytes: self.bytes.or(base.bytes),
            chars: self.chars.or(base.chars),
            tokens: self.tokens.or(base.tokens),
        }
    }

    /// Refuses limits under which nothing could be shown.
    pub fn check(self, floor: Floor) -> Result<Limits, LimitError> {
        for (unit, given, least) in [
            (Unit::Lines, self.lines, 4),
            (Unit::Bytes, self.bytes, 256),
            (Unit::Chars, self.chars, 256),
            (Unit::Tokens, self.tokens, 128),
        ] {
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

    /// The most bytes a text within these limits may have.
    pub fn ceiling(&self) -> u64 {
        let by_chars = self.chars.map(|chars| chars.saturating_mul(4));
        [self.bytes, by_chars].into_iter().flatten().min().unwrap_or(CEILING_BYTES)
    }

    /// Whether a whole text is within the limits. Exactly at a limit is within it.
    pub fn fit(&self, text: &[u8], conventions: Conventions, tokens: &dyn CountTokens) -> bool {
        let bytes = text.len() as u64;
        bytes <= self.ceiling()
            // A text has at most one line more, and never more characters, than bytes: most need no scan.
            && self.lines.is_none_or(|most| bytes < most || !exceeds_lines(text, most, conventions.lines))
            && self.chars.is_none_or(|most| bytes <= most || measure::chars(text, conventions.chars) <= most)
            && self.tokens.is_none_or(|most| tokens.count(text) <= most)
    }

    /// The limit that a text over the limits exceeds first, given its first `ceiling` bytes or more.
    pub fn first_exceeded(&self, opening: &[u8], conventions: Conventions, tokens: &dyn CountTokens) -> Unit {
        let reach = opening.len().min(usize::try_from(self.ceiling()).unwrap_or(usize::MAX));
        // How far each limit reaches; the one that reaches least is crossed first.
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

/// Reads a size such as `2000`, `50KiB`, `8k` or `1MB`. Zero, negative and fractional sizes are errors.
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
