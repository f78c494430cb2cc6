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

    /// Parses lines: `A:B`, `A:`, `:B`, `A`, or `-N:` for the last N.
    pub fn lines(text: &str) -> Result<Range, RetrieveError> {
        let error = || RetrieveError::NotARange {
            text: text.chars().take(80).collect(),
            expected: "write FIRST:LAST as in 100:200, or 100:, :200, 150, or -20: for the last 20 lines",
        };
        let number = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0).ok_or_else(error);
        match text.split_once(':') {
            None => number(text).map(|line| Range::Lines { first: line, last: Some(line) }),
            Some((first, "")) if first.starts_with('-') => number(&first[1..]).map(Range::LastLines),
            Some((first, last)) => {
                let first = if first.is_empty() { 1 } else { number(first)? };
                let last = if last.is_empty() { None } else { Some(number(last)?) };
                if last.is_some_and(|last| last < first) {
                    return Err(error());
                }
                Ok(Range::Lines { first, last })
            }
        }
    }

    /// Parses bytes: `A:B`, `A:` or `:B`.
    pub fn bytes(text: &str) -> Result<Range, RetrieveError> {
        let error = || RetrieveError::NotARange {
            text: text.chars().take(80).collect(),
            expected: "write START:END as in 0:8000 (END is not included), or 8000:, or :8000",
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| error());
        let (start, end) = text.split_once(':').ok_or_else(error)?;
        let start = if start.is_empty() { 0 } else { number(start)? };
        let end = if end.is_empty() { None } else { Some(number(end)?) };
        if end.is_some_and(|end| end <= start) {
            return Err(error());
        }
        Ok(Range::Bytes { start, end })
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
    }
}
