//! Shortens a JSON value so that it still matches its tool's schema, as MCP requires of `structuredContent`.
//!
//! The budget is divided top
//! down: each member of a value gets a share, the largest are cut first. Strings are cut inside, arrays at their end;
//! nothing else changes, and members are never removed.

mod schema;

pub use schema::Schema;

use crate::json::{Edits, Node, quoted};
use crate::notice::{Access, Count, Message, Notice, Tag};
use crate::results::shares;

/// Deeper values stay unchanged: each level costs a scan of everything below it.
const DEEPEST: usize = 32;

/// The smallest share of a member: enough for a marker.
const LEAST: u64 = 120;

/// What replaces the parts that are left out.
#[derive(Clone, Copy, Debug)]
pub struct Marking<'a> {
    /// The id of the entry with the complete data, if it is stored.
    pub id: Option<&'a str>,
    /// A text that the value may repeat, and what is shown of it.
    pub repeated: Option<(&'a [u8], &'a [u8])>,
}

/// The value within about `budget` bytes, as far as its schema allows.
///
/// ```
/// use offcut::json::Node;
/// use offcut::results::structured::{Marking, Schema, fit};
///
/// let rows = serde_json::json!({"rows": vec!["a row"; 1000]}).to_string();
/// let schema = r#"{"type": "object", "properties": {"rows": {"type": "array", "minItems": 1}}}"#;
/// let marking = Marking { id: None, repeated: None };
/// let short = fit(Node::parse(&rows)?, Schema::new(Node::parse(schema)?), 200, &marking);
/// assert!(short.len() <= 200 && short.starts_with(r#"{"rows":["a row","a row""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn fit(value: Node<'_>, schema: Schema<'_>, budget: u64, marking: &Marking<'_>) -> String {
    let mut edits = Edits::default();
    Fitting { marking, edits: &mut edits }.fit(value, schema, budget, 0);
    edits.apply_within(value)
}

struct Fitting<'a> {
    marking: &'a Marking<'a>,
    edits: &'a mut Edits,
}

impl Fitting<'_> {
    fn fit(&mut self, value: Node<'_>, schema: Schema<'_>, budget: u64, depth: usize) {
        if value.json().len() as u64 <= budget || depth > DEEPEST || matches!(schema, Schema::Frozen) {
            return;
        }
        if value.is_text() {
            self.text(value, schema, budget);
        } else if value.is_array() {
            self.array(value, schema, budget, depth);
        } else if value.is_object() {
            let sizes: Vec<u64> = value.pairs().map(|(_, member)| member.json().len() as u64).collect();
            let names = value.json().len() as u64 - sizes.iter().sum::<u64>();
            let shares = shares(&sizes, budget.saturating_sub(names), LEAST);
            let schemas = schema.members(value);
            for ((name, member), share) in value.pairs().zip(shares) {
                if member.json().len() as u64 > share {
                    let name = name.text().unwrap_or_default();
                    self.fit(member, schemas.of(&name), share, depth + 1);
                }
            }
        }
    }

    fn array(&mut self, value: Node<'_>, schema: Schema<'_>, budget: u64, depth: usize) {
        let (least, each) = schema.elements(value);
        // At least one is kept, even if it has to be cut: a part says more than nothing.
        let least = least.map_or(usize::MAX, |least| least.max(1));
        let (mut kept, mut sizes) = (Vec::new(), Vec::new());
        let (mut left, mut end) = (budget.saturating_sub(2), value.span().start + 1);
        // An array can have millions of elements: only those that are kept are held.
        let mut elements = value.children();
        let next = elements.find(|element| {
            // The comma and white space before an element count with it.
            let size = (element.span().end - end) as u64;
            let is_kept = size <= left || kept.len() < least;
            if is_kept {
                kept.push(*element);
                sizes.push(size);
            }
            (left, end) = (left.saturating_sub(size), element.span().end);
            !is_kept
        });
        let shares = shares(&sizes, budget.saturating_sub(2), LEAST);
        for (element, share) in kept.iter().zip(shares) {
            self.fit(*element, each, share, depth + 1);
        }
        if let (Some(_), Some(last)) = (next, kept.last()) {
            self.edits.remove_after(value, *last);
        }
    }

    fn text(&mut self, value: Node<'_>, schema: Schema<'_>, budget: u64) {
        let (Some(least), Some(text)) = (schema.least_text(value), value.text()) else { return };
        if let Some((whole, shown)) = self.marking.repeated
            && whole == text
            && shown.len() >= least
            && quoted(shown).len() as u64 <= budget
        {
            return self.edits.replace(value, quoted(shown));
        }
        // With escapes, the text is longer in JSON.
        let room = budget.saturating_sub(LEAST / 2) * text.len() as u64 / value.json().len().max(1) as u64;
        let room = usize::try_from(room).unwrap_or(usize::MAX).max(least.saturating_mul(4));
        if room >= text.len() {
            return;
        }
        let (head, tail) = (floor(&text, room / 3 * 2), floor(&text, text.len() - room / 3));
        let count = Count::Bytes((tail - head) as u64);
        let marker = match self.marking.id {
            Some(id) => Notice { tag: Tag::Entry(id.to_owned()), message: Message::Count(count) },
            None => {
                let access = Access::NotStored { reason: String::new() };
                Notice { tag: Tag::Plain, message: Message::Rest { count, detail: String::new(), access } }
            }
        };
        let cut = [&text[..head], marker.to_string().as_bytes(), &text[tail..]].concat();
        self.edits.replace(value, quoted(&cut));
    }
}

