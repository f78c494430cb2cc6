//! Hooks that agents call before and after a tool: one JSON object in, one out.
//!
//! The functions of the agents (`agents/`) go from JSON to JSON; the function that shortens a result is passed in.
//! Unexpected input is an error, which the caller logs; the agent then gets the neutral answer and continues as without
//! offcut.

mod before;
#[cfg(test)]
mod tests;

pub(crate) use before::before;

use clap::ValueEnum;
use offcut::Context;
use offcut::results::Shape;
use offcut::store::Origin;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// The answer that changes nothing, for all agents.
pub(crate) const NEUTRAL: &str = "{}";

/// Shortens a result of a given shape. Returns the new JSON, or `None` if it stays unchanged.
pub(crate) type Shorten<'a> = dyn Fn(&str, Shape, &Context) -> Option<String> + 'a;

/// Answers a call of one of offcut's own tools: the part of a stored output that it returns, without notices.
pub(crate) type ReadPage<'a> = dyn Fn(&str, &str) -> Option<String> + 'a;

/// Writes a text into a new file in a directory, and returns its path.
pub(crate) type SaveText<'a> = dyn Fn(&Path, &str) -> Option<PathBuf> + 'a;

/// What the answer to a hook needs from outside.
pub(crate) struct Services<'a> {
    pub(crate) shorten: &'a Shorten<'a>,
    pub(crate) read_page: &'a ReadPage<'a>,
    pub(crate) save_text: &'a SaveText<'a>,
}

/// The answer to an agent; `None` if nothing changes.
pub(crate) type Answer = Result<Option<String>, String>;

/// How to answer the hooks of an agent.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// The agent's tool that runs command lines.
    pub(crate) shell_tool: &'static str,
    /// The answer that changes the input of a call to this JSON.
    pub(crate) rewritten: fn(&str) -> String,
    /// Answers after a tool has run.
    pub(crate) after: fn(&str, &Services<'_>) -> Answer,
    /// What the agent passes after a tool has returned this text, which is part of a JSON string.
    pub(crate) sample: fn(&str) -> String,
}

/// When a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Event {
    /// Before a command line runs (used by `offcut init --rewrite`)
    Before,
    /// After a tool has run
    After,
}

/// A tool call in the format of Claude Code, which other agents also use.
#[derive(Debug, Deserialize)]
pub(crate) struct Call<'a> {
    pub(crate) tool_name: String,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    pub(crate) session_id: Option<String>,
    /// The file in which the agent records the session.
    #[serde(default)]
    pub(crate) transcript_path: Option<PathBuf>,
    #[serde(default)]
    pub(crate) cwd: Option<PathBuf>,
    #[serde(default, borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_response: &'a RawValue,
    /// Set by Cursor, which also runs the hooks of Claude Code, but does not accept their answers.
    #[serde(default, borrow)]
    pub(crate) cursor_version: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    pub(crate) fn parse(input: &'a str) -> Result<Call<'a>, String> {
        serde_json::from_str(input).map_err(|error| error.to_string())
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            tool: Some(self.tool_name.clone()),
            call_id: self.tool_use_id.clone(),
            session: self.session_id.clone(),
            origin: Origin {
                command: self.tool_input.map(tool_input),
                directory: self.cwd.as_ref().map(|directory| directory.display().to_string()),
                user: None,
            },
            ..Context::default()
        }
    }

    pub(crate) fn is_mcp(&self) -> bool {
        self.tool_name.starts_with("mcp_")
    }

    /// Whether `response`, all of the response or a part, is a page of a stored output.
    pub(crate) fn is_page(&self, response: &str, read_page: &ReadPage<'_>) -> bool {
        is_page(&self.tool_name, self.tool_input, response, read_page)
    }
}

/// The input of a tool as it is stored: the command line, if it has one, or else the JSON.
pub(crate) fn tool_input(input: &RawValue) -> String {
    #[derive(Deserialize)]
    struct CommandLine {
        command: String,
    }
    match serde_json::from_str(input.get()) {
        Ok(CommandLine { command }) => command,
        Err(_) => input.get().to_owned(),
    }
}

/// The most bytes that a page has around it: its notices, and what an agent adds.
const AROUND: usize = 1024;

/// Whether a tool has returned a part of a stored output, which must not be shortened again. Agents add the name of the
/// server before the name of the tool, and the proxy adds a number after it if the server has a tool of the same name.
/// Any server can have a tool of that name, so the page is read again and compared.
pub(crate) fn is_page(
    tool: &str,
    arguments: Option<&RawValue>,
    result: &str,
    read_page: &ReadPage<'_>,
) -> bool {
    let name = tool.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_');
    let is_own = |own: &&&str| {
        let server = name.strip_suffix(**own);
        server.is_some_and(|server| !server.ends_with(char::is_alphanumeric))
    };
    let own = ["offcut_read", "offcut_search", "offcut_list"].iter().find(is_own);
    let page = own.zip(arguments).and_then(|(own, arguments)| read_page(own, arguments.get()));
    page.is_some_and(|page| {
        let text = all_texts(result);
        text.contains(page.trim()) && text.len() <= page.len() + AROUND
    })
}

/// All strings in a JSON value, one after another.
fn all_texts(json: &str) -> String {
    fn collect(value: &Value, text: &mut String) {
        match value {
            Value::String(string) => *text += string,
            Value::Array(values) => values.iter().for_each(|value| collect(value, text)),
            Value::Object(members) => members.values().for_each(|value| collect(value, text)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut text = String::new();
    collect(&serde_json::from_str(json).unwrap_or_default(), &mut text);
    text
}

/// Returns the raw JSON of a member of an object.
pub(crate) fn member(json: &str, key: &str) -> Result<String, String> {
    let members: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_str(json).map_err(|error| error.to_string())?;
    members.get(key).map(|value| value.get().to_owned()).ok_or_else(|| format!("missing field {key:?}"))
}

/// Joins the texts of content parts with newlines.
pub(crate) fn texts(parts: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Option<String>,
    }
    let parts: Vec<Part> = serde_json::from_str(parts).map_err(|error| error.to_string())?;
    let texts: Vec<String> = parts.into_iter().filter_map(|part| part.text).collect();
    Ok(texts.join("\n"))
}

/// Whether a content array contains only text.
pub(crate) fn is_only_text(parts: &str) -> bool {
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

pub(crate) fn quoted(text: &str) -> Result<String, String> {
    serde_json::to_string(text).map_err(|error| error.to_string())
}
