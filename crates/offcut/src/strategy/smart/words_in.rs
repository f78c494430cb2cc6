//! Which rules a line may concern: those of which a word occurs in it, in any case.
//!
//! This is asked about every new line, and most outputs are short, so it must also cost nothing to prepare: an
//! automaton over the words takes longer to build than most outputs take to read. The words stand in lists by their
//! first three letters, and a line is passed over three letters at a time.

use super::rules::RULES;
use std::sync::LazyLock;

/// No word: the end of a list.
const NONE: u16 = u16::MAX;

/// The words of all rules, in lists.
pub(super) struct Words {
    words: Vec<Word>,
    /// The first word of each list of words of three letters and more, by the hash of their first three.
    lists: Vec<u16>,
    /// The same for shorter words, by their first letter.
    short: Vec<u16>,
}

struct Word {
    text: &'static [u8],
    /// Its first letters, and which bits of them count: most words of a list differ in these.
    letters: u64,
    mask: u64,
    rules: Rules,
    /// The next word of the list.
    next: u16,
}

pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words =
        Words { words: Vec::with_capacity(512), lists: vec![NONE; LISTS], short: vec![NONE; 256] };
    for (rule, number) in RULES.iter().zip(0..) {
        for text in rule.keywords {
            words.add(text.as_bytes(), number);
        }
    }
    words
});

/// Lists enough that the letters of other words rarely share one: small enough for the nearest cache.
const LISTS: usize = 1 << 13;

/// The list of three letters, whose case does not matter.
#[inline]
fn hash(first: u8, second: u8, third: u8) -> usize {
    let letters = u32::from_le_bytes([first, second, third, 0]) | 0x20_2020;
    (letters.wrapping_mul(0x9E37_79B1) >> 19) as usize
}

/// The first eight letters, whose case does not matter.
#[inline]
fn letters(text: &[u8]) -> u64 {
    let first = text.first_chunk::<8>().copied().unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded[..text.len()].copy_from_slice(text);
        padded
    });
    u64::from_le_bytes(first) | 0x2020_2020_2020_2020
}

impl Words {
    /// Adds a word of a rule. Many rules have the same word, which then stands in its list once.
    fn add(&mut self, text: &'static [u8], rule: usize) {
        let first = match *text {
            [first, second, third, ..] => &mut self.lists[hash(first, second, third)],
            [first, ..] => &mut self.short[usize::from(first.to_ascii_lowercase())],
            [] => return,
        };
        let mut number = *first;
        while let Some(word) = self.words.get_mut(usize::from(number)) {
            if word.text.eq_ignore_ascii_case(text) {
                return word.rules.add(rule);
            }
            number = word.next;
        }
        let next = std::mem::replace(first, self.words.len() as u16);
        let mask = u64::MAX >> (64 - 8 * text.len().min(8));
        let mut rules = Rules::default();
        rules.add(rule);
        self.words.push(Word { text, letters: letters(text) & mask, mask, rules, next });
    }

    /// The rules of which a word occurs in `content`.
    pub(super) fn of(&self, content: &[u8]) -> Rules {
        let mut found = Rules::default();
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

    /// Compares what stands in one place with the words of a list.
    fn compare(&self, first: u16, rest: &[u8], found: &mut Rules) {
        let mut number = first;
        let found_letters = letters(rest);
        while let Some(&Word { text, letters, mask, ref rules, next }) = self.words.get(usize::from(number)) {
            let may_be = found_letters & mask == letters;
            if may_be && rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text)) {
                found.join(rules);
            }
            number = next;
        }
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules([u64; RULES_AT_MOST / 64]);

/// A test says when there are more.
const RULES_AT_MOST: usize = 512;

impl Rules {
    fn add(&mut self, rule: usize) {
        self.0[rule / 64] |= 1 << (rule % 64);
    }

    fn join(&mut self, others: &Rules) {
        self.0.iter_mut().zip(others.0).for_each(|(bits, others)| *bits |= others);
    }

    /// The rules of the set in the order of precedence.
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
        let found = WORDS.of(content.as_bytes());
        let lower = content.to_ascii_lowercase();
        let expected = RULES
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.keywords.iter().any(|word| lower.contains(&word.to_ascii_lowercase())));
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            expected.map(|(at, _)| at).collect::<Vec<_>>(),
            "{content:?}"
        );
    }

    #[test]
    fn every_word_is_found_wherever_it_stands() {
        assert!(RULES.len() <= RULES_AT_MOST);
        for rule in RULES.iter() {
            check(rule.hit);
            check(rule.miss);
            for word in rule.keywords {
                check(word);
                check(&format!("xx{}", word.to_ascii_uppercase()));
                check(&word[..word.len() - word.chars().last().map_or(0, char::len_utf8)]);
            }
        }
        check("");
    }
}
