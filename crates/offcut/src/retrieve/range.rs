//! Which part of an output to read.

use crate::retrieve::RetrieveError;

/// A part of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Lines `first` to `last`, counted from 1, both included; without `last`, to the end.
    Lines {
        /// The first line.
        first: u64,
        /// The last line.
        last: Option<u64>,
    },
    /// The last lines.
    LastLines(u64),
    /// A line with context before and after it, less if a page is too small.
    Around {
        /// The line.
        line: u64,
        /// The number of lines before and after it.
        context: u64,
    },
    /// Bytes from `start`, counted from 0, up to but not including `end`; without `end`, to the end.
    Bytes {
        /// The offset of the first byte.
        start: u64,
        /// The offset after the last byte.
        end: Option<u64>,
    },
    /// The last bytes.
    LastBytes(u64),
}

/// A range as it is written, in any unit.
enum Bounds {
    /// `150`
    One(u64),
    /// `-20:`
    Last(u64),
    /// `100:200`, with an optional start and end.
    Between { start: Option<u64>, end: Option<u64> },
}

impl Bounds {
    fn parse(text: &str) -> Option<Bounds> {
        if let Some(last) = text.strip_prefix('-') {
            return number(last.strip_suffix(':')?).filter(|&count| count > 0).map(Bounds::Last);
        }
        let Some((start, end)) = text.split_once([':', '-', ',']) else {
            return number(text).map(Bounds::One);
        };
        let optional = |text: &str| if text.is_empty() { Some(None) } else { number(text).map(Some) };
        let start = optional(start)?;
        let end = match end.strip_prefix('+') {
            Some(count) => Some(start?.checked_add(number(count)?)?),
            None => optional(end)?,
        };
        Some(Bounds::Between { start, end })
    }
}

/// Parses digits. The standard parser also accepts a sign.
fn number(text: &str) -> Option<u64> {
    text.starts_with(|char: char| char.is_ascii_digit()).then(|| text.parse().ok())?
}

impl Range {
    /// Everything.
    pub const ALL: Range = Range::Lines { first: 1, last: None };

    /// The range that a caller's options name: at most one of lines, bytes and a line with context around it.
    pub fn from_options(
        lines: Option<&str>,
        bytes: Option<&str>,
        around: Option<u64>,
        context: u64,
    ) -> Result<Range, RetrieveError> {
        match (lines, bytes, around) {
            (None, None, None) => Ok(Range::ALL),
            (Some(lines), None, None) => Range::lines(lines),
            (None, Some(bytes), None) => Range::bytes(bytes),
            (None, None, Some(line)) => Ok(Range::Around { line: line.max(1), context }),
            _ => Err(RetrieveError::SeveralRanges),
        }
    }

    /// Parses lines: `A:B`, `A-B` or `A,B`, `A:`, `:B`, `A`, `A:+N` for line A and the N lines after it, or `-N:` for the last N.
    pub fn lines(text: &str) -> Result<Range, RetrieveError> {
        let first_and_last = |bounds| match bounds {
            Bounds::One(line) => (line > 0).then_some(Range::Lines { first: line, last: Some(line) }),
            Bounds::Last(count) => Some(Range::LastLines(count)),
            Bounds::Between { start, end } => {
                let first = start.unwrap_or(1);
                let is_valid = first > 0 && end.is_none_or(|last| last >= first);
                is_valid.then_some(Range::Lines { first, last: end })
            }
        };
        Bounds::parse(text).and_then(first_and_last).ok_or_else(|| RetrieveError::NotARange {
            text: text.chars().take(80).collect(),
            expected: "write FIRST:LAST as in 100:200, or 100:, :200, 150, 100:+50, or -20: for the last 20 lines",
        })
    }

