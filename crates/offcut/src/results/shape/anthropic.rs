//! `{type: "tool_result", tool_use_id, content, is_error}`: a block of the Anthropic messages API.

use super::{Adapter, Cut, Fields, Found, Texts, ended, text_of_type};
use crate::json::{Edits, Node};

pub(super) struct Anthropic;

impl Adapter for Anthropic {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.says("type", "tool_result")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        Found {
            ended: ended(fields.is_true("is_error")),
            call_id: fields.name("tool_use_id"),
            ..Found::new(node, Texts::of(fields.get("content"), &text_of))
        }
    }

    /// The interface refuses fields that it does not know: the notice in the text says everything.
    fn mark_cut(&self, _found: &Found<'_>, _cut: &Cut<'_>, _edits: &mut Edits) {}
}

/// The text of a text part, or of a document that is plain text.
fn text_of(part: Node<'_>) -> Option<Node<'_>> {
    text_of_type(part, &["text"]).or_else(|| {
        let source = Fields::of(Fields::of(part).get("source")?);
        source.says("type", "text").then(|| source.get("data")).flatten()
    })
}
