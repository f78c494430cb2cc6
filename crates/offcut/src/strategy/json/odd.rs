//! Which items of an array are unlike the others: the one test that failed among a thousand that did not.
//!
//! An item has properties: what stands under each of its keys, as far as that is a word, a number or a short string, and
//! whether a container under it is empty; which keys it has, with what kinds of values; whether something inside of it is
//! odd. Where nearly all items have the same, those that have something else are odd, and so are those with a key that
//! nearly all others lack, or with the rarest of a few values. Nothing is known of what a key means.

use super::held::Held;
use super::parse::{Kind, Node, Rarity, State, Tree};
use crate::strategy::smart::fingerprint;
use std::collections::{BTreeSet, HashMap};

/// Fewer items have no habits.
const LEAST_ITEMS: u64 = 8;

/// Of so many items one may be odd: a fifth is a kind of its own.
pub(super) const ODD_SHARE: u64 = 5;

/// A property with more values varies.
const MOST_VALUES: usize = 64;

/// Where there are so few, one that so few items have is odd though none is the usual one.
const FEW_VALUES: usize = 16;
const RARE_SHARE: u64 = 50;

/// So many properties of an item are looked at, in it and in what it holds, so far down.
const MOST_PROPERTIES: usize = 64;
const DEPTH: usize = 5;
const FIRST_ITEMS: usize = 3;

/// A longer string is a text, which is never the same.
const MOST_STRING: usize = 40;

/// Says of every item in the tree how it stands among the others.
pub(super) fn compare(held: &Held, tree: &mut Tree) {
    // What stands inside comes behind, so it is known already when an item that holds it is looked at.
    let mut odd = BTreeSet::new();
    for at in (0..tree.nodes.len()).rev() {
        if matches!(tree.nodes[at].kind, Kind::Documents | Kind::Array) {
            compare_items(held, tree, at, &mut odd);
        }
    }
}

fn compare_items(held: &Held, tree: &mut Tree, at: usize, odd: &mut BTreeSet<usize>) {
    let total: u64 = tree.children(at).map(|item| tree.nodes[item].values).sum();
    if total < LEAST_ITEMS {
        return;
    }
    let items: Vec<usize> = tree
        .children(at)
        .filter(|&item| tree.nodes[item].kind != Kind::Hole && tree.nodes[item].state == State::Closed)
        .collect();
    let mut lister = Lister { held, tree, odd, habits: Habits::default(), properties: Vec::new() };
    let ends: Vec<usize> = items.iter().map(|&item| lister.list(item)).collect();
    let Lister { habits, properties, .. } = lister;
    let mut from = 0;
    for (&item, &end) in items.iter().zip(&ends) {
        let of_item = properties[from..end].iter();
        let counts = of_item
            .filter_map(|&(habit, value)| habits.all[habit].1.oddity(value, items.len() as u64, total));
        if let Some(count) = counts.min() {
            tree.nodes[item].rarity = Rarity::Odd(count);
            odd.insert(item);
        }
        from = end;
    }
}

/// The habits of an array by their keys. Items mostly have the same keys in the same order.
#[derive(Default)]
struct Habits {
    all: Vec<(u64, Habit)>,
    places: HashMap<u64, usize>,
}

impl Habits {
    /// Adds a value to the habit of a key, which is an item's `nth`; returns where the habit is.
    fn add(&mut self, key: u64, nth: usize, value: u64) -> usize {
        let place = match self.all.get(nth) {
            Some((known, _)) if *known == key => nth,
            _ => *self.places.entry(key).or_insert_with(|| {
                self.all.push((key, Habit::default()));
                self.all.len() - 1
            }),
        };
        self.all[place].1.add(value);
        place
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
        if self.varies() {
            return;
        }
        match self.values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => self.values.push((value, 1)),
        }
    }

    fn varies(&self) -> bool {
        self.values.len() > MOST_VALUES
    }

    /// How many items share what is odd about a value, if it is.
    fn oddity(&self, value: u64, items: u64, total: u64) -> Option<u64> {
        if self.items * ODD_SHARE <= items {
            return Some(self.items);
        }
        if self.varies() {
            return None;
        }
        let most = self.values.iter().map(|(_, count)| *count).max()?;
        let count = self.values.iter().find(|(known, _)| *known == value)?.1;
        let is_unusual = most * 4 >= items * 3 && count * ODD_SHARE <= items;
        let is_rare = self.values.len() <= FEW_VALUES && count * RARE_SHARE <= total;
        (is_unusual || is_rare).then_some(count)
    }
}

