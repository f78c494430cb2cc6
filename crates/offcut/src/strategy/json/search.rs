//! Finds the best way to shorten a text to what fits.

use super::buffer::Step;
use super::shorten::{Detail, MAX_DEPTH};

/// What is left out of objects that keep all keys: nothing, or containers in which too little is new, or deep levels.
/// All of these are tried.
const WITH_ALL_KEYS: [Level; 5] = [
    Level { min_novelty: 0, depth: MAX_DEPTH, keys: usize::MAX },
    Level { min_novelty: 5, depth: MAX_DEPTH, keys: usize::MAX },
    Level { min_novelty: 50, depth: MAX_DEPTH, keys: usize::MAX },
    Level { min_novelty: 90, depth: MAX_DEPTH, keys: usize::MAX },
    Level { min_novelty: 5, depth: MIN_DEPTH, keys: usize::MAX },
];

/// The same if keys are left out, from more to fewer. The first of these that fits is used if the others do not fill the
/// room.
const WITH_FEWER_KEYS: [Level; 5] = [
    Level { min_novelty: 0, depth: MIN_DEPTH, keys: 12 },
    Level { min_novelty: 0, depth: MIN_DEPTH, keys: 4 },
    Level { min_novelty: 0, depth: 2, keys: 2 },
    Level { min_novelty: 0, depth: 1, keys: 2 },
    Level { min_novelty: 0, depth: 0, keys: 0 },
];

/// The precision while ways are compared, as a fraction of the amount.
const COARSE: usize = 32;

/// The share of the room, in percent, that a preview should fill.
const MIN_FILL: usize = 85;

#[derive(Clone, Copy)]
struct Level {
    min_novelty: usize,
    depth: usize,
    keys: usize,
}

/// The fewest levels, items and bytes of strings that are useful.
const MIN_DEPTH: usize = 3;
const MIN_ITEMS: usize = 2;
const MIN_STRING_BYTES: usize = 32;

/// How many bytes of strings one item more is worth, if both grow.
const STRING_BYTES_PER_ITEM: usize = 48;

/// This many outliers of an array are shown before anything else gets more room.
const FIRST_OUTLIERS: usize = 16;

/// A part of the detail that can grow.
#[derive(Clone, Copy)]
enum Amount {
    Items,
    Outliers,
    Keys,
    Depth,
    Strings,
    ItemsAndStrings,
    Extra,
}

impl Amount {
    fn of(self, detail: Detail) -> usize {
        match self {
            Amount::Items | Amount::ItemsAndStrings => detail.items,
            Amount::Outliers => detail.outliers,
            Amount::Keys => detail.keys,
            Amount::Depth => detail.depth,
            Amount::Strings => detail.string,
            Amount::Extra => detail.extra,
        }
    }

    fn set(self, detail: Detail, amount: usize) -> Detail {
        match self {
            Amount::Items => Detail { items: amount, ..detail },
            Amount::Outliers => Detail { outliers: amount, ..detail },
            Amount::Keys => Detail { keys: amount, ..detail },
            Amount::Depth => Detail { depth: amount, ..detail },
            Amount::Strings => Detail { string: amount, ..detail },
            Amount::ItemsAndStrings => {
                Detail { items: amount, string: amount.saturating_mul(STRING_BYTES_PER_ITEM), ..detail }
            }
            Amount::Extra => Detail { extra: amount, ..detail },
        }
    }
}

/// The orders in which the amounts of a level grow. What grows first gets the most room.
const ORDERS: [&[Amount]; 3] = [
    &[Amount::ItemsAndStrings, Amount::Outliers, Amount::Items, Amount::Strings],
    &[Amount::Strings, Amount::Outliers, Amount::Items],
    &[Amount::Outliers, Amount::Items, Amount::Strings],
];

/// A way to shorten the text that fits.
struct Found {
    detail: Detail,
    steps: Vec<Step>,
}

/// The search for the way that shows the most words.
pub(super) struct Search<'a> {
    /// The steps at a detail, if they fit.
    pub(super) fits: &'a dyn Fn(Detail) -> Option<Vec<Step>>,
    /// How much the steps show.
    pub(super) worth: &'a dyn Fn(&[Step]) -> usize,
    /// No amount is larger.
    pub(super) most: usize,
    /// The number of values in the text.
    pub(super) values: usize,
}

impl Search<'_> {
    pub(super) fn run(&self) -> Option<Vec<Step>> {
        const OUTLIERS: [usize; 2] = [MIN_ITEMS, 0];
        let best = OUTLIERS.into_iter().find_map(|outliers| {
            self.best(WITH_ALL_KEYS.iter().filter_map(|&level| self.level(level, outliers)))
        });
        let fills = |found: &Found| {
            found.steps.iter().map(Step::shown_bytes).sum::<usize>() * 100 >= self.most * MIN_FILL
        };
        let best = match best {
            Some(best) if fills(&best) => best,
            best => {
                let level = |level| OUTLIERS.into_iter().find_map(|outliers| self.level(level, outliers));
                self.best(best.into_iter().chain(WITH_FEWER_KEYS.into_iter().find_map(level)))?
            }
        };
        // What is left goes to strings, and to a level or value more in some containers.
        let best = self.widen(best, Amount::Extra, self.values, 1);
        Some(self.widen(best, Amount::Strings, self.most, 1).steps)
    }

    /// The one that shows the most; of equal ones the first, which leaves out the least.
    fn best(&self, all: impl DoubleEndedIterator<Item = Found>) -> Option<Found> {
        all.rev().max_by_key(|found| (self.worth)(&found.steps))
    }

    fn level(&self, level: Level, outliers: usize) -> Option<Found> {
        let Level { min_novelty, depth, keys } = level;
        let (items, string) = (MIN_ITEMS, MIN_STRING_BYTES);
        let detail = Detail { items, outliers, keys, string, depth, min_novelty, extra: 0 };
        let steps = (self.fits)(detail)?;
        let mut least = Found { detail, steps };
        if keys != usize::MAX {
            least = self.widen(least, Amount::Keys, self.most, COARSE);
        }
        if depth >= MIN_DEPTH {
            least = self.widen(least, Amount::Depth, MAX_DEPTH, 1);
        }
        if outliers > 0 {
            least = self.widen(least, Amount::Outliers, FIRST_OUTLIERS, 1);
        }
        self.best(ORDERS.iter().map(|order| {
            let Found { detail, steps } = &least;
            let start = Found { detail: *detail, steps: steps.clone() };
            let grows = |amount: &&Amount| outliers > 0 || !matches!(amount, Amount::Outliers);
            let amounts = order.iter().filter(grows);
            amounts.fold(start, |found, &amount| self.widen(found, amount, self.most, COARSE))
        }))
    }

    /// Finds the largest value of one amount that fits, by doubling and then by bisection, up to one part in `precision`
    /// of it; exactly if that is 1.
    fn widen(&self, mut best: Found, amount: Amount, most: usize, precision: usize) -> Found {
        let (mut step, mut is_bisection) = (1, false);
        loop {
            let now = amount.of(best.detail);
            let detail = amount.set(best.detail, now.saturating_add(step).min(most));
            match (self.fits)(detail).filter(|_| now < most) {
                Some(steps) => best = Found { detail, steps },
                None => is_bisection = true,
            }
            step = if is_bisection { step / 2 } else { step * 2 };
            if step == 0 || is_bisection && precision > 1 && step < now / precision {
                return best;
            }
        }
    }
}
