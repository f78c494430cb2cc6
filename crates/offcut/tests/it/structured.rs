//! Tests of shortened data that has to match a schema: what is shown, what is counted, and how the rest is read.

use crate::common::{bytes, memory, native};
use offcut::event::DiscardEvents;
use offcut::json::Node;
use offcut::results::structured::{Fitted, Gap, GapContent, Marking, Schema, StoredAs, fit};
use offcut::retrieve::{PageLimits, Range, page, readable};
use offcut::store::{Entry, MemoryStore};
use offcut::{Context, Preview, Rule};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;

const ID: &str = "0123456789abcdef";

fn fitted(json: &str, schema: Schema<'_>, budget: u64) -> Fitted {
    fit(Node::parse(json).unwrap(), schema, budget, &Marking { id: Some(ID), repeated: None })
}

/// The value within a budget, and what is not shown of it.
#[track_caller]
fn shortened(value: &Value, budget: u64) -> (Value, Vec<String>) {
    let fitted = fitted(&value.to_string(), Schema::Open, budget);
    assert!(fitted.json.len() as u64 <= budget, "{} bytes: {}", fitted.json.len(), fitted.json);
    (serde_json::from_str(&fitted.json).unwrap(), fitted.gaps.iter().map(Gap::to_string).collect())
}

/// Rows that differ in nothing but their number, except those for which `change` returns another.
fn rows(count: usize, change: impl Fn(usize) -> Option<Value>) -> Vec<Value> {
    let row = |number: usize| json!({"id": number, "name": format!("user {number}"), "status": "ok"});
    (0..count).map(|number| change(number).unwrap_or_else(|| row(number))).collect()
}

#[test]
fn array_shows_both_ends_and_unusual_items() {
    let unusual = [
        (3000, json!({"id": 3000, "name": "user 3000", "status": "failed"})),
        (5000, json!({"id": 5000, "name": "user 5000", "status": "ok", "error": "disk full"})),
        (7000, json!({"id": 7000, "name": null, "status": "ok"})),
        (9000, json!("not an object")),
        (11_000, json!({"id": 11_000, "name": "user 11000"})),
    ];
    let find = |number: usize| unusual.iter().find(|(at, _)| *at == number).map(|(_, row)| row.clone());
    let whole = json!({"rows": rows(15_000, find), "total": 15_000});
    let (shown, gaps) = shortened(&whole, 4000);
    let items = shown["rows"].as_array().unwrap();
    for row in unusual.iter().map(|(_, row)| row).chain([&whole["rows"][0], &whole["rows"][14_999]]) {
        assert!(items.contains(row), "{row} is not shown: {gaps:?}");
    }
    assert_eq!(shown["total"], 15_000);
    assert_eq!(gaps.len(), 6, "{gaps:?}");
    assert!(gaps[1] == "rows[3001:5000]" && gaps[4] == "rows[9001:11000]", "{gaps:?}");
    let fitted = fitted(&whole.to_string(), Schema::Open, 4000);
    assert_eq!(fitted.not_shown(), format!("{} of 15000 items", 15_000 - items.len()));
}

#[test]
fn array_of_similar_items_has_one_gap() {
    let kind = |number: usize| ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][number % 10];
    let items: Vec<Value> = (0..100_000).map(|id| json!({"id": id, "kind": kind(id)})).collect();
    let (shown, gaps) = shortened(&json!(items), 4000);
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    let shown = shown.as_array().unwrap();
    let head = shown.iter().zip(&items).take_while(|(shown, item)| shown == item).count();
    assert_eq!(gaps[0], format!("[{head}:{}]", items.len() - (shown.len() - head)));
    assert!(head >= shown.len() / 3 && head <= shown.len() / 3 * 2 + 1, "{head} of {}", shown.len());
}

