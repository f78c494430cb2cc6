//! Codex, `PostToolUse`: `continue: false` with a `reason` puts that text in the place of the result, and the turn goes
//! on. Unknown fields make Codex drop the whole answer.
//!
//! For its shell tool Codex hands over what it has already cut, so only MCP results are looked at here.

use super::{Answer, Bound, Call, is_only_text, member, quoted, texts};
use offcut::results::Shape;
use serde::Deserialize;

pub(super) fn after(input: &str, bound: &Bound<'_>) -> Answer {
    #[derive(Deserialize)]
    struct Response {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    let call = Call::parse(input)?;
    if !call.is_mcp() || call.reads_back() {
        return Ok(None);
    }
    let response = call.tool_response.get();
    let ended: Response = serde_json::from_str(response).map_err(|error| error.to_string())?;
    // A text is all that can take the place of a result: one with images in it stays as it is.
    if !is_only_text(&member(response, "content")?) {
        return Ok(None);
    }
    let Some(json) = bound(response, Shape::Mcp, &call.context()) else { return Ok(None) };
    let reason = quoted(&texts(&member(&json, "content")?)?)?;
    Ok(Some(match ended.is_error {
        false => format!("{{\"continue\":false,\"reason\":{reason}}}"),
        // This one is told to the model as a failed call.
        true => format!("{{\"decision\":\"block\",\"reason\":{reason}}}"),
    }))
}
