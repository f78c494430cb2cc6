//! Finds the rules that a line may match: those with a keyword that occurs in it, in upper or lower case.
//!
//! The build script derives the keywords from the patterns. Every new line is scanned, and most outputs are short, so
//! preparation must cost nothing: keywords are in lists by their first three letters, which the compiler builds, and
//! each position of a line is looked up by the three letters there.

use super::{FIRST_BYTES, KEYWORD_RULES, KEYWORD_TEXTS, KEYWORDS, RULES};

/// No keyword: the end of a list.
const NONE: u16 = u16::MAX;

/// Enough lists that unrelated letters rarely share one, and few enough for the L1 cache.
const LISTS: usize = 1 << 13;

/// A text, and the rules that need it: ranges of [`KEYWORD_TEXTS`] and [`KEYWORD_RULES`].
pub(super) struct Keyword {
    pub(super) start: u16,
    pub(super) length: u8,
    pub(super) first_rule: u16,
    pub(super) rules: u8,
}

/// Lists of keywords.
struct Index {
    /// The first keyword of each list, by the hash of its first three letters.
    first: [u16; LISTS],
    /// The keyword after each one.
    next: [u16; KEYWORDS.len()],
}

static INDEX: Index = {
    let mut index = Index { first: [NONE; LISTS], next: [NONE; KEYWORDS.len()] };
    let mut number = 0;
    while number < KEYWORDS.len() {
        let start = KEYWORDS[number].start as usize;
        let list = hash(KEYWORD_TEXTS[start], KEYWORD_TEXTS[start + 1], KEYWORD_TEXTS[start + 2]);
        index.next[number] = index.first[list];
        index.first[list] = number as u16;
        number += 1;
    }
    index
};

/// The list for three letters, ignoring case.
#[inline]
const fn hash(first: u8, second: u8, third: u8) -> usize {
    let letters = u32::from_le_bytes([first, second, third, 0]) | 0x20_2020;
    (letters.wrapping_mul(0x9E37_79B1) >> 19) as usize
}

/// The first eight letters, ignoring case.
#[inline]
fn letters(text: &[u8]) -> u64 {
    let first = text.first_chunk::<8>().copied().unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded[..text.len()].copy_from_slice(text);
        padded
    });
    u64::from_le_bytes(first) | 0x2020_2020_2020_2020
}

/// The rules that a line may match.
pub(super) fn rules_for(content: &[u8]) -> RuleSet {
    let mut found = RuleSet::default();
    for (at, letters) in content.windows(3).enumerate() {
        let first = INDEX.first[hash(letters[0], letters[1], letters[2])];
        if first != NONE {
            compare(first, &content[at..], &mut found);
        }
    }
    let first_byte = content.iter().find(|byte| !byte.is_ascii_whitespace());
    for (byte, rule) in &FIRST_BYTES {
        if first_byte == Some(byte) {
            found.add(*rule);
        }
    }
    found
}

/// Compares the text at one position with the keywords of a list.
fn compare(first: u16, rest: &[u8], found: &mut RuleSet) {
    let found_letters = letters(rest);
    let mut number = usize::from(first);
    while let Some(&Keyword { start, length, first_rule, rules }) = KEYWORDS.get(number) {
        let (text, length) = (&KEYWORD_TEXTS[usize::from(start)..], usize::from(length));
        let mask = u64::MAX >> (64 - 8 * length.min(8));
        let may_match = (found_letters ^ letters(text)) & mask == 0;
        if may_match && rest.get(..length).is_some_and(|start| start.eq_ignore_ascii_case(&text[..length])) {
            let rules = &KEYWORD_RULES[usize::from(first_rule)..][..usize::from(rules)];
            rules.iter().for_each(|&rule| found.add(rule));
        }
        number = usize::from(INDEX.next[number]);
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RuleSet([u64; RULES.len().div_ceil(64)]);

impl RuleSet {
    fn add(&mut self, rule: u16) {
        self.0[usize::from(rule / 64)] |= 1 << (rule % 64);
    }

    /// The rules of the set, in the order of precedence.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit)
            })
        })
    }
}
