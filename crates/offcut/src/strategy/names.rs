//! The names that a text introduces: paths, identifiers, hashes, versions.
//!
//! What a reader takes from an output is mostly names: the file to open, the function to call, the commit to look at. A
//! line that introduces names tells more than one that repeats them, and much more than one of plain words.

use super::fingerprint;
use super::logarithm::log2;
use super::select::DOUBLING;
use super::words::{self, Classes, DIGIT, DOT, HYPHEN, LOWER, SLASH, UNDERSCORE, UPPER};
use std::ops::{Add, RangeInclusive};

/// How many names are remembered: the table fits into the L1 cache. A name that was overwritten counts as new again.
const SLOTS: usize = 1 << 12;

/// How long a name is. Shorter words are too common, longer ones are data.
const LENGTHS: RangeInclusive<usize> = 6..=120;

/// The classes of the bytes of a name.
const NAME: Classes = LOWER | UPPER | DIGIT | DOT | HYPHEN | UNDERSCORE | SLASH;

/// The value of a text with one new name in [`BYTES_PER_NAME`] bytes.
const NAME_VALUE: f32 = 100.0;
const BYTES_PER_NAME: f32 = 40.0;

/// What a name that was seen before, and a line by itself, count as, in new names.
const KNOWN_NAME: f32 = 0.1;
const LINE: f32 = 0.2;

/// The value of a short line without names.
pub(super) const PLAIN_VALUE: i32 = 30;

/// The names seen so far, by hash.
pub(super) struct Names(Box<[u32; SLOTS]>);

/// How many names a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameCounts {
    /// Names that were not seen before.
    new: u32,
    /// Names that were.
    known: u32,
}

impl NameCounts {
    /// The value of a text of this length for its names.
    pub(super) fn value(self, bytes: usize, lines: usize) -> i32 {
        let names = self.new as f32 + KNOWN_NAME * self.known as f32 + LINE * lines as f32;
        let density = names * BYTES_PER_NAME / bytes.max(1) as f32;
        (NAME_VALUE + DOUBLING * log2(density)) as i32
    }
}

impl Add for NameCounts {
    type Output = NameCounts;
    fn add(self, other: NameCounts) -> NameCounts {
        NameCounts { new: self.new + other.new, known: self.known + other.known }
    }
}

impl Names {
    pub(super) fn new() -> Names {
        Names(Box::new([0; SLOTS]))
    }

    /// Counts the names of a line.
    pub(super) fn count(&mut self, line: &[u8]) -> NameCounts {
        let mut counts = NameCounts::default();
        let mut rest = line;
        while !rest.is_empty() {
            let (length, classes) = words::run(rest, NAME);
            let word = trim(&rest[..length]);
            if LENGTHS.contains(&word.len()) && !is_plain(classes) && is_name(word) {
                match self.add(word) {
                    Occurrence::New => counts.new += 1,
                    Occurrence::Known => counts.known += 1,
                }
            }
            rest = rest.get(length + 1..).unwrap_or_default();
        }
        counts
    }

    /// Adds a name. Names that differ only in numbers, such as `row1` and `row12`, count as one.
    fn add(&mut self, name: &[u8]) -> Occurrence {
        let letters = name.iter().filter(|byte| !byte.is_ascii_digit());
        let hash = letters.fold(0, |hash, &byte| fingerprint::mix(hash, u64::from(byte)));
        // Zero is an empty slot.
        let tag = (hash >> 32) as u32 | 1;
        let slot = &mut self.0[(hash >> 20) as usize % SLOTS];
        if *slot == tag {
            return Occurrence::Known;
        }
        *slot = tag;
        Occurrence::New
    }
}

/// Whether a name was seen before.
enum Occurrence {
    New,
    Known,
}

/// A word without the punctuation around it.
fn trim(mut word: &[u8]) -> &[u8] {
    while let [b'.' | b'-' | b'/', rest @ ..] | [rest @ .., b'.' | b'-' | b'/'] = word {
        word = rest;
    }
    word
}

/// Whether all bytes of a word are in one class. `___` is no plain word.
fn is_plain(classes: Classes) -> bool {
    classes.is_power_of_two() && classes != UNDERSCORE
}

/// Whether a word is a name: `src/main.rs`, `read_line`, `readLine`, `os.path`, `3f2a9c1`, `utf-8`. A plain word with a
/// number, such as `row12`, is none.
fn is_name(word: &[u8]) -> bool {
    let (mut has_letter, mut has_digit, mut is_mixed) = (false, false, false);
    let mut previous = 0;
    for &byte in word {
        let class = words::class(byte);
        match (previous, class) {
            (_, UNDERSCORE | SLASH) | (LOWER, UPPER) | (DOT, LOWER | UPPER) => return true,
            (_, LOWER | UPPER) => {
                is_mixed |= has_digit;
                has_letter = true;
            }
            (_, DIGIT) => {
                is_mixed |= matches!(previous, HYPHEN | DOT) && has_letter;
                has_digit = true;
            }
            _ => {}
        }
        previous = class;
    }
    is_mixed && has_letter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, names: u32) {
        let counts = Names::new().count(line.as_bytes());
        assert_eq!(counts, NameCounts { new: names, known: 0 }, "{line}");
    }

    #[test]
    fn names_are_words_that_no_sentence_has() {
        check("open src/main.rs, then call read_line() or readLine.", 3);
        check("the commit 3f2a9c1 is in v1.20.3-rc1", 2);
        check("os.path.join and std::sync::Arc", 1);
        check("Nothing here is a name, although it ends with a colon: yes-or-no.", 0);
        check("1234567 12:30:45 ------ ...... ///////", 0);
        check("a_b row1234 utf-16 3f2a9c1", 2);
        check("", 0);
        check(&"x_".repeat(200), 0);
    }

    #[test]
    fn name_is_new_once() {
        let mut names = Names::new();
        assert_eq!(names.count(b"src/main.rs src/main.rs"), NameCounts { new: 1, known: 1 });
        assert_eq!(names.count(b"./src/main.rs:12:"), NameCounts { new: 0, known: 1 });
        assert_eq!(names.count(b"row_100 row_2000 row_xyz"), NameCounts { new: 2, known: 1 });
    }

    #[test]
    fn text_is_worth_more_the_more_names_it_has_in_fewer_bytes() {
        let value = |new, bytes| NameCounts { new, known: 0 }.value(bytes, 1);
        assert!(value(1, 40) > value(0, 40));
        assert!(value(2, 40) > value(1, 40));
        assert!(value(1, 40) > value(1, 400));
        assert!((value(0, 40) - PLAIN_VALUE).abs() < 5);
    }
}
