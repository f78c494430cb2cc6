//! Finds the rules that a line may match: those with a keyword that occurs in it, in upper or lower case.
//!
//! Every new line is scanned, and most outputs are short, so preparation must cost nothing: building an automaton over
//! the keywords takes longer than reading most outputs. Instead, keywords are in lists by their first three letters,
//! and each position of a line is looked up by the three letters there.

use super::rules::RULES;
use std::sync::LazyLock;

/// No keyword: the end of a list.
const NONE: u16 = u16::MAX;

/// The keywords of all rules, in linked lists.
pub(super) struct KeywordIndex {
    keywords: Vec<Keyword>,
    /// The first keyword of each list, by the hash of its first three letters.
    lists: Vec<u16>,
    /// The same for keywords of one or two letters, by the first letter.
    short: Vec<u16>,
}

struct Keyword {
    text: &'static [u8],
    /// Its first eight letters and the mask of those it has. Most keywords of a list differ in these.
    letters: u64,
    mask: u64,
    rules: RuleSet,
    /// The next keyword of the list.
    next: u16,
}

pub(super) static KEYWORDS: LazyLock<KeywordIndex> = LazyLock::new(|| {
    let mut index =
        KeywordIndex { keywords: Vec::with_capacity(512), lists: vec![NONE; LISTS], short: vec![NONE; 256] };
    for (rule, number) in RULES.iter().zip(0..) {
        for text in rule.keywords {
            index.add(text.as_bytes(), number);
        }
    }
    index
});

/// Enough lists that unrelated letters rarely share one, and few enough for the L1 cache.
const LISTS: usize = 1 << 13;

/// The list for three letters, ignoring case.
#[inline]
fn hash(first: u8, second: u8, third: u8) -> usize {
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

impl KeywordIndex {
    /// Adds a keyword of a rule. A keyword of several rules is in its list once.
    fn add(&mut self, text: &'static [u8], rule: usize) {
        let first = match *text {
            [first, second, third, ..] => &mut self.lists[hash(first, second, third)],
            [first, ..] => &mut self.short[usize::from(first.to_ascii_lowercase())],
            [] => return,
        };
        let mut number = *first;
        while let Some(keyword) = self.keywords.get_mut(usize::from(number)) {
            if keyword.text.eq_ignore_ascii_case(text) {
                return keyword.rules.add(rule);
            }
            number = keyword.next;
        }
        let next = std::mem::replace(first, self.keywords.len() as u16);
        let mask = u64::MAX >> (64 - 8 * text.len().min(8));
        let mut rules = RuleSet::default();
        rules.add(rule);
        self.keywords.push(Keyword { text, letters: letters(text) & mask, mask, rules, next });
    }

    /// The rules of which a keyword occurs in `content`.
    pub(super) fn rules_for(&self, content: &[u8]) -> RuleSet {
        let mut found = RuleSet::default();
        for (at, letters) in content.windows(3).enumerate() {
            let first = self.lists[hash(letters[0], letters[1], letters[2])];
            if first != NONE {
                self.compare(first, &content[at..], &mut found);
            }
        }
        for (at, letter) in content.iter().enumerate() {
            let first = self.short[usize::from(letter.to_ascii_lowercase())];
            if first != NONE {
                self.compare(first, &content[at..], &mut found);
            }
        }
        found
    }

    /// Compares the text at one position with the keywords of a list.
    fn compare(&self, first: u16, rest: &[u8], found: &mut RuleSet) {
        let mut number = first;
        let found_letters = letters(rest);
        while let Some(&Keyword { text, letters, mask, ref rules, next }) =
            self.keywords.get(usize::from(number))
        {
            let may_match = found_letters & mask == letters;
            if may_match && rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text)) {
                found.merge(rules);
            }
            number = next;
        }
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RuleSet([u64; MAX_RULES / 64]);

/// Checked by a test.
const MAX_RULES: usize = 512;

impl RuleSet {
    fn add(&mut self, rule: usize) {
        self.0[rule / 64] |= 1 << (rule % 64);
    }

    fn merge(&mut self, others: &RuleSet) {
        self.0.iter_mut().zip(others.0).for_each(|(bits, others)| *bits |= others);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str) {
        let found = KEYWORDS.rules_for(content.as_bytes());
        let lower = content.to_ascii_lowercase();
        let expected = RULES.iter().enumerate().filter(|(_, rule)| {
            rule.keywords.iter().any(|keyword| lower.contains(&keyword.to_ascii_lowercase()))
        });
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            expected.map(|(at, _)| at).collect::<Vec<_>>(),
            "{content:?}"
        );
    }

    #[test]
    fn every_keyword_is_found_at_any_offset_and_in_any_case() {
        assert!(RULES.len() <= MAX_RULES);
        for rule in RULES.iter() {
            check(rule.hit);
            check(rule.miss);
            for keyword in rule.keywords {
                check(keyword);
                check(&format!("xx{}", keyword.to_ascii_uppercase()));
                check(&keyword[..keyword.len() - keyword.chars().last().map_or(0, char::len_utf8)]);
            }
        }
        check("");
    }
}
