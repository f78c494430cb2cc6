//! Amazon Bedrock's results, which Strands uses too: `{toolResult: {toolUseId, status, content: parts[]}}`, or the object inside.
//!
//! A part has a `text` or a value in `json`. A value is bounded in its readable form, as text.

use super::{Cut, Fields, Found, Text, Texts, ToolReport};
use crate::json::{Edits, Node, quoted};

pub(super) fn detects(fields: &Fields<'_>) -> bool {
    let is_result = |result: &Fields<'_>| {
        result.is_text("toolUseId") && result.get("content").is_some_and(|content| content.is_array())
    };
    is_result(fields) || fields.get("toolResult").is_some_and(|inside| is_result(&Fields::of(inside)))
}

pub(super) fn read(node: Node<'_>) -> Found<'_> {
    let fields = Fields::of(inside(node));
    let texts = match only_value(node) {
        Some(value) => Texts::Readable(value),
        None => fields.get("content").map_or(Texts::Missing, texts),
    };
    Found {
        report: ToolReport { is_error: fields.says("status", "error"), ..ToolReport::default() },
        call_id: fields.name("toolUseId"),
        ..Found::new(node, texts)
    }
}

/// Replaces a value by its preview. Texts are replaced in place.
pub(super) fn mark_cut(found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
    if let (Texts::Readable(_), Some(content)) = (&found.texts, inside(found.node).get("content")) {
        edits.replace(content, format!("[{{\"text\":{}}}]", quoted(&cut.preview.content)));
    }
}

/// The texts and the values of all parts.
fn texts<'a>(content: Node<'a>) -> Texts<'a> {
    let elements = content.elements();
    let text_of = |(index, part): (usize, &Node<'a>)| {
        let node = part.get("text").filter(Node::is_text).or_else(|| part.get("json"))?;
        Some(Text { node, element: Some(index) })
    };
    Texts::Parts { texts: elements.iter().enumerate().filter_map(text_of).collect(), elements }
}

fn inside(node: Node<'_>) -> Node<'_> {
    node.get("toolResult").filter(Node::is_object).unwrap_or(node)
}

/// The value in the only part of a result.
fn only_value(node: Node<'_>) -> Option<Node<'_>> {
    match inside(node).get("content")?.elements()[..] {
        [part] => part.get("json"),
        _ => None,
    }
}
