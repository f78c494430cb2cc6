//! Positions where text may be cut: between characters and between lines.

use crate::measure::{self, CharConvention, LineConvention, starts_char};

/// The last position at or before `at` that is not inside a character.
///
/// Invalid UTF-8 may be cut anywhere, except inside an encoded lone surrogate, which is shown as one character.
pub(crate) fn floor(text: &[u8], at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    match char_across(text, at) {
        Some((start, _)) => start,
        None => at,
    }
}

/// The first position at or after `at` that is not inside a character.
pub(crate) fn ceil(text: &[u8], at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    match char_across(text, at) {
        Some((_, end)) => end,
        None => at,
    }
}

/// The character that begins before `at` and ends after it.
fn char_across(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = (at.saturating_sub(3)..at).rev().find(|&index| starts_char(text[index]))?;
    let length = match text[start] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    let end = start + length;
    let whole = text.get(start..end).filter(|_| at < end)?;
    let is_lone_surrogate = matches!(whole, [0xED, 0xA0..=0xBF, 0x80..=0xBF]);
    (is_lone_surrogate || std::str::from_utf8(whole).is_ok()).then_some((start, end))
}

/// The length of the longest prefix of at most `most` characters.
pub(crate) fn prefix_of_chars(text: &[u8], most: u64, convention: CharConvention) -> usize {
    let mut left = most;
    let mut at = 0;
    for (length, weight) in weighted_chars(text, convention) {
        if left < weight {
            return at;
        }
        left -= weight;
        at += length;
    }
    text.len()
}

/// The start of the longest suffix of at most `most` characters.
pub(crate) fn suffix_of_chars(text: &[u8], most: u64, convention: CharConvention) -> usize {
    let mut rest = measure::chars(text, convention);
    let mut start = 0;
    for (length, weight) in weighted_chars(text, convention) {
        if rest <= most {
            break;
        }
        rest -= weight;
        start += length;
    }
    start
}

/// The length and the weight of each character. Invalid UTF-8 is one character for each that would replace it.
fn weighted_chars(text: &[u8], convention: CharConvention) -> impl Iterator<Item = (usize, u64)> {
    text.utf8_chunks().flat_map(move |chunk| {
        let valid = chunk.valid().chars().map(move |char| (char.len_utf8(), weight(char, convention)));
        let invalid = Some((chunk.invalid().len(), 1)).filter(|&(length, _)| length > 0);
        valid.chain(invalid)
    })
}

fn weight(char: char, convention: CharConvention) -> u64 {
    match convention {
        CharConvention::CodePoints => 1,
        CharConvention::Utf16 => char.len_utf16() as u64,
    }
}

/// The starts and ends of lines.
impl LineConvention {
    /// The end of the first `most` lines of `text`.
    pub(crate) fn prefix(self, text: &[u8], most: u64) -> usize {
        let Some(nth) = most.checked_sub(1) else { return 0 };
        let nth = usize::try_from(nth).unwrap_or(usize::MAX);
        let end = match self {
            LineConvention::Terminated => memchr::memchr_iter(b'\n', text).nth(nth).map(|index| index + 1),
            LineConvention::Separated => memchr::memchr_iter(b'\n', text).nth(nth),
            LineConvention::Universal => universal_ends(text).nth(nth),
        };
        end.unwrap_or(text.len())
    }

    /// The start of the last `most` lines of `text`.
    pub(crate) fn suffix(self, text: &[u8], most: u64) -> usize {
        let Some(nth) = most.checked_sub(1) else { return text.len() };
        let nth = usize::try_from(nth).unwrap_or(usize::MAX);
        let start = match self {
            LineConvention::Separated => memchr::memrchr_iter(b'\n', text).nth(nth).map(|index| index + 1),
            // The line feed that ends the text starts no line.
            LineConvention::Terminated => {
                let inner = text.strip_suffix(b"\n").unwrap_or(text);
                memchr::memrchr_iter(b'\n', inner).nth(nth).map(|index| index + 1)
            }
            LineConvention::Universal => {
                let lines = universal_ends(text).filter(|&end| end < text.len()).count() + 1;
                let skipped = lines.saturating_sub(nth.saturating_add(1));
                skipped.checked_sub(1).and_then(|last| universal_ends(text).nth(last))
            }
        };
        start.unwrap_or(0)
    }

    /// The last position at or before `at` where a prefix ends with a whole line.
    pub(crate) fn end_before(self, text: &[u8], at: usize) -> usize {
        match self {
            LineConvention::Terminated => memchr::memrchr(b'\n', &text[..at]).map_or(0, |index| index + 1),
            LineConvention::Separated => {
                let reach = text.len().min(at + 1);
                memchr::memrchr(b'\n', &text[..reach]).unwrap_or(0)
            }
            LineConvention::Universal => {
                universal_ends(text).take_while(|&end| end <= at).last().unwrap_or(0)
            }
        }
    }

