//! Which items of an array are unlike the others: the one test that failed among a thousand that did not.
//!
//! An item has properties: what stands under each of its keys, as far as that is a word, a number or a short string, and
//! whether a container under it is empty. Where nearly all items have the same, those that have something else are odd,
//! and so are those with a key that nearly all others lack. Nothing is known of what a key means.

use super::held::Held;
use super::parse::{Kind, Node, Standing, State, Tree};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fewer items have no habits.
const LEAST_ITEMS: u64 = 8;

/// Of so many items one may be odd: a fifth is a kind of its own.
pub(super) const ODD_SHARE: u64 = 5;

/// A property with more values varies.
const MOST_VALUES: usize = 16;

/// So many properties of an item are looked at, in it and in what it holds, so far down.
const MOST_PROPERTIES: usize = 64;
const DEPTH: usize = 3;

/// A longer string is a text, which is never the same.
const MOST_STRING: usize = 40;

/// Says of every item in the tree how it stands among the others.
pub(super) fn compare(held: &Held, tree: &mut Tree) {
    for at in 0..tree.nodes.len() {
        if matches!(tree.nodes[at].kind, Kind::Documents | Kind::Array) {
            compare_items(held, tree, at);
        }
    }
}

fn compare_items(held: &Held, tree: &mut Tree, at: usize) {
    let total: u64 = tree.children(at).map(|item| tree.nodes[item].values).sum();
    if total < LEAST_ITEMS {
        return;
    }
    let items: Vec<usize> = tree
        .children(at)
        .filter(|&item| tree.nodes[item].kind != Kind::Hole && tree.nodes[item].state == State::Closed)
        .collect();
    // Items that are not held any more were like the others: the odd ones stay.
    let gone = total - items.len() as u64;
    let mut habits: HashMap<u64, Habit> = HashMap::new();
    let mut properties = Vec::new();
    for &item in &items {
        list_properties(held, tree, item, &mut properties);
        properties.iter().for_each(|&(key, value)| habits.entry(key).or_default().add(value));
    }
    for &item in &items {
        list_properties(held, tree, item, &mut properties);
        let counts = properties.iter().filter_map(|&(key, value)| habits[&key].oddity(value, gone, total));
        tree.nodes[item].standing = counts.min().map_or(Standing::Usual, Standing::Odd);
    }
}

/// What the items of an array have under one key.
#[derive(Default)]
struct Habit {
    items: u64,
    values: Vec<(u64, u64)>,
}

impl Habit {
    fn add(&mut self, value: u64) {
        self.items += 1;
        match self.values.iter().position(|(known, _)| *known == value) {
            Some(at) => self.values[at].1 += 1,
            None if self.values.len() <= MOST_VALUES => self.values.push((value, 1)),
            None => {}
        }
    }

    /// How many items share what is odd about a value, if it is.
    fn oddity(&self, value: u64, gone: u64, total: u64) -> Option<u64> {
        if self.items * ODD_SHARE <= total - gone {
            return Some(self.items);
        }
        let most = self.values.iter().map(|(_, count)| *count).max()?;
        let count = self.values.iter().find(|(known, _)| *known == value)?.1;
        let is_settled = self.values.len() <= MOST_VALUES && (most + gone) * ODD_SHARE >= total * 3;
        (is_settled && count < most && count * ODD_SHARE <= total).then_some(count)
    }
}

/// The properties of an item, as hashes of their keys and values.
fn list_properties(held: &Held, tree: &Tree, item: usize, properties: &mut Vec<(u64, u64)>) {
    properties.clear();
    properties.push((0, value_of(held, tree, item)));
    list_inner(held, tree, (item, 0, 0), properties);
}

fn list_inner(
    held: &Held,
    tree: &Tree,
    (container, path, depth): (usize, u64, usize),
    properties: &mut Vec<(u64, u64)>,
) {
    if tree.nodes[container].kind != Kind::Object || depth == DEPTH {
        return;
    }
    for at in tree.children(container) {
        let node = tree.nodes[at];
        if properties.len() >= MOST_PROPERTIES {
            return;
        }
        if node.kind != Kind::Hole {
            let path = hash((path, &held.text[node.from..node.value]));
            properties.push((path, value_of(held, tree, at)));
            list_inner(held, tree, (at, path, depth + 1), properties);
        }
    }
}

fn value_of(held: &Held, tree: &Tree, at: usize) -> u64 {
    let Node { kind, value, to, next, .. } = tree.nodes[at];
    match kind {
        Kind::Scalar => hash(&held.text[value..to]),
        Kind::String if to - value <= MOST_STRING => hash(&held.text[value..to]),
        _ => hash((kind as u8, next > at + 1)),
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::parse::{End, parse};
    use super::*;

    /// One door: the numbers of the items of an array that are odd.
    #[track_caller]
    fn check(items: &[String], expected: &[usize]) {
        let held = Held { text: format!("[{}]", items.join(", ")).into_bytes(), holes: Vec::new() };
        let mut tree = parse(&held, End::Last).expect("JSON");
        compare(&held, &mut tree);
        let standings = tree.children(1).map(|item| tree.nodes[item].standing);
        let odd: Vec<usize> = standings
            .enumerate()
            .filter(|(_, standing)| *standing != Standing::Usual)
            .map(|(at, _)| at)
            .collect();
        assert_eq!(odd, expected, "{items:?}");
    }

    #[test]
    fn what_is_odd() {
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
        let nested = |code: usize| format!(r#"{{"state": {{"exit": {{"code": {code}}}}}}}"#);
        check(&(0..20).map(|number| nested(usize::from(number == 3))).collect::<Vec<_>>(), &[3]);
        let empty = |number: usize| if number == 5 { r#"{"err": {"a": 1}}"# } else { r#"{"err": {}}"# };
        check(&(0..20).map(|number| empty(number).to_owned()).collect::<Vec<_>>(), &[5]);
        check(&(0..20).map(|number| number.to_string()).collect::<Vec<_>>(), &[]);
        check(&tests(&[2])[..6], &[]);
    }
}
