//! Measures the size of an output in lines, bytes, characters and tokens.
//!
//! Everything here works on bytes, because tools print invalid UTF-8; an output is never decoded to be measured. Only
//! units that have a limit are counted, because most outputs fit and should cost one scan.

use crate::boundary;
use serde::Deserialize;
use std::borrow::Cow;
use std::str::Utf8Chunk;

/// Converts bytes to text that is not longer. Invalid UTF-8 becomes `?`, because U+FFFD takes three bytes and could exceed
/// a limit that the bytes satisfy.
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
    /// A line ends with `\n`; text after the last `\n` is a line, too. Like `wc -l`, plus an unterminated last line.
    #[default]
    Terminated,
    /// Lines as JavaScript's `split("\n")` returns them: `\n` separates lines, so a final one adds an empty line.
    Separated,
    /// Lines as Python's `str.splitlines` returns them: `\r`, `\r\n`, form feeds and Unicode separators end a line, too.
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

/// How lines and characters are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conventions {
    /// What counts as a line.
    pub lines: LineConvention,
    /// What counts as a character.
    pub chars: CharConvention,
}

/// Counts the tokens of a text.
///
/// A tokenizer can be adapted in one line. Counts need not be additive.
pub trait CountTokens: Send + Sync {
    /// The number of tokens in `text`.
    fn count(&self, text: &[u8]) -> u64;
}

/// The default token count: four ASCII bytes make a token, and every other character is one.
///
/// This is an estimate; no tokenizer is loaded. It is too high for prose and CJK text, and too low for long runs of digits
/// and base64.
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

/// The number of characters in `bytes`, as a reader sees them who replaces invalid UTF-8 by U+FFFD.
pub fn chars(bytes: &[u8], convention: CharConvention) -> u64 {
    if std::str::from_utf8(bytes).is_ok() {
        return char_starts(bytes, convention);
    }
    bytes
        .utf8_chunks()
        .map(|chunk| char_starts(chunk.valid().as_bytes(), convention) + invalid_chars(chunk))
        .sum()
}

/// How many characters replace the invalid part of a chunk.
pub(crate) fn invalid_chars(chunk: Utf8Chunk<'_>) -> u64 {
    u64::from(!chunk.invalid().is_empty())
}

/// The same for a part of an output, which may begin and end inside a character: a stray continuation byte belongs to the
/// character before it, so the sum does not depend on where the output is divided.
pub(crate) fn char_starts(bytes: &[u8], convention: CharConvention) -> u64 {
    // Counting in blocks that cannot overflow a byte lets the compiler vectorize it.
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

/// How many bytes are tested at once for line breaks of the universal convention.
const UNIVERSAL_BLOCK: usize = 512;

/// Whether a block may contain a line break of the universal convention other than `\n`. It has no branches, so that the
/// compiler can vectorize it.
fn may_have_other_breaks(block: &[u8]) -> bool {
    block.iter().fold(0, |found, &byte| {
        found
            | u8::from(byte.wrapping_sub(0x0B) < 3)
            | u8::from(byte.wrapping_sub(0x1C) < 3)
            | u8::from(byte == 0xC2)
            | u8::from(byte == 0xE2)
    }) != 0
}

/// Counts the lines of a text that arrives in chunks.
#[derive(Clone, Debug)]
pub struct LineCounter {
    convention: LineConvention,
    breaks: u64,
    /// The last two bytes seen: a line break of the universal convention may be split between chunks.
    before: [u8; 2],
    /// Whether bytes follow the last break.
    open: bool,
}

impl LineCounter {
    /// A counter at zero.
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

    /// Most blocks have no line breaks but `\n`, which are counted many bytes at a time.
    fn observe_universal(&mut self, block: &[u8]) {
        let is_pending = matches!(self.before, [_, b'\r' | 0xC2 | 0xE2] | [0xE2, 0x80]);
        match block {
            [.., before, last] if !is_pending && !may_have_other_breaks(block) => {
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

/// How much text is counted at once when it arrives in chunks.
const TOKEN_BLOCK: usize = 64 << 10;

/// Counts the tokens of a text that arrives in chunks. A counter of tokens need not be additive, so the text is counted in
/// blocks that end after a line and do not depend on the chunks.
#[derive(Debug, Default)]
pub(crate) struct TokenCounter {
    tokens: u64,
    /// What was not counted yet.
    held: Vec<u8>,
}

impl TokenCounter {
    /// Counts one more chunk.
    pub(crate) fn observe(&mut self, chunk: &[u8], tokens: &dyn CountTokens) {
        for part in chunk.chunks(TOKEN_BLOCK) {
            self.held.extend_from_slice(part);
            // A character that begins in the block may end up to three bytes after it.
            while self.held.len() >= TOKEN_BLOCK + 3 {
                let end = match memchr::memrchr(b'\n', &self.held[..TOKEN_BLOCK]) {
                    Some(feed) => feed + 1,
                    None => boundary::floor(&self.held, TOKEN_BLOCK),
                };
                self.tokens += tokens.count(&self.held[..end]);
                self.held.drain(..end);
            }
        }
    }

    /// The number of tokens so far, if the text ended here.
    pub(crate) fn tokens(&self, tokens: &dyn CountTokens) -> u64 {
        self.tokens + tokens.count(&self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the number of lines by each convention, whole and split at every byte.
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
    fn lines_are_counted_by_each_convention() {
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

    #[test]
    fn universal_line_breaks_are_counted_across_blocks() {
        for breaking in ["\n", "\r", "\r\n", "\x0b", "\x1e", "\u{85}", "\u{2028}"] {
            for length in UNIVERSAL_BLOCK - 4..=UNIVERSAL_BLOCK + 4 {
                let text = format!("{}{breaking}b\nc{breaking}\n", "a".repeat(length));
                // A carriage return and the line feed after it are one break.
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
    fn characters_are_counted_by_each_convention() {
        let text = "aé漢🙂".as_bytes();
        assert_eq!(chars(text, CharConvention::CodePoints), 4);
        assert_eq!(chars(text, CharConvention::Utf16), 5);
        let long = "🙂".repeat(10_000);
        assert_eq!(chars(long.as_bytes(), CharConvention::Utf16), 20_000);
    }

    #[test]
    fn estimate_counts_four_ascii_bytes_or_one_other_character() {
        assert_eq!(EstimatedTokens.count(b""), 0);
        assert_eq!(EstimatedTokens.count(b"abcde"), 2);
        assert_eq!(EstimatedTokens.count("漢字".as_bytes()), 2);
    }

    #[test]
    fn tokens_do_not_depend_on_chunks() {
        let lines: String = (0..40_000).map(|number| format!("{number} 漢é\n")).collect();
        let texts = [lines.clone(), lines.replace('\n', ""), "a\n".repeat(50_000), "🙂".repeat(40_000)];
        for text in texts {
            let whole = {
                let mut counter = TokenCounter::default();
                counter.observe(text.as_bytes(), &EstimatedTokens);
                counter.tokens(&EstimatedTokens)
            };
            assert!(whole.abs_diff(EstimatedTokens.count(text.as_bytes())) < 16, "one per block");
            for size in [1, 7, 4096, TOKEN_BLOCK + 1] {
                let mut counter = TokenCounter::default();
                text.as_bytes().chunks(size).for_each(|chunk| counter.observe(chunk, &EstimatedTokens));
                assert_eq!(counter.tokens(&EstimatedTokens), whole, "in chunks of {size}");
            }
        }
    }
}