#[test]
fn large_items_are_shortened_so_that_several_are_shown() {
    let group = |number: usize| json!({"name": number, "items": rows(200, |row| (number == 50 && row == 100).then(|| json!({"id": row, "name": "user 100", "status": "failed"})))});
    let whole = json!({"groups": (0..100).map(group).collect::<Vec<_>>()});
    let (shown, gaps) = shortened(&whole, 6000);
    let names: Vec<&Value> = shown["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert!(
        names.contains(&&json!(0)) && names.contains(&&json!(50)) && names.contains(&&json!(99)),
        "{names:?}"
    );
    assert!(shown.to_string().contains("failed"), "{shown}");
    assert!(gaps.iter().any(|gap| gap.starts_with("groups[50].items[101:")), "{gaps:?}");
}

#[test]
fn object_with_very_many_members_shows_both_ends() {
    let whole: Map<String, Value> =
        (0..9000).map(|number| (format!("key {number:04}"), json!({"n": number}))).collect();
    let (shown, gaps) = shortened(&json!({"by name": whole, "total": 9000}), 3000);
    let members = shown["by name"].as_object().unwrap();
    assert!(members.contains_key("key 0000") && members.contains_key("key 8999"), "{shown}");
    assert!(members.iter().all(|(name, value)| whole[name] == *value));
    assert_eq!(shown["total"], 9000);
    assert!(gaps.len() == 1 && gaps[0].ends_with(" of [\"by name\"]"), "{gaps:?}");
    let fitted = fitted(&json!(whole).to_string(), Schema::Open, 3000);
    let shown: Map<String, Value> = serde_json::from_str(&fitted.json).unwrap();
    assert_eq!(fitted.not_shown(), format!("{} of 9000 members", 9000 - shown.len()));
}

/// Members that a schema names are always there; others are removed if their number makes the object too large.
#[test]
fn object_keeps_the_members_that_its_schema_names() {
    let mut whole: Map<String, Value> =
        (0..9000).map(|number| (format!("key {number:04}"), json!(number))).collect();
    whole.insert("key 4000 is known".into(), json!("k"));
    whole.insert("key 5000 is required".into(), json!("r"));
    let check = |schema: Value, keeps_all: bool| {
        let (json, schema) = (json!(whole).to_string(), schema.to_string());
        let fitted = fitted(&json, Schema::new(Node::parse(&schema).unwrap()), 2000);
        let shown: Map<String, Value> = serde_json::from_str(&fitted.json).unwrap();
        assert_eq!(fitted.json == json, keeps_all, "{schema}");
        assert!(keeps_all || fitted.json.len() <= 2000, "{}", fitted.json.len());
        assert!(shown.contains_key("key 4000 is known") && shown.contains_key("key 5000 is required"));
    };
    let known = json!({"key 4000 is known": {"type": "string"}});
    let required = json!(["key 5000 is required"]);
    check(json!({"type": "object", "properties": known, "required": required}), false);
    check(json!({"properties": known, "required": required, "additionalProperties": {"minimum": 0}}), false);
    check(json!({"properties": known, "required": required, "minProperties": 9002}), true);
    check(json!({"properties": known, "required": required, "patternProperties": {}}), true);
}

#[test]
fn long_string_keeps_its_ends_without_breaking_escapes() {
    for part in ["x", "\n\"", "漢", "😀\t", "\\u"] {
        let whole = json!({"text": format!("first {} last", part.repeat(30_000)), "n": 1});
        let (shown, gaps) = shortened(&whole, 3000);
        let text = shown["text"].as_str().unwrap();
        assert!(text.starts_with("first ") && text.ends_with(" last"), "{part:?}");
        assert!(shown.to_string().len() > 2000, "{part:?}");
        let count = text.split_once(&format!("[offcut {ID}: ")).unwrap().1.split_once(" bytes").unwrap().0;
        let marker = format!("[offcut {ID}: {count} bytes not shown]");
        let original = whole["text"].as_str().unwrap().len();
        assert_eq!(text.len() - marker.len() + count.parse::<usize>().unwrap(), original, "{part:?}");
        assert_eq!(gaps, [format!("{count} bytes of text")]);
    }
}

#[test]
fn white_space_between_values_counts() {
    let spaced = format!("{{\"a\":[{}1]}}", "1,    ".repeat(20_000));
    let json = fitted(&spaced, Schema::Open, 5000).json;
    assert!(json.len() <= 5000 && json.len() > 2500, "{}", json.len());
}

