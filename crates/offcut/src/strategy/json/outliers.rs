//! Finds the outliers of arrays: the one failed test among a thousand that passed.
//!
//! Values are compared with those at the same path, such as `.tests[].status`: scalars and short strings; whether a
//! container is empty; for items of arrays also their kind, and the keys of objects with the kinds of their values. A value
//! is rare if nearly all others are the same and it is not, if its key is one that nearly all objects lack, or if it is the
//! rarest of a few values. An item is an outlier if something in it is rare. An array in it counts as rare if few arrays at
//! its path have outliers. The meaning of a key is never used.
//!
//! The counts are of all text read so far, also of what is no longer in memory.

use super::tree::{Kind, Node, Rarity, State, Tree};
use std::collections::BTreeMap;

/// Fewer values are not compared.
const MIN_ITEMS: u64 = 8;

/// At most one in this many items can be an outlier; more are a group.
pub(super) const ITEMS_PER_OUTLIER: u64 = 5;

/// A path with more values than this varies.
const MAX_VALUES: usize = 64;

/// Of at most this many values, one that is shared by at most one in [`ITEMS_PER_RARE_VALUE`] items is rare, even if no
/// value is usual.
const FEW_VALUES: usize = 16;
const ITEMS_PER_RARE_VALUE: u64 = 50;

/// An object with more different keys is a map: further keys count as one.
const MAX_KEYS: usize = 64;

/// The key of all items of an array, and of further keys of a map.
pub(super) const ITEMS: u64 = u64::MAX;

/// The most paths that are known. Values at others are not compared.
const MAX_PATHS: usize = 4096;

/// The path of everything that is not compared.
const UNKNOWN: u32 = 0;

/// What is known of the values at all paths. A path has a higher index than the path around it.
pub(super) struct Paths {
    all: Vec<Path>,
    /// The text up to this position was counted before.
    counted: usize,
}

/// What is known of the values at a path.
#[derive(Default)]
struct Path {
    parent: u32,
    /// How many of the values are containers, and how many of these have outliers.
    containers: u64,
    with_outlier: u64,
    values: ValueCounts,
    /// The kinds of items of arrays; of objects, their keys and the kinds of their values.
    shapes: ValueCounts,
    /// The paths in it, by key.
    children: Vec<(u64, u32)>,
}

impl Default for Paths {
    fn default() -> Paths {
        Paths { all: vec![Path::default(), Path::default()], counted: 0 }
    }
}

impl Paths {
    /// The path of the whole text.
    pub(super) const DOCUMENTS: u32 = 1;

    /// The path of the `nth` value of a container.
    pub(super) fn child(&mut self, parent: u32, nth: usize, key: u64) -> u32 {
        if parent == UNKNOWN {
            return UNKNOWN;
        }
        let count = self.all.len();
        let children = &mut self.all[parent as usize].children;
        match children.get(nth) {
            // Most objects have the same keys in the same order.
            Some(&(known, child)) if known == key => return child,
            _ => {}
        }
        match children.iter().find(|(known, _)| *known == key) {
            Some(&(_, child)) => child,
            None if count >= MAX_PATHS => UNKNOWN,
            None if children.len() >= MAX_KEYS && key != ITEMS => self.child(parent, MAX_KEYS, ITEMS),
            None => {
                children.push((key, count as u32));
                self.all.push(Path { parent, ..Path::default() });
                count as u32
            }
        }
    }

    /// Whether the values at a path are compared: not if there are too many different ones.
    #[inline]
    pub(super) fn are_compared(&self, path: u32) -> bool {
        !self.all[path as usize].values.varies
    }

    /// Counts a value that ends at `end`: its shape if it is an item of an array, and its value.
    #[inline]
    pub(super) fn count(&mut self, end: usize, path: u32, shape: Option<u64>, value: Option<u64>) {
        if end <= self.counted || path == UNKNOWN {
            return;
        }
        let path = &mut self.all[path as usize];
        if let Some(shape) = shape {
            path.shapes.add(shape);
        }
        if let Some(value) = value {
            path.values.add(value);
        }
    }

    /// Counts a container that ends at `end`.
    pub(super) fn count_container(&mut self, end: usize, path: u32) {
        self.all[path as usize].containers += u64::from(end > self.counted);
    }

    /// The text will be shorter where it was counted: `shorter` maps positions.
    pub(super) fn follow(&mut self, shorter: impl FnOnce(usize) -> usize) {
        self.counted = shorter(self.counted);
    }

