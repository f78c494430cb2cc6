//! How much of a text is new: the words that did not occur before.
//!
//! What was said before is worth nothing to a reader: the same author in every item, addresses that differ in one part,
//! the signature under every message. Text that somebody wrote is full of new words. Keys and meanings are never used.

use super::buffer::Step;
use super::tokens::string_end;
use crate::strategy::fingerprint;
use std::ops::Range;

/// Shorter words are not counted.
const MIN_WORD_BYTES: usize = 3;

/// A longer word counts as this many bytes: encoded data is one long word.
const MAX_WORD_BYTES: usize = 16;

/// This many bytes from the ends of a string a word counts half, twice as many a third: something of each string is
/// worth more than all of one.
const HALF_WORTH_BYTES: usize = 1024;

/// The words seen are kept as bits in a table of this many, chosen by hash. A collision makes a new word look old.
const TABLE_BITS: u32 = 18;

/// The new words of a text.
#[derive(Default)]
pub(super) struct Novelty {
    /// For each new word where it ends, and the sum of the bytes of all new words up to there.
    sums: Vec<(usize, usize)>,
}

impl Novelty {
    pub(super) fn of(text: &[u8]) -> Novelty {
        let mut seen = vec![0_u64; 1 << (TABLE_BITS - 6)];
        let (mut sums, mut sum, mut at, mut string) = (Vec::new(), 0, 0, 0..0);
        while at < text.len() {
            if text[at] == b'"' && at >= string.end {
                string = at..string_end(text, at).unwrap_or(text.len());
            }
            // The letter of an escape belongs to no word.
            at += if text[at] == b'\\' { 2 } else { 0 };
            let rest = text.get(at..).unwrap_or_default();
            let length =
                rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count();
            if length >= MIN_WORD_BYTES {
                let hash = fingerprint::exact(&rest[..length]) >> (64 - TABLE_BITS);
                let (slot, bit) = (&mut seen[(hash >> 6) as usize], 1 << (hash & 63));
                if *slot & bit == 0 {
                    *slot |= bit;
                    let inside = (at - string.start).min(string.end.saturating_sub(at));
                    sum += (length.min(MAX_WORD_BYTES) / (1 + inside / HALF_WORTH_BYTES)).max(1);
                    sums.push((at + length, sum));
                }
            }
            at += length.max(usize::from(rest.first() != Some(&b'\\')));
        }
        Novelty { sums }
    }

    /// The bytes of the new words in a range.
    pub(super) fn bytes_in(&self, range: &Range<usize>) -> usize {
        let sum = |at: usize| match self.sums.partition_point(|&(end, _)| end <= at) {
            0 => 0,
            count => self.sums[count - 1].1,
        };
        sum(range.end).saturating_sub(sum(range.start))
    }

    /// The bytes of the new words that the steps show.
    pub(super) fn bytes_shown(&self, steps: &[Step]) -> usize {
        steps.iter().filter_map(Step::kept).map(|range| self.bytes_in(range)).sum()
    }
}
