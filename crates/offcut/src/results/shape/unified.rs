//! The envelope `{status, data, text, stats, context, error}` of the unified protocol.

use super::{Adapter, Beside, Cut, Fields, Found, Texts, ended, handled};
use crate::boundary;
use crate::json::{Edits, Node, quoted};
use crate::results::divide;

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
            claim: claim(&fields),
            ..Found::new(node, Texts::Readable(node))
        }
    }

    fn beside<'a>(&self, found: &Found<'a>, most: u64) -> Beside<'a> {
        let share = most / SHARES;
        let mut beside = Beside { bytes: OWN_FIELDS, shortened: Vec::new() };
        for (key, node) in found.node.members() {
            if [&b"status"[..], b"data", b"text"].contains(&&key[..]) {
                continue;
            }
            let json = if node.json().len() as u64 > share { shortened(node, share) } else { None };
            beside.bytes += json.as_deref().unwrap_or(node.json()).len() as u64;
            beside.shortened.extend(json.map(|json| (node, json)));
        }
        beside
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

/// Each field beside the text may have this part of the budget.
const SHARES: u64 = 8;

/// What the fields take that tell of a cut.
const OWN_FIELDS: u64 = 700;

/// A string in such a field is cut to this many bytes.
const LONGEST_STRING: usize = 256;

/// What an envelope shows of a preview, if it was cut before.
fn claim(fields: &Fields<'_>) -> Option<Vec<u8>> {
    let data = Fields::of(fields.get("data")?);
    data.get("truncation")?;
    Some([fields.get("text")?.text()?, data.get("preview")?.text()?].join(&b'\n'))
}

/// A value with its long strings cut, or only its size if that is still too much.
fn shortened(node: Node<'_>, most: u64) -> Option<String> {
    let start = node.span().start;
    let mut text = String::new();
    let mut done = 0;
    for string in node.strings() {
        let decoded = string.text().unwrap_or_default();
        if decoded.len() <= LONGEST_STRING {
            continue;
        }
        let shown = boundary::floor(&decoded, LONGEST_STRING);
        let note = format!("… ({} more bytes)", decoded.len() - shown);
        let span = string.span();
        text += &node.json()[done..span.start - start];
        text += &quoted(&[&decoded[..shown], note.as_bytes()].concat());
        done = span.end - start;
    }
    text += &node.json()[done..];
    let whole = node.json().len();
    Some(match text.len() as u64 <= most {
        true => text,
        false => format!("{{\"truncated\":true,\"original_bytes\":{whole}}}"),
    })
}
