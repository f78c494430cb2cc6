//! `{call_id, output, status, tool_name, ui_extra}`: Klaude's tool result items.

use super::{Adapter, Cut, Fields, Found, Texts, ended, handled, set_in};
use crate::json::{Edits, Node, quoted};

pub(super) struct Klaude;

impl Adapter for Klaude {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        let is_item = fields.has("ui_extra") || (fields.has("call_id") && fields.has("status"));
        fields.is_text("output") && is_item && !fields.has("type")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        let extra = fields.some("ui_extra");
        let told = |extra: Node<'_>| extra.get("truncation").is_some_and(|found| !found.is_null());
        Found {
            handled: handled(extra.is_some_and(told)),
            ended: ended(fields.says("status", "error")),
            tool: fields.name("tool_name"),
            call_id: fields.name("call_id"),
            ..Found::new(node, Texts::of(fields.get("output"), &|_| None))
        }
    }

    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        // The document has a path in it always, so without one there is nothing to tell.
        if cut.place().is_none() {
            return;
        }
        let (original, hidden) = cut.chars();
        let truncation = format!(
            "{{\"saved_file_path\":{},\"original_length\":{},\"truncated_length\":{}}}",
            cut.place_json(),
            original,
            hidden
        );
        let mut members = vec![("truncation", truncation)];
        // Another extra keeps its type: it says how the tool's own result is drawn.
        let extra = found.node.get("ui_extra").filter(|extra| extra.is_object());
        if extra.is_none_or(|extra| extra.get("type").is_none()) {
            members.insert(0, ("type", quoted(b"truncation")));
        }
        set_in(edits, found.node, "ui_extra", &members);
    }
}
