//! Lines that do not have the shape of the others: a file that could not be read, a warning, a heading, a sum.

use super::STRAY;
use crate::strategy::smart::LineClassifier;
use std::collections::HashMap;

/// So many of a kind are shown before anything else.
const OF_A_KIND: u32 = 3;

/// So many kinds, and so many that tell of trouble.
const KINDS: usize = 24;
const KINDS_OF_TROUBLE: usize = 240;

/// The kinds of strays so far.
#[derive(Default)]
pub(super) struct Strays {
    counts: HashMap<u64, u32>,
    classifier: LineClassifier,
}

impl Strays {
    /// What the next of them is worth: the first of a kind more than anything but a heading.
    pub(super) fn worth(&mut self, line: &[u8]) -> u32 {
        let (kind, is_trouble) = self.classifier.classify(line);
        let most = if is_trouble { KINDS_OF_TROUBLE } else { KINDS };
        if self.counts.len() >= most && !self.counts.contains_key(&kind) {
            return 1;
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        match *count <= OF_A_KIND {
            true => STRAY + u32::from(is_trouble),
            false => 1,
        }
    }
}
