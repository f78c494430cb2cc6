//! Finds the rules that a line may match: those with a keyword that occurs in it, in upper or lower case.
//!
//! The build script derives the keywords from the patterns. Every new line is scanned, and most outputs are short, so
//! preparation must cost nothing: keywords are in lists by their first three letters, which the compiler builds. At nearly
//! every position of a line no keyword begins with the letters there, which one lookup tells.

use super::{FIRST_BYTES, KEYWORD_RULES, KEYWORD_TEXTS, KEYWORDS, MATCHED_BYTES, RULES};

/// No keyword: the end of a list.
const NONE: u16 = u16::MAX;

/// Enough lists that letters of different keywords rarely share one, and few enough for the L1 cache.
const LISTS: usize = 1 << 14;

/// A text, and the rules that need it: ranges of [`KEYWORD_TEXTS`] and [`KEYWORD_RULES`].
pub(super) struct Keyword {
    pub(super) start: u16,
    pub(super) length: u8,
    pub(super) first_rule: u16,
    pub(super) rules: u8,
}

/// Lists of keywords.
struct Index {
    /// The fourth letters of the keywords in each list, as bits by [`fourth`].
    fourth_letters: [u8; LISTS],
    /// The first keyword of each list.
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
    /// Whether these are all its letters, and no other bytes are equal if case is ignored.
    is_whole: bool,
    /// The keyword after it.
    next: u16,
}

static INDEX: Index = {
    let node = Node { letters: 0, mask: 0, is_whole: false, next: NONE };
    let mut index = Index { fourth_letters: [0; LISTS], first: [NONE; LISTS], nodes: [node; KEYWORDS.len()] };
    let mut number = 0;
    while number < KEYWORDS.len() {
        let (_, text) = KEYWORD_TEXTS.split_at(KEYWORDS[number].start as usize);
        let mut first = [0; 8];
        let (mut at, mut are_letters) = (0, true);
        while at < 8 && at < KEYWORDS[number].length as usize {
            first[at] = ignore_case(text[at]);
            are_letters &= first[at].is_ascii_lowercase();
            at += 1;
        }
        let list = list(&first);
        index.nodes[number] = Node {
            letters: u64::from_le_bytes(first),
            mask: u64::MAX >> (64 - 8 * at),
            is_whole: are_letters && at == KEYWORDS[number].length as usize,
            next: index.first[list],
        };
        index.first[list] = number as u16;
        // After a keyword of three letters, any letter may follow.
        index.fourth_letters[list] |= if at == 3 { u8::MAX } else { 1 << fourth(&first) };
        number += 1;
    }
    index
};

/// The list of the keywords that begin with the first three of these letters.
#[inline]
const fn list(letters: &[u8; 8]) -> usize {
    let letters = u32::from_le_bytes([letters[0], letters[1], letters[2], letters[3]]);
    // The product does not depend on the fourth letter.
    (letters.wrapping_mul(0x9E37_79B1 << 8) >> 18) as usize
}

/// A number below eight for the fourth letter.
#[inline]
const fn fourth(letters: &[u8; 8]) -> u8 {
    letters[3] % 8
}

/// Maps upper and lower case of a letter to the same byte.
#[inline]
const fn ignore_case(letter: u8) -> u8 {
    letter | 0x20
}

/// How many positions are looked up before some are compared: one bit each. Which ones is hard to predict, so the lookup has
/// no branch.
const POSITIONS: usize = 16;

/// The rules that a line of at most [`MATCHED_BYTES`] may match.
pub(super) fn rules_for(content: &[u8]) -> RuleSet {
    let mut found = RuleSet::default();
    // With padding, so that eight letters follow every position.
    let mut text = [0; MATCHED_BYTES.next_multiple_of(POSITIONS) + 8];
    text.iter_mut().zip(content).for_each(|(letter, &byte)| *letter = ignore_case(byte));
    for start in (0..content.len()).step_by(POSITIONS) {
        let Some(near) = text[start..].first_chunk::<{ POSITIONS + 7 }>() else { break };
        // From the last position to the first, whose bit is then the lowest.
        let mut positions = near.windows(8).rev().fold(0_u32, |positions, letters| {
            let letters = letters.first_chunk().unwrap_or(&[0; 8]);
            positions << 1 | u32::from(INDEX.fourth_letters[list(letters)] >> fourth(letters) & 1)
        });
        while positions != 0 {
            let at = start + positions.trailing_zeros() as usize;
            if let Some(letters) = text[at..].first_chunk() {
                compare(letters, content.get(at..).unwrap_or_default(), &mut found);
            }
            positions &= positions - 1;
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

/// Compares the text at one position, whose first letters are `first`, with the keywords of its list.
fn compare(first: &[u8; 8], rest: &[u8], found: &mut RuleSet) {
    let letters = u64::from_le_bytes(*first);
    let mut number = usize::from(INDEX.first[list(first)]);
    while let Some(node) = INDEX.nodes.get(number) {
        if letters & node.mask == node.letters {
            let Keyword { start, length, first_rule, rules } = KEYWORDS[number];
            let text = &KEYWORD_TEXTS[usize::from(start)..][..usize::from(length)];
            if node.is_whole || rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text)) {
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
