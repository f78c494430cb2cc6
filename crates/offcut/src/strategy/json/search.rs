//! Finds the best way to shorten a text to what fits.

use super::buffer::Step;
use super::shorten::{Detail, Source, shorten};
use crate::strategy::Room;
use std::ops::Range;

/// The least that is useful of arrays and strings, and everything else.
const LEAST: Detail = Detail {
    items: 2,
    outliers: 0,
    keys: usize::MAX,
    string: 32,
    depth: usize::MAX,
    staleness: 100,
    extra: 0,
};

/// From how much the search starts, from more to less: all keys, perhaps without containers in which little is new; then
/// fewer levels and keys, if nothing fills the room before.
const STARTS: [&[Detail]; 4] = [
    &[LEAST, Detail { staleness: 50, ..LEAST }],
    &[Detail { depth: 3, keys: 12, ..LEAST }],
    &[Detail { depth: 2, keys: 2, ..LEAST }],
    &[Detail { depth: 0, keys: 0, ..LEAST }],
];

/// How many outliers of an array are shown before anything else gets more room; the first number that fits.
const FIRST_OUTLIERS: [usize; 3] = [16, 2, 0];

/// A part of the detail that can grow.
type Amount = fn(&mut Detail) -> &mut usize;

const ITEMS: Amount = |detail| &mut detail.items;
const OUTLIERS: Amount = |detail| &mut detail.outliers;
const KEYS: Amount = |detail| &mut detail.keys;
const DEPTH: Amount = |detail| &mut detail.depth;
const STRINGS: Amount = |detail| &mut detail.string;
const STALENESS: Amount = |detail| &mut detail.staleness;
const EXTRA: Amount = |detail| &mut detail.extra;

/// The orders in which the amounts grow. What grows first gets the most room.
const ORDERS: [[Amount; 5]; 2] =
    [[KEYS, DEPTH, STRINGS, OUTLIERS, ITEMS], [KEYS, DEPTH, OUTLIERS, ITEMS, STRINGS]];

/// The precision while ways are compared, as a fraction of the amount.
const COARSE: usize = 32;

/// The share of the room, in percent, that a preview should fill with original text.
const MIN_FILL: usize = 80;

/// A way to shorten the text that fits.
#[derive(Clone)]
struct Way {
    detail: Detail,
    steps: Vec<Step>,
}

/// The search for the way that shows the most words.
pub(super) struct Search<'a> {
    pub(super) source: Source<'a>,
    pub(super) room: &'a Room<'a>,
    /// About how many bytes fit. No amount is larger.
    pub(super) most: usize,
}

impl Search<'_> {
    pub(super) fn run(&self) -> Option<Vec<Step>> {
        let mut ways = Vec::new();
        for starts in STARTS {
            let starts = starts.iter().filter_map(|&start| self.start(start));
            ways.extend(starts.flat_map(|start| ORDERS.map(|order| self.grow(start.clone(), &order))));
            if ways.iter().any(|way| self.fills(way)) {
                break;
            }
        }
        // Of equal ones the first, which leaves out the least.
        let best = ways.into_iter().rev().max_by_key(|way| self.source.novelty.bytes_shown(&way.steps))?;
        // What is left goes to repetitions, to a level or value more in some containers, and to strings.
        let best = self.widen(best, STALENESS, 100, 1);
        let best = self.widen(best, EXTRA, self.source.tree.nodes.len(), 1);
        Some(self.widen(best, STRINGS, self.most, 1).steps)
    }

    fn fills(&self, way: &Way) -> bool {
        let shown: usize = way.steps.iter().filter_map(Step::kept).map(Range::len).sum();
        shown * 100 >= self.most * MIN_FILL
    }

    /// The steps at a detail, if they fit.
    fn fitting(&self, detail: Detail) -> Option<Vec<Step>> {
        let steps = shorten(self.source, detail, self.most)?;
        let mut text = Vec::with_capacity(self.most);
        let mut without_mark = 1;
        for step in &steps {
            match step {
                Step::Keep(range) => text.extend_from_slice(&self.source.buffer.text[range.clone()]),
                Step::Omit { mark: Some(mark), .. } => text.extend_from_slice(mark.as_bytes()),
                Step::Omit { mark: None, .. } => without_mark += 1,
            }
        }
        self.room.less_gaps(without_mark).fits(&text).then_some(steps)
    }

    fn start(&self, start: Detail) -> Option<Way> {
        FIRST_OUTLIERS.into_iter().find_map(|outliers| {
            let detail = Detail { outliers, ..start };
            self.fitting(detail).map(|steps| Way { detail, steps })
        })
    }

    fn grow(&self, start: Way, order: &[Amount]) -> Way {
        order.iter().fold(start, |way, &amount| self.widen(way, amount, self.most, COARSE))
    }

    /// Finds the largest value of one amount that fits, by doubling and then by bisection, up to one part in `precision`
    /// of it; exactly if that is 1.
    fn widen(&self, mut best: Way, amount: Amount, most: usize, precision: usize) -> Way {
        let (mut step, mut is_bisection) = (1, false);
        loop {
            let mut detail = best.detail;
            let value = amount(&mut detail);
            let now = *value;
            *value = now.saturating_add(step).min(most);
            match (now < most).then(|| self.fitting(detail)).flatten() {
                Some(steps) => best = Way { detail, steps },
                None => is_bisection = true,
            }
            step = if is_bisection { step / 2 } else { step * 2 };
            if now >= most || step == 0 || is_bisection && precision > 1 && step < now / precision {
                return best;
            }
        }
    }
}
