//! Values lines that do not have the format of the others: a file that could not be read, a warning, a total.

use super::END_VALUE;
use crate::strategy::smart::LineClassifier;
use std::collections::HashMap;

/// How many lines of each template are shown before anything else.
const MAX_PER_TEMPLATE: u32 = 3;

/// How many templates are counted, and how many as long as the lines report problems.
const MAX_TEMPLATES: usize = 24;
const MAX_PROBLEM_TEMPLATES: usize = 240;

/// How often each template occurred among irregular lines.
#[derive(Default)]
pub(super) struct IrregularLines {
    counts: HashMap<u64, u32>,
    classifier: LineClassifier,
}

impl IrregularLines {
    /// The value of the next irregular line: the first of a template have more than anything but a heading, the others no
    /// value of their own.
    pub(super) fn value(&mut self, line: &[u8]) -> Option<i32> {
        let (template, is_problem) = self.classifier.classify(line);
        let max = if is_problem { MAX_PROBLEM_TEMPLATES } else { MAX_TEMPLATES };
        if self.counts.len() >= max && !self.counts.contains_key(&template) {
            return None;
        }
        let count = self.counts.entry(template).or_default();
        *count += 1;
        (*count <= MAX_PER_TEMPLATE).then_some(END_VALUE + i32::from(is_problem))
    }
}
