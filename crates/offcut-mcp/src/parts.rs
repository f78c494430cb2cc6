//! Bounds what is in the parts of a result beside their texts and their binary data.
//!
//! The texts of all parts are bounded together by the middleware, and binary data cannot be shortened. Everything else in a
//! part may be text for the model as well: the description of a link, annotations, members of unknown types.

use crate::bound::{Bounds, access, stored_id, text_part};
use offcut::json::{Edits, Node};
use offcut::notice::{Count, Message, Notice};
use offcut::results::shares;
use offcut::results::structured::{Marking, Schema, fit};
use offcut::store::Id;
use std::collections::BTreeMap;

/// The smallest share of a part: shorter ones are unchanged.
pub(crate) const LEAST_PART: u64 = 1000;

/// The bytes around a text or around binary data that are not counted, such as `{"type":"text","text":""}`.
const FRAME: u64 = 64;

/// What a part always keeps.
const PART_SCHEMA: &str = r#"{"required": ["type", "text", "data", "uri", "name", "mimeType", "resource"],
    "properties": {"resource": {"required": ["uri", "text", "blob", "mimeType"]}}}"#;

/// A part in which there is more than a text or binary data.
struct Part<'a> {
    index: usize,
    node: Node<'a>,
    /// Its bytes without its text and its binary data.
    size: u64,
}

impl Bounds<'_> {
    /// The answer with long values shortened in its parts, and without parts that cannot be shortened and the last ones if
    /// there are very many. A notice names the entry that has all of them. Nothing if all parts stay unchanged.
    pub(crate) fn bound_parts(&self, answer: Node<'_>, budget: u64) -> Option<String> {
        let content = answer.get("content")?;
        let elements = content.elements();
        let parts: Vec<Part<'_>> = elements
            .iter()
            .enumerate()
            .map(|(index, node)| Part { index, node: *node, size: size_beside_payloads(*node) })
            .filter(|part| part.size > 0)
            .collect();
        let sizes: Vec<u64> = parts.iter().map(|part| part.size).collect();
        let shares = shares(&sizes, budget, LEAST_PART);
        // Short parts are often what the model needs, so they may exceed the budget, but not without a limit.
        let most = budget.max(LEAST_PART).saturating_mul(2);
        let ends = shares.iter().scan(0, |end, share| {
            *end += share;
            Some(*end)
        });
        let kept = ends.take_while(|end| *end <= most).count();
        if kept == parts.len() && shares == sizes {
            return None;
        }
        let whole: Vec<&str> = parts.iter().map(|part| part.node.json()).collect();
        let stored = self.store(&format!("[{}]", whole.join(",")))?;
        let id = stored_id(stored.preview()?);
        let id = id.as_ref().map(Id::as_str);
        let marking = Marking { id, repeated: None };
        // Every part that changes: shortened, or nothing if it is dropped.
        let mut changed: BTreeMap<usize, Option<String>> = BTreeMap::new();
        let mut omitted = 0;
        for (number, (part, share)) in parts.iter().zip(&shares).enumerate() {
            if number < kept && *share == part.size {
                continue;
            }
            let short =
                (number < kept).then(|| shorten_beside_payloads(part.node, *share, &marking)).flatten();
            omitted += part.size - short.as_ref().map_or(0, |(_, size)| part.size.min(*size));
            changed.insert(part.index, short.map(|(json, _)| json));
        }
        let (tag, access) = access(id, id.map(|id| self.read_call(id, None)));
        let detail = format!("{} of {} parts", changed.len(), parts.len());
        let notice = Notice { tag, message: Message::Rest { count: Count::Bytes(omitted), detail, access } };
        let mut shown = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            match changed.remove(&index) {
                Some(short) => shown.extend(short),
                None => shown.push(element.json().to_owned()),
            }
        }
        shown.push(text_part(&notice.to_string()));
        let shown = format!("[{}]", shown.join(","));
        self.middleware.truncator().save_preview(stored.preview()?, shown.as_bytes());
        let mut edits = Edits::default();
        edits.replace(content, shown);
        Some(edits.apply_within(answer))
    }
}

/// The text of a part, which the middleware bounds, and its binary data.
fn payloads(part: Node<'_>) -> Vec<Node<'_>> {
    let of_part = |key| part.get(key).filter(Node::is_text);
    let of_resource = |key| part.get("resource")?.get(key).filter(Node::is_text);
    let text = of_part("text").or_else(|| of_resource("text"));
    [text, of_part("data"), of_resource("blob")].into_iter().flatten().collect()
}

fn size_beside_payloads(part: Node<'_>) -> u64 {
    let payloads = payloads(part);
    let bytes = part.json().len() - payloads.iter().map(|node| node.json().len()).sum::<usize>();
    if payloads.is_empty() { bytes as u64 } else { (bytes as u64).saturating_sub(FRAME) }
}

/// A part within about `share` bytes beside its text and its binary data, and its size; nothing if it stays much larger.
fn shorten_beside_payloads(part: Node<'_>, share: u64, marking: &Marking<'_>) -> Option<(String, u64)> {
    let payloads_of_part = payloads(part);
    let mut edits = Edits::default();
    payloads_of_part.iter().for_each(|payload| edits.replace(*payload, "\"\"".to_owned()));
    let beside = edits.apply_within(part);
    let schema = Node::parse(PART_SCHEMA).ok().filter(|_| part.is_object()).map_or(Schema::Open, Schema::new);
    let short = fit(Node::parse(&beside).ok()?, schema, share, marking).json;
    let node = Node::parse(&short).ok()?;
    let size = size_beside_payloads(node);
    let mut edits = Edits::default();
    for (empty, payload) in payloads(node).into_iter().zip(payloads_of_part) {
        edits.replace(empty, payload.json().to_owned());
    }
    (size <= share.saturating_mul(2)).then(|| (edits.apply(&short), size))
}
