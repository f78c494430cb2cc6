//! Bounds one answer of a tool: its texts by the middleware, its structured data by its schema, and everything else in its
//! parts, such as the description of a link, by [`parts`](crate::parts).
//!
//! A result has its data in `structuredContent`. A protocol error takes the same path: its text is `message`, its data is
//! `data`, and hosts show both to the model.

use crate::message::Answer;
use crate::parts::LEAST_PART;
use offcut::json::{Edits, Node, quoted};
use offcut::notice::{Access, Message, Notice, Tag};
use offcut::results::structured::{Fitted, Marking, Schema, StoredAs, fit};
use offcut::results::{
    BoundedJson, Middleware, ResultOutcome, ResultReport, Shape, ShapeChoice, SkipReason, shares,
};
use offcut::retrieve::Range;
use offcut::store::Id;
use offcut::{Context, Limits, Outcome, Preview, Reach, Rule, Saved, Truncator};
use serde::Serialize;
use std::borrow::Cow;

/// The member of `_meta` that describes a shortened `structuredContent`.
const META: &str = "offcut.dev/structured";

/// The member that is added to a shortened object, if its schema allows it.
const MEMBER: &str = "offcut";

/// Gaps are listed in this part of the budget.
const LIST_PARTS: u64 = 12;

/// What a note takes beside its parts: the names of its members, and how much is not shown.
const NOTE_FRAME: usize = 100;

/// How one call's answer is bounded.
pub(crate) struct Bounds<'a> {
    pub(crate) middleware: &'a Middleware,
    pub(crate) context: &'a Context,
    /// The schema that the tool advertises for its `structuredContent`.
    pub(crate) schema: Option<&'a str>,
    /// How a stored output is read: by a command, or by a tool.
    pub(crate) reach: &'a Reach,
    /// The most bytes of its data that may be shown, if that is less than the limits allow.
    pub(crate) share: Option<u64>,
    /// The most characters of its text, and of its data, if the client takes less than the limits allow.
    pub(crate) most_chars: Option<u64>,
}

/// Results after their structured content was shortened.
#[derive(Debug)]
pub struct BoundedStructures {
    /// All results; nothing if they stay unchanged.
    pub json: Option<String>,
    /// The number of bytes of structured content that are shown.
    pub bytes: u64,
}

/// Shortens the structured content of MCP tool results, and long values in their parts, after their texts were bounded.
/// `reach` is how a stored output is read. The results share what their texts leave of a total.
pub fn bound_structures(
    middleware: &Middleware,
    bounded: &BoundedJson<'_>,
    total: Option<u64>,
    reach: &Reach,
) -> BoundedStructures {
    let values_before = values(&bounded.json);
    let results: Vec<(&ResultReport, Node<'_>)> = bounded
        .results
        .iter()
        .filter(|report| report.shape == Shape::Mcp)
        .filter_map(|report| Some((report, *values_before.get(report.index)?)))
        .collect();
    let sizes: Vec<u64> = results.iter().map(|(_, node)| structure_size(*node)).collect();
    let texts: u64 = bounded.results.iter().map(|report| report.bytes).sum();
    let shares = total.map(|total| shares(&sizes, total.saturating_sub(texts), LEAST_PART));
    let mut edits = Edits::default();
    for (number, (report, node)) in results.iter().enumerate() {
        // Other reasons apply to the whole result.
        if matches!(report.outcome, ResultOutcome::Skipped(reason) if reason != SkipReason::NoText) {
            continue;
        }
        let share = shares.as_ref().map(|shares| shares[number]);
        let bounds =
            Bounds { middleware, context: &report.context, schema: None, reach, share, most_chars: None };
        if let Some(json) = bounds.bound_structure(*node) {
            edits.replace(*node, json);
        }
    }
    let json = (!edits.is_empty()).then(|| edits.apply(&bounded.json));
    let values_after = values(json.as_deref().unwrap_or(&bounded.json));
    let shown = results.iter().filter_map(|(report, _)| values_after.get(report.index));
    BoundedStructures { bytes: shown.map(|node| structure_size(*node)).sum(), json }
}

/// The elements of an array, or the value itself.
fn values(json: &str) -> Vec<Node<'_>> {
    match Node::parse(json) {
        Ok(array) if array.is_array() => array.elements(),
        Ok(value) => vec![value],
        Err(_) => Vec::new(),
    }
}

