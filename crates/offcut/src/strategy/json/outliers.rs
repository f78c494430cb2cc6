//! Finds the outliers of arrays: the one failed test among a thousand that passed.
//!
//! Values are compared with those at the same path, such as `.tests[].status`: scalars and short strings; whether a
//! container is empty; for items of arrays also their kind, and the keys of objects with the kinds of their values. A value
//! is rare if nearly all others are the same and it is not, if its key is one that nearly all objects lack, if it is the
//! rarest of a few values, or if its form is rare: a negative number, a number with far more digits, an empty string. An item
//! is an outlier if something in it is rare. An array in it counts as rare if few arrays at its path have outliers. An object
//! with many keys is a map, whose members are compared as the items of an array are. The meaning of a key is never used.
//!
//! The counts are of all text read so far, also of what is no longer in memory.

use super::forms::{FormCounts, form};
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

/// An object with more different keys is a map: its members are compared with each other.
const MAX_KEYS: usize = 64;

/// The key of all items of an array, and of all members of a map.
pub(super) const ITEMS: u64 = u64::MAX;

/// The most paths that are known. Values at others are not compared.
const MAX_PATHS: usize = 4096;

/// The path of everything that is not compared.
const UNKNOWN: u32 = 0;

/// What is known of the values at all paths. A path has a higher index than the path around it.
pub(super) struct Paths {
    all: Vec<Path>,
    /// Whether a path has become a map, so that some paths are now part of others.
    has_maps: bool,
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
    forms: FormCounts,
    /// The kinds of items of arrays; of objects, their keys and the kinds of their values.
    shapes: ValueCounts,
    /// The paths in it, by key.
    children: Vec<(u64, u32)>,
    /// Whether it is the path of objects that are maps.
    is_map: bool,
    /// The path that it became part of, when the path around it became a map.
    merged_into: Option<u32>,
}

impl Default for Paths {
    fn default() -> Paths {
        Paths { all: vec![Path::default(), Path::default()], has_maps: false, counted: 0 }
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
        let key = if self.all[parent as usize].is_map { ITEMS } else { key };
        let children = &mut self.all[parent as usize].children;
        match children.get(nth) {
            // Most objects have the same keys in the same order.
            Some(&(known, child)) if known == key => return child,
            _ => {}
        }
        match children.iter().find(|(known, _)| *known == key) {
            Some(&(_, child)) => child,
            None if count >= MAX_PATHS => UNKNOWN,
            None if children.len() >= MAX_KEYS && key != ITEMS => self.become_map(parent),
            None => {
                children.push((key, count as u32));
                self.all.push(Path { parent, ..Path::default() });
                count as u32
            }
        }
    }

    /// Treats the objects at a path as maps from now on. Returns the path of their members.
    fn become_map(&mut self, path: u32) -> u32 {
        let members = std::mem::take(&mut self.all[path as usize].children);
        self.has_maps = true;
        self.all[path as usize].is_map = true;
        let items = self.child(path, 0, ITEMS);
        for (_, member) in members {
            self.merge(member, items);
        }
        items
    }

    /// Adds what is known of the values at a path, and at the paths in it, to another one.
    fn merge(&mut self, from: u32, into: u32) {
        // A text may be nested as deeply as there are paths.
        let mut rest = vec![(from, into)];
        while let Some((from, into)) = rest.pop() {
            let into = self.resolve(into);
            let Path { containers, with_outlier, values, forms, shapes, children, .. } =
                std::mem::take(&mut self.all[from as usize]);
            self.all[from as usize].merged_into = Some(into);
            if into == UNKNOWN {
                continue;
            }
            let path = &mut self.all[into as usize];
            path.containers += containers;
            path.with_outlier += with_outlier;
            path.values.merge(values);
            path.forms.merge(&forms);
            path.shapes.merge(shapes);
            for (nth, (key, child)) in children.into_iter().enumerate() {
                rest.push((child, self.child(into, nth, key)));
            }
        }
    }

    /// The path that the values of a path are compared at.
    fn resolve(&self, mut path: u32) -> u32 {
        while let Some(into) = self.all[path as usize].merged_into {
            path = into;
        }
        path
    }

    /// Whether the values in a container are compared with each other: those in arrays and maps.
    fn is_list(&self, node: &Node) -> bool {
        node.kind == Kind::Array || node.kind == Kind::Object && self.all[node.path as usize].is_map
    }

