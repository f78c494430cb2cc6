//! Finds the outliers of an array: the one failed test among a thousand that passed.
//!
//! Items are compared by their properties: the value of each key, if it is a scalar or a short string; whether the
//! container under a key is empty; which keys there are, with which kinds of values; whether something inside is an
//! outlier. An item is an outlier if nearly all others share a value that it lacks, if it has a key that nearly all
//! others lack, or if it has the rarest of a few values. The meaning of a key is never used.

use super::buffer::Buffer;
use super::parse::{Kind, Node, Rarity, State, Tree};
use crate::strategy::fingerprint;
use std::collections::{BTreeSet, HashMap};

/// Arrays with fewer items have no outliers.
pub(super) const MIN_ITEMS: u64 = 8;

/// At most one in this many items can be an outlier; more are a group.
pub(super) const ITEMS_PER_OUTLIER: u64 = 5;

/// A property with more values than this varies.
const MAX_VALUES: usize = 64;

/// Of at most this many values, one that is shared by at most one in [`ITEMS_PER_RARE_VALUE`] items is rare, even if no
/// value is usual.
const FEW_VALUES: usize = 16;
const ITEMS_PER_RARE_VALUE: u64 = 50;

/// How many properties of an item are compared, how deep inside it, and how many items of an array inside it.
const MAX_PROPERTIES: usize = 64;
const MAX_DEPTH: usize = 5;
pub(super) const MAX_INNER_ITEMS: usize = 3;

/// A longer string is free text and not compared.
pub(super) const MAX_STRING_BYTES: usize = 40;

/// Sets the rarity of every item in the tree.
pub(super) fn mark_outliers(buffer: &Buffer, tree: &mut Tree) {
    // Inner nodes come after their containers, so in reverse order they are marked first.
    let mut outliers = BTreeSet::new();
    for at in (0..tree.nodes.len()).rev() {
        if matches!(tree.nodes[at].kind, Kind::Documents | Kind::Array) {
            mark_items(buffer, tree, at, &mut outliers);
        }
    }
    tree.outliers = outliers.into_iter().collect();
}

fn mark_items(buffer: &Buffer, tree: &mut Tree, at: usize, outliers: &mut BTreeSet<usize>) {
    let total: u64 = tree.children(at).map(|item| tree.nodes[item].values).sum();
    if total < MIN_ITEMS {
        return;
    }
    let items: Vec<usize> = tree
        .children(at)
        .filter(|&item| !matches!(tree.nodes[item].kind, Kind::Hole | Kind::OtherLine))
        .filter(|&item| tree.nodes[item].state == State::Closed)
        .collect();
    let mut collector =
        PropertyCollector { buffer, tree, outliers, table: Properties::default(), properties: Vec::new() };
    let ends: Vec<usize> = items.iter().map(|&item| collector.add_item(item)).collect();
    let PropertyCollector { table, properties, .. } = collector;
    let mut from = 0;
    for (&item, &end) in items.iter().zip(&ends) {
        let of_item = properties[from..end].iter();
        let counts = of_item.filter_map(|&(property, value)| {
            table.all[property].1.outlier_count(value, items.len() as u64, total)
        });
        if let Some(count) = counts.min() {
            tree.nodes[item].rarity = Rarity::Outlier(count);
            outliers.insert(item);
        }
        from = end;
    }
}

/// The properties of all items of an array. Most items have the same keys in the same order.
#[derive(Default)]
struct Properties {
    all: Vec<(u64, ValueCounts)>,
    indices: HashMap<u64, usize>,
}

impl Properties {
    /// Counts a value of the property `key`, which is the item's `nth`. Returns the index of the property.
    fn add(&mut self, key: u64, nth: usize, value: u64) -> usize {
        let index = match self.all.get(nth) {
            Some((known, _)) if *known == key => nth,
            _ => *self.indices.entry(key).or_insert_with(|| {
                self.all.push((key, ValueCounts::default()));
                self.all.len() - 1
            }),
        };
        self.all[index].1.add(value);
        index
    }
}

/// How often each value of one property occurs.
#[derive(Default)]
pub(super) struct ValueCounts {
    pub(super) items: u64,
    values: Vec<(u64, u64)>,
    /// There are too many values to count them.
    varies: bool,
}

