//! Claude Code, `PostToolUse`: `updatedToolOutput` takes the place of what the model sees, in the tool's own shape.
//!
//! It is called for what succeeded; the shell tool is bounded by `offcut shell` whatever its end, and only looked at
//! here if that is not in place.

use super::{Answer, Bound, Call, member, quoted};
use offcut::results::Shape;
use serde::Deserialize;

/// Tools whose results are a page of something that the agent can page through, or that it must have exactly.
const EXACT: &[&str] = &["Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "NotebookRead", "TodoWrite"];

pub(super) fn after(input: &str, bound: &Bound<'_>) -> Answer {
    let call = Call::parse(input)?;
    if call.cursor_version.is_some() || EXACT.contains(&call.tool_name.as_str()) || call.reads_back() {
        return Ok(None);
    }
    let response = call.tool_response.get();
    let updated = match (call.is_mcp(), response.as_bytes().first()) {
        // The parts of an MCP result; the fields around them are not ours to see.
        (true, Some(b'[')) => bound(&format!("{{\"content\":{response}}}"), Shape::Mcp, &call.context())
            .map(|json| member(&json, "content"))
            .transpose()?,
        (true, Some(b'{')) => bound(response, Shape::Mcp, &call.context()),
        (true, Some(b'"')) => strings(&call, response, bound)?,
        (false, Some(b'{')) if call.tool_name == "Bash" && is_cut(response) => None,
        (false, Some(b'{')) => strings(&call, response, bound)?,
        _ => return Err(format!("unknown shape of tool_response for {}", call.tool_name)),
    };
    Ok(updated.map(|json| {
        format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PostToolUse\",\"updatedToolOutput\":{json}}}}}"
        )
    }))
}

/// Every string of the response, bounded together: the shape of a built-in tool is checked by the agent, so it stays.
fn strings(call: &Call<'_>, response: &str, bound: &Bound<'_>) -> Result<Option<String>, String> {
    let name = quoted(&call.tool_name)?;
    let wrapped = format!("{{\"name\":{name},\"response\":{response}}}");
    bound(&wrapped, Shape::Gemini, &call.context()).map(|json| member(&json, "response")).transpose()
}

/// Whether Claude Code has put the whole output of a command into a file and shows us only its beginning.
fn is_cut(response: &str) -> bool {
    #[derive(Deserialize)]
    struct Response {
        #[serde(rename = "persistedOutputPath", default)]
        path: Option<String>,
    }
    serde_json::from_str::<Response>(response).is_ok_and(|response| response.path.is_some())
}