    /// The first position at or after `at` where a suffix starts with a whole line.
    pub(crate) fn start_after(self, text: &[u8], at: usize) -> usize {
        if at == 0 {
            return 0;
        }
        let start = match self {
            LineConvention::Terminated | LineConvention::Separated => {
                memchr::memchr(b'\n', &text[at - 1..]).map(|index| at + index)
            }
            LineConvention::Universal => universal_ends(text).find(|&end| end >= at),
        };
        start.unwrap_or(text.len())
    }
}

/// The positions after each line break that Python's `splitlines` recognises.
fn universal_ends(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let rest = &text[at..];
            let length = match rest[0] {
                b'\r' if rest.get(1) == Some(&b'\n') => 2,
                b'\n' | b'\r' | 0x0B | 0x0C | 0x1C..=0x1E => 1,
                0xC2 if rest.get(1) == Some(&0x85) => 2,
                0xE2 if matches!(rest.get(1..3), Some([0x80, 0xA8 | 0xA9])) => 3,
                _ => 0,
            };
            at += length.max(1);
            if length > 0 {
                return Some(at);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_and_ceil_do_not_split_characters() {
        let text = "a漢🙂".as_bytes();
        let floors: Vec<usize> = (0..=text.len()).map(|at| floor(text, at)).collect();
        assert_eq!(floors, [0, 1, 1, 1, 4, 4, 4, 4, 8]);
        let ceils: Vec<usize> = (0..=text.len()).map(|at| ceil(text, at)).collect();
        assert_eq!(ceils, [0, 1, 4, 4, 4, 8, 8, 8, 8]);
        let broken = b"\xE6\xBC\x80\x80\xFFa\xF0\x9F";
        for at in [3, 4, 5, 6, 7] {
            assert_eq!((floor(broken, at), ceil(broken, at)), (at, at));
        }
        // A lone surrogate, as a JSON string may contain it.
        let half = b"a\xED\xA0\x80b";
        assert_eq!([1, 2, 3, 4].map(|at| floor(half, at)), [1, 1, 1, 4]);
        assert_eq!([1, 2, 3, 4].map(|at| ceil(half, at)), [1, 4, 4, 4]);
    }

    #[test]
    fn prefix_and_suffix_count_characters() {
        let text = "a漢🙂b".as_bytes();
        let prefix = |most, convention| prefix_of_chars(text, most, convention);
        assert_eq!(
            [0, 1, 2, 3, 4, 9].map(|most| prefix(most, CharConvention::CodePoints)),
            [0, 1, 4, 8, 9, 9]
        );
        assert_eq!([2, 3, 4, 5].map(|most| prefix(most, CharConvention::Utf16)), [4, 4, 8, 9]);
        let suffix = |most, convention| suffix_of_chars(text, most, convention);
        assert_eq!(
            [0, 1, 2, 3, 4, 9].map(|most| suffix(most, CharConvention::CodePoints)),
            [9, 8, 4, 1, 0, 0]
        );
        assert_eq!([1, 2, 3].map(|most| suffix(most, CharConvention::Utf16)), [8, 8, 4]);
        // Each invalid sequence is a character to its reader.
        let broken = b"a\x80\x80\xE6\xBCb";
        let code_points = CharConvention::CodePoints;
        assert_eq!(String::from_utf8_lossy(broken).chars().count(), 5);
        assert_eq!(measure::chars(broken, code_points), 5);
        assert_eq!([1, 2, 4, 5].map(|most| prefix_of_chars(broken, most, code_points)), [1, 2, 5, 6]);
        assert_eq!([0, 1, 2, 4, 5].map(|most| suffix_of_chars(broken, most, code_points)), [6, 5, 3, 1, 0]);
    }

    #[test]
    fn line_edges_follow_the_convention() {
        use LineConvention::*;
        let text = b"a\nbb\n\nc\n";
        assert_eq!([0, 1, 2, 3, 4, 5].map(|most| Terminated.prefix(text, most)), [0, 2, 5, 6, 8, 8]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|most| Separated.prefix(text, most)), [0, 1, 4, 5, 7, 8]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|most| Terminated.suffix(text, most)), [8, 6, 5, 2, 0, 0]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|most| Separated.suffix(text, most)), [8, 8, 6, 5, 2, 0]);
        assert_eq!([0, 1, 4, 5, 7].map(|at| Terminated.end_before(text, at)), [0, 0, 2, 5, 6]);
        assert_eq!([0, 1, 4, 5, 7].map(|at| Separated.end_before(text, at)), [0, 1, 4, 5, 7]);
        assert_eq!([0, 1, 2, 3, 7].map(|at| Terminated.start_after(text, at)), [0, 2, 2, 5, 8]);
        let text = "a\r\nb\rc\u{2028}d".as_bytes();
        assert_eq!([1, 2, 3, 4].map(|most| Universal.prefix(text, most)), [3, 5, 9, 10]);
        assert_eq!([1, 2, 3, 4].map(|most| Universal.suffix(text, most)), [9, 5, 3, 0]);
        assert_eq!([2, 3, 9, 10].map(|at| Universal.end_before(text, at)), [0, 3, 9, 9]);
        assert_eq!([1, 4, 10].map(|at| Universal.start_after(text, at)), [3, 5, 10]);
    }
}