impl ValueCounts {
    /// Counts a value. Returns how often it occurred so far, unless the values vary.
    pub(super) fn add(&mut self, value: u64) -> Option<u64> {
        self.items += 1;
        if self.varies {
            return None;
        }
        let Some(at) = self.values.iter().position(|(known, _)| *known == value) else {
            self.values.push((value, 1));
            // Of more than a few values, only those are outliers that differ from one that nearly all items share.
            let count = self.values.len();
            self.varies = count > MAX_VALUES || count > FEW_VALUES && self.most() * 2 < self.items;
            return Some(1);
        };
        self.values[at].1 += 1;
        // Frequent values come first, so that they are found first.
        if at > 0 && self.values[at].1 > self.values[at - 1].1 {
            self.values.swap(at, at - 1);
            return Some(self.values[at - 1].1);
        }
        Some(self.values[at].1)
    }

    /// How often the most frequent value occurs.
    fn most(&self) -> u64 {
        self.values.iter().map(|(_, count)| *count).max().unwrap_or(0)
    }

    /// How many items share the value, or the property, if that makes an item an outlier.
    pub(super) fn outlier_count(&self, value: u64, items: u64, total: u64) -> Option<u64> {
        if self.items * ITEMS_PER_OUTLIER <= items {
            return Some(self.items);
        }
        if self.varies {
            return None;
        }
        let most = self.most();
        let count = self.values.iter().find(|(known, _)| *known == value)?.1;
        let is_unusual = most * 4 >= items * 3 && count * ITEMS_PER_OUTLIER <= items;
        let is_rare = self.values.len() <= FEW_VALUES && count * ITEMS_PER_RARE_VALUE <= total;
        (is_unusual || is_rare).then_some(count)
    }
}

/// Collects the properties of items.
struct PropertyCollector<'a> {
    buffer: &'a Buffer,
    tree: &'a Tree,
    /// The outliers found so far, which are inside of the items.
    outliers: &'a BTreeSet<usize>,
    table: Properties,
    /// The index of each property, and the hash of its value.
    properties: Vec<(usize, u64)>,
}

