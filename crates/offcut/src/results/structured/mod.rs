//! Shortens a JSON value so that it still matches its tool's schema, as MCP requires of `structuredContent`.
//!
//! The budget is divided top down: each member of a value gets a share, the largest are cut first. Strings keep their ends.
//! Arrays keep their first and last elements and their outliers, and so do objects with very many members, as far as the
//! schema allows. Nothing is put in place of what is removed: a schema may not allow it there. [`Fitted`] lists it instead.

mod choice;
mod gaps;
mod schema;

pub use gaps::{Gap, GapContent, StoredAs};
pub use schema::Schema;

use crate::json::{Edits, Node, decoded_length, escape_ceil, escape_floor, offset_of_decoded, quoted};
use crate::notice::{Access, Count, Message, Notice, Tag};
use crate::outcome::Preview;
use crate::results::shares;
use crate::retrieve;
use crate::strategy::find_outliers;
use choice::{Choice, Importance, Item};
use gaps::Step;
use std::collections::BTreeMap;

/// Deeper values stay unchanged: each level costs a scan of everything below it.
const DEEPEST: usize = 32;

/// The smallest share of a member: enough for a marker.
const LEAST: u64 = 120;

/// How often a value that is still too large is shortened to less, and the largest excess for which this is done, as a part
/// of the budget: one that is larger by more cannot be shortened.
const MAX_RETRIES: usize = 4;
const BUDGET_PER_EXCESS: u64 = 4;

/// What replaces the parts of strings that are left out.
#[derive(Clone, Copy, Debug)]
pub struct Marking<'a> {
    /// The id of the entry with the complete data, if it is stored.
    pub id: Option<&'a str>,
    /// A text that the value may repeat, and its preview.
    pub repeated: Option<(&'a [u8], &'a Preview)>,
}

/// A shortened value.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The value as JSON.
    pub json: String,
    /// What is not shown, in order.
    pub gaps: Vec<Gap>,
    /// How many elements of arrays that are not shown completely are left out, and how many there are.
    pub items: (usize, usize),
    /// The same for the members of objects.
    pub members: (usize, usize),
}

impl Fitted {
    /// How much is not shown: `14699 of 15000 items`.
    pub fn not_shown(&self) -> String {
        let bytes = self.gaps.iter().map(|gap| match gap.content {
            GapContent::Text { bytes } => bytes,
            GapContent::Items(_) | GapContent::Members(_) => 0,
        });
        let counted = |(omitted, count): (usize, usize), what: &str| {
            (omitted > 0).then(|| format!("{omitted} of {count} {what}"))
        };
        let text =
            Some(bytes.sum::<u64>()).filter(|&bytes| bytes > 0).map(|bytes| format!("{bytes} bytes of text"));
        let parts = [counted(self.items, "items"), counted(self.members, "members"), text];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Where each gap of `value`, which was shortened, is in the stored output. Everything before the first one is shown.
    pub fn locate(&self, value: Node<'_>, stored: StoredAs<'_>) -> Vec<retrieve::Range> {
        gaps::locate(value, &self.gaps, stored)
    }
}

/// The value within about `budget` bytes, as far as its schema allows.
///
/// ```
/// use offcut::json::Node;
/// use offcut::results::structured::{Marking, Schema, fit};
///
/// let rows = serde_json::json!({"rows": (0..1000).collect::<Vec<_>>()}).to_string();
/// let schema = r#"{"type": "object", "properties": {"rows": {"type": "array", "minItems": 1}}}"#;
/// let marking = Marking { id: None, repeated: None };
/// let short = fit(Node::parse(&rows)?, Schema::new(Node::parse(schema)?), 40, &marking);
/// assert_eq!(short.json, r#"{"rows":[0,1,2,3,4,995,996,997,998,999]}"#);
/// assert_eq!(short.gaps[0].to_string(), "rows[5:995]");
/// assert_eq!(short.not_shown(), "990 of 1000 items");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn fit(value: Node<'_>, schema: Schema<'_>, budget: u64, marking: &Marking<'_>) -> Fitted {
    let (json, origin) = (value.json().as_bytes(), value.span().start);
    let outliers = match json.len() as u64 > budget {
        true => find_outliers(json, budget).into_iter().map(|(at, count)| (origin + at, count)).collect(),
        false => BTreeMap::new(),
    };
    let mut fitted = fit_once(value, schema, budget, marking, &outliers);
    // A string that is hardly longer than its share stays whole, because its marker would be longer than what it replaces.
    // Several of them can exceed the budget.
    let mut target = budget;
    for _ in 0..MAX_RETRIES {
        let excess = (fitted.json.len() as u64).saturating_sub(budget);
        if excess == 0 || excess > budget / BUDGET_PER_EXCESS {
            break;
        }
        target = target.saturating_sub(excess);
        let shorter = fit_once(value, schema, target, marking, &outliers);
        if shorter.json.len() < fitted.json.len() {
            fitted = shorter;
        }
    }
    fitted
}