#[test]
fn deep_data_is_shortened_or_left_unchanged() {
    for depth in [20, 100, 100_000] {
        let text = format!("{}{}{}", "[".repeat(depth), json!(rows(900, |_| None)), "]".repeat(depth));
        let json = fitted(&text, Schema::Open, 3000).json;
        assert!(Node::parse(&json).is_ok());
        assert_eq!(json.len() <= 3000, depth < 32, "{depth}");
    }
}

/// A value that was stored as its truncator stores it.
fn store(json: &str) -> (Arc<MemoryStore>, Entry) {
    let store = memory();
    let truncator = native(Rule { limits: bytes(256), ..Rule::default() }, store.clone());
    let outcome = truncator.apply_json(json.as_bytes(), &Context::default());
    let entry = outcome.preview().and_then(Preview::entry).unwrap().clone();
    (store, entry)
}

/// Everything from a range on that pages return, one after another.
fn follow(store: &MemoryStore, entry: &Entry, range: Range, until_satisfied: bool) -> String {
    let (mut text, mut next) = (Vec::new(), Some(range));
    while let Some(range) = next {
        let page = page(store, entry, range, PageLimits { bytes: 700, lines: 50 }, &DiscardEvents).unwrap();
        assert!(!page.content.is_empty());
        text.extend_from_slice(&page.content);
        next = page.progress.next().copied().filter(|_| !until_satisfied || !page.progress.is_satisfied());
    }
    String::from_utf8(text).unwrap()
}

/// Checks that what is shown of a value is the value without its gaps.
fn check_shown(whole: &Value, shown: &Value, path: &str, gaps: &mut Vec<Gap>) {
    let mut kept_of = |count: usize| -> Vec<usize> {
        let is_here = |gap: &Gap| gap.path == path && !matches!(gap.content, GapContent::Text { .. });
        let omitted: Vec<Gap> = gaps.extract_if(.., |gap| is_here(gap)).collect();
        let is_omitted = |index: &usize| {
            omitted.iter().any(|gap| match &gap.content {
                GapContent::Items(range) | GapContent::Members(range) => range.contains(index),
                _ => false,
            })
        };
        (0..count).filter(|index| !is_omitted(index)).collect()
    };
    match (whole, shown) {
        (Value::String(whole), Value::String(shown)) if whole != shown => {
            let at = gaps.iter().position(|gap| gap.path == path).unwrap();
            let GapContent::Text { bytes } = gaps.remove(at).content else { panic!("{path} is a text") };
            let marker = format!("[offcut {ID}: {bytes} bytes not shown]");
            let (head, tail) = shown.split_once(&marker).unwrap();
            assert!(whole.starts_with(head) && whole.ends_with(tail), "{path}: {shown}");
            assert_eq!(head.len() + tail.len() + bytes as usize, whole.len(), "{path}");
        }
        (Value::Array(whole), Value::Array(shown)) => {
            let kept = kept_of(whole.len());
            assert_eq!(kept.len(), shown.len(), "{path}");
            for (index, shown) in kept.into_iter().zip(shown) {
                check_shown(&whole[index], shown, &format!("{path}[{index}]"), gaps);
            }
        }
        (Value::Object(whole), Value::Object(shown)) => {
            // Both are sorted by their names, as the document is.
            let kept = kept_of(whole.len());
            assert_eq!(kept.len(), shown.len(), "{path}");
            for (index, (name, shown)) in kept.into_iter().zip(shown) {
                let (known, whole) = whole.iter().nth(index).unwrap();
                assert_eq!(known, name, "{path}");
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                check_shown(whole, shown, &path, gaps);
            }
        }
        (whole, shown) => assert_eq!(whole, shown, "{path}"),
    }
}

/// The value at a path such as `a[3].b`.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    let pointer = path.replace(['[', '.'], "/").replace(']', "");
    let pointer =
        if pointer.is_empty() || pointer.starts_with('/') { pointer } else { format!("/{pointer}") };
    value.pointer(&pointer).unwrap()
}

