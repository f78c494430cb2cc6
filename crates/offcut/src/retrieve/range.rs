//! Which part of an output is asked for.

use crate::retrieve::RetrieveError;

/// A part of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Lines `first` to `last`, counted from 1, both included; to the end without a last one.
    Lines {
        /// The first line.
        first: u64,
        /// The last line.
        last: Option<u64>,
    },
    /// The last lines.
    LastLines(u64),
    /// A line and so many before and after it, fewer if a page does not hold them.
    Around {
        /// The line.
        line: u64,
        /// How many lines before and after it.
        context: u64,
    },
    /// Bytes from `start`, counted from 0, up to but not including `end`; to the end without one.
    Bytes {
        /// The offset of the first byte.
        start: u64,
        /// The offset behind the last byte.
        end: Option<u64>,
    },
}

impl Range {
    /// Everything.
    pub const ALL: Range = Range::Lines { first: 1, last: None };

    /// Reads `A:B`, `A:`, `:B`, `A` or `-N:` (the last N) as lines.
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

    /// Reads `A:B`, `A:` or `:B` as bytes.
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

    /// The option that asks for this range.
    pub fn option(&self) -> String {
        match *self {
            Range::Lines { first, last: Some(last) } => format!("--lines {first}:{last}"),
            Range::Lines { first, last: None } => format!("--lines {first}:"),
            Range::LastLines(count) => format!("--lines -{count}:"),
            Range::Around { line, context } => format!("--around {line} --context {context}"),
            Range::Bytes { start, end: Some(end) } => format!("--bytes {start}:{end}"),
            Range::Bytes { start, end: None } => format!("--bytes {start}:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
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
    fn the_option_reads_back() {
        for range in [Range::ALL, Range::Lines { first: 3, last: Some(7) }, Range::LastLines(9)] {
            let option = range.option();
            assert_eq!(Range::lines(option.strip_prefix("--lines ").unwrap()).unwrap(), range);
        }
    }
}
