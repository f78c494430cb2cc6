//! Bounds one answer of a tool: its texts by the middleware, its structured data by its schema, and everything else in its
//! parts, such as the description of a link, by [`parts`](crate::parts).
//!
//! A result has its data in `structuredContent`. A protocol error takes the same path: its text is `message`, its data is
//! `data`, and hosts show both to the model.

use crate::message::Answer;
use crate::parts::LEAST_PART;
use offcut::json::{Edits, Lexer, Node, Token, TokenKind, quoted};
use offcut::notice::{Access, Message, Notice, Tag};
use offcut::results::structured::{Marking, Schema, fit};
use offcut::results::{
    BoundedJson, Middleware, ResultOutcome, ResultReport, Shape, ShapeChoice, SkipReason, shares,
};
use offcut::store::Id;
use offcut::{Context, Limits, Outcome, Preview, Rule, Saved, Truncator};
use serde_json::json;
use std::borrow::Cow;

/// The member of `_meta` that describes a shortened `structuredContent`.
const META: &str = "offcut.dev/structured";

/// The member that is added to a shortened object, if its schema allows it.
const MEMBER: &str = "offcut";

/// How one call's answer is bounded.
pub(crate) struct Bounds<'a> {
    pub(crate) middleware: &'a Middleware,
    pub(crate) context: &'a Context,
    /// The schema that the tool advertises for its `structuredContent`.
    pub(crate) schema: Option<&'a str>,
    /// How to read the stored output with this id: a command, or a call of a tool.
    pub(crate) read_call: &'a dyn Fn(&str) -> String,
    /// The most bytes of its data that may be shown, if that is less than the limits allow.
    pub(crate) share: Option<u64>,
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
/// `read_call` returns the command that reads the stored output with an id. The results share what their texts leave of a
/// total.
pub fn bound_structures(
    middleware: &Middleware,
    bounded: &BoundedJson<'_>,
    total: Option<u64>,
    read_call: &dyn Fn(&str) -> String,
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
        let bounds = Bounds { middleware, context: &report.context, schema: None, read_call, share };
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
        let (budget, result) = (self.budget()?, Answer::Result(result));
        let data = self.large_data(result, budget);
        let shortened = data.and_then(|data| self.shorten(result.node(), data, budget, None));
        self.write(result, None, shortened)
    }

    /// The answer with everything over the limits shortened; nothing if it stays unchanged.
    pub(crate) fn bound(&self, answer: Answer<'_>) -> Option<String> {
        let budget = self.budget();
        let data = budget.and_then(|budget| Some((self.large_data(answer, budget)?, budget)));
        let bytes = data.map(|(_, budget)| (budget / 5 * 4).max(512));
        // Data often repeats the text, with two bytes for each quote and line end. The text gets less so that its preview
        // fits there, too.
        let rule = Rule { limits: Limits { bytes, ..Limits::default() }, ..Rule::default() };
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

    /// The data of an answer, if it is over the budget.
    fn large_data<'n>(&self, answer: Answer<'n>, budget: u64) -> Option<Node<'n>> {
        answer.node().get(data_key(answer)).filter(|data| data.json().len() as u64 > budget)
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
        let with_data = shortened.and_then(|shortened| write_data(answer, node, shortened));
        let node = match &with_data {
            Some(json) => Node::parse(json).ok()?,
            None => node,
        };
        let with_parts = self.budget().and_then(|budget| self.bound_parts(node, budget));
        with_parts.or(with_data).or(changed)
    }

    /// How a notice names the entry with this id.
    pub(crate) fn access(&self, id: Option<&str>) -> (Tag, Access) {
        match id {
            Some(id) => (Tag::Entry(id.to_owned()), Access::By(format!("more: {}", (self.read_call)(id)))),
            None => (Tag::Plain, Access::NotStored { reason: String::new() }),
        }
    }

    /// The truncator, within the share of a total.
    fn truncator(&self) -> Option<Truncator> {
        let limits = Limits { bytes: self.share.and(self.budget()), ..Limits::default() };
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
        let limits = settings.limits;
        // A token is about four bytes. Line limits do not apply: JSON is often one line.
        let bytes = [limits.bytes, limits.chars, limits.tokens.map(|tokens| tokens.saturating_mul(4))];
        let budget = bytes.into_iter().flatten().min().filter(|_| settings.enabled)?;
        Some(self.share.map_or(budget, |share| share.max(LEAST_PART).min(budget)))
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
        let is_stored = texts.is_some() && text.as_ref().is_some_and(|text| repeats(text, data));
        let preview = match is_stored {
            true => None,
            false => match self.truncator()?.apply_json(data.json().as_bytes(), self.context) {
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
        let repeated = text.as_deref().zip(texts.map(|texts| texts.content()));
        let total = data.json().len();
        let is_marked = schema.takes(data, MEMBER) && data.is_object();
        let next = id.map(self.read_call);
        let note = match &next {
            Some(next) => json!({"id": id, "bytes": total, "next": next}),
            None => json!({"id": null, "bytes": total}),
        };
        let note = note.to_string();
        let room = budget.saturating_sub(if is_marked { note.len() as u64 + 12 } else { 0 });
        let mut json = fit(data, schema, room, &Marking { id, repeated });
        if json == data.json() && self.schema.is_some() {
            return None;
        }
        // An object with very many short members cannot be shortened. Without a schema all of them may be dropped.
        if self.schema.is_none() && json.len() as u64 > budget.saturating_mul(2) {
            json = "{}".to_owned();
        }
        if is_marked && let Ok(object) = Node::parse(&json) {
            let mut edits = Edits::default();
            edits.set(object, &[(MEMBER, note.clone())]);
            json = edits.apply(&json);
        }
        let notice = preview.is_some().then(|| {
            let (tag, access) = self.access(id);
            Notice { tag, message: Message::Structure { bytes: total as u64, access } }.to_string()
        });
        Some(Shortened { json, note, notice })
    }
}

/// The member of an answer that has its data.
fn data_key(answer: Answer<'_>) -> &'static str {
    match answer {
        Answer::Result(_) => "structuredContent",
        Answer::Error(_) => "data",
    }
}

/// The answer, whose texts may have changed, with the shortened data.
fn write_data(answer: Answer<'_>, node: Node<'_>, shortened: Shortened) -> Option<String> {
    let mut edits = Edits::default();
    edits.replace(node.get(data_key(answer))?, shortened.json);
    if let Answer::Result(_) = answer {
        if let Some(notice) = shortened.notice {
            add_text(node, &notice, &mut edits);
        }
        match node.get("_meta").filter(Node::is_object) {
            Some(meta) => edits.set(meta, &[(META, shortened.note)]),
            None => edits.set(node, &[("_meta", format!("{{\"{META}\":{}}}", shortened.note))]),
        }
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

/// Whether a value contains nothing but the text: it is the text parsed as JSON, or an object with the text as its only
/// member.
fn repeats(text: &[u8], value: Node<'_>) -> bool {
    let mut members = value.pairs();
    let is_wrapper = match (members.next(), members.next()) {
        (Some((_, only)), None) => only.text().is_some_and(|only| only == text),
        _ => false,
    };
    is_wrapper || is_same_json(text, value.json().as_bytes())
}

/// Whether two JSON texts differ only in white space and in the escapes of their strings.
fn is_same_json(left: &[u8], right: &[u8]) -> bool {
    let tokens = |text| Lexer::new(text).map(move |Token { kind, start, end }| (kind, &text[start..end]));
    let decoded = |string: &[u8]| Node::parse(std::str::from_utf8(string).ok()?).ok()?.text();
    let (mut left, mut right) = (tokens(left), tokens(right));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if left == right => {}
            (Some((TokenKind::String, left)), Some((TokenKind::String, right))) => {
                let left = decoded(left);
                if left.is_none() || left != decoded(right) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
