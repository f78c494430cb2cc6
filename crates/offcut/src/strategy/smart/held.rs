//! The lines that may be shown: a window of the last few, and the best of all before.

use super::counts::Counts;
use super::lines::{Held, Line};
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
    pub(super) template: u64,
    pub(super) indent: u8,
}

/// What it is worth that a line is unlike the others.
pub(super) fn rarity(counts: &Counts, template: u64) -> i32 {
    let count = counts.of(template);
    if count > 3 {
        return 0;
    }
    let worth = (counts.monotony() - 1.0).clamp(0.0, 8.0) * 70.0;
    worth as i32 / count as i32
}

/// Holds lines, within a bound of bytes.
pub(super) struct Store {
    window: Vec<Candidate>,
    /// Where in the window the next line goes, which is where the oldest one is.
    next: usize,
    best: Vec<Candidate>,
    bytes: usize,
    most: usize,
}

/// What a line costs us besides its text.
const OVERHEAD: usize = 96;

impl Store {
    pub(super) fn new(most: usize) -> Store {
        Store { window: Vec::with_capacity(WINDOW), next: 0, best: Vec::new(), bytes: 0, most }
    }

    /// Takes in the next line; the one that leaves the window is held if it is worth anything.
    pub(super) fn push(&mut self, line: &Line<'_>, score: i32, template: u64, indent: u8, counts: &Counts) {
        let Line { text, start, end, number, held, form } = *line;
        if self.window.len() < WINDOW {
            let text = text.to_vec();
            self.window.push(Candidate { text, start, end, number, held, form, score, template, indent });
            return;
        }
        let slot = &mut self.window[self.next];
        self.next = (self.next + 1) % WINDOW;
        if slot.score > 0 {
            self.bytes += slot.text.len() + OVERHEAD;
            let text = std::mem::take(&mut slot.text);
            self.best.push(Candidate { text, ..*slot });
        }
        slot.text.clear();
        slot.text.extend_from_slice(text);
        (slot.start, slot.end, slot.number) = (start, end, number);
        (slot.held, slot.form) = (held, form);
        (slot.score, slot.template, slot.indent) = (score, template, indent);
        if self.bytes > self.most {
            self.prune(counts);
        }
    }

    /// The line `back` lines ago; 1 is the last one.
    pub(super) fn recent(&mut self, back: usize) -> Option<&mut Candidate> {
        let count = self.window.len();
        if back == 0 || back > count {
            return None;
        }
        let newest = if count < WINDOW { count } else { self.next + WINDOW };
        let at = (newest - back) % WINDOW;
        self.window.get_mut(at)
    }

    /// Forgets the weaker half.
    fn prune(&mut self, counts: &Counts) {
        let worth = |line: &Candidate| line.score.max(rarity(counts, line.template));
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
        self.best.retain(|line| weakest.is_some_and(|weakest| (-worth(line), line.start) <= weakest));
        self.bytes = bytes;
    }

    /// Every line held, in the order of the text.
    pub(super) fn lines(&mut self) -> Vec<Candidate> {
        let mut lines = std::mem::take(&mut self.best);
        let split = if self.window.len() < WINDOW { 0 } else { self.next };
        self.window.rotate_left(split);
        lines.append(&mut self.window);
        self.next = 0;
        lines
    }
}
