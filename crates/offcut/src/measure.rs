//! How large an output is, in the units that limits speak of.
//!
//! Everything here works on bytes: tools print invalid UTF-8, and an output is never decoded to be measured.
//! Only what a limit needs is counted, because most outputs fit and should cost one scan.

use serde::Deserialize;
use std::borrow::Cow;

/// Bytes as text that is no longer than they are: what is not UTF-8 becomes `?`, for U+FFFD would take three bytes for one
/// and so break a limit that was kept.
pub fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('?');
        }
    }
    Cow::Owned(text)
}

/// What counts as a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineConvention {
    /// A line ends with `\n`; what follows the last one counts if it is not empty. `wc -l` plus an open end.
    #[default]
    Terminated,
    /// Lines are what JavaScript's `split("\n")` gives: `\n` stands between lines, so a final one adds an empty line.
    Separated,
    /// Lines are what Python's `str.splitlines` gives: also `\r`, `\r\n`, form feeds and Unicode separators end one.
    Universal,
}

/// What counts as a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CharConvention {
    /// Unicode code points, as Python's `len` counts them.
    #[default]
    CodePoints,
    /// UTF-16 code units, as JavaScript's `length` counts them.
    Utf16,
}

/// The conventions under which a text is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conventions {
    /// What counts as a line.
    pub lines: LineConvention,
    /// What counts as a character.
    pub chars: CharConvention,
}

/// Counts the tokens of a text.
///
/// One method, so that a real tokenizer is a one-line adapter. Counts need not be additive.
pub trait CountTokens: Send + Sync {
    /// The number of tokens in `text`.
    fn count(&self, text: &[u8]) -> u64;
}

/// The default token count: four ASCII bytes make a token, and every other character is one.
///
/// An estimate: no tokenizer is loaded. It errs to the high side on prose and on CJK text, and to the low side on
/// long runs of digits and on base64.
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimatedTokens;

impl CountTokens for EstimatedTokens {
    fn count(&self, text: &[u8]) -> u64 {
        let ascii = text.iter().filter(|byte| byte.is_ascii()).count() as u64;
        let wide = text.iter().filter(|&&byte| byte >= 0xC0).count() as u64;
        ascii.div_ceil(4) + wide
    }
}

/// The number of `\n` in `bytes`.
#[inline]
pub fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The number of characters in `bytes`. A stray continuation byte belongs to the character before it.
pub fn chars(bytes: &[u8], convention: CharConvention) -> u64 {
    // Counting in blocks that cannot overflow a byte lets the compiler use vector instructions.
    let count = |weigh: fn(u8) -> u8| {
        bytes.chunks(127).map(|block| u64::from(block.iter().map(|&byte| weigh(byte)).sum::<u8>())).sum()
    };
    match convention {
        CharConvention::CodePoints => count(|byte| u8::from(starts_char(byte))),
        CharConvention::Utf16 => count(|byte| u8::from(starts_char(byte)) + u8::from(byte >= 0xF0)),
    }
}

/// The number of lines in a whole text.
pub fn lines(bytes: &[u8], convention: LineConvention) -> u64 {
    let mut counter = LineCounter::new(convention);
    counter.observe(bytes);
    counter.lines()
}

#[inline]
pub(crate) fn starts_char(byte: u8) -> bool {
    (byte & 0xC0) != 0x80
}

/// As much as is looked at together for the breaks of the universal convention.
const UNIVERSAL_BLOCK: usize = 512;

/// Whether a block may hold a break of the universal convention other than `\n`. Without branches, so that the compiler
/// can use vector instructions.
fn holds_other_breaks(block: &[u8]) -> bool {
    block.iter().fold(0, |found, &byte| {
        found
            | u8::from(byte.wrapping_sub(0x0B) < 3)
            | u8::from(byte.wrapping_sub(0x1C) < 3)
            | u8::from(byte == 0xC2)
            | u8::from(byte == 0xE2)
    }) != 0
}

/// Counts lines of a text that arrives in chunks.
#[derive(Clone, Debug)]
pub struct LineCounter {
    convention: LineConvention,
    breaks: u64,
    /// The last two bytes seen: a line break of the universal convention may be split between chunks.
    before: [u8; 2],
    /// Bytes stand behind the last break.
    open: bool,
}

impl LineCounter {
    /// A counter that has seen nothing.
    pub fn new(convention: LineConvention) -> Self {
        LineCounter { convention, breaks: 0, before: [0; 2], open: false }
    }

