//! opencode: the plugin passes the result of a tool and replaces it with the answer.
//!
//! A built-in tool has `output`, a text that opencode has already truncated; an MCP tool has `content`, as the server
//! sent it.

use super::{Answer, ReadPage, Shorten, is_page, quoted};
use offcut::Context;
use offcut::results::Shape;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Tools whose results the agent pages through itself, or needs exactly, and the shell, whose output is shortened before
/// opencode gets it.
const EXACT: &[&str] =
    &["read", "edit", "write", "patch", "apply_patch", "todowrite", "todoread", "bash", "offcut"];

#[derive(Deserialize)]
struct Call<'a> {
    tool: String,
    #[serde(rename = "sessionID", default)]
    session: Option<String>,
    #[serde(rename = "callID", default)]
    call: Option<String>,
    #[serde(default, borrow)]
    args: Option<&'a RawValue>,
    #[serde(default, borrow)]
    output: Option<&'a RawValue>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
}

pub(super) fn after(input: &str, shorten: &Shorten<'_>, read_page: &ReadPage<'_>) -> Answer {
    let call: Call<'_> = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let result = call.content.or(call.output);
    let is_page = result.is_some_and(|result| is_page(&call.tool, call.args, result.get(), read_page));
    if EXACT.contains(&call.tool.as_str()) || is_page {
        return Ok(None);
    }
    let context = Context {
        tool: Some(call.tool.clone()),
        call_id: call.call.clone(),
        session: call.session.clone(),
        ..Context::default()
    };
    match (call.content, call.output) {
        (Some(content), _) => {
            let json = format!("{{\"content\":{}}}", content.get());
            Ok(shorten(&json, Shape::Mcp, &context))
        }
        (None, Some(output)) => {
            let json = format!("{{\"title\":{},\"output\":{}}}", quoted(&call.tool)?, output.get());
            Ok(shorten(&json, Shape::Opencode, &context))
        }
        (None, None) => Err(format!("neither output nor content for {}", call.tool)),
    }
}
