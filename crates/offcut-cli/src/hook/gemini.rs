//! Gemini CLI, `AfterTool`: a denial with a reason replaces the result with that text, as an error.
//!
//! Gemini CLI puts text from outside between two marker lines. They are not stored, but stay around the preview.

use super::{Answer, Call, ReadPage, Shorten, is_only_text, member, quoted, texts};
use offcut::results::Shape;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Tools whose results the agent pages through itself, or needs exactly.
const EXACT: &[&str] = &["read_file", "read_many_files", "replace", "write_file", "edit", "save_memory"];

const OPENING: &str = "<untrusted_context>\n";
const CLOSING: &str = "\n</untrusted_context>";

pub(super) fn after(input: &str, shorten: &Shorten<'_>, read_page: &ReadPage<'_>) -> Answer {
    let call = Call::parse(input)?;
    if EXACT.contains(&call.tool_name.as_str()) {
        return Ok(None);
    }
    let content = member(call.tool_response.get(), "llmContent")?;
    if call.is_page(&content, read_page) {
        return Ok(None);
    }
    let text = match content.as_bytes().first() {
        Some(b'"') => serde_json::from_str(&content).map_err(|error| error.to_string())?,
        Some(b'[') if is_only_text(&content) => texts(&content)?,
        Some(b'[' | b'{') => return Ok(None),
        _ => return Err(format!("unknown shape of llmContent for {}", call.tool_name)),
    };
    let WrappedText { before, inside, after } = unwrap_text(&text);
    let json = format!("{{\"llmContent\":{}}}", quoted(&inside)?);
    let Some(json) = shorten(&json, Shape::Takumi, &call.context()) else { return Ok(None) };
    let shown: String =
        serde_json::from_str(&member(&json, "llmContent")?).map_err(|error| error.to_string())?;
    let shown = if after.is_empty() { shown.as_str() } else { shown.trim_end() };
    Ok(Some(format!("{{\"decision\":\"deny\",\"reason\":{}}}", quoted(&format!("{before}{shown}{after}"))?)))
}

/// The text of a tool, and the agent's text around it, which stays.
struct WrappedText<'a> {
    before: String,
    inside: Cow<'a, str>,
    after: &'static str,
}

fn unwrap_text(text: &str) -> WrappedText<'_> {
    if let Some(inside) = text.strip_prefix(OPENING).and_then(|text| text.strip_suffix(CLOSING)) {
        return WrappedText { before: OPENING.to_owned(), inside: inside.into(), after: CLOSING };
    }
    match mcp_error(text) {
        Some((before, inside)) => WrappedText { before, inside: inside.into(), after: "" },
        None => WrappedText { before: String::new(), inside: text.into(), after: "" },
    }
}

/// Extracts the text of an MCP error, which is in JSON after the call: `MCP tool 'x' reported tool error for function
/// call: {...} with response: [{"functionResponse":{"response":{"content":[...],"isError":true}}}]`.
fn mcp_error(text: &str) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Part<'a> {
        #[serde(rename = "functionResponse", borrow)]
        function: Function<'a>,
    }
    #[derive(Deserialize)]
    struct Function<'a> {
        #[serde(borrow)]
        response: Response<'a>,
    }
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
    }
    let (head, rest) = text.strip_prefix("MCP tool ")?.split_once(" for function call: ")?;
    let (_, parts) = rest.split_once(" with response: ")?;
    let parts: Vec<Part<'_>> = serde_json::from_str(parts).ok()?;
    let [part] = parts.as_slice() else { return None };
    let content = part.function.response.content.get();
    is_only_text(content).then(|| texts(content).ok())?.map(|inside| (format!("MCP tool {head}:\n"), inside))
}