    /// Counts one more chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        let Some(&last) = chunk.last() else { return };
        if self.convention == LineConvention::Universal {
            for block in chunk.chunks(UNIVERSAL_BLOCK) {
                self.observe_universal(block);
            }
        } else {
            self.breaks += newlines(chunk);
            self.open = last != b'\n';
        }
    }

    /// Most blocks hold no break but line feeds, and that is seen many bytes at a time.
    fn observe_universal(&mut self, block: &[u8]) {
        let is_pending = matches!(self.before, [_, b'\r' | 0xC2 | 0xE2] | [0xE2, 0x80]);
        match block {
            [.., before, last] if !is_pending && !holds_other_breaks(block) => {
                self.breaks += newlines(block);
                self.open = *last != b'\n';
                self.before = [*before, *last];
            }
            _ => block.iter().for_each(|&byte| self.step_universal(byte)),
        }
    }

    fn step_universal(&mut self, byte: u8) {
        let [second, first] = self.before;
        match byte {
            b'\n' if first == b'\r' => {}
            b'\n' | b'\r' | 0x0B | 0x0C | 0x1C..=0x1E => {
                self.breaks += 1;
                self.open = false;
            }
            0x85 if first == 0xC2 => self.close_wide(),
            0xA8 | 0xA9 if first == 0x80 && second == 0xE2 => self.close_wide(),
            _ => self.open = true,
        }
        self.before = [first, byte];
    }

    fn close_wide(&mut self) {
        self.breaks += 1;
        self.open = false;
    }

    /// The number of lines so far, if the text ended here.
    pub fn lines(&self) -> u64 {
        match self.convention {
            LineConvention::Separated => self.breaks + 1,
            LineConvention::Terminated | LineConvention::Universal => self.breaks + u64::from(self.open),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One door: the same text under each convention, whole and split at every place.
    #[track_caller]
    fn check(text: &str, [terminated, separated, universal]: [u64; 3]) {
        for (convention, expected) in [
            (LineConvention::Terminated, terminated),
            (LineConvention::Separated, separated),
            (LineConvention::Universal, universal),
        ] {
            assert_eq!(lines(text.as_bytes(), convention), expected, "{convention:?} {text:?}");
            for at in 0..=text.len() {
                let (left, right) = text.as_bytes().split_at(at);
                let mut counter = LineCounter::new(convention);
                counter.observe(left);
                counter.observe(right);
                assert_eq!(counter.lines(), expected, "{convention:?} {text:?} split at {at}");
            }
        }
    }

    #[test]
    fn line_conventions() {
        check("", [0, 1, 0]);
        check("a", [1, 1, 1]);
        check("a\n", [1, 2, 1]);
        check("a\nb", [2, 2, 2]);
        check("\n", [1, 2, 1]);
        check("\n\n", [2, 3, 2]);
        check("a\r\nb\r\n", [2, 3, 2]);
        check("a\rb\rc", [1, 1, 3]);
        check("a\r\n\rb", [2, 2, 3]);
        check("a\x0bb\x0cc\x1cd\x1de\x1ef", [1, 1, 6]);
        check("a\u{85}b\u{2028}c\u{2029}", [1, 1, 3]);
        check("\u{2028}\n", [1, 2, 2]);
    }

    /// Breaks of every kind around the places where blocks end.
    #[test]
    fn universal_lines_in_blocks() {
        for breaking in ["\n", "\r", "\r\n", "\x0b", "\x1e", "\u{85}", "\u{2028}"] {
            for length in UNIVERSAL_BLOCK - 4..=UNIVERSAL_BLOCK + 4 {
                let text = format!("{}{breaking}b\nc{breaking}\n", "a".repeat(length));
                // A carriage return and the line feed behind it are one break.
                let expected = if breaking == "\r" { 3 } else { 4 };
                assert_eq!(
                    lines(text.as_bytes(), LineConvention::Universal),
                    expected,
                    "{length} {breaking:?}"
                );
            }
        }
    }

    #[test]
    fn characters() {
        let text = "aé漢🙂".as_bytes();
        assert_eq!(chars(text, CharConvention::CodePoints), 4);
        assert_eq!(chars(text, CharConvention::Utf16), 5);
        let long = "🙂".repeat(10_000);
        assert_eq!(chars(long.as_bytes(), CharConvention::Utf16), 20_000);
    }

    #[test]
    fn estimated_tokens() {
        assert_eq!(EstimatedTokens.count(b""), 0);
        assert_eq!(EstimatedTokens.count(b"abcde"), 2);
        assert_eq!(EstimatedTokens.count("漢字".as_bytes()), 2);
    }
}
