//! The lines that may be shown: the best of all lines that have left the window.
//!
//! Memory is bounded. When the candidates need more than that, the weaker half is dropped.

use super::blocks::ResultContext;
use super::line_tables::{Opening, TemplateCounts};
use super::lines::Coverage;
use super::rules::Role;
use super::window::{TextLocation, Window};
use crate::cut::PieceKind;

/// A line that may be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<Text = Vec<u8>> {
    pub(super) text: Text,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) number: u64,
    pub(super) coverage: Coverage,
    pub(super) form: PieceKind,
    pub(super) score: i32,
    pub(super) occurrence: Occurrence,
    pub(super) context: ResultContext,
    pub(super) template: u64,
    pub(super) role: Option<Role>,
    pub(super) indent: u8,
    pub(super) opening: Opening,
}

impl<Text> Candidate<Text> {
    pub(super) fn with_text<Other>(self, text: Other) -> Candidate<Other> {
        let Candidate {
            start,
            end,
            number,
            coverage,
            form,
            score,
            occurrence,
            context,
            template,
            role,
            indent,
            opening,
            ..
        } = self;
        Candidate {
            text,
            start,
            end,
            number,
            coverage,
            form,
            score,
            occurrence,
            context,
            template,
            role,
            indent,
            opening,
        }
    }
}

/// Whether a line is the first of its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    First,
    Later,
}

/// The score of a line for being unlike the others. Unimportant lines never score.
pub(super) fn rarity<Text>(counts: &TemplateCounts, line: &Candidate<Text>) -> i32 {
    if line.role.is_some_and(Role::is_unimportant) {
        return 0;
    }
    let score = ((counts.log2_lines_per_template() - 1.0).clamp(0.0, 8.0) * 70.0) as i32;
    // Where all lines differ, none is rare. Returning here saves the lookup below for each of them.
    if score == 0 {
        return 0;
    }
    let count = counts.of(line.template);
    if count > 3 { 0 } else { score / count as i32 }
}

/// The best lines so far, within a bound of bytes.
pub(super) struct Candidates {
    best: Vec<Candidate>,
    bytes: usize,
    max_bytes: usize,
    /// The score of the weakest line that survived the last pruning.
    floor: i32,
}

/// The most that a line can gain for being near the end of the text.
pub(super) const MAX_RECENCY_BONUS: i32 = 180;

/// A gap of at most this many bytes is about as long as its marker.
const SMALL_GAP_BYTES: u64 = 60;

/// The memory that a line takes besides its text.
const OVERHEAD_BYTES: usize = 96;

impl Candidates {
    pub(super) fn new(max_bytes: usize) -> Candidates {
        Candidates { best: Vec::new(), bytes: 0, max_bytes, floor: 0 }
    }

    /// Keeps the line that is about to leave the window, if it may be shown.
    #[inline]
    pub(super) fn take_from(&mut self, window: &mut Window, segment: &[u8], counts: &TemplateCounts) {
        if let Some(line) = window.leaving().filter(|line| line.score > 0)
            && self.is_wanted(line, counts)
        {
            self.add(window.take_leaving(segment), counts);
        }
    }

    /// Whether a line could still be shown: with every bonus it would beat the weakest candidate.
    #[inline(never)]
    fn is_wanted(&self, line: &Candidate<TextLocation>, counts: &TemplateCounts) -> bool {
        let margin = MAX_RECENCY_BONUS - self.floor;
        line.score + margin > 0 || rarity(counts, line) + margin > 0
    }

    #[inline(never)]
    fn add(&mut self, line: Candidate, counts: &TemplateCounts) {
        self.bytes += line.text.len() + OVERHEAD_BYTES;
        self.best.push(line);
        if self.bytes > self.max_bytes {
            self.prune(counts);
        }
    }

    /// Drops the weaker half.
    fn prune(&mut self, counts: &TemplateCounts) {
        let score = |line: &Candidate| line.score.max(rarity(counts, line));
        let mut order: Vec<(i32, u64, usize)> = self
            .best
            .iter()
            .map(|line| (-score(line), line.start, line.text.len() + OVERHEAD_BYTES))
            .collect();
        order.sort_unstable();
        let mut bytes = 0;
        let mut weakest = None;
        for &(score, start, cost) in &order {
            if bytes + cost > self.max_bytes / 2 {
                break;
            }
            bytes += cost;
            weakest = Some((score, start));
        }
        let is_strong =
            |line: &Candidate| weakest.is_some_and(|weakest| (-score(line), line.start) <= weakest);
        let mut is_kept: Vec<bool> = self.best.iter().map(is_strong).collect();
        let strong: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        // Lines in a small gap between two kept lines cost no more than the marker of that gap.
        let mut allowed = self.max_bytes / 8;
        for pair in strong.windows(2).map(|pair| pair[0]..pair[1]) {
            let length = self.best[pair.end].start - self.best[pair.start].end;
            let cost = (pair.len() - 1) * OVERHEAD_BYTES + length as usize;
            if pair.len() > 1 && length <= SMALL_GAP_BYTES && cost <= allowed {
                allowed -= cost;
                bytes += cost;
                is_kept[pair].fill(true);
            }
        }
        let mut kept = is_kept.into_iter();
        self.best.retain(|_| kept.next().unwrap_or_default());
        self.bytes = bytes;
        self.floor = weakest.map_or(0, |(score, _)| -score);
    }

    /// All candidates, those of the window included, in text order.
    pub(super) fn take_all(&mut self, window: &mut Window) -> Vec<Candidate> {
        let mut lines = std::mem::take(&mut self.best);
        lines.extend(window.drain());
        lines
    }
}
