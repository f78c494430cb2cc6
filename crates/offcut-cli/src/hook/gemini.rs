//! Gemini CLI, `AfterTool`: a denial with a reason puts that text in the place of the result, as an error.
//!
//! Text that comes from outside stands between two lines that say so; they are not kept, and stay around what is shown.

use super::{Answer, Bound, Call, is_only_text, member, quoted, texts};
use offcut::middleware::Shape;

/// Tools whose results are a page of something that the agent can page through, or that it must have exactly.
const EXACT: &[&str] = &["read_file", "read_many_files", "replace", "write_file", "edit", "save_memory"];

const OPENING: &str = "<untrusted_context>\n";
const CLOSING: &str = "\n</untrusted_context>";

pub(super) fn after(input: &str, bound: &Bound<'_>) -> Answer {
    let call = Call::parse(input)?;
    if EXACT.contains(&call.tool_name.as_str()) {
        return Ok(None);
    }
    let content = member(call.tool_response.get(), "llmContent")?;
    let text = match content.as_bytes().first() {
        Some(b'"') => serde_json::from_str(&content).map_err(|error| error.to_string())?,
        Some(b'[') if is_only_text(&content) => texts(&content)?,
        Some(b'[' | b'{') => return Ok(None),
        _ => return Err(format!("{} has content of no known shape", call.tool_name)),
    };
    let inside = text.strip_prefix(OPENING).and_then(|text| text.strip_suffix(CLOSING));
    let json = format!("{{\"llmContent\":{}}}", quoted(inside.unwrap_or(&text))?);
    let Some(json) = bound(&json, Shape::Takumi, &call.context()) else { return Ok(None) };
    let shown: String =
        serde_json::from_str(&member(&json, "llmContent")?).map_err(|error| error.to_string())?;
    let shown = match inside {
        Some(_) => format!("{OPENING}{}{CLOSING}", shown.trim_end()),
        None => shown,
    };
    Ok(Some(format!("{{\"decision\":\"deny\",\"reason\":{}}}", quoted(&shown)?)))
}
