//! The envelope `{status, data, text, stats, context, error}` of the unified protocol.

use super::{Adapter, Cut, Fields, Found, Texts, ended, handled};
use crate::middleware::divide;
use crate::middleware::json::{Edits, Node, quoted};

pub(super) struct Unified;

impl Adapter for Unified {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.is_text("status")
            && fields.has("data")
            && ["text", "stats", "context", "error"].iter().any(|key| fields.has(key))
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        let skip = fields.get("context").and_then(|context| context.get("truncation_skip"));
        let told = fields.get("data").and_then(|data| data.get("truncation"));
        let mark = skip.is_some_and(|skip| skip.is_true()) || told.is_some_and(|told| told.is_object());
        Found {
            handled: handled(mark),
            ended: ended(fields.says("status", "error")),
            tool: fields.get("context").and_then(|context| Fields::of(context).name("tool_name")),
            ..Found::new(node, Texts::Readable)
        }
    }

    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        let preview = cut.preview;
        let (limits, original, shown) = (cut.settings.limits, preview.original, preview.shown);
        let number = |limit: Option<u64>| limit.map_or_else(|| "null".to_owned(), |limit| limit.to_string());
        let (body, notice) = divide::body_and_notice(preview);
        let truncation = format!(
            "{{\"direction\":{},\"max_lines\":{},\"max_bytes\":{},\"original_lines\":{},\"original_bytes\":{},\
             \"kept_lines\":{},\"kept_bytes\":{},\"full_output_path\":{}}}",
            quoted(cut.settings.strategy.as_str().as_bytes()),
            number(limits.lines),
            number(limits.bytes),
            original.lines,
            original.bytes,
            shown.lines,
            shown.bytes,
            cut.place_json()
        );
        let data =
            format!("{{\"truncated\":true,\"truncation\":{truncation},\"preview\":{}}}", quoted(&body));
        let mut members = Vec::new();
        if !found.node.get("status").is_some_and(|status| status.says("error")) {
            members.push(("status", quoted(b"partial")));
        }
        members.extend([("data", data), ("text", quoted(&notice))]);
        edits.set(found.node, &members);
    }
}
