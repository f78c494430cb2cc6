//! Bounds one answer of a tool: its texts by the middleware, its structured data by its schema, and long strings in parts
//! that are neither text nor binary, such as the description of a link.
//!
//! A result has its data in `structuredContent`. A protocol error takes the same path: its text is `message`, its data is
//! `data`, and hosts show both to the model.

use crate::message::Answer;
use offcut::json::{Edits, Lexer, Node, Token, TokenKind, quoted};
use offcut::notice::{Access, Count, Message, Notice, Tag};
use offcut::results::structured::{Marking, Schema, fit};
use offcut::results::{
    BoundedJson, Middleware, ResultOutcome, ResultReport, Shape, ShapeChoice, SkipReason, shares,
};
use offcut::store::Id;
use offcut::{Context, Limits, Outcome, Preview, Rule, Saved};
use serde_json::json;
use std::borrow::Cow;

/// The member of `_meta` that describes a shortened `structuredContent`.
const META: &str = "offcut.dev/structured";

/// The member that is added to a shortened object, if its schema allows it.
const MEMBER: &str = "offcut";

/// The smallest share of a part that is neither text nor binary: shorter ones are unchanged.
const LEAST_PART: u64 = 1000;

/// How one call's answer is bounded.
pub(crate) struct Bounds<'a> {
    pub(crate) middleware: &'a Middleware,
    pub(crate) context: &'a Context,
    /// The schema that the tool advertises for its `structuredContent`.
    pub(crate) schema: Option<&'a str>,
    /// How to read the stored output with this id: a command, or a call of a tool.
    pub(crate) read_call: &'a dyn Fn(&str) -> String,
}

/// Shortens the structured content of an MCP tool result, and long strings in its parts, after its texts were bounded.
/// `read_call` returns the command that reads the stored output with an id. Returns nothing if the result stays unchanged.
pub fn bound_structure(
    middleware: &Middleware,
    bounded: &BoundedJson<'_>,
    read_call: &dyn Fn(&str) -> String,
) -> Option<String> {
    let [ResultReport { shape: Shape::Mcp, context, outcome, .. }] = &bounded.results[..] else {
        return None;
    };
    // Other reasons apply to the whole result.
    if matches!(outcome, ResultOutcome::Skipped(reason) if *reason != SkipReason::NoText) {
        return None;
    }
    let bounds = Bounds { middleware, context, schema: None, read_call };
    let result = Answer::Result(Node::parse(&bounded.json).ok()?);
    let budget = bounds.budget()?;
    let shortened =
        bounds.large_data(result, budget).and_then(|data| bounds.shorten(result.node(), data, budget, None));
    bounds.write(result, None, shortened)
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

    /// The answer with long strings shortened in parts that are neither text nor binary, and without the last of these
    /// parts if there are very many.
    fn bound_parts(&self, answer: Node<'_>, budget: u64) -> Option<String> {
        let parts = answer.get("content")?.elements();
        let others: Vec<Node<'_>> = parts.iter().copied().filter(|part| is_other(*part)).collect();
        let sizes: Vec<u64> = others.iter().map(|part| part.json().len() as u64).collect();
        let shares = shares(&sizes, budget, LEAST_PART);
        // Short parts are often what the model needs, so they may exceed the budget, but not without a limit.
        let most = budget.max(LEAST_PART).saturating_mul(2);
        let ends = shares.iter().scan(0, |end, share| {
            *end += share;
            Some(*end)
        });
        let kept = ends.take_while(|end| *end <= most).count();
        if kept == others.len() && shares == sizes {
            return None;
        }
        let whole: Vec<&str> = others.iter().map(|part| part.json()).collect();
        let stored = self.store(&format!("[{}]", whole.join(",")))?;
        let id = stored_id(stored.preview()?);
        let id = id.as_ref().map(Id::as_str);
        let marking = Marking { id, repeated: None };
        let mut edits = Edits::default();
        for ((part, size), share) in others.iter().zip(&sizes).zip(&shares).take(kept) {
            if share < size {
                edits.replace(*part, fit(*part, Schema::Open, *share, &marking));
            }
        }
        if let Some(first) = others.get(kept) {
            let is_dropped =
                |index: usize| parts[index].span().start >= first.span().start && is_other(parts[index]);
            edits.remove(&parts, &is_dropped);
            let (tag, access) = self.access(id);
            let count = Count::Bytes(sizes[kept..].iter().sum());
            let detail = format!("{} of {} parts", others.len() - kept, others.len());
            let notice = Notice { tag, message: Message::Rest { count, detail, access } };
            add_text(answer, &notice.to_string(), &mut edits);
        }
        Some(edits.apply_within(answer))
    }

    /// How a notice names the entry with this id.
    fn access(&self, id: Option<&str>) -> (Tag, Access) {
        match id {
            Some(id) => (Tag::Entry(id.to_owned()), Access::By(format!("more: {}", (self.read_call)(id)))),
            None => (Tag::Plain, Access::NotStored { reason: String::new() }),
        }
    }

    /// Stores JSON of more than `LEAST_PART` bytes, even if it is within the limits.
    fn store(&self, json: &str) -> Option<Outcome<'static>> {
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
        bytes.into_iter().flatten().min().filter(|_| settings.enabled)
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
            false => match self.middleware.truncator().apply_json(data.json().as_bytes(), self.context) {
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
    let part = format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text.as_bytes()));
    let content = result.get("content").filter(Node::is_array);
    match (content, content.and_then(|content| content.elements().last().copied())) {
        (_, Some(last)) => edits.insert_after(last, &part),
        (Some(empty), None) => edits.replace(empty, format!("[{part}]")),
        (None, None) => edits.set(result, &[("content", format!("[{part}]"))]),
    }
}

/// Whether a part is neither text, which is bounded together with all texts, nor binary, which cannot be shortened.
fn is_other(part: Node<'_>) -> bool {
    let has = |node: Node<'_>, keys: &[&str]| {
        keys.iter().any(|key| node.get(key).is_some_and(|value| value.is_text()))
    };
    !has(part, &["text", "data"]) && !part.get("resource").is_some_and(|inner| has(inner, &["text", "blob"]))
}

fn stored_id(preview: &Preview) -> Option<Id> {
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
