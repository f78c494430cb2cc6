//! Codex, `PostToolUse`: `continue: false` with a `reason` replaces the result with that text, and the turn continues.
//! Unknown fields make Codex ignore the whole answer.
//!
//! For its shell tool, Codex passes truncated output, so only MCP results are shortened here.

use super::{Answer, Call, ReadPage, Shorten, is_only_text, member, quoted, texts};
use offcut::results::Shape;
use serde::Deserialize;

pub(super) fn after(input: &str, shorten: &Shorten<'_>, read_page: &ReadPage<'_>) -> Answer {
    #[derive(Deserialize)]
    struct Response {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    let call = Call::parse(input)?;
    let response = call.tool_response.get();
    if !call.is_mcp() || call.is_page(response, read_page) {
        return Ok(None);
    }
    let ended: Response = serde_json::from_str(response).map_err(|error| error.to_string())?;
    // Only text can replace a result, so results with images stay unchanged.
    if !is_only_text(&member(response, "content")?) {
        return Ok(None);
    }
    let Some(json) = shorten(response, Shape::Mcp, &call.context()) else { return Ok(None) };
    let reason = quoted(&texts(&member(&json, "content")?)?)?;
    Ok(Some(match ended.is_error {
        false => format!("{{\"continue\":false,\"reason\":{reason}}}"),
        // The model sees this as a failed call.
        true => format!("{{\"decision\":\"block\",\"reason\":{reason}}}"),
    }))
}
