//! `{functionResponse: {name, id, response}}`: a part of the Gemini interface. The response is any object.

use super::{Adapter, Cut, Ended, Fields, Found, Text, Texts, ended};
use crate::middleware::json::{Edits, Node};

pub(super) struct Gemini;

impl Adapter for Gemini {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.get("functionResponse").is_some_and(|found| found.is_object())
            || (fields.is_text("name") && fields.get("response").is_some_and(|found| found.is_object()))
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let inner = node.get("functionResponse").unwrap_or(node);
        let fields = Fields::of(inner);
        let mut texts = Vec::new();
        let mut has_failed = Ended::Well;
        if let Some(response) = fields.get("response") {
            has_failed = ended(response.get("error").is_some_and(|error| !error.is_null()));
            strings(response, DEEPEST, &mut texts);
        }
        Found {
            ended: has_failed,
            tool: fields.name("name"),
            call_id: fields.name("id"),
            ..Found::new(node, Texts::Parts { texts, elements: Vec::new() })
        }
    }

    /// The interface refuses fields that it does not know.
    fn mark_cut(&self, _found: &Found<'_>, _cut: &Cut<'_>, _edits: &mut Edits) {}
}

/// How deep strings are looked for. What lies deeper is not a tool's text, and stays as it is.
const DEEPEST: usize = 16;

/// The strings of a response, wherever its tool has put them.
fn strings<'a>(node: Node<'a>, depth: usize, texts: &mut Vec<Text<'a>>) {
    if node.is_text() {
        texts.push(Text { node, element: None });
    } else if depth > 0 && node.is_object() {
        node.members().into_iter().for_each(|(_, member)| strings(member, depth - 1, texts));
    } else if depth > 0 && node.is_array() {
        node.elements().into_iter().for_each(|element| strings(element, depth - 1, texts));
    }
}
