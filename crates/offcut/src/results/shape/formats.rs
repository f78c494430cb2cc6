//! The formats of tool results, one row per shape.
//!
//! Model interfaces reject unknown fields, so their rows mark nothing: the notice in the text says everything.

use super::{Cut, Fields, Found, NoticePlace, set_in, text_of_type};
use crate::json::{Edits, Node, quoted};
use crate::limits::PerUnit;
use crate::outcome::Saved;

/// How results of one shape are detected, read and marked.
pub(super) struct Format {
    /// Whether an object with these members has this shape.
    pub(super) detects: fn(&Fields<'_>) -> bool,
    /// The name of the member with the text: a string, or an array of parts.
    pub(super) content: fn(&Fields<'_>) -> &'static str,
    /// Another string that shares the limits with the content, which is then a string.
    pub(super) beside: for<'a> fn(&Fields<'a>) -> Option<Node<'a>>,
    /// The text of a part.
    pub(super) part_text: for<'a> fn(Node<'a>) -> Option<Node<'a>>,
    /// The names of the members with the tool and the call id.
    pub(super) tool: Option<&'static str>,
    pub(super) call_id: Option<&'static str>,
    /// Whether the result reports an error.
    pub(super) is_error: fn(&Fields<'_>) -> bool,
    /// Whether the tool reports that it has handled truncation.
    pub(super) is_truncated: fn(&Fields<'_>) -> bool,
    /// Marks a result that fits, for profiles that mark those.
    pub(super) mark_whole: fn(&Found<'_>, &mut Edits),
    /// Marks a result that was cut.
    pub(super) mark_cut: fn(&Found<'_>, &Cut<'_>, &mut Edits),
    pub(super) notice: NoticePlace,
}

/// The defaults.
const PLAIN: Format = Format {
    detects: |_| false,
    content: |_| "content",
    beside: |_| None,
    part_text: |_| None,
    tool: None,
    call_id: None,
    is_error: |_| false,
    is_truncated: |_| false,
    mark_whole: |_, _| {},
    mark_cut: |_, _, _| {},
    notice: NoticePlace::WithText,
};

/// A block of the Anthropic messages API: `{type: "tool_result", tool_use_id, content, is_error}`.
pub(super) const ANTHROPIC: Format = Format {
    detects: |fields| fields.says("type", "tool_result"),
    // A text part, or a document that is plain text.
    part_text: |part| {
        text_of_type(part, &["text"]).or_else(|| {
            let source = Fields::of(part.get("source")?);
            source.says("type", "text").then(|| source.get("data")).flatten()
        })
    },
    call_id: Some("tool_use_id"),
    is_error: |fields| fields.is_true("is_error"),
    ..PLAIN
};

/// A message of the OpenAI chat API: `{role: "tool", tool_call_id, name, content}`.
pub(super) const OPENAI_CHAT: Format = Format {
    detects: |fields| {
        (fields.says("role", "tool") || fields.says("role", "function")) && fields.has("content")
    },
    part_text: |part| text_of_type(part, &["text"]),
    tool: Some("name"),
    call_id: Some("tool_call_id"),
    ..PLAIN
};

/// An item of the OpenAI Responses API: `{type: "function_call_output", call_id, output}`.
pub(super) const OPENAI_RESPONSES: Format = Format {
    detects: |fields| {
        fields.says("type", "function_call_output") || fields.says("type", "custom_tool_call_output")
    },
    content: |_| "output",
    part_text: |part| text_of_type(part, &["input_text", "output_text", "text"]),
    call_id: Some("call_id"),
    ..PLAIN
};

/// A part of the Gemini API: `{functionResponse: {name, id, response}}`. See [`super::gemini`].
pub(super) const GEMINI: Format = Format {
    detects: |fields| {
        let has_object = |key| fields.get(key).is_some_and(|found| found.is_object());
        has_object("functionResponse") || (fields.is_text("name") && has_object("response"))
    },
    mark_cut: super::gemini::mark_cut,
    ..PLAIN
};

/// A block of Bedrock's Converse API: `{toolResult: {toolUseId, status, content}}`. See [`super::bedrock`].
pub(super) const BEDROCK: Format =
    Format { detects: super::bedrock::detects, mark_cut: super::bedrock::mark_cut, ..PLAIN };

/// The envelope of the unified profile: `{status, data, text, stats, context, error}`. See [`super::unified`].
pub(super) const UNIFIED: Format = Format {
    detects: |fields| {
        fields.is_text("status")
            && fields.has("data")
            && ["text", "stats", "context", "error"].iter().any(|key| fields.has(key))
    },
    mark_cut: super::unified::mark_cut,
    ..PLAIN
};

/// Takumi's tool results: `{llmContent: string | parts[], isError, truncated, outputPath}`.
pub(super) const TAKUMI: Format = Format {
    detects: |fields| fields.has("llmContent"),
    content: |_| "llmContent",
    part_text: |part| text_of_type(part, &["text"]),
    is_error: |fields| fields.is_true("isError"),
    is_truncated: |fields| fields.has("truncated"),
    mark_whole: |found, edits| edits.set(found.node, &[("truncated", "false".to_owned())]),
    mark_cut: |found, cut, edits| edits.set(found.node, &truncated("outputPath", cut)),
    ..PLAIN
};

/// Klaude's tool result items: `{call_id, output, status, tool_name, ui_extra}`.
pub(super) const KLAUDE: Format = Format {
    detects: |fields| {
        let is_item = fields.has("ui_extra") || (fields.has("call_id") && fields.has("status"));
        fields.is_text("output") && is_item && !fields.has("type")
    },
    content: |_| "output",
    tool: Some("tool_name"),
    call_id: Some("call_id"),
    is_error: |fields| fields.says("status", "error"),
    is_truncated: |fields| {
        let truncation = fields.get("ui_extra").and_then(|extra| extra.get("truncation"));
        truncation.is_some_and(|truncation| !truncation.is_null())
    },
    mark_cut: mark_klaude,
    ..PLAIN
};

/// The coding agent's tool results: `{success, output, metadata, error}`.
pub(super) const CODING_AGENT: Format = Format {
    detects: |fields| {
        let is_failure = fields.is_text("error") && fields.get("output").is_none_or(|node| node.is_null());
        fields.has("success") && (fields.is_text("output") || is_failure)
    },
    // A failed tool reports in `error`, with or without an output.
    content: |fields| if has_output(fields) || !fields.is_text("error") { "output" } else { "error" },
    beside: |fields| {
        let has_text = fields.is_text("output") && has_output(fields);
        fields.get("error").filter(|error| error.is_text() && has_text)
    },
    is_error: |fields| fields.get("success").is_some_and(|success| success.json() == "false"),
    is_truncated: metadata_has_truncated,
    mark_whole: |found, edits| {
        // An empty output is not measured.
        if has_output(&Fields::of(found.node)) {
            set_in(edits, found.node, "metadata", &[("truncated", "false".to_owned())]);
        }
    },
    mark_cut: |found, cut, edits| {
        let mut members = truncated("truncationPath", cut);
        let PerUnit { lines, bytes, .. } = cut.preview.reported_removed();
        members.extend(lines.map(|lines| ("truncationRemovedLines", lines.to_string())));
        members.extend(bytes.map(|bytes| ("truncationRemovedBytes", bytes.to_string())));
        set_in(edits, found.node, "metadata", &members);
    },
    ..PLAIN
};

/// OpenCode's tool results: `{title, output, metadata}`.
pub(super) const OPENCODE: Format = Format {
    detects: |fields| fields.is_text("output") && (fields.has("title") || fields.has("metadata")),
    content: |_| "output",
    is_truncated: metadata_has_truncated,
    mark_whole: |found, edits| {
        set_in(edits, found.node, "metadata", &[("truncated", "false".to_owned())]);
    },
    mark_cut: |found, cut, edits| set_in(edits, found.node, "metadata", &truncated("outputPath", cut)),
    ..PLAIN
};

/// An MCP `CallToolResult`: `{content: parts[], structuredContent, isError, _meta}`.
pub(super) const MCP: Format = Format {
    detects: |fields| {
        let is_part =
            |part: &Node<'_>| part.is_object() && part.get("type").is_some_and(|kind| kind.is_text());
        let is_parts = |content: Node<'_>| content.is_array() && content.elements().iter().all(is_part);
        let is_result = match fields.get("content") {
            Some(content) => is_parts(content),
            None => fields.get("structuredContent").is_some_and(|data| data.is_object()),
        };
        is_result && !fields.has("role")
    },
    // A part of any type that has a text, or the text of an embedded resource.
    part_text: |part| part.get("text").filter(Node::is_text).or_else(|| part.get("resource")?.get("text")),
    is_error: |fields| fields.is_true("isError"),
    mark_cut: mark_mcp,
    notice: NoticePlace::OwnParts,
    ..PLAIN
};

/// The error object of a JSON-RPC answer: `{code, message, data}`.
///
/// It is no error in the sense of a profile that leaves a tool's errors unchanged: it is the protocol's.
pub(super) const MCP_ERROR: Format = Format { content: |_| "message", ..PLAIN };

fn has_output(fields: &Fields<'_>) -> bool {
    fields.get("output").is_some_and(|output| !output.is_null() && output.json() != "\"\"")
}

/// In the documents of both profiles `null` is a value: only an absent field is undefined.
fn metadata_has_truncated(fields: &Fields<'_>) -> bool {
    fields.get("metadata").is_some_and(|metadata| metadata.get("truncated").is_some())
}

/// `truncated`, and the place of the complete output under `path`, if there is one.
fn truncated(path: &'static str, cut: &Cut<'_>) -> Vec<(&'static str, String)> {
    let mut members = vec![("truncated", "true".to_owned())];
    members.extend(cut.place().map(|_| (path, cut.place_json())));
    members
}

fn mark_klaude(found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
    // The profile's source document (seed 004) always has a path here, so without one nothing is marked.
    if cut.place().is_none() {
        return;
    }
    let (original, hidden) = cut.chars();
    let path = cut.place_json();
    let truncation = format!(
        "{{\"saved_file_path\":{path},\"original_length\":{original},\"truncated_length\":{hidden}}}"
    );
    let mut members = vec![("truncation", truncation)];
    // An extra with a type keeps it: it says how the tool's result is drawn.
    let extra = found.node.get("ui_extra").filter(Node::is_object);
    if extra.is_none_or(|extra| extra.get("type").is_none()) {
        members.insert(0, ("type", quoted(b"truncation")));
    }
    set_in(edits, found.node, "ui_extra", &members);
}

fn mark_mcp(found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
    let id = match &cut.preview.saved {
        Saved::Complete(entry) | Saved::Running(entry) => quoted(entry.id.as_str().as_bytes()),
        Saved::Failed { .. } | Saved::Disabled => "null".to_owned(),
    };
    let (path, original, shown) = (cut.place_json(), cut.preview.original.bytes, cut.preview.shown.bytes);
    let note =
        format!("{{\"id\":{id},\"path\":{path},\"original_bytes\":{original},\"shown_bytes\":{shown}}}");
    // The protocol requires names in `_meta` to begin with a domain.
    set_in(edits, found.node, "_meta", &[("offcut.dev/cut", note)]);
}
