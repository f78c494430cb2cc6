//! Gemini CLI, `AfterTool`: a denial with a reason replaces the result with that text, as an error.
//!
//! Gemini CLI puts text from outside between two marker lines. They are not stored, but stay around the preview.

use super::{Agent, Base, SettingsPlace, Variables};
use crate::hook::{Answer, Call, Hooks, ReadPage, Shorten, is_only_text, member, quoted, texts};
use crate::install::{Change, Content, Edit, InstallContext, Method, Scope};
use offcut::results::Shape;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::time::Duration;

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    settings: SettingsPlace { variable: None, user: ".gemini", base: Base::Home, project: ".gemini" },
    variables: Variables { own: "GEMINI_CLI", session: None, call: None },
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: "run_shell_command", rewritten, after, sample }),
    sandbox: None,
};

fn changes(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let directory = AGENT.settings_directory(scope, context);
    let hook = |event: &str| {
        let command = context.hook("gemini", event);
        json!([{"type": "command", "name": "offcut", "command": command, "timeout": 10000}])
    };
    let edits = vec![
        Edit::element(
            &["hooks", "AfterTool"],
            json!({"matcher": ".*", "hooks": hook("after")}),
            " hook gemini after",
        ),
        Edit::element(
            &["hooks", "BeforeTool"],
            json!({"matcher": "run_shell_command", "hooks": hook("before")}),
            " hook gemini before",
        )
        .with_presence(method.wants(Method::Rewrite)),
    ];
    let variable = Content::Variable {
        name: "BASH_ENV",
        value: context.bash_env(),
        signature: "offcut-bash-env",
        presence: method.wants(Method::Shell),
    };
    let mut changes = context.files_for_bash_env(method);
    changes.push(Change { path: directory.join(".env"), content: variable });
    changes.push(Change::json(directory.join("settings.json"), edits));
    changes
}

fn advice(method: Method, _: &InstallContext) -> Vec<String> {
    match method {
        Method::Shell => vec![
            "Gemini CLI reads only one .env file: if the project has its own, the hook shortens command output instead"
                .to_owned(),
        ],
        Method::Rewrite => Vec::new(),
    }
}

fn rewritten(input: &str) -> String {
    format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"BeforeTool\",\"tool_input\":{input}}}}}")
}

fn sample(text: &str) -> String {
    format!("{{\"tool_name\":\"x\",\"tool_response\":{{\"llmContent\":\"{text}\"}}}}")
}

/// Tools whose results the agent pages through itself, or needs exactly.
const EXACT: &[&str] = &["read_file", "read_many_files", "replace", "write_file", "edit", "save_memory"];

const OPENING: &str = "<untrusted_context>\n";
const CLOSING: &str = "\n</untrusted_context>";

fn after(input: &str, shorten: &Shorten<'_>, read_page: &ReadPage<'_>) -> Answer {
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