    /// Whether the values at a path are compared: not if there are too many different ones.
    #[inline]
    pub(super) fn are_compared(&self, path: u32) -> bool {
        !self.all[path as usize].values.varies
    }

    /// Counts the form of a string or a word that ends at `end`.
    #[inline]
    pub(super) fn count_form(&mut self, end: usize, path: u32, value: &[u8]) {
        if end > self.counted && path != UNKNOWN {
            self.all[path as usize].forms.add(form(value));
        }
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
        if self.has_maps {
            for node in &mut tree.nodes {
                node.path = self.resolve(node.path);
            }
        }
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
            self.all[path as usize].with_outlier += new as u64;
            let Path { containers, with_outlier, .. } = self.all[path as usize];
            let is_rare = containers >= MIN_ITEMS && with_outlier * ITEMS_PER_OUTLIER <= containers;
            for ((_, at), own) in group {
                let inner = Some(with_outlier).filter(|_| is_rare && tree.nodes[at].has_outlier);
                let Some(count) = own.into_iter().chain(inner).min() else { continue };
                let mut parent = tree.nodes[at].parent as usize;
                if tree.nodes[parent].kind == Kind::Object && !self.is_list(&tree.nodes[parent]) {
                    let known = found.entry((tree.nodes[parent].path, parent)).or_insert(None);
                    *known = Some(known.map_or(count, |known| known.min(count)));
                    continue;
                }
                tree.nodes[at].rarity = Rarity::Outlier(u32::try_from(count).unwrap_or(u32::MAX));
                while !tree.nodes[parent].has_outlier && parent > 0 {
                    tree.nodes[parent].has_outlier = true;
                    let node = tree.nodes[parent];
                    if self.is_list(&node) {
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
        let Path { parent, values, forms, shapes, .. } = &self.all[path];
        let all = match shapes.items {
            // Values of objects.
            0 => self.all[*parent as usize].containers.max(values.items),
            items => items,
        };
        let is_rare_key = shapes.items == 0 && all >= MIN_ITEMS && values.items * ITEMS_PER_OUTLIER <= all;
        let any = Some(values.items).filter(|&count| is_rare_key && count > 0);
        RareValues { any, values: values.rare(all), forms: forms.rare(), shapes: shapes.rare(all) }
    }
}

/// The values at a path that make a difference, and how many share each.
struct RareValues {
    /// All of them, because nearly all objects lack the key.
    any: Option<u64>,
    values: Vec<(u64, u64)>,
    forms: Vec<(usize, u64)>,
    shapes: Vec<(u64, u64)>,
}

impl RareValues {
    /// How many share the difference, if the value is rare.
    fn count(&self, node: &Node, text: &[u8]) -> Option<u64> {
        let RareValues { any, values, forms, shapes } = self;
        if any.is_none() && values.is_empty() && forms.is_empty() && shapes.is_empty() {
            return None;
        }
        let count = |of: &[(u64, u64)], value: u64| {
            of.iter().find(|(rare, _)| *rare == value).map(|(_, count)| *count)
        };
        let is_container = matches!(node.kind, Kind::Object | Kind::Array);
        let class = text.get(node.value).map_or(0, |&first| class(first));
        let shape = count(&self.shapes, if is_container { node.content } else { class });
        let value = count(&self.values, node.content);
        let own = || form(text.get(node.value..node.to).unwrap_or_default());
        let form = match node.state {
            State::Closed if !is_container && !forms.is_empty() => own(),
            _ => None,
        };
        let form = form.and_then(|own| forms.iter().find(|(rare, _)| *rare == own)).map(|(_, count)| *count);
        any.iter().copied().chain(shape).chain(value).chain(form).min()
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
            self.varies = self.has_too_many();
            return;
        };
        self.values[at].1 += 1;
        // Frequent values come first, so that they are found first.
        if at > 0 && self.values[at].1 > self.values[at - 1].1 {
            self.values.swap(at, at - 1);
        }
    }

    /// Adds the counts of other values.
    fn merge(&mut self, other: ValueCounts) {
        self.items += other.items;
        self.varies |= other.varies;
        for (value, count) in other.values {
            match self.values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, known)) => *known += count,
                None => self.values.push((value, count)),
            }
        }
        self.varies |= self.has_too_many();
    }

    /// Whether there are too many different values for any of them to be rare. If there are more than a few, a value can be rare
    /// only where most items share another one.
    fn has_too_many(&self) -> bool {
        let count = self.values.len();
        count > MAX_VALUES || count > FEW_VALUES && self.most() * 2 < self.items
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

    /// Checks whether the item of an array with this value among others is an outlier.
    #[track_caller]
    fn check_value(usual: fn(usize) -> String, value: &str, is_outlier: bool) {
        let item = |number: usize| match number {
            60 => format!(r#"{{"id": {number}, "v": {value}}}"#),
            _ => format!(r#"{{"id": {number}, "v": {}}}"#, usual(number)),
        };
        check(&(0..200).map(item).collect::<Vec<_>>(), if is_outlier { &[60] } else { &[] });
    }

    #[test]
    fn item_with_a_value_of_a_rare_form_is_an_outlier() {
        let price = |number: usize| (1 + number * 37 % 90).to_string();
        check_value(price, "-5", true);
        check_value(price, "991191", true);
        check_value(price, "0", false);
        check_value(price, "100", false);
        check_value(|number| format!("{}.25", number * 37 % 90), "-5.5", true);
        check_value(|number| (10 + number * 37 % 80).to_string(), "0", true);
        check_value(|number| (1000 + number * 37).to_string(), "1.5e-7", false);
        check_value(|number| (number * 37 % 90).to_string(), "-5", true);
        check_value(|number| format!("{}", number as i64 * 37 % 90 - 45), "-99", false);
        check_value(|number| format!("\"u{number}@x.org\""), "\"\"", true);
        check_value(|number| format!("\"u{number}@x.org\""), "\"12\"", false);
        check_value(|number| format!("\"{}\"", number * 37 % 90), "\"-5\"", true);
        check_value(|number| format!("\"{}\"", number * 37 % 90), "\"NaN\"", true);
        let pair = |number: usize| {
            format!(
                r#"{{"at": [17000000, "{}"]}}"#,
                if number == 60 { "NaN".to_owned() } else { number.to_string() }
            )
        };
        check(&(0..200).map(pair).collect::<Vec<_>>(), &[60]);
    }

    #[test]
    fn members_of_a_map_are_compared_as_items_are() {
        let outliers = |text: String| -> Vec<String> {
            let buffer = Buffer { text: text.into_bytes(), holes: Vec::new() };
            let tree = read(&buffer, End::Last, &mut Paths::default()).expect("JSON");
            let nodes = tree.nodes.iter().filter(|node| node.rarity != Rarity::Usual);
            nodes
                .map(|node| String::from_utf8_lossy(&buffer.text[node.from..node.from + 5]).into_owned())
                .collect()
        };
        let map = |count: usize, member: &dyn Fn(usize) -> String| {
            let members: Vec<String> =
                (100..100 + count).map(|number| format!(r#""{number}": {}"#, member(number))).collect();
            format!("{{{}}}", members.join(", "))
        };
        for odd in [110, 190] {
            let state = |number: usize| if number == odd { "down" } else { "up" };
            let found = [format!("\"{odd}\"")];
            assert_eq!(outliers(map(120, &|number| format!(r#"{{"state": "{}"}}"#, state(number)))), found);
            assert_eq!(outliers(map(120, &|number| format!(r#""{}""#, state(number)))), found);
            assert_eq!(
                outliers(map(120, &|number| format!(r#"{{"a": {{"b": ["{}"]}}}}"#, state(number)))).len(),
                2
            );
            assert_eq!(
                outliers(format!(
                    r#"{{"tests": {}}}"#,
                    map(120, &|number| format!(r#"{{"n": {number}, "s": "{}"}}"#, state(number)))
                )),
                found
            );
            let error =
                |number: usize| if number == odd { r#"{"v": 1, "error": "a"}"# } else { r#"{"v": 1}"# };
            assert_eq!(outliers(map(120, &|number| error(number).to_owned())), found);
            // A map in each item of an array: the item with the odd member is one, too.
            let item = |which: usize| {
                map(80, &|number| {
                    if which == 4 {
                        format!(r#""{}""#, if number == 110 { "down" } else { "up" })
                    } else {
                        "\"up\"".to_owned()
                    }
                })
            };
            let items: Vec<String> = (0..20).map(item).collect();
            assert_eq!(outliers(format!("[{}]", items.join(", "))).len(), 2);
        }
        assert_eq!(outliers(map(120, &|number| format!(r#"{{"id": {number}}}"#))), [""; 0]);
    }
}
