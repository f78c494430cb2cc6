//! Numbers that stay the same: `exit code 0` thousands of times, and once `exit code 1`.
//!
//! A template folds every word with a digit in it. Some of these words vary from line to line, others have had one value
//! in all lines of their template so far: those are watched. A line in which one of them has another value is of a kind
//! of its own, so that it counts as rare and is not folded with the others. A word with many values is watched no longer,
//! so ordinary lines cost nothing.

use super::fingerprint;
use std::collections::HashMap;

/// So many words of a template are watched.
const WORDS: usize = 6;

/// So many lines with the same value make it the usual one.
const SETTLED: u32 = 16;

/// A word that has more unusual values than this varies.
const UNUSUAL: usize = 4;

/// So many templates are watched.
const MOST: u16 = 4096;

/// Where the watched words of a line stand. Lines of one fingerprint differ in nothing but the value of digits, so they
/// stand in the same places of all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    watch: u16,
    count: u8,
    places: [Place; WORDS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: u16,
    length: u8,
    /// The word of the template.
    word: u8,
}

impl Places {
    /// Whether there is nothing to watch.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, place: Place) {
        self.places[usize::from(self.count)] = place;
        self.count += 1;
    }

    fn all(&self) -> &[Place] {
        &self.places[..usize::from(self.count)]
    }
}

/// The words of every template that is watched.
#[derive(Default)]
pub(super) struct Constants {
    numbers: HashMap<u64, u16>,
    watches: Vec<Watch>,
}

struct Watch {
    lines: u32,
    words: [Word; WORDS],
}

/// What is known of one word of a template.
#[derive(Clone, Copy, Debug)]
enum Word {
    /// It is not watched.
    Varies,
    /// It has had this value, and in a few lines one of those.
    Constant { usual: u32, unusual: [u32; UNUSUAL], count: u8 },
}

impl Word {
    fn new(value: u32) -> Word {
        Word::Constant { usual: value, unusual: [0; UNUSUAL], count: 0 }
    }

    /// Whether a value is unusual, in a template that has had so many lines.
    fn is_unusual(&mut self, value: u32, lines: u32) -> bool {
        let Word::Constant { usual, unusual, count } = self else { return false };
        if *usual == value {
            return false;
        }
        let known = usize::from(*count);
        if unusual[..known].contains(&value) {
            return true;
        }
        if lines < SETTLED || known == UNUSUAL {
            *self = Word::Varies;
            return false;
        }
        unusual[known] = value;
        *count += 1;
        true
    }
}

impl Constants {
    /// Where a line has words to watch: one that was looked at because it is new. Its content stands `offset` bytes
    /// behind its start.
    pub(super) fn places(&mut self, template: u64, content: &[u8], offset: usize) -> Places {
        let Some(number) = self.number(template, content) else { return Places::default() };
        let mut places = Places { watch: number, ..Places::default() };
        let words = &self.watches[usize::from(number)].words;
        for ((range, word), number) in fingerprint::folded_words(content).zip(words).zip(0..) {
            let start = u16::try_from(offset + range.start);
            let length = u8::try_from(range.len());
            if let (Word::Constant { .. }, Ok(start), Ok(length)) = (word, start, length) {
                places.add(Place { start, length, word: number });
            }
        }
        places
    }

    /// The watch over a template, which begins with this line if it is the first.
    fn number(&mut self, template: u64, content: &[u8]) -> Option<u16> {
        if let Some(&number) = self.numbers.get(&template) {
            return Some(number);
        }
        let number = u16::try_from(self.watches.len()).ok().filter(|&number| number < MOST)?;
        let mut words = [Word::Varies; WORDS];
        for (range, word) in fingerprint::folded_words(content).zip(&mut words) {
            if !is_time(content, &range) {
                *word = Word::new(hash(&content[range]));
            }
        }
        self.watches.push(Watch { lines: 0, words });
        self.numbers.insert(template, number);
        Some(number)
    }