    /// Parses bytes: `A:B`, `A-B` or `A,B`, `A:`, `:B`, `A:+N` for N bytes from A on, or `-N:` for the last N.
    pub fn bytes(text: &str) -> Result<Range, RetrieveError> {
        let start_and_end = |bounds| match bounds {
            Bounds::One(_) => None,
            Bounds::Last(count) => Some(Range::LastBytes(count)),
            Bounds::Between { start, end } => {
                let start = start.unwrap_or(0);
                end.is_none_or(|end| end > start).then_some(Range::Bytes { start, end })
            }
        };
        Bounds::parse(text).and_then(start_and_end).ok_or_else(|| RetrieveError::NotARange {
            text: text.chars().take(80).collect(),
            expected: "write START:END as in 0:8000 (END is not included), or 8000:, :8000, 100:+50, or -20: for the last 20 bytes",
        })
    }

    /// The unit and the range in it, as [`Range::lines`] and [`Range::bytes`] parse them: `("lines", "100:200")`.
    pub fn unit_and_value(&self) -> (&'static str, String) {
        let open_ended = |start: u64, end: Option<u64>| match end {
            Some(end) => format!("{start}:{end}"),
            None => format!("{start}:"),
        };
        match *self {
            Range::Lines { first, last } => ("lines", open_ended(first, last)),
            Range::LastLines(count) => ("lines", format!("-{count}:")),
            Range::LastBytes(count) => ("bytes", format!("-{count}:")),
            Range::Around { line, context } => {
                ("lines", open_ended(line.saturating_sub(context).max(1), Some(line.saturating_add(context))))
            }
            Range::Bytes { start, end } => ("bytes", open_ended(start, end)),
        }
    }

    /// The option of `offcut read` for this range.
    pub fn option(&self) -> String {
        let (unit, value) = self.unit_and_value();
        format!("--{unit} {value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ranges_and_rejects_others() {
        let lines = |first, last| Some(Range::Lines { first, last });
        for (text, expected) in [
            ("3:7", lines(3, Some(7))),
            ("3:", lines(3, None)),
            (":7", lines(1, Some(7))),
            ("5", lines(5, Some(5))),
            (":", lines(1, None)),
            ("-10:", Some(Range::LastLines(10))),
            ("0:3", None),
            ("7:3", None),
            ("a:b", None),
            ("", None),
            ("-5", None),
            ("1:2:3", None),
            ("99999999999999999999:", None),
            ("3-7", lines(3, Some(7))),
            ("3,7", lines(3, Some(7))),
            ("3-3", lines(3, Some(3))),
            ("100:+50", lines(100, Some(150))),
            ("100,+0", lines(100, Some(100))),
            ("-1:", Some(Range::LastLines(1))),
            ("7-3", None),
            ("0-3", None),
            ("-0:", None),
            ("-20:30", None),
            ("--20:", None),
            (":+5", None),
            ("+3:+5", None),
            ("3:++5", None),
            ("1:+18446744073709551615", None),
        ] {
            assert_eq!(Range::lines(text).ok(), expected, "{text:?}");
        }
        let bytes = |start, end| Some(Range::Bytes { start, end });
        for (text, expected) in [
            ("0:10", bytes(0, Some(10))),
            ("10:", bytes(10, None)),
            (":10", bytes(0, Some(10))),
            ("10:10", None),
            ("10", None),
            ("-1:3", None),
            ("10-20", bytes(10, Some(20))),
            ("10,20", bytes(10, Some(20))),
            ("100:+50", bytes(100, Some(150))),
            ("-20:", Some(Range::LastBytes(20))),
            ("100:+0", None),
            ("-20", None),
        ] {
            assert_eq!(Range::bytes(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn option_parses_back_to_the_range() {
        for range in [Range::ALL, Range::Lines { first: 3, last: Some(7) }, Range::LastLines(9)] {
            let option = range.option();
            assert_eq!(Range::lines(option.strip_prefix("--lines ").unwrap()).unwrap(), range);
        }
        for range in [Range::Bytes { start: 3, end: None }, Range::LastBytes(9)] {
            let option = range.option();
            assert_eq!(Range::bytes(option.strip_prefix("--bytes ").unwrap()).unwrap(), range);
        }
    }
}
