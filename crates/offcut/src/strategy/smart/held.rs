//! The lines that may be shown: a window of the last few, and the best of all before.

use super::blocks::Standing;
use super::counts::{Counts, Known, Opening};
use super::lines::{Held, Line};
use super::rules::Role;
use crate::cut::Form;

/// How far back a line can still be raised by one that follows it.
const WINDOW: usize = 48;

/// A line that may be shown.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) text: Vec<u8>,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) number: u64,
    pub(super) held: Held,
    pub(super) form: Form,
    pub(super) score: i32,
    pub(super) order: Order,
    pub(super) standing: Standing,
    pub(super) template: u64,
    pub(super) role: Option<Role>,
    pub(super) indent: u8,
    pub(super) opening: Opening,
}

/// Where a line stands among those of its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    First,
    Later,
}

/// What it is worth that a line is unlike the others. That something went well is nothing rare, whatever its name.
pub(super) fn rarity(counts: &Counts, line: &Candidate) -> i32 {
    if line.role.is_some_and(Role::is_idle) {
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
    window: Vec<Recent>,
    /// Where in the window the next line goes, which is where the oldest one is.
    next: usize,
    best: Vec<Candidate>,
    bytes: usize,
    most: usize,
    /// What the weakest line was worth when some had to go.
    floor: i32,
}

/// A line of the window. Most leave it again without being looked at, so their text stays where it is as long as the
/// run lasts.
#[derive(Clone, Debug)]
struct Recent {
    line: Candidate,
    /// Where in the run its text stands, and how long it is, if it has not been copied.
    place: Option<(usize, usize)>,
}

/// The most that a line can gain by standing near the end of the text.
pub(super) const RECENCY: i32 = 180;

/// About what a marker costs.
const SMALL_GAP: u64 = 60;

/// What a line costs us besides its text.
const OVERHEAD: usize = 96;

impl Store {
    pub(super) fn new(most: usize) -> Store {
        Store { window: Vec::with_capacity(WINDOW), next: 0, best: Vec::new(), bytes: 0, most, floor: 0 }
    }

    /// Takes in the next line of `run`; the one that leaves the window is held if it is worth anything.
    #[inline]
    pub(super) fn push(
        &mut self,
        line: &Line<'_>,
        run: &[u8],
        score: i32,
        (order, standing): (Order, Standing),
        known: &Known,
        counts: &Counts,
    ) {
        if self.window.len() < WINDOW {
            self.window.push(Recent {
                line: Candidate {
                    text: line.text.to_vec(),
                    start: line.start,
                    end: line.end,
                    number: line.number,
                    held: line.held,
                    form: line.form,
                    score,
                    order,
                    standing,
                    template: known.template,
                    role: known.role,
                    indent: known.indent,
                    opening: known.opening,
                },
                place: None,
            });
            return;
        }
        let slot = &mut self.window[self.next];
        self.next = if self.next + 1 == WINDOW { 0 } else { self.next + 1 };
        // Where many lines are better, even what stands near the end of the text would not be shown.
        let hope = RECENCY - self.floor;
        let is_held =
            slot.line.score > 0 && (slot.line.score + hope > 0 || rarity(counts, &slot.line) + hope > 0);
        if is_held {
            slot.settle(run);
            self.bytes += slot.line.text.len() + OVERHEAD;
            let text = std::mem::take(&mut slot.line.text);
            self.best.push(Candidate { text, ..slot.line });
        }
        let entry = &mut slot.line;
        (entry.start, entry.end, entry.number) = (line.start, line.end, line.number);
        (entry.held, entry.form, entry.score, entry.order) = (line.held, line.form, score, order);
        (entry.template, entry.role, entry.standing) = (known.template, known.role, standing);
        (entry.indent, entry.opening) = (known.indent, known.opening);
        slot.place = line.place.map(|place| (place, line.text.len()));
        if line.place.is_none() {
            slot.line.text.clear();
            slot.line.text.extend_from_slice(line.text);
        }
        if self.bytes > self.most {
            self.prune(counts);
        }
    }

    /// Copies what is still in the run, which ends.
    pub(super) fn settle(&mut self, run: &[u8]) {
        self.window.iter_mut().for_each(|recent| recent.settle(run));
    }

    /// The line `back` lines ago; 1 is the last one. Its text may not be there yet.
    pub(super) fn recent(&mut self, back: usize) -> Option<&mut Candidate> {
        let count = self.window.len();
        if back == 0 || back > count {
            return None;
        }
        let newest = if count < WINDOW { count } else { self.next + WINDOW };
        let at = (newest - back) % WINDOW;
        self.window.get_mut(at).map(|recent| &mut recent.line)
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
    pub(super) fn lines(&mut self) -> Vec<Candidate> {
        let mut lines = std::mem::take(&mut self.best);
        let split = if self.window.len() < WINDOW { 0 } else { self.next };
        self.window.rotate_left(split);
        lines.extend(self.window.drain(..).map(|recent| recent.line));
        self.next = 0;
        lines
    }
}

impl Recent {
    fn settle(&mut self, run: &[u8]) {
        if let Some((place, length)) = self.place.take() {
            self.line.text.clear();
            self.line.text.extend_from_slice(&run[place..place + length]);
        }
    }
}
