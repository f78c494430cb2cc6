//! Chooses which items of a container are shown: the first, the last, the rarest, and as many more from both ends as fit.

use super::LEAST;
use crate::json::Node;
use std::collections::{BTreeMap, VecDeque};

/// The most outliers of one container: each of them divides a gap, and gaps are listed.
const MOST_OUTLIERS: usize = 16;

/// An element of an array, or a member of an object.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) index: usize,
    pub(super) key: Option<Node<'a>>,
    pub(super) value: Node<'a>,
    /// Its bytes, with the comma and the white space before it.
    pub(super) size: u64,
}

/// Why an item should be shown.
#[derive(Clone, Copy)]
pub(super) enum Importance {
    Usual,
    /// It differs from the others; this many items share the difference.
    Outlier(u64),
    Required,
}

impl Item<'_> {
    /// Where it begins in the document, with its key.
    pub(super) fn start(&self) -> usize {
        self.key.unwrap_or(self.value).span().start
    }

    /// Its size if at most `most` bytes of its value are shown.
    pub(super) fn size_with_value(&self, most: u64) -> u64 {
        self.size - (self.value.json().len() as u64).saturating_sub(most)
    }

    /// Where it ends in the document.
    pub(super) fn end(&self) -> usize {
        self.value.span().end
    }
}

/// The items of a container that can be shown within a budget. There can be millions of others: they are only counted.
pub(super) struct Choice<'a> {
    budget: u64,
    /// The fewest items that must be shown.
    least: usize,
    pub(super) count: usize,
    first: Vec<Item<'a>>,
    last: VecDeque<Item<'a>>,
    outliers: Vec<(u64, Item<'a>)>,
    required: Vec<Item<'a>>,
    /// What the first and the last items cost.
    costs: (u64, u64),
}

impl<'a> Choice<'a> {
    /// At least one item is shown, even if it has to be shortened: a part says more than nothing.
    pub(super) fn new(budget: u64, least: usize) -> Choice<'a> {
        let (first, last, outliers, required) = Default::default();
        Choice { budget, least: least.max(1), count: 0, first, last, outliers, required, costs: (0, 0) }
    }

    /// What an item costs. A large value is shortened, so that others are shown, too.
    fn cost(&self, item: &Item<'_>) -> u64 {
        item.size_with_value((self.budget / 4).max(LEAST))
    }

    pub(super) fn add(&mut self, item: Item<'a>, importance: Importance) {
        self.count += 1;
        match importance {
            Importance::Usual => {}
            Importance::Outlier(count) => self.outliers.push((count, item)),
            Importance::Required => self.required.push(item),
        }
        let cost = self.cost(&item);
        let is_first = self.costs.0 + cost <= self.budget || self.first.len() < self.least;
        if self.last.is_empty() && is_first {
            self.first.push(item);
            self.costs.0 += cost;
            return;
        }
        self.last.push_back(item);
        self.costs.1 += cost;
        while self.costs.1 > self.budget && self.last.len() > self.least {
            let dropped = self.last.pop_front().map_or(0, |item| self.cost(&item));
            self.costs.1 -= dropped;
        }
    }

    /// The chosen items, in order.
    pub(super) fn items(mut self) -> Vec<Item<'a>> {
        if self.last.is_empty() {
            return self.first;
        }
        self.outliers.sort_by_key(|(count, item)| (*count, item.index));
        self.outliers.truncate(MOST_OUTLIERS);
        let mut kept: BTreeMap<usize, Item<'a>> = BTreeMap::new();
        let mut left = self.budget;
        for item in &self.required {
            left = left.saturating_sub(self.cost(item));
            kept.insert(item.index, *item);
        }
        let mut take = |item: &Item<'a>| {
            let cost = self.cost(item);
            let is_known = kept.contains_key(&item.index);
            let is_taken = is_known || cost <= left || kept.len() < self.least;
            if is_taken && !is_known {
                left = left.saturating_sub(cost);
                kept.insert(item.index, *item);
            }
            is_taken
        };
        let (mut first, mut last) = (self.first.iter(), self.last.iter().rev());
        for item in first.next().into_iter().chain(last.next()) {
            take(item);
        }
        let mut for_outliers = self.budget / 2;
        for (_, item) in &self.outliers {
            let cost = self.cost(item);
            if cost <= for_outliers && take(item) {
                for_outliers -= cost;
            }
        }
        let (mut more_first, mut more_last) = (true, true);
        while more_first || more_last {
            more_first = more_first && first.next().is_some_and(&mut take);
            more_last = more_last && last.next().is_some_and(&mut take);
        }
        kept.into_values().collect()
    }
}