fn structure_size(result: Node<'_>) -> u64 {
    result.get("structuredContent").map_or(0, |data| data.json().len() as u64)
}

/// Structured data after shortening.
struct Shortened {
    json: String,
    /// Its id, its size, and how to read it, as JSON.
    note: String,
    /// The notice to add to the texts, if these do not have one that covers the data.
    notice: Option<String>,
}

impl Bounds<'_> {
    /// A result whose texts were bounded, with everything else over the limits shortened; nothing if it stays unchanged.
    fn bound_structure(&self, result: Node<'_>) -> Option<String> {
        let result = Answer::Result(result);
        let data = self.large_data(result);
        let shortened = data.and_then(|(data, budget)| self.shorten(result.node(), data, budget, None));
        self.write(result, None, shortened)
    }

    /// The answer with everything over the limits shortened; nothing if it stays unchanged.
    pub(crate) fn bound(&self, answer: Answer<'_>) -> Option<String> {
        let data = self.large_data(answer);
        let bytes = data.map(|(_, budget)| (budget / 5 * 4).max(512));
        // Data often repeats the text, with two bytes for each quote and line end. The text gets less so that its preview
        // fits there, too.
        let limits = Limits { bytes, chars: self.most_chars, ..Limits::default() };
        let rule = Rule { limits, ..Rule::default() };
        let shape = match answer {
            Answer::Result(_) => Shape::Mcp,
            Answer::Error(_) => Shape::McpError,
        };
        let bounded = self.middleware.bound_node(answer.node(), ShapeChoice::Is(shape), self.context, rule);
        let texts = bounded.results.first().and_then(|report| match &report.outcome {
            ResultOutcome::Truncated(preview) => Some(&**preview),
            ResultOutcome::Fits | ResultOutcome::Skipped(_) => None,
        });
        let shortened = data.and_then(|(data, budget)| self.shorten(answer.node(), data, budget, texts));
        let changed = match bounded.json {
            Cow::Owned(json) => Some(json),
            Cow::Borrowed(_) => None,
        };
        self.write(answer, changed, shortened)
    }

    /// The data of an answer, if it is over the limits, and the number of bytes of it that may be shown.
    fn large_data<'n>(&self, answer: Answer<'n>) -> Option<(Node<'n>, u64)> {
        let settings = self.middleware.truncator().settings(self.context);
        let most = self.most_bytes(settings.limits)?;
        let data = answer.data().filter(|data| data.json().len() as u64 > most)?;
        Some((data, self.budget()?))
    }

    /// Writes the shortened data into an answer whose texts may have changed, and shortens its other parts.
    fn write(
        &self,
        answer: Answer<'_>,
        changed: Option<String>,
        shortened: Option<Shortened>,
    ) -> Option<String> {
        let node = match &changed {
            Some(json) => Node::parse(json).ok()?,
            None => answer.node(),
        };
        let with_data = shortened.and_then(|shortened| write_data(answer.with_node(node), shortened));
        let node = match &with_data {
            Some(json) => Node::parse(json).ok()?,
            None => node,
        };
        let with_parts = self.budget().and_then(|budget| self.bound_parts(node, budget));
        with_parts.or(with_data).or(changed)
    }

    /// The call that reads a part of the entry with this id, or its beginning.
    pub(crate) fn read_call(&self, id: &str, range: Option<&Range>) -> String {
        self.reach.read_call(id, range).unwrap_or_else(|| id.to_owned())
    }

    /// The truncator, within the share of a total.
    fn truncator(&self) -> Option<Truncator> {
        let bytes = self.share.and(self.budget());
        let limits = Limits { bytes, chars: self.most_chars, ..Limits::default() };
        self.middleware.truncator().with_options(Rule { limits, ..Rule::default() }).ok()
    }

    /// Stores JSON of more than `LEAST_PART` bytes, even if it is within the limits.
    pub(crate) fn store(&self, json: &str) -> Option<Outcome<'static>> {
        let limits = Limits { bytes: Some(LEAST_PART), ..Limits::default() };
        let rule = Rule { enabled: Some(true), limits, ..Rule::default() };
        let truncator = self.middleware.truncator().with_options(rule).ok()?;
        Some(truncator.apply(json, self.context).into_owned())
    }

    /// The number of bytes of JSON that may be shown.
    fn budget(&self) -> Option<u64> {
        let settings = self.middleware.truncator().settings(self.context);
        self.most_bytes(settings.keep).filter(|_| settings.enabled)
    }

    /// The number of bytes of JSON that these limits allow.
    fn most_bytes(&self, limits: Limits) -> Option<u64> {
        // A token is about four bytes. Line limits do not apply: JSON is often one line.
        let tokens = limits.tokens.map(|tokens| tokens.saturating_mul(4));
        let bytes = [limits.bytes, limits.chars, tokens, self.most_chars];
        let most = bytes.into_iter().flatten().min()?;
        Some(self.share.map_or(most, |share| share.max(LEAST_PART).min(most)))
    }

    /// Shortens data that is over the budget; nothing if its schema requires all of it.
    fn shorten(
        &self,
        answer: Node<'_>,
        data: Node<'_>,
        budget: u64,
        texts: Option<&Preview>,
    ) -> Option<Shortened> {
        let text = only_text(answer);
        // Data that the stored texts contain is not stored again.
        let stored_text = texts.and(text.as_deref()).and_then(|text| StoredAs::text(text, data));
        let preview = match stored_text {
            Some(_) => None,
            None => match self.truncator()?.apply_json(data.json().as_bytes(), self.context) {
                Outcome::Truncated(preview)
                | Outcome::Described(preview)
                | Outcome::StillRunning(preview) => Some(preview),
                Outcome::Passed(_) => return None,
            },
        };
        let id = preview.as_deref().or(texts).and_then(stored_id);
        let id = id.as_ref().map(Id::as_str);
        let schema_node = self.schema.and_then(|schema| Node::parse(schema).ok());
        let schema = schema_node.map_or(Schema::Open, Schema::new);
        let is_marked = schema.takes(data, MEMBER) && data.is_object();
        let bytes = data.json().len() as u64;
        let note = Note { id, bytes, ..Note::default() };
        // Small budgets have no room for a list of gaps.
        let for_list = if budget < LEAST_PART { 0 } else { budget / LIST_PARTS };
        let for_note = self.note_size(&note) + for_list;
        let repeated = text.as_deref().zip(texts);
        let room = if is_marked { budget.saturating_sub(for_note) } else { budget };
        let mut fitted = fit(data, schema, room, &Marking { id, repeated });
        if fitted.json == data.json() && self.schema.is_some() {
            return None;
        }
        // Values at great depth and long numbers cannot be shortened. Without a schema all of them may be dropped.
        if self.schema.is_none() && fitted.json.len() as u64 > budget.saturating_mul(2) {
            let json = if data.is_array() { "[]" } else { "{}" }.to_owned();
            fitted = Fitted { json, ..Fitted::default() };
        }
        let ranges = fitted.locate(data, stored_text.unwrap_or(StoredAs::Value));
        let next = id.map(|id| self.read_call(id, ranges.first()));
        let not_shown = fitted.not_shown();
        let note = match for_list {
            0 => Note { next: next.clone(), ..note },
            _ => Note { not_shown: not_shown.clone(), next: next.clone(), ..note }
                .with_gaps(&fitted, &ranges, for_list),
        };
        let note = note.to_json();
        let mut json = fitted.json;
        if is_marked && let Ok(object) = Node::parse(&json) {
            let mut edits = Edits::default();
            edits.set(object, &[(MEMBER, note.clone())]);
            json = edits.apply(&json);
        }
        if let Some(preview) = &preview {
            self.middleware.truncator().save_preview(preview, json.as_bytes());
        }
        let notice = preview.is_some().then(|| {
            let (tag, access) = access(id, next);
            Notice { tag, message: Message::Structure { bytes, not_shown, access } }.to_string()
        });
        Some(Shortened { json, note, notice })
    }

    /// The size of a note without its list of gaps.
    fn note_size(&self, note: &Note<'_>) -> u64 {
        let range = Range::Bytes { start: note.bytes, end: Some(note.bytes) };
        let next = note.id.map(|id| self.read_call(id, Some(&range)));
        (Note { next, ..note.clone() }.to_json().len() + NOTE_FRAME) as u64
    }
}

