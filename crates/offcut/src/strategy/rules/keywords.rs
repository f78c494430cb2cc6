//! Finds the rules that a line may match: those with a keyword that occurs in it, in upper or lower case.
//!
//! The build script derives the keywords from the patterns. Every new line is scanned, and most outputs are short, so
//! preparation must cost nothing: keywords are in lists by their first three letters, which the compiler builds. At nearly
//! every position of a line no keyword begins with the three letters there, which one bit tells.

use super::{FIRST_BYTES, KEYWORD_RULES, KEYWORD_TEXTS, KEYWORDS, RULES};
use crate::strategy::fingerprint;

/// No keyword: the end of a list.
const NONE: u16 = u16::MAX;

/// Enough lists that letters of different keywords rarely share one.
const LISTS: usize = 1 << 12;

/// Enough bits that unrelated letters rarely share one, and few enough for the L1 cache.
const BITS: usize = 1 << 16;

/// A text, and the rules that need it: ranges of [`KEYWORD_TEXTS`] and [`KEYWORD_RULES`].
pub(super) struct Keyword {
    pub(super) start: u16,
    pub(super) length: u8,
    pub(super) first_rule: u16,
    pub(super) rules: u8,
}

/// Lists of keywords.
struct Index {
    /// Whether a keyword begins with three letters, by their hash.
    begins: [u64; BITS / 64],
    /// The first keyword of each list, by the same hash.
    first: [u16; LISTS],
    nodes: [Node; KEYWORDS.len()],
}

/// A keyword in a list.
#[derive(Clone, Copy)]
struct Node {
    /// Its first eight letters, ignoring case.
    letters: u64,
    /// Has the bits of `letters` that count, because a keyword may be shorter.
    mask: u64,
    /// The keyword after it.
    next: u16,
}

static INDEX: Index = {
    let node = Node { letters: 0, mask: 0, next: NONE };
    let mut index = Index { begins: [0; BITS / 64], first: [NONE; LISTS], nodes: [node; KEYWORDS.len()] };
    let mut number = 0;
    while number < KEYWORDS.len() {
        let (_, text) = KEYWORD_TEXTS.split_at(KEYWORDS[number].start as usize);
        let hash = hash(text[0], text[1], text[2]);
        let list = hash % LISTS;
        index.begins[hash / 64] |= 1 << (hash % 64);
        let mut first = [0; 8];
        let mut at = 0;
        while at < 8 && at < KEYWORDS[number].length as usize {
            first[at] = text[at];
            at += 1;
        }
        let mask = u64::MAX >> (64 - 8 * at);
        index.nodes[number] =
            Node { letters: ignore_case(u64::from_le_bytes(first)) & mask, mask, next: index.first[list] };
        index.first[list] = number as u16;
        number += 1;
    }
    index
};

/// The hash of three letters, ignoring case: less than [`BITS`].
#[inline]
const fn hash(first: u8, second: u8, third: u8) -> usize {
    let letters = u32::from_le_bytes([first, second, third, 0]) | 0x20_2020;
    (letters.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

#[inline]
const fn ignore_case(letters: u64) -> u64 {
    letters | 0x2020_2020_2020_2020
}

/// How many positions are looked up before some are compared: one bit each. Which ones is hard to predict, so the lookup has
/// no branch.
const POSITIONS: usize = 64;

/// The rules that a line may match.
pub(super) fn rules_for(content: &[u8]) -> RuleSet {
    let mut found = RuleSet::default();
    let mut rest = content;
    while rest.len() >= 3 {
        let near = &rest[..rest.len().min(POSITIONS + 2)];
        // From the last position to the first, whose bit is then the lowest.
        let mut positions = near.windows(3).rev().fold(0_u64, |positions, letters| {
            let hash = hash(letters[0], letters[1], letters[2]);
            positions << 1 | (INDEX.begins[hash / 64] >> (hash % 64)) & 1
        });
        while positions != 0 {
            compare(&rest[positions.trailing_zeros() as usize..], &mut found);
            positions &= positions - 1;
        }
        rest = rest.get(POSITIONS..).unwrap_or_default();
    }
    let first_byte = content.iter().find(|byte| !byte.is_ascii_whitespace());
    for (byte, rule) in &FIRST_BYTES {
        if first_byte == Some(byte) {
            found.add(*rule);
        }
    }
    found
}

/// Compares the text at one position, of at least three letters, with the keywords of its list.
fn compare(rest: &[u8], found: &mut RuleSet) {
    let letters = ignore_case(fingerprint::load(rest));
    let mut number = usize::from(INDEX.first[hash(rest[0], rest[1], rest[2]) % LISTS]);
    while let Some(node) = INDEX.nodes.get(number) {
        if letters & node.mask == node.letters {
            let Keyword { start, length, first_rule, rules } = KEYWORDS[number];
            let text = &KEYWORD_TEXTS[usize::from(start)..][..usize::from(length)];
            if rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text)) {
                let rules = &KEYWORD_RULES[usize::from(first_rule)..][..usize::from(rules)];
                rules.iter().for_each(|&rule| found.add(rule));
            }
        }
        number = usize::from(node.next);
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RuleSet([u64; RULES.len().div_ceil(64)]);

impl RuleSet {
    fn add(&mut self, rule: u16) {
        self.0[usize::from(rule / 64)] |= 1 << (rule % 64);
    }

    /// The first rule of the set, in the order of precedence, that `is_wanted`.
    pub(super) fn find(self, mut is_wanted: impl FnMut(usize) -> bool) -> Option<usize> {
        for (at, mut bits) in self.0.into_iter().enumerate() {
            while bits != 0 {
                let rule = at * 64 + bits.trailing_zeros() as usize;
                if is_wanted(rule) {
                    return Some(rule);
                }
                bits &= bits - 1;
            }
        }
        None
    }
}
