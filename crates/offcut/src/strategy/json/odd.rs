//! Which items of an array are unlike the others: the one test that failed among a thousand that did not.
//!
//! An item has properties: what stands under each of its keys, as far as that is a word, a number or a short string, and
//! whether a container under it is empty. Where nearly all items have the same, those that have something else are odd,
//! and so are those with a key that nearly all others lack. Nothing is known of what a key means.

use super::super::smart::fingerprint;
use super::held::Held;
use super::parse::{Kind, Node, Standing, State, Tree};
use std::collections::HashMap;

/// Fewer items have no habits.
const LEAST_ITEMS: u64 = 8;

/// Of so many items one may be odd: a fifth is a kind of its own.
pub(super) const ODD_SHARE: u64 = 5;

/// A property with more values varies.
const MOST_VALUES: usize = 16;

/// So many properties of an item are looked at, in it and in what it holds, so far down.
const MOST_PROPERTIES: usize = 64;
const DEPTH: usize = 5;

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
    let mut habits = Habits::default();
    let mut lister = Lister { held, tree, properties: Vec::new() };
    // Where the properties of each item end, and to which habit each of them belongs.
    let ends: Vec<usize> = items.iter().map(|&item| lister.list(item)).collect();
    let properties = lister.properties;
    let mut from = 0;
    let mut places = Vec::with_capacity(properties.len());
    for &end in &ends {
        for (nth, &(key, value)) in properties[from..end].iter().enumerate() {
            let place = habits.place(key, nth);
            habits.habits[place].1.add(value);
            places.push(place);
        }
        from = end;
    }
    from = 0;
    for (&item, &end) in items.iter().zip(&ends) {
        let counts =
            (from..end).filter_map(|at| habits.habits[places[at]].1.oddity(properties[at].1, gone, total));
        tree.nodes[item].standing = counts.min().map_or(Standing::Usual, Standing::Odd);
        from = end;
    }
}

/// The habits of an array by their keys. Items mostly have the same keys in the same order.
#[derive(Default)]
struct Habits {
    habits: Vec<(u64, Habit)>,
    places: HashMap<u64, usize>,
}

impl Habits {
    /// Where the habit of a key is, which is an item's `nth`.
    fn place(&mut self, key: u64, nth: usize) -> usize {
        if self.habits.get(nth).is_some_and(|(known, _)| *known == key) {
            return nth;
        }
        *self.places.entry(key).or_insert_with(|| {
            self.habits.push((key, Habit::default()));
            self.habits.len() - 1
        })
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

/// Lists the properties of items, as hashes of their keys and values.
struct Lister<'a> {
    held: &'a Held,
    tree: &'a Tree,
    properties: Vec<(u64, u64)>,
}

impl Lister<'_> {
    /// Lists those of one more item; returns how many there are now.
    fn list(&mut self, item: usize) -> usize {
        let most = self.properties.len() + MOST_PROPERTIES;
        self.properties.push((0, self.value(item)));
        self.list_inner(item, 0, 0, most);
        self.properties.len()
    }

    fn list_inner(&mut self, container: usize, path: u64, depth: usize, most: usize) {
        let Lister { held, tree, .. } = *self;
        let children = match tree.nodes[container].kind {
            _ if depth == DEPTH => 0,
            Kind::Object => usize::MAX,
            // The first stands for the others.
            Kind::Array => 1,
            _ => 0,
        };
        for at in tree.children(container).take(children) {
            let node = tree.nodes[at];
            if self.properties.len() >= most {
                return;
            }
            if node.kind != Kind::Hole {
                let path = fingerprint::mix(path, fingerprint::exact(&held.text[node.from..node.value]));
                self.properties.push((path, self.value(at)));
                self.list_inner(at, path, depth + 1, most);
            }
        }
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
