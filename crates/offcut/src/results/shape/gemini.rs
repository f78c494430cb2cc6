//! `{functionResponse: {name, id, response}}`: a part of the Gemini API. The response is any object.

use super::{Cut, Fields, Found, Text, Texts, ToolReport};
use crate::json::{Edits, Node, quoted};

/// A response with more strings, or with more bytes around them, is data and not text.
const MOST_STRINGS: usize = 16;
const MOST_AROUND: usize = 2048;

pub(super) fn read(node: Node<'_>) -> Found<'_> {
    let fields = Fields::of(node.get("functionResponse").unwrap_or(node));
    let response = fields.get("response");
    let error = response.and_then(|response| response.get("error"));
    let is_error = error.is_some_and(|error| !error.is_null());
    Found {
        report: ToolReport { is_error, is_truncated: false },
        tool: fields.name("name"),
        call_id: fields.name("id"),
        ..Found::new(node, response.map_or(Texts::Missing, texts))
    }
}

/// The API rejects unknown fields, but a response may have any.
pub(super) fn mark_cut(found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
    if let Texts::Readable(response) = found.texts {
        edits.replace(response, format!("{{\"output\":{}}}", quoted(&cut.preview.content)));
    }
}

/// All strings of a response, wherever the tool has put them; or the response itself, if it is data.
fn texts(response: Node<'_>) -> Texts<'_> {
    let strings = response.strings();
    let around = response.json().len() - strings.iter().map(|node| node.json().len()).sum::<usize>();
    if strings.len() > MOST_STRINGS || around > MOST_AROUND {
        return Texts::Readable(response);
    }
    let texts = strings.into_iter().map(|node| Text { node, element: None }).collect();
    Texts::Parts { texts, elements: Vec::new() }
}
