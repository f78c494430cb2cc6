//! What agents call before and after a tool: one JSON object in, one out.
//!
//! One file an agent, of pure functions from JSON to JSON: what is bounded, and by what, is passed in. Whatever is not
//! as expected is an error that the caller logs; the agent then gets the neutral answer and goes on as without us.

mod before;
mod claude;
mod codex;
mod gemini;
mod opencode;
#[cfg(test)]
mod tests;

pub(crate) use before::before;

use clap::ValueEnum;
use offcut::Context;
use offcut::results::Shape;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What leaves everything as it is, for every agent.
pub(crate) const NEUTRAL: &str = "{}";

/// Some agents have none.
const NO_HOOKS: &str = "this agent has no hooks";

/// Bounds a result of a shape: the new JSON, or nothing if it stays as it is.
pub(crate) type Bound<'a> = dyn Fn(&str, Shape, &Context) -> Option<String> + 'a;

/// The answer to an agent; nothing if everything stays as it is.
pub(crate) type Answer = Result<Option<String>, String>;

/// The agents that have hooks of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Pi,
}

/// When a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Event {
    /// Before a command line runs (used by `offcut init --rewrite`)
    Before,
    /// After a tool has run
    After,
}

/// The answer to an agent whose tool has ended.
pub(crate) fn after(host: Host, input: &str, bound: &Bound<'_>) -> Answer {
    match host {
        Host::Claude => claude::after(input, bound),
        Host::Codex => codex::after(input, bound),
        Host::Gemini => gemini::after(input, bound),
        Host::Opencode => opencode::after(input, bound),
        Host::Pi => Err(NO_HOOKS.to_owned()),
    }
}

/// What the agents that speak Claude Code's dialect say of a call.
#[derive(Debug, Deserialize)]
struct Call<'a> {
    tool_name: String,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(borrow)]
    tool_response: &'a RawValue,
    /// Another agent runs this agent's hooks, and has its own.
    #[serde(default, borrow)]
    cursor_version: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    fn parse(input: &'a str) -> Result<Call<'a>, String> {
        serde_json::from_str(input).map_err(|error| error.to_string())
    }

    fn context(&self) -> Context {
        Context {
            tool: Some(self.tool_name.clone()),
            call_id: self.tool_use_id.clone(),
            session: self.session_id.clone(),
        }
    }

    fn is_mcp(&self) -> bool {
        self.tool_name.starts_with("mcp_")
    }

    fn reads_back(&self) -> bool {
        reads_back(&self.tool_name)
    }
}

/// Whether a tool is one of ours that read back: what was asked for is not cut again. Agents put the name of the
/// server before it, and the proxy a number behind it if the server has a tool of that name.
fn reads_back(tool: &str) -> bool {
    let name = tool.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_');
    ["offcut_read", "offcut_search", "offcut_list"].iter().any(|ours| name.ends_with(ours))
}

/// A member of an object, as it stands there.
fn member(json: &str, key: &str) -> Result<String, String> {
    let members: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_str(json).map_err(|error| error.to_string())?;
    members.get(key).map(|value| value.get().to_owned()).ok_or_else(|| format!("missing field {key:?}"))
}

/// The texts of content parts, each on lines of its own.
fn texts(parts: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Option<String>,
    }
    let parts: Vec<Part> = serde_json::from_str(parts).map_err(|error| error.to_string())?;
    let texts: Vec<String> = parts.into_iter().filter_map(|part| part.text).collect();
    Ok(texts.join("\n"))
}

/// Whether a content array has nothing but text in it.
fn is_only_text(parts: &str) -> bool {
    #[derive(Deserialize)]
    struct Part {
        #[serde(rename = "type", default)]
        kind: Option<String>,
        #[serde(default)]
        text: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Vec<Part>>(parts).is_ok_and(|parts| {
        parts.iter().all(|part| part.text.is_some() && part.kind.as_deref().is_none_or(|kind| kind == "text"))
    })
}

fn quoted(text: &str) -> Result<String, String> {
    serde_json::to_string(text).map_err(|error| error.to_string())
}