/// The last position at or before `at` where a character begins.
fn floor(text: &[u8], at: usize) -> usize {
    let is_inside = |&at: &usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (0..=at).rev().find(|at| !is_inside(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "(\\PC|\n){0,400}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 200, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
                prop::collection::vec(("[a-z]{1,6}", inner), 0..12)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Whether `small` is the beginning and the end of `whole` with one marker between them, which counts the rest.
    fn is_cut(small: &str, whole: &str) -> bool {
        small.match_indices("[offcut 0123456789abcdef: ").any(|(start, tag)| {
            let Some((count, end)) = small[start + tag.len()..].split_once(" bytes not shown]") else {
                return false;
            };
            let shown = start + end.len();
            whole.starts_with(&small[..start])
                && whole.ends_with(end)
                && count.parse::<usize>().is_ok_and(|count| shown + count == whole.len())
        })
    }

    /// Whether `small` is `whole` with strings cut inside and arrays cut at their end.
    fn is_part(small: &Value, whole: &Value) -> bool {
        match (small, whole) {
            (Value::String(small), Value::String(whole)) => small == whole || is_cut(small, whole),
            (Value::Array(small), Value::Array(whole)) => {
                small.len() <= whole.len()
                    && small.iter().zip(whole).all(|(small, whole)| is_part(small, whole))
            }
            (Value::Object(small), Value::Object(whole)) => {
                small.len() == whole.len()
                    && small
                        .iter()
                        .all(|(key, value)| whole.get(key).is_some_and(|whole| is_part(value, whole)))
            }
            (small, whole) => small == whole,
        }
    }

    proptest! {
        #[test]
        fn shortened_values_are_parts_of_the_original(value in any_value(), budget in 0_u64..4000) {
            let text = value.to_string();
            let marking = Marking { id: Some("0123456789abcdef"), repeated: None };
            let small = fit(Node::parse(&text).unwrap(), Schema::Open, budget, &marking);
            let parsed: Value = serde_json::from_str(&small).unwrap();
            prop_assert!(is_part(&parsed, &value), "{parsed}");
            prop_assert!(text.len() as u64 > budget || small == text);
            let frozen = fit(Node::parse(&text).unwrap(), Schema::Frozen, budget, &marking);
            prop_assert_eq!(frozen, text);
        }
    }

    #[test]
    fn keeps_the_budget_if_something_can_be_cut() {
        let check = |value: Value, budget: u64| {
            let text = value.to_string();
            let marking = Marking { id: Some("0123456789abcdef"), repeated: None };
            let small = fit(Node::parse(&text).unwrap(), Schema::Open, budget, &marking);
            assert!(
                small.len() as u64 <= budget && small.len() as u64 > budget / 2,
                "{}: {small}",
                small.len()
            );
        };
        check(json!({"a": "x".repeat(100_000), "b": 1}), 5000);
        check(json!({"a": "\n\"".repeat(50_000)}), 5000);
        check(json!({"a": "漢".repeat(50_000), "b": "字".repeat(50_000)}), 5000);
        check(json!({"rows": vec![json!({"name": "a name"}); 10_000]}), 5000);
        let spaced = format!("{{\"a\":[{}1]}}", "1,    ".repeat(20_000));
        let small =
            fit(Node::parse(&spaced).unwrap(), Schema::Open, 5000, &Marking { id: None, repeated: None });
        assert!(small.len() <= 5000 && small.len() > 2500, "{}", small.len());
        check(json!([["x".repeat(9000), "y".repeat(9000)], ["z".repeat(9000)]]), 5000);
    }
}
