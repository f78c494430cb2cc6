//! The lines that may be shown: the best of all lines that have left the window.

use super::line_tables::{Opening, TemplateCounts};
use super::weights::{ONSET, ONSET_LINES, RARE_LINES, RARITY, RARITY_DOUBLINGS, RECENCY};
use super::window::Window;
use crate::strategy::lines::Extent;
use crate::strategy::pool::{Pool, Pooled};
use crate::strategy::rules::Role;
use std::ops::Range;

/// A line that may be shown.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) text: LineText,
    pub(super) extent: Extent,
    /// Its value by its role.
    pub(super) own: i32,
    /// Its value, with what it gains from the lines around it.
    pub(super) value: i32,
    pub(super) occurrence: Occurrence,
    pub(super) template: u64,
    pub(super) role: Option<Role>,
    pub(super) indent: u8,
    pub(super) opening: Opening,
}

/// The text of a line.
#[derive(Clone, Debug)]
pub(super) enum LineText {
    /// The range of the current segment that has it.
    InSegment(Range<usize>),
    Copied(Vec<u8>),
}

impl LineText {
    /// Copies the text, if it is in the segment.
    pub(super) fn copy(&mut self, segment: &[u8]) {
        if let LineText::InSegment(range) = self {
            *self = LineText::Copied(segment[range.clone()].to_vec());
        }
    }

    /// The text, if it was copied.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            LineText::InSegment(_) => &[],
            LineText::Copied(text) => text,
        }
    }
}

/// Whether a line is the first of its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    First,
    Later,
}

/// The value of a line for being unlike the others. Of some roles, no line has one.
pub(super) fn rarity(counts: &TemplateCounts, line: &Candidate) -> i32 {
    if line.role.is_some_and(Role::is_never_rare) {
        return 0;
    }
    let value = ((counts.log2_lines_per_template() - 1.0).clamp(0.0, RARITY_DOUBLINGS) * RARITY) as i32;
    // Where all lines differ, none is rare. Returning here saves the lookup below for each of them.
    if value == 0 {
        return 0;
    }
    let count = counts.of(line.template);
    if count > RARE_LINES { 0 } else { value / count as i32 }
}

/// The value of a line that starts something new: a loss that turns to `nan` stays `nan`.
pub(super) fn onset(counts: &TemplateCounts, line: &Candidate) -> i32 {
    let is_onset = line.occurrence == Occurrence::First
        && counts.of(line.template) >= ONSET_LINES
        && !line.role.is_some_and(Role::is_unimportant);
    if is_onset { ONSET } else { 0 }
}

impl Pooled for Candidate {
    fn range(&self) -> Range<u64> {
        self.extent.start..self.extent.end
    }

    fn text(&self) -> &[u8] {
        self.text.bytes()
    }
}

/// The best lines so far.
pub(super) struct Candidates(Pool<Candidate>);

impl Candidates {
    pub(super) fn new(max_bytes: usize) -> Candidates {
        Candidates(Pool::new(max_bytes))
    }

    /// Adds a line that has left the window, if it may be shown.
    #[inline]
    pub(super) fn add(&mut self, mut line: Candidate, segment: &[u8], counts: &TemplateCounts) {
        if line.value > 0 && self.is_wanted(&line, counts) {
            line.text.copy(segment);
            self.0.add(line, |line| line.value.max(rarity(counts, line)).max(onset(counts, line)));
        }
    }

    /// Whether a line could still be shown: with every bonus it would beat the weakest candidate.
    #[inline(never)]
    fn is_wanted(&self, line: &Candidate, counts: &TemplateCounts) -> bool {
        let margin = RECENCY - self.0.floor();
        line.value + margin > 0 || rarity(counts, line) + margin > 0 || onset(counts, line) + margin > 0
    }

    /// Whether lines may have been dropped that were in these bytes.
    pub(super) fn has_dropped(&self, bytes: &Range<u64>) -> bool {
        self.0.has_dropped(bytes)
    }

    /// All candidates, those of the window included, in text order.
    pub(super) fn take_all(&mut self, window: &mut Window) -> Vec<Candidate> {
        let mut lines = self.0.take();
        lines.extend(window.drain());
        lines
    }
}
