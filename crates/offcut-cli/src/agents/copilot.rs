//! Copilot CLI: a hook shortens the results of all tools, because there is no setting for its shell.
//!
//! - In `postToolUse`, `modifiedResult` replaces what the model sees, also after a command that failed. With `--rewrite`, a
//!   `preToolUse` hook adds a prefix to command lines.
//! - Copilot CLI writes a result of more than 20 kB to a file and passes its name with the first 500 characters. The hook reads
//!   that file, which Copilot CLI deletes at the end of the session.

use super::limits::{AgentSettings, ToolKind};
use super::{Agent, Base, McpClient, Options, PassedContent, SettingsPlace, Variables};
use crate::hook::{Answer, Hooks, Services, is_page, member, quoted, tool_input};
use crate::install::{Change, Edit, InstallContext, Method, Scope};
use offcut::measure::CharConvention;
use offcut::results::Shape;
use offcut::store::Origin;
use offcut::{Context, Limits, ReaderLimits};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::path::Path;
use std::time::Duration;

pub(super) const AGENT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    settings: SettingsPlace {
        variable: Some("COPILOT_HOME"),
        user: ".copilot",
        base: Base::Home,
        project: ".copilot",
    },
    variables: Variables { own: "COPILOT_CLI", session: Some("COPILOT_AGENT_SESSION_ID"), call: None },
    measured_version: "1.0.102",
    mcp_client: Some(McpClient { name: "copilot-cli", passes: PassedContent::TextsAndData }),
    limits,
    excerpt: |_, _| Some(922),
    options: Options { project: false, rewrite: true },
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: "bash", rewritten, after, sample }),
    sandbox: None,
};

/// It passes on 20 kB, and shows 500 characters of a longer output.
fn limits(_: ToolKind, _: &AgentSettings) -> ReaderLimits {
    let limits = Limits { bytes: Some(19_500), ..Limits::default() };
    ReaderLimits {
        success: limits,
        failure: limits,
        preview: Limits { bytes: Some(9_500), ..Limits::default() },
        char_convention: CharConvention::CodePoints,
    }
}

fn changes(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let hook =
        |event: &str| json!({"type": "command", "command": context.hook("copilot", event), "timeoutSec": 10});
    let edits = vec![
        Edit::element(&["hooks", "postToolUse"], hook("after"), " hook copilot after"),
        Edit::element(&["hooks", "preToolUse"], hook("before"), " hook copilot before")
            .with_presence(method.wants(Method::Rewrite)),
    ];
    let mut changes = match method {
        Method::Shell => Vec::new(),
        Method::Rewrite => context.files_for_bash(method),
    };
    changes.push(Change::json(AGENT.settings_directory(scope, context).join("settings.json"), edits));
    changes
}

fn advice(method: Method, context: &InstallContext) -> Vec<String> {
    match method {
        Method::Shell => Vec::new(),
        Method::Rewrite => vec![format!(
            "Copilot CLI asks before each command line with the prefix, unless it may read {}: start it with --add-dir",
            context.files.display()
        )],
    }
}

fn rewritten(input: &str) -> String {
    // Without a decision, the agent's own rules apply.
    format!("{{\"modifiedArgs\":{input}}}")
}

fn sample(text: &str) -> String {
    format!(
        "{{\"toolName\":\"x\",\"toolResult\":{{\"resultType\":\"success\",\"textResultForLlm\":\"{text}\"}}}}"
    )
}

/// Tools whose results the agent pages through itself, or needs exactly.
const EXACT: &[&str] = &["view", "create", "edit", "apply_patch", "skill"];

/// The largest file that is read: the agent waits for the hook.
const LARGEST_FILE: u64 = 64 << 20;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(rename = "toolName")]
    tool: String,
    #[serde(rename = "sessionId", default)]
    session: Option<String>,
    #[serde(rename = "toolArgs", default, borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(rename = "toolResult")]
    result: CallResult,
}

#[derive(Deserialize)]
struct CallResult {
    #[serde(rename = "resultType")]
    kind: String,
    #[serde(rename = "textResultForLlm")]
    text: String,
}

fn after(input: &str, services: &Services<'_>) -> Answer {
    let Services { shorten, read_page, .. } = services;
    let call: Call<'_> = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let text = call.result.text;
    if EXACT.contains(&call.tool.as_str()) || is_page(&call.tool, call.arguments, &quoted(&text)?, read_page)
    {
        return Ok(None);
    }
    // The last line of a command's result is Copilot CLI's own; it has the exit code.
    let (output, status) = match text.rfind("\n<shellId: ") {
        Some(end) => text.split_at(end + 1),
        None => (text.as_str(), ""),
    };
    let full = saved_file(output).map(read_saved).transpose()?;
    // Of bytes that are not text, nothing is left to show: Copilot CLI's own preview is shorter.
    if full.as_deref().is_some_and(is_damaged) {
        return Ok(None);
    }
    let json = format!("{{\"llmContent\":{}}}", quoted(full.as_deref().unwrap_or(output))?);
    let origin = Origin { command: call.arguments.map(tool_input), directory: call.cwd, user: None };
    let context = Context { tool: Some(call.tool), session: call.session, origin, ..Context::default() };
    let Some(json) = shorten(&json, Shape::Takumi, &context) else { return Ok(None) };
    let shown: String =
        serde_json::from_str(&member(&json, "llmContent")?).map_err(|error| error.to_string())?;
    let line_end = if status.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    let (kind, text) = (quoted(&call.result.kind)?, quoted(&format!("{shown}{line_end}{status}"))?);
    Ok(Some(format!("{{\"modifiedResult\":{{\"resultType\":{kind},\"textResultForLlm\":{text}}}}}")))
}

/// The file that has the full text of a result: `Output too large to read at once (575.1 KB). Saved to: FILE`. A tool can
/// print such a line too, so only files with the names that Copilot CLI uses are read.
fn saved_file(text: &str) -> Option<&Path> {
    let first_line = text.strip_prefix("Output too large to read at once (")?.lines().next()?;
    let path = Path::new(first_line.split_once(" Saved to: ")?.1);
    let name = path.file_name()?.to_str()?;
    let is_known = name.contains("-copilot-tool-output-") && name.ends_with(".txt");
    (is_known && path.is_absolute()).then_some(path)
}

fn read_saved(path: &Path) -> Result<String, String> {
    let failed = |reason: &str| format!("cannot read {}: {reason}", path.display());
    let found = path.symlink_metadata().map_err(|error| failed(&error.to_string()))?;
    if !found.is_file() || found.len() > LARGEST_FILE {
        return Err(failed("not a file, or too large"));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(&error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether many characters replace bytes that were not text.
fn is_damaged(text: &str) -> bool {
    let (mut chars, mut replaced) = (0_u64, 0_u64);
    for letter in text.chars() {
        chars += 1;
        replaced += u64::from(letter == char::REPLACEMENT_CHARACTER);
    }
    replaced > chars / 8
}