impl PropertyCollector<'_> {
    /// Adds the properties of an item. Returns the number of all properties so far.
    fn add_item(&mut self, item: usize) -> usize {
        let first = self.properties.len();
        let has_outlier = self.outliers.range(item + 1..self.tree.nodes[item].next).next().is_some();
        self.add(0, u64::from(has_outlier), first);
        self.add(1, self.shape(item), first);
        self.add(2, self.value(item), first);
        self.add_inner(item, 2, 0, first);
        self.properties.len()
    }

    fn add(&mut self, key: u64, value: u64, first: usize) {
        let property = self.table.add(key, self.properties.len() - first, value);
        self.properties.push((property, value));
    }

    fn add_inner(&mut self, container: usize, path: u64, depth: usize, first: usize) {
        let (buffer, tree) = (self.buffer, self.tree);
        let children = match tree.nodes[container].kind {
            _ if depth == MAX_DEPTH => 0,
            Kind::Object => usize::MAX,
            Kind::Array => MAX_INNER_ITEMS,
            _ => 0,
        };
        for (at, number) in tree.children(container).take(children).zip(0..) {
            let node = tree.nodes[at];
            if self.properties.len() >= first + MAX_PROPERTIES {
                return;
            }
            if node.kind != Kind::Hole {
                let key = &buffer.text[node.from..node.value];
                let key = if key.is_empty() { number } else { fingerprint::exact(key) };
                let path = fingerprint::mix(path, key);
                self.add(path, self.value(at), first);
                self.add_inner(at, path, depth + 1, first);
            }
        }
    }

    /// The kind of a value, and for an object its keys with the kinds of their values.
    fn shape(&self, at: usize) -> u64 {
        let (buffer, tree) = (self.buffer, self.tree);
        let kind = |at: usize| match (tree.nodes[at].kind, buffer.text.get(tree.nodes[at].value)) {
            (Kind::Scalar, Some(b'0'..=b'9' | b'-')) => 100,
            (Kind::Scalar, Some(&word)) => 100 + u64::from(word),
            (kind, _) => kind as u64,
        };
        if tree.nodes[at].kind != Kind::Object {
            return kind(at);
        }
        tree.children(at).take(MAX_PROPERTIES).fold(0, |shape, child| {
            let node = tree.nodes[child];
            let key = fingerprint::exact(&buffer.text[node.from..node.value]);
            // The order of keys does not matter.
            shape ^ fingerprint::mix(key, kind(child))
        })
    }

    fn value(&self, at: usize) -> u64 {
        let Node { kind, value, to, next, .. } = self.tree.nodes[at];
        match kind {
            Kind::Scalar => fingerprint::exact(&self.buffer.text[value..to]),
            Kind::String if to - value <= MAX_STRING_BYTES => {
                fingerprint::exact(&self.buffer.text[value..to])
            }
            _ => u64::from(next > at + 1) << 8 | kind as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{End, parse};
    use super::*;

    /// Checks the indices of the outliers of an array.
    #[track_caller]
    fn check(items: &[String], expected: &[usize]) {
        let buffer = Buffer { text: format!("[{}]", items.join(", ")).into_bytes(), holes: Vec::new() };
        let mut tree = parse(&buffer, End::Last).expect("JSON");
        mark_outliers(&buffer, &mut tree);
        let rarities = tree.children(1).map(|item| tree.nodes[item].rarity);
        let outliers: Vec<usize> =
            rarities.enumerate().filter(|(_, rarity)| *rarity != Rarity::Usual).map(|(at, _)| at).collect();
        assert_eq!(outliers, expected, "{items:?}");
    }

    #[test]
    fn items_unlike_the_others_are_outliers() {
        let tests = |failed: &[usize]| -> Vec<String> {
            let status = |number: &usize| if failed.contains(number) { "failed" } else { "passed" };
            (0..40).map(|number| format!(r#"{{"id": {number}, "status": "{}"}}"#, status(&number))).collect()
        };
        check(&tests(&[]), &[]);
        check(&tests(&[17]), &[17]);
        check(&tests(&[0, 17, 39]), &[0, 17, 39]);
        let half: Vec<usize> = (0..20).collect();
        check(&tests(&half), &[]);
        let with = |at: usize, item: &str| {
            let mut items = tests(&[]);
            items[at] = item.to_owned();
            items
        };
        check(&with(9, r#"{"id": 9, "status": "passed", "error": "none"}"#), &[9]);
        check(&with(9, r#"{"id": 9, "status": {"phase": "pending"}}"#), &[9]);
        check(&with(9, "null"), &[9]);
        check(&with(9, r#"{"id": 9}"#), &[9]);
        check(&with(9, r#"{"id": "nine", "status": "passed"}"#), &[9]);
        let levels = |number: usize| ["info", "debug", "warn"][number % 3];
        let level = |number: usize| if number == 70 { "fatal" } else { levels(number) };
        check(
            &(0..150).map(|number| format!(r#"{{"level": "{}"}}"#, level(number))).collect::<Vec<_>>(),
            &[70],
        );
        let numbers = (0..40).map(|number| if number == 8 { "\"8\"".to_owned() } else { number.to_string() });
        check(&numbers.collect::<Vec<_>>(), &[8]);
        let pair = |number: usize| format!(r#"["a", "{}"]"#, if number == 4 { "bad" } else { "ok" });
        check(&(0..30).map(pair).collect::<Vec<_>>(), &[4]);
        let suite =
            |number: usize| format!("[{}]", if number == 6 { tests(&[17]) } else { tests(&[]) }.join(", "));
        check(&(0..20).map(suite).collect::<Vec<_>>(), &[6]);
        let nested = |code: usize| format!(r#"{{"state": {{"exit": {{"code": {code}}}}}}}"#);
        check(&(0..20).map(|number| nested(usize::from(number == 3))).collect::<Vec<_>>(), &[3]);
        let empty = |number: usize| if number == 5 { r#"{"err": {"a": 1}}"# } else { r#"{"err": {}}"# };
        check(&(0..20).map(|number| empty(number).to_owned()).collect::<Vec<_>>(), &[5]);
        check(&(0..20).map(|number| number.to_string()).collect::<Vec<_>>(), &[]);
        check(&tests(&[2])[..6], &[]);
    }
}
