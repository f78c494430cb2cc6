//! `{content: parts[], structuredContent, isError, _meta}`: an MCP `CallToolResult`.

use super::{Adapter, Cut, Fields, Found, NoticePlace, Texts, ended, set_in, text_of_type};
use crate::json::{Edits, Node, quoted};
use crate::shown::Kept;

pub(super) struct Mcp;

/// The member of `_meta` that is ours. The protocol wants such names to begin with a domain.
pub(crate) const META: &str = "offcut.dev/cut";

impl Adapter for Mcp {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        let is_part =
            |part: &Node<'_>| part.is_object() && part.get("type").is_some_and(|kind| kind.is_text());
        fields
            .get("content")
            .is_some_and(|content| content.is_array() && content.elements().iter().all(is_part))
            && !fields.has("role")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        // The text of an embedded resource reaches the model like any other.
        let text_of = |part: Node<'a>| {
            text_of_type(part, &["text"]).or_else(|| part.get("resource").and_then(|found| found.get("text")))
        };
        Found {
            ended: ended(fields.is_true("isError")),
            ..Found::new(node, Texts::of(fields.get("content"), &text_of))
        }
    }

    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        let preview = cut.preview;
        let id = match &preview.kept {
            Kept::Whole(entry) | Kept::Open(entry) => quoted(entry.id.as_str().as_bytes()),
            Kept::NotWhole { .. } | Kept::Off => "null".to_owned(),
        };
        let told = format!(
            "{{\"id\":{id},\"path\":{},\"original_bytes\":{},\"shown_bytes\":{}}}",
            cut.place_json(),
            preview.original.bytes,
            preview.shown.bytes
        );
        set_in(edits, found.node, "_meta", &[(META, told)]);
    }

    fn notice(&self) -> NoticePlace {
        NoticePlace::OwnParts
    }
}

pub(super) struct McpError;

impl Adapter for McpError {
    fn recognises(&self, _fields: &Fields<'_>) -> bool {
        false
    }

    /// A profile that leaves a tool's errors unchanged does not apply: this error is the protocol's.
    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        Found::new(node, Texts::of(node.get("message"), &|_| None))
    }

    fn mark_cut(&self, _found: &Found<'_>, _cut: &Cut<'_>, _edits: &mut Edits) {}
}
