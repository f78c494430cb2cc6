//! OpenAI's two: a chat message of the role `tool`, and a `function_call_output` of the Responses API.

use super::{Adapter, Cut, Fields, Found, Texts, text_of_type};
use crate::json::{Edits, Node};

pub(super) struct Chat;

impl Adapter for Chat {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        (fields.says("role", "tool") || fields.says("role", "function")) && fields.has("content")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        Found {
            tool: fields.name("name"),
            call_id: fields.name("tool_call_id"),
            ..Found::new(node, Texts::of(fields.get("content"), &|part| text_of_type(part, &["text"])))
        }
    }

    /// The interface refuses fields that it does not know.
    fn mark_cut(&self, _found: &Found<'_>, _cut: &Cut<'_>, _edits: &mut Edits) {}
}

pub(super) struct Responses;

impl Adapter for Responses {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.says("type", "function_call_output") || fields.says("type", "custom_tool_call_output")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        let types = ["input_text", "output_text", "text"];
        Found {
            call_id: fields.name("call_id"),
            ..Found::new(node, Texts::of(fields.get("output"), &|part| text_of_type(part, &types)))
        }
    }

    /// The interface refuses fields that it does not know.
    fn mark_cut(&self, _found: &Found<'_>, _cut: &Cut<'_>, _edits: &mut Edits) {}
}
