//! The lines that may be shown: the best of all that have left the window.

use super::blocks::ResultContext;
use super::counts::{Counts, Opening};
use super::lines::Held;
use super::rules::Role;
use super::window::{Place, Window};
use crate::cut::PieceKind;

/// A line that may be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<Text = Vec<u8>> {
    pub(super) text: Text,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) number: u64,
    pub(super) held: Held,
    pub(super) form: PieceKind,
    pub(super) score: i32,
    pub(super) order: Order,
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
            held,
            form,
            score,
            order,
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
            held,
            form,
            score,
            order,
            context,
            template,
            role,
            indent,
            opening,
        }
    }
}

/// Where a line stands among those of its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    First,
    Later,
}

/// What it is worth that a line is unlike the others. That something went well is nothing rare, whatever its name.
pub(super) fn rarity<Text>(counts: &Counts, line: &Candidate<Text>) -> i32 {
    if line.role.is_some_and(Role::is_unimportant) {
        return 0;
    }
    let worth = ((counts.monotony() - 1.0).clamp(0.0, 8.0) * 70.0) as i32;
    // Where all lines differ, nothing is rare: that is asked about every one of them.
    if worth == 0 {
        return 0;
    }
    let count = counts.of(line.template);
    if count > 3 { 0 } else { worth / count as i32 }
}

/// Holds lines, within a bound of bytes.
pub(super) struct Store {
    best: Vec<Candidate>,
    bytes: usize,
    most: usize,
    /// What the weakest line was worth when some had to go.
    floor: i32,
}

/// The most that a line can gain by its position near the end of the text.
pub(super) const RECENCY: i32 = 180;

/// About what a marker costs.
const SMALL_GAP: u64 = 60;

/// What a line costs us besides its text.
const OVERHEAD: usize = 96;

impl Store {
    pub(super) fn new(most: usize) -> Store {
        Store { best: Vec::new(), bytes: 0, most, floor: 0 }
    }

    /// Holds the line that leaves the window if it is worth anything.
    #[inline]
    pub(super) fn take_from(&mut self, window: &mut Window, run: &[u8], counts: &Counts) {
        if let Some(line) = window.leaving().filter(|line| line.score > 0)
            && self.is_wanted(line, counts)
        {
            self.hold(window.take_leaving(run), counts);
        }
    }

    /// Where many lines are better, even what stands near the end of the text would not be shown.
    #[inline(never)]
    fn is_wanted(&self, line: &Candidate<Place>, counts: &Counts) -> bool {
        let hope = RECENCY - self.floor;
        line.score + hope > 0 || rarity(counts, line) + hope > 0
    }

    #[inline(never)]
    fn hold(&mut self, line: Candidate, counts: &Counts) {
        self.bytes += line.text.len() + OVERHEAD;
        self.best.push(line);
        if self.bytes > self.most {
            self.prune(counts);
        }
    }

    /// Forgets the weaker half.
    fn prune(&mut self, counts: &Counts) {
        let worth = |line: &Candidate| line.score.max(rarity(counts, line));
        let mut order: Vec<(i32, u64, usize)> =
            self.best.iter().map(|line| (-worth(line), line.start, line.text.len() + OVERHEAD)).collect();
        order.sort_unstable();
        let mut bytes = 0;
        let mut weakest = None;
        for &(worth, start, cost) in &order {
            if bytes + cost > self.most / 2 {
                break;
            }
            bytes += cost;
            weakest = Some((worth, start));
        }
        let is_strong =
            |line: &Candidate| weakest.is_some_and(|weakest| (-worth(line), line.start) <= weakest);
        let mut is_kept: Vec<bool> = self.best.iter().map(is_strong).collect();
        let strong: Vec<usize> = (0..is_kept.len()).filter(|&at| is_kept[at]).collect();
        // What little lies between two of the others costs no more than the marker that would stand for it.
        let mut allowed = self.most / 8;
        for pair in strong.windows(2).map(|pair| pair[0]..pair[1]) {
            let length = self.best[pair.end].start - self.best[pair.start].end;
            let cost = (pair.len() - 1) * OVERHEAD + length as usize;
            if pair.len() > 1 && length <= SMALL_GAP && cost <= allowed {
                allowed -= cost;
                bytes += cost;
                is_kept[pair].fill(true);
            }
        }
        let mut kept = is_kept.into_iter();
        self.best.retain(|_| kept.next().unwrap_or_default());
        self.bytes = bytes;
        self.floor = weakest.map_or(0, |(worth, _)| -worth);
    }

    /// Every line held, in the order of the text.
    pub(super) fn lines(&mut self, window: &mut Window) -> Vec<Candidate> {
        let mut lines = std::mem::take(&mut self.best);
        lines.extend(window.drain());
        lines
    }
}
