//! `{functionResponse: {name, id, response}}`: a part of the Gemini interface. The response is any object.

use super::{Adapter, Cut, Fields, Found, Text, Texts, ended};
use crate::json::{Edits, Node, quoted};

pub(super) struct Gemini;

impl Adapter for Gemini {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.get("functionResponse").is_some_and(|found| found.is_object())
            || (fields.is_text("name") && fields.get("response").is_some_and(|found| found.is_object()))
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let inner = node.get("functionResponse").unwrap_or(node);
        let fields = Fields::of(inner);
        let response = fields.get("response");
        let error = response.and_then(|response| response.get("error"));
        Found {
            ended: ended(error.is_some_and(|error| !error.is_null())),
            tool: fields.name("name"),
            call_id: fields.name("id"),
            ..Found::new(node, response.map_or_else(Texts::none, texts))
        }
    }

    /// The interface refuses fields that it does not know; a response may have any.
    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        if let Texts::Readable(response) = found.texts {
            edits.replace(response, format!("{{\"output\":{}}}", quoted(&cut.preview.content)));
        }
    }
}

/// With more strings than this, or more around them, a response is data rather than text.
const MOST_STRINGS: usize = 16;
const MOST_AROUND: usize = 2048;

/// The strings of a response, wherever its tool has put them; or all of it, where it is data.
fn texts(response: Node<'_>) -> Texts<'_> {
    let strings = response.strings();
    let around = response.json().len() - strings.iter().map(|node| node.json().len()).sum::<usize>();
    if strings.len() > MOST_STRINGS || around > MOST_AROUND {
        return Texts::Readable(response);
    }
    let texts = strings.into_iter().map(|node| Text { node, element: None }).collect();
    Texts::Parts { texts, elements: Vec::new() }
}