/// How a notice names the entry with this id, which the call `next` reads.
pub(crate) fn access(id: Option<&str>, next: Option<String>) -> (Tag, Access) {
    match (id, next) {
        (Some(id), Some(next)) => (Tag::Entry(id.to_owned()), Access::By(format!("more: {next}"))),
        _ => (Tag::Plain, Access::NotStored { reason: String::new() }),
    }
}

/// What readers learn about shortened data: it is added to the data, if its schema allows that, and to `_meta`.
#[derive(Clone, Default, Serialize)]
struct Note<'a> {
    /// The entry that has all of the data.
    id: Option<&'a str>,
    /// The size of the data.
    bytes: u64,
    /// How much of it is not shown.
    #[serde(skip_serializing_if = "String::is_empty")]
    not_shown: String,
    /// What is not shown, and where it is in the entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<String>,
    /// How to read the first gap. Its pages name the following ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Note<'_> {
    /// The note with as many gaps as fit into about `most` bytes.
    fn with_gaps(mut self, fitted: &Fitted, ranges: &[Range], most: u64) -> Self {
        let is_stored = self.id.is_some();
        let gaps = fitted.gaps.iter().zip(ranges).map(|(gap, range)| match range.unit_and_value() {
            (unit, value) if is_stored => format!("{gap} at {unit} {value}"),
            _ => gap.to_string(),
        });
        let mut size = 0;
        self.gaps = gaps
            .take_while(|gap| {
                size += quoted(gap.as_bytes()).len() as u64 + 1;
                size <= most
            })
            .collect();
        let others = fitted.gaps.len() - self.gaps.len();
        if others > 0 {
            self.gaps.push(format!("{others} more"));
        }
        self
    }

    fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The answer with the shortened data.