fn fit_once(
    value: Node<'_>,
    schema: Schema<'_>,
    budget: u64,
    marking: &Marking<'_>,
    outliers: &BTreeMap<usize, u64>,
) -> Fitted {
    let mut fitting = Fitting {
        marking,
        outliers,
        path: Vec::new(),
        edits: Edits::default(),
        gaps: Vec::new(),
        items: (0, 0),
        members: (0, 0),
    };
    fitting.fit(value, schema, budget);
    let Fitting { edits, mut gaps, items, members, .. } = fitting;
    gaps.sort_by_key(|gap| gap.span.start);
    Fitted { json: edits.apply_within(value), gaps, items, members }
}

struct Fitting<'a> {
    marking: &'a Marking<'a>,
    /// Where each outlier begins, and how many items share the difference.
    outliers: &'a BTreeMap<usize, u64>,
    /// The steps to the value that is being shortened.
    path: Vec<Step<'a>>,
    edits: Edits,
    gaps: Vec<Gap>,
    items: (usize, usize),
    members: (usize, usize),
}

impl<'a> Fitting<'a> {
    fn fit(&mut self, value: Node<'a>, schema: Schema<'_>, budget: u64) {
        let is_frozen = matches!(schema, Schema::Frozen);
        if value.json().len() as u64 <= budget || self.path.len() > DEEPEST || is_frozen {
            return;
        }
        if value.is_text() {
            self.text(value, schema, budget);
        } else if value.is_array() {
            self.array(value, schema, budget);
        } else if value.is_object() {
            self.object(value, schema, budget);
        }
    }

    fn array(&mut self, value: Node<'a>, schema: Schema<'_>, budget: u64) {
        let (Some(least), each) = schema.elements(value) else { return };
        let mut choice = Choice::new(budget.saturating_sub(2), least);
        let mut end = value.span().start + 1;
        for (index, element) in value.children().enumerate() {
            let size = (element.span().end - end) as u64;
            end = element.span().end;
            choice.add(Item { index, key: None, value: element, size }, self.importance(element));
        }
        let (count, kept) = (choice.count, choice.items());
        self.items = sum(self.items, (count - kept.len(), count));
        self.remove_others(value, &kept, count, GapContent::Items);
        self.shorten(&kept, budget.saturating_sub(2), |_| each);
    }

    fn importance(&self, value: Node<'_>) -> Importance {
        self.outliers.get(&value.span().start).map_or(Importance::Usual, |count| Importance::Outlier(*count))
    }

    fn object(&mut self, value: Node<'a>, schema: Schema<'_>, budget: u64) {
        let schemas = schema.members(value);
        let Some(least) = schemas.least else { return };
        let room = budget.saturating_sub(2);
        let name_of = |key: Node<'_>| key.text().unwrap_or_default();
        let items = || {
            let mut end = value.span().start + 1;
            value.pairs().enumerate().map(move |(index, (key, value))| {
                let size = (value.span().end - end) as u64;
                end = value.span().end;
                Item { index, key: Some(key), value, size }
            })
        };
        // Members are removed only if they could not all be shown.
        let is_too_large = items().map(|item| item.size_with_value(LEAST)).sum::<u64>() > room;
        let kept = if is_too_large {
            let mut choice = Choice::new(room, least);
            for item in items() {
                let is_named = item.key.is_some_and(|key| schemas.has(&name_of(key)));
                choice.add(item, if is_named { Importance::Required } else { self.importance(item.value) });
            }
            let (count, kept) = (choice.count, choice.items());
            self.members = sum(self.members, (count - kept.len(), count));
            self.remove_others(value, &kept, count, GapContent::Members);
            kept
        } else {
            items().collect()
        };
        self.shorten(&kept, room, |item| item.key.map_or(Schema::Frozen, |key| schemas.of(&name_of(key))));
    }