    /// Sets the rarity of every item in the tree of a text that is complete up to a position.
    pub(super) fn mark_outliers(&mut self, tree: &mut Tree, text: &[u8], complete: usize) {
        let rare: Vec<RareValues> = (0..self.all.len()).map(|path| self.rare(path)).collect();
        // The values that differ, by path and index, with the number of those that share the difference; arrays with
        // outliers have none yet.
        let mut found = BTreeMap::new();
        for (at, node) in tree.nodes.iter().enumerate() {
            if let Some(count) = rare[node.path as usize].count(node, text) {
                found.insert((node.path, at), Some(count));
            }
        }
        // Inner paths first.
        while let Some((&(path, _), _)) = found.last_key_value() {
            let group = found.split_off(&(path, 0));
            let is_new =
                |node: &Node| node.has_outlier && node.state == State::Closed && node.to > self.counted;
            let new = group.keys().filter(|&&(_, at)| is_new(&tree.nodes[at])).count();
            let Path { containers, with_outlier, .. } = &mut self.all[path as usize];
            *with_outlier += new as u64;
            let is_rare = *containers >= MIN_ITEMS && *with_outlier * ITEMS_PER_OUTLIER <= *containers;
            for ((_, at), own) in group {
                let inner = Some(*with_outlier).filter(|_| is_rare && tree.nodes[at].has_outlier);
                let Some(count) = own.into_iter().chain(inner).min() else { continue };
                let mut parent = tree.nodes[at].parent as usize;
                if tree.nodes[parent].kind == Kind::Object {
                    let known = found.entry((tree.nodes[parent].path, parent)).or_insert(None);
                    *known = Some(known.map_or(count, |known| known.min(count)));
                    continue;
                }
                tree.nodes[at].rarity = Rarity::Outlier(u32::try_from(count).unwrap_or(u32::MAX));
                while !tree.nodes[parent].has_outlier && parent > 0 {
                    let node = &mut tree.nodes[parent];
                    node.has_outlier = true;
                    if node.kind == Kind::Array {
                        found.entry((node.path, parent)).or_insert(None);
                    }
                    parent = node.parent as usize;
                }
            }
        }
        self.counted = complete;
    }

    /// The rare values at a path.
    fn rare(&self, path: usize) -> RareValues {
        let Path { parent, values, shapes, .. } = &self.all[path];
        let all = match shapes.items {
            // Values of objects.
            0 => self.all[*parent as usize].containers.max(values.items),
            items => items,
        };
        let is_rare_key = shapes.items == 0 && all >= MIN_ITEMS && values.items * ITEMS_PER_OUTLIER <= all;
        let any = Some(values.items).filter(|&count| is_rare_key && count > 0);
        RareValues { any, values: values.rare(all), shapes: shapes.rare(all) }
    }
}

/// The values at a path that make a difference, and how many share each.
struct RareValues {
    /// All of them, because nearly all objects lack the key.
    any: Option<u64>,
    values: Vec<(u64, u64)>,
    shapes: Vec<(u64, u64)>,
}

impl RareValues {
    /// How many share the difference, if the value is rare.
    fn count(&self, node: &Node, text: &[u8]) -> Option<u64> {
        if self.any.is_none() && self.values.is_empty() && self.shapes.is_empty() {
            return None;
        }
        let count = |of: &[(u64, u64)], value: u64| {
            of.iter().find(|(rare, _)| *rare == value).map(|(_, count)| *count)
        };
        let is_container = matches!(node.kind, Kind::Object | Kind::Array);
        let class = text.get(node.value).map_or(0, |&first| class(first));
        let shape = count(&self.shapes, if is_container { node.content } else { class });
        let value = count(&self.values, node.content);
        self.any.into_iter().chain(shape).chain(value).min()
    }
}

/// The kind of the value that begins with this byte.
#[inline]
pub(super) fn class(first: u8) -> u64 {
    u64::from(if first.is_ascii_digit() { b'-' } else { first })
}

/// How often each value occurs at a path.
#[derive(Default)]
struct ValueCounts {
    items: u64,
    values: Vec<(u64, u64)>,
    /// There are too many values to count them.
    varies: bool,
}

impl ValueCounts {
    fn add(&mut self, value: u64) {
        self.items += 1;
        if self.varies {
            return;
        }
        let Some(at) = self.values.iter().position(|(known, _)| *known == value) else {
            self.values.push((value, 1));
            // Of more than a few values, only those are rare that differ from one that nearly all items share.
            let count = self.values.len();
            self.varies = count > MAX_VALUES || count > FEW_VALUES && self.most() * 2 < self.items;
            return;
        };
        self.values[at].1 += 1;
        // Frequent values come first, so that they are found first.
        if at > 0 && self.values[at].1 > self.values[at - 1].1 {
            self.values.swap(at, at - 1);
        }
    }

    /// How often the most frequent value occurs.
    fn most(&self) -> u64 {
        self.values.iter().map(|(_, count)| *count).max().unwrap_or(0)
    }

    /// The rare values among `all` items, and how often each occurs.
    fn rare(&self, all: u64) -> Vec<(u64, u64)> {
        if self.varies || all < MIN_ITEMS {
            return Vec::new();
        }
        let has_usual = self.most() * 4 >= all * 3;
        let is_rare = |count: u64| {
            has_usual && count * ITEMS_PER_OUTLIER <= all
                || self.values.len() <= FEW_VALUES && count * ITEMS_PER_RARE_VALUE <= all
        };
        self.values.iter().filter(|(_, count)| is_rare(*count)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::super::reader::{End, read};
    use super::*;

    /// Checks the indices of the outliers of an array.
    #[track_caller]
    fn check(items: &[String], expected: &[usize]) {
        let buffer = Buffer { text: format!("[{}]", items.join(", ")).into_bytes(), holes: Vec::new() };
        let tree = read(&buffer, End::Last, &mut Paths::default()).expect("JSON");
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