/// Lists the properties of items.
struct Lister<'a> {
    held: &'a Held,
    tree: &'a Tree,
    /// What is odd inside of the items.
    odd: &'a BTreeSet<usize>,
    habits: Habits,
    /// To which habit each belongs, and its value, as a hash.
    properties: Vec<(usize, u64)>,
}

impl Lister<'_> {
    /// Lists those of one more item; returns how many there are now.
    fn list(&mut self, item: usize) -> usize {
        let first = self.properties.len();
        let holds_odd = self.odd.range(item + 1..self.tree.nodes[item].next).next().is_some();
        self.add(0, u64::from(holds_odd), first);
        self.add(1, self.shape(item), first);
        self.add(2, self.value(item), first);
        self.list_inner(item, 2, 0, first);
        self.properties.len()
    }

    fn add(&mut self, key: u64, value: u64, first: usize) {
        let habit = self.habits.add(key, self.properties.len() - first, value);
        self.properties.push((habit, value));
    }

    fn list_inner(&mut self, container: usize, path: u64, depth: usize, first: usize) {
        let (held, tree) = (self.held, self.tree);
        let children = match tree.nodes[container].kind {
            _ if depth == DEPTH => 0,
            Kind::Object => usize::MAX,
            // The first stand for the others.
            Kind::Array => FIRST_ITEMS,
            _ => 0,
        };
        for (at, number) in tree.children(container).take(children).zip(0..) {
            let node = tree.nodes[at];
            if self.properties.len() >= first + MOST_PROPERTIES {
                return;
            }
            if node.kind != Kind::Hole {
                let key = &held.text[node.from..node.value];
                let key = if key.is_empty() { number } else { fingerprint::exact(key) };
                let path = fingerprint::mix(path, key);
                self.add(path, self.value(at), first);
                self.list_inner(at, path, depth + 1, first);
            }
        }
    }

    /// What kind of value it is, and of an object the kinds of what stands under its keys.
    fn shape(&self, at: usize) -> u64 {
        let (held, tree) = (self.held, self.tree);
        let kind = |at: usize| match (tree.nodes[at].kind, held.text.get(tree.nodes[at].value)) {
            (Kind::Scalar, Some(b'0'..=b'9' | b'-')) => 100,
            (Kind::Scalar, Some(&word)) => 100 + u64::from(word),
            (kind, _) => kind as u64,
        };
        if tree.nodes[at].kind != Kind::Object {
            return kind(at);
        }
        tree.children(at).take(MOST_PROPERTIES).fold(0, |shape, child| {
            let node = tree.nodes[child];
            let key = fingerprint::exact(&held.text[node.from..node.value]);
            // In whatever order.
            shape ^ fingerprint::mix(key, kind(child))
        })
    }

    fn value(&self, at: usize) -> u64 {
        let Node { kind, value, to, next, .. } = self.tree.nodes[at];
        match kind {
            Kind::Scalar => fingerprint::exact(&self.held.text[value..to]),
            Kind::String if to - value <= MOST_STRING => fingerprint::exact(&self.held.text[value..to]),
            _ => u64::from(next > at + 1) << 8 | kind as u64,
        }
    }
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
        let standings = tree.children(1).map(|item| tree.nodes[item].rarity);
        let odd: Vec<usize> =
            standings.enumerate().filter(|(_, rarity)| *rarity != Rarity::Usual).map(|(at, _)| at).collect();
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