    /// The kind of a line: its template, unless a word that is watched has an unusual value.
    #[inline(never)]
    pub(super) fn kind(&mut self, template: u64, text: &[u8], places: &mut Places) -> u64 {
        let watch = &mut self.watches[usize::from(places.watch)];
        watch.lines = watch.lines.saturating_add(1);
        let mut kind = template;
        let mut some_vary = false;
        for place in places.all() {
            let start = usize::from(place.start);
            let Some(bytes) = text.get(start..start + usize::from(place.length)) else { continue };
            let value = hash(bytes);
            let word = &mut watch.words[usize::from(place.word)];
            if word.is_unusual(value, watch.lines) {
                kind = fingerprint::mix(kind, u64::from(value) | 1 << (40 + place.word));
            }
            some_vary |= matches!(word, Word::Varies);
        }
        if some_vary {
            let mut left = Places { watch: places.watch, ..Places::default() };
            let is_watched = |place: &&Place| !matches!(watch.words[usize::from(place.word)], Word::Varies);
            places.all().iter().filter(is_watched).for_each(|place| left.add(*place));
            *places = left;
        }
        kind
    }
}

/// The hash of a short word.
#[inline]
fn hash(word: &[u8]) -> u32 {
    let (chunks, rest) = word.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = chunks.iter().chain([&last]).map(|chunk| u64::from_le_bytes(*chunk));
    (words.fold(word.len() as u64, fingerprint::mix) >> 32) as u32
}

/// Whether a word is a part of a date or a time, which goes on and says nothing by that: `12:46:31`, `2026-11-16`. Places
/// in a file (`12:5`) are like it.
fn is_time(content: &[u8], range: &std::ops::Range<usize>) -> bool {
    let digit = |at: usize| content.get(at).is_some_and(u8::is_ascii_digit);
    let is_after = range.start >= 2 && content[range.start - 1] == b':' && digit(range.start - 2);
    let is_before = content.get(range.end) == Some(&b':') && digit(range.end + 1);
    let word = &content[range.clone()];
    is_after || is_before || word.iter().filter(|&&byte| byte == b'-').count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of lines of one template, numbered in the order in which they come.
    #[track_caller]
    fn check(lines: &[String], expected: &str) {
        let mut constants = Constants::default();
        let mut kinds: Vec<u64> = Vec::new();
        let mut found = String::new();
        for line in lines {
            let line = line.as_bytes();
            let mut places = constants.places(7, line, 0);
            let kind = constants.kind(7, line, &mut places);
            let number = kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len());
            if number == kinds.len() {
                kinds.push(kind);
            }
            found.push(char::from(b'a' + number as u8));
        }
        // Runs as their letter and how long they are.
        let mut runs: Vec<(char, usize)> = Vec::new();
        for kind in found.chars() {
            match runs.last_mut() {
                Some((last, count)) if *last == kind => *count += 1,
                _ => runs.push((kind, 1)),
            }
        }
        let runs: Vec<String> = runs.iter().map(|(kind, count)| format!("{kind}{count}")).collect();
        assert_eq!(runs.join(" "), expected);
    }

    fn codes(codes: &[&str]) -> Vec<String> {
        let usual = (0..100).map(|number| format!("job {number} ended with exit code 0"));
        let others = codes.iter().map(|code| format!("job 7 ended with exit code {code}"));
        usual.chain(others).chain(["job 8 ended with exit code 0".to_owned()]).collect()
    }

    #[test]
    fn what_was_always_the_same_and_changes() {
        check(&codes(&[]), "a101");
        check(&codes(&["1"]), "a100 b1 a1");
        check(&codes(&["137", "1", "137"]), "a100 b1 c1 b1 a1");
        // With many values it is nothing unusual to have another.
        check(&codes(&["1", "2", "3", "4", "5", "1", "9"]), "a100 b1 c1 d1 e1 a4");
        // Nothing is usual at the start.
        check(&codes(&["1"])[90..95], "a5");
        check(&[&codes(&["1"])[97..], &codes(&["2"])[..]].concat(), "a107");
    }

    #[test]
    fn times_go_on() {
        let lines = |time: &str| (0..50).map(|_| format!("{time} went well")).collect::<Vec<_>>();
        check(&[lines("12:46:31"), lines("13:00:02")].concat(), "a100");
        check(&[lines("2026-11-15"), lines("2026-11-16")].concat(), "a100");
        check(&[lines("in 12 s"), lines("in 13 s")].concat(), "a50 b50");
    }
}