/// Values without line breaks and escapes in their strings, so that their readable form is JSON.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-zé漢 ]{0,300}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 300, 40, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..40).prop_map(Value::from),
            (inner.clone(), inner.clone(), 9_usize..300).prop_map(|(usual, odd, count)| {
                Value::from_iter(
                    (0..count).map(|at| if at == count / 2 { odd.clone() } else { usual.clone() }),
                )
            }),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..40)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn shortened_data_is_exact_within_the_budget_and_can_be_read_completely(
        value in any_value(),
        budget in 300_u64..4000,
        is_pretty in any::<bool>(),
    ) {
        let text = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let node = Node::parse(&text).unwrap();
        let fitted = fitted(&text, Schema::Open, budget);
        prop_assert_eq!(fitted_frozen(&text, budget), text.clone());
        if text.len() as u64 <= budget {
            prop_assert_eq!(&fitted.json, &text);
            return Ok(());
        }
        let shown: Value = serde_json::from_str(&fitted.json).unwrap();
        if budget >= 1000 {
            prop_assert!(fitted.json.len() as u64 <= budget, "{} of {budget}: {}", fitted.json.len(), fitted.json);
        }
        let mut gaps = fitted.gaps.clone();
        check_shown(&value, &shown, "", &mut gaps);
        prop_assert!(gaps.is_empty(), "{gaps:?}");

        let (store, entry) = store(&text);
        let form = String::from_utf8(readable(text.as_bytes())).unwrap();
        let ranges = fitted.locate(node, StoredAs::Value);
        prop_assert_eq!(ranges.len(), fitted.gaps.len());
        for (gap, range) in fitted.gaps.iter().zip(&ranges) {
            let read = follow(&store, &entry, *range, true);
            let whole = at(&value, &gap.path);
            match &gap.content {
                GapContent::Items(items) => {
                    let read = format!("[{}]", read.trim_end().trim_end_matches(','));
                    prop_assert_eq!(serde_json::from_str::<Vec<Value>>(&read).unwrap(), &whole.as_array().unwrap()[items.clone()]);
                }
                GapContent::Members(members) => {
                    let read = format!("{{{}}}", read.trim_end().trim_end_matches(','));
                    let read: Map<String, Value> = serde_json::from_str(&read).unwrap();
                    let whole = whole.as_object().unwrap().iter().skip(members.start).take(members.len());
                    prop_assert!(read.iter().eq(whole));
                }
                GapContent::Text { bytes } => {
                    prop_assert!(read.len() as u64 == *bytes && whole.as_str().unwrap().contains(&read));
                }
                _ => unreachable!("{gap}"),
            }
        }
        // What the first range and the pages after it return is the rest of the value.
        if let Some(first) = ranges.first() {
            let rest = follow(&store, &entry, *first, false);
            prop_assert!(form.ends_with(&rest));
            let before = &form[..form.len() - rest.len()];
            prop_assert!(!before.is_empty());
        }
        // The same in a text that has the same JSON.
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let stored = StoredAs::text(text.as_bytes(), node).unwrap();
            for (gap, range) in fitted.gaps.iter().zip(fitted.locate(node, stored)) {
                let part = match range {
                    Range::Lines { first, last } => {
                        let count = (last.unwrap() + 1 - first) as usize;
                        text.lines().skip(first as usize - 1).take(count).collect::<Vec<_>>().join("\n")
                    }
                    Range::Bytes { start, end } => text[start as usize..end.unwrap() as usize].to_owned(),
                    other => panic!("{other:?}"),
                };
                let whole = at(&value, &gap.path);
                match &gap.content {
                    GapContent::Items(items) => {
                        let read = format!("[{}]", part.trim_end().trim_end_matches(','));
                        prop_assert_eq!(serde_json::from_str::<Vec<Value>>(&read).unwrap(), &whole.as_array().unwrap()[items.clone()]);
                    }
                    GapContent::Text { bytes } => prop_assert_eq!(part.len() as u64, *bytes),
                    _ => {}
                }
            }
        }
    }
}

fn fitted_frozen(text: &str, budget: u64) -> String {
    fitted(text, Schema::Frozen, budget).json
}