fn write_data(answer: Answer<'_>, shortened: Shortened) -> Option<String> {
    let mut edits = Edits::default();
    let (node, data) = (answer.node(), answer.data()?);
    edits.replace(data, shortened.json);
    match answer {
        Answer::Result(_) => {
            if let Some(notice) = shortened.notice {
                add_text(node, &notice, &mut edits);
            }
            match node.get("_meta").filter(Node::is_object) {
                Some(meta) => edits.set(meta, &[(META, shortened.note)]),
                None => edits.set(node, &[("_meta", format!("{{\"{META}\":{}}}", shortened.note))]),
            }
        }
        // Only an object has a member for the note.
        Answer::Error(_) if !data.is_object() => {
            let message = node.get("message");
            if let (Some(notice), Some(text)) = (shortened.notice, message.and_then(|text| text.text())) {
                edits.set(node, &[("message", quoted(&[&text, notice.as_bytes()].join(&b'\n')))]);
            }
        }
        Answer::Error(_) => {}
    }
    Some(edits.apply_within(node))
}

/// Adds a text after the last part of a result.
fn add_text(result: Node<'_>, text: &str, edits: &mut Edits) {
    let part = text_part(text);
    let content = result.get("content").filter(Node::is_array);
    match (content, content.and_then(|content| content.elements().last().copied())) {
        (_, Some(last)) => edits.insert_after(last, &part),
        (Some(empty), None) => edits.replace(empty, format!("[{part}]")),
        (None, None) => edits.set(result, &[("content", format!("[{part}]"))]),
    }
}

/// A part that is a text.
pub(crate) fn text_part(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text.as_bytes()))
}

pub(crate) fn stored_id(preview: &Preview) -> Option<Id> {
    match preview.saved() {
        Saved::Complete(entry) | Saved::Running(entry) => Some(entry.id),
        Saved::Failed { .. } | Saved::Disabled => None,
    }
}

/// The text of a result that has exactly one.
fn only_text(result: Node<'_>) -> Option<Vec<u8>> {
    let texts: Vec<Node<'_>> =
        result.get("content")?.elements().iter().filter_map(|part| part.get("text")).collect();
    match texts[..] {
        [text] => text.text(),
        _ => None,
    }
}
