//! The envelope of the unified profile: `{status, data, text, stats, context, error}`.

use super::{Beside, Cut, Fields, Found, Texts, ToolReport};
use crate::boundary;
use crate::json::{Edits, Node, quoted};
use crate::results::divide;

pub(super) fn read(node: Node<'_>) -> Found<'_> {
    let fields = Fields::of(node);
    let skip = fields.get("context").and_then(|context| context.get("truncation_skip"));
    let truncation = fields.get("data").and_then(|data| data.get("truncation"));
    let is_truncated =
        skip.is_some_and(|skip| skip.is_true()) || truncation.is_some_and(|found| found.is_object());
    Found {
        report: ToolReport { is_error: fields.says("status", "error"), is_truncated },
        tool: fields.get("context").and_then(|context| Fields::of(context).name("tool_name")),
        preview_text: preview_text(&fields),
        ..Found::new(node, Texts::Readable(node))
    }
}

/// The fields beside the text, shortened where one takes more than its share of a budget of `most` bytes.
pub(super) fn beside<'a>(found: &Found<'a>, most: u64) -> Beside<'a> {
    let share = most / SHARES;
    let mut beside = Beside { bytes: MARK_SIZE, original: 0, shortened: Vec::new() };
    for (key, node) in found.node.members() {
        if [&b"status"[..], b"data", b"text"].contains(&&key[..]) {
            continue;
        }
        beside.original += node.json().len() as u64;
        let json = (node.json().len() as u64 > share).then(|| shortened(node, share));
        beside.bytes += json.as_deref().unwrap_or(node.json()).len() as u64;
        beside.shortened.extend(json.map(|json| (node, json)));
    }
    beside
}

pub(super) fn mark_cut(found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
    let original_bytes = found.node.json().len();
    if !found.node.is_object() {
        return edits.replace(found.node, envelope(cut, original_bytes));
    }
    let mut members = Vec::new();
    if !found.report.is_error {
        members.push(("status", quoted(b"partial")));
    }
    members.extend(data_and_text(cut, original_bytes));
    edits.set(found.node, &members);
}

/// The envelope of a response that had none.
pub(in crate::results) fn envelope(cut: &Cut<'_>, original_bytes: usize) -> String {
    let [(_, data), (_, text)] = data_and_text(cut, original_bytes);
    format!("{{\"status\":\"partial\",\"data\":{data},\"text\":{text}}}")
}

fn data_and_text(cut: &Cut<'_>, original_bytes: usize) -> [(&'static str, String); 2] {
    let preview = cut.preview;
    let (limits, original, shown) = (cut.settings.limits, preview.original, preview.shown);
    let (body, notice) = divide::body_and_notice(preview);
    let number = |limit: Option<u64>| limit.map_or_else(|| "null".to_owned(), |limit| limit.to_string());
    let truncation = format!(
        "{{\"direction\":{},\"max_lines\":{},\"max_bytes\":{},\"original_lines\":{},\"original_bytes\":{},\
         \"kept_lines\":{},\"kept_bytes\":{},\"full_output_path\":{}}}",
        quoted(cut.settings.strategy.as_str().as_bytes()),
        number(limits.lines),
        number(limits.bytes),
        original.lines,
        original_bytes,
        shown.lines,
        shown.bytes,
        cut.place_json()
    );
    let data = format!("{{\"truncated\":true,\"truncation\":{truncation},\"preview\":{}}}", quoted(&body));
    [("data", data), ("text", quoted(&notice))]
}

/// Each field beside the text may take this fraction of the budget.
const SHARES: u64 = 8;

/// The size of the fields that mark a cut.
const MARK_SIZE: u64 = 700;

/// Longer strings in such a field are cut to this many bytes.
const LONGEST_STRING: usize = 256;

/// The preview in an envelope that was cut before.
fn preview_text(fields: &Fields<'_>) -> Option<Vec<u8>> {
    let data = Fields::of(fields.get("data")?);
    data.get("truncation")?;
    Some([fields.get("text")?.text()?, data.get("preview")?.text()?].join(&b'\n'))
}

/// A value with its long strings cut, or only its size if that is still too long.
fn shortened(node: Node<'_>, most: u64) -> String {
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
    match text.len() as u64 <= most {
        true => text,
        false => format!("{{\"truncated\":true,\"original_bytes\":{whole}}}"),
    }
}
