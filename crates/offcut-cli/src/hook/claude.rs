//! Claude Code, `PostToolUse`: `updatedToolOutput` replaces what the model sees, in the shape of the tool.
//!
//! The hook is called for successful calls only. Shell output is normally shortened by `offcut shell`, also on failure;
//! here it matters only if that is not installed.

use super::{Answer, Call, ReadPage, Shorten, member, quoted};
use offcut::results::Shape;
use serde::Deserialize;

/// Tools whose results the agent pages through itself, or needs exactly.
const EXACT: &[&str] = &["Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "NotebookRead", "TodoWrite"];

pub(super) fn after(input: &str, shorten: &Shorten<'_>, read_page: &ReadPage<'_>) -> Answer {
    let call = Call::parse(input)?;
    let response = call.tool_response.get();
    let is_exact = call.cursor_version.is_some() || EXACT.contains(&call.tool_name.as_str());
    if is_exact || call.is_page(response, read_page) {
        return Ok(None);
    }
    let updated = match (call.is_mcp(), response.as_bytes().first()) {
        // Claude Code passes the parts of an MCP result without the fields around them.
        (true, Some(b'[')) => shorten(&format!("{{\"content\":{response}}}"), Shape::Mcp, &call.context())
            .map(|json| member(&json, "content"))
            .transpose()?,
        (true, Some(b'{')) => shorten(response, Shape::Mcp, &call.context()),
        (true, Some(b'"')) => strings(&call, response, shorten)?,
        (false, Some(b'{')) if call.tool_name == "Bash" && is_cut(response) => None,
        (false, Some(b'{')) => strings(&call, response, shorten)?,
        _ => return Err(format!("unknown shape of tool_response for {}", call.tool_name)),
    };
    Ok(updated.map(|json| {
        format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PostToolUse\",\"updatedToolOutput\":{json}}}}}"
        )
    }))
}

/// Shortens all strings of the response together. Their structure stays, because the agent checks it.
fn strings(call: &Call<'_>, response: &str, shorten: &Shorten<'_>) -> Result<Option<String>, String> {
    let name = quoted(&call.tool_name)?;
    let wrapped = format!("{{\"name\":{name},\"response\":{response}}}");
    shorten(&wrapped, Shape::Gemini, &call.context()).map(|json| member(&json, "response")).transpose()
}

/// Whether Claude Code has stored the output in a file and passes only its beginning.
fn is_cut(response: &str) -> bool {
    #[derive(Deserialize)]
    struct Response {
        #[serde(rename = "persistedOutputPath", default)]
        path: Option<String>,
    }
    serde_json::from_str::<Response>(response).is_ok_and(|response| response.path.is_some())
}