    /// Shortens the items of a container that are shown.
    fn shorten<'s>(&mut self, kept: &[Item<'a>], budget: u64, schema_of: impl Fn(&Item<'a>) -> Schema<'s>) {
        let sizes: Vec<u64> = kept.iter().map(|item| item.value.json().len() as u64).collect();
        let around = kept.iter().map(|item| item.size).sum::<u64>() - sizes.iter().sum::<u64>();
        let room = budget.saturating_sub(around);
        let shares = shares(&sizes, room, LEAST.min(room));
        for ((item, size), share) in kept.iter().zip(sizes).zip(shares) {
            if size > share {
                self.path.push(item.key.map_or(Step::Item(item.index), Step::Member));
                self.fit(item.value, schema_of(item), share);
                self.path.pop();
            }
        }
    }

    /// Removes all items of a container but those that are kept.
    fn remove_others(
        &mut self,
        container: Node<'a>,
        kept: &[Item<'a>],
        count: usize,
        content: impl Fn(std::ops::Range<usize>) -> GapContent,
    ) {
        let span = container.span();
        let (mut index, mut end) = (0, span.start + 1);
        let next_items = kept.iter().map(|item| (item.index, item.start(), item.index + 1, item.end()));
        for (next, start, index_after, end_after) in
            next_items.chain([(count, span.end - 1, count, span.end)])
        {
            if index < next {
                let is_between = index > 0 && next < count;
                self.edits.replace_range(end..start, if is_between { "," } else { "" });
                let omitted = &container.json()[end - span.start..start - span.start];
                let is_separator = |char: char| char == ',' || char.is_ascii_whitespace();
                let from = end + omitted.len() - omitted.trim_start_matches(is_separator).len();
                let to = from + omitted.trim_matches(is_separator).len();
                self.gaps.push(Gap {
                    path: gaps::path(&self.path),
                    content: content(index..next),
                    span: from..to,
                });
            }
            (index, end) = (index_after, end_after);
        }
    }

    fn text(&mut self, value: Node<'a>, schema: Schema<'_>, budget: u64) {
        let Some(least) = schema.least_text(value) else { return };
        let (json, begin) = (value.json().as_bytes(), value.span().start);
        let body = 1..json.len() - 1;
        if let Some((whole, preview)) = self.marking.repeated
            && whole.len() <= body.len()
            && preview.content().len() >= least
            && let shown = quoted(preview.content())
            && shown.len() as u64 <= budget
            && value.text().as_deref() == Some(whole)
        {
            self.edits.replace(value, shown);
            if let (Some(first), Some(last)) = (preview.gaps().first(), preview.gaps().last()) {
                let offset = |decoded: u64| {
                    let decoded = usize::try_from(decoded).unwrap_or(usize::MAX);
                    begin + body.start + offset_of_decoded(&json[body.clone()], decoded).0
                };
                let content = GapContent::Text { bytes: preview.removed().bytes };
                self.gaps.push(Gap {
                    path: gaps::path(&self.path),
                    content,
                    span: offset(first.start)..offset(last.end),
                });
            }
            return;
        }
        // A character has at most four bytes, and an escape has at most twelve.
        let bytes_per_character = if memchr::memchr(b'\\', json).is_some() { 12 } else { 4 };
        let room = usize::try_from(budget.saturating_sub(LEAST / 2)).unwrap_or(usize::MAX);
        let room = room.max(least.saturating_mul(bytes_per_character));
        if room >= body.len() {
            return;
        }
        let head = escape_floor(json, &body, body.start + room / 3 * 2);
        let tail = escape_ceil(json, &body, body.end - room / 3);
        let bytes = decoded_length(&json[head..tail]) as u64;
        let count = Count::Bytes(bytes);
        let marker = match self.marking.id {
            Some(id) => Notice { tag: Tag::Entry(id.to_owned()), message: Message::Count(count) },
            None => {
                let access = Access::NotStored { reason: String::new() };
                Notice { tag: Tag::Plain, message: Message::Rest { count, detail: String::new(), access } }
            }
        };
        let (span, marker) = (begin + head..begin + tail, marker.to_string());
        if marker.len() >= span.len() {
            return;
        }
        self.edits.replace_range(span.clone(), &marker);
        let content = GapContent::Text { bytes };
        self.gaps.push(Gap { path: gaps::path(&self.path), content, span });
    }
}

fn sum(left: (usize, usize), right: (usize, usize)) -> (usize, usize) {
    // What is shown completely is not counted.
    if right.0 == 0 { left } else { (left.0 + right.0, left.1 + right.1) }
}
