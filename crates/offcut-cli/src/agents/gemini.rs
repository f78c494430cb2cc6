//! Gemini CLI: bash starts offcut by `BASH_ENV`, and a hook shortens the results of all other tools.
//!
//! - Shell: `.gemini/.env` has `BASH_ENV`, and the interactive shell is off. Where that has no effect, such as in a project with
//!   its own `.env` file, the hook shortens the output. With `--rewrite`, a `BeforeTool` hook adds a prefix to command lines.
//! - Other tools: in `AfterTool`, the result of a successful call is replaced by that of a tail call, which reads the preview
//!   from a file; the result of a failed call, by a denial with the preview as its reason, which the model gets as an error.
//!   Lines that Gemini CLI puts around a text are not stored, but stay around the preview.
//! - Reading back: a policy allows `offcut read` and `offcut grep`.

mod read_file;

use super::limits::{AgentSettings, MAX_BYTES, ToolKind, limit, number};
use super::{Agent, Base, McpClient, Options, PassedContent, SettingsPlace, Variables};
use crate::hook::{Answer, Call, Hooks, Services, is_only_text, member, quoted, texts};
use crate::install::{Change, Content, Edit, InstallContext, Line, Method, Presence, Scope};
use offcut::measure::CharConvention;
use offcut::notice::{Message, Notice, Place};
use offcut::results::Shape;
use offcut::{Limits, ReaderLimits};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SHELL_TOOL: &str = "run_shell_command";

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    settings: SettingsPlace { variable: None, user: ".gemini", base: Base::Home, project: ".gemini" },
    variables: Variables { own: "GEMINI_CLI", session: None, call: None },
    measured_version: "0.61.0",
    mcp_client: Some(McpClient { name: "gemini-cli-mcp-client", passes: PassedContent::TextsOrData }),
    limits,
    excerpt: |_, _| None,
    options: Options::ALL,
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: SHELL_TOOL, rewritten, after, sample }),
    sandbox: None,
};

fn limits(tool: ToolKind, settings: &AgentSettings) -> ReaderLimits {
    let settings = settings.json(&[".gemini/settings.json"], &["settings.json"]);
    let configured = number(&settings, "/tools/truncateToolOutputThreshold");
    // 0 or less switches the limit off.
    let otherwise = if configured.is_some() { MAX_BYTES } else { 40_000 };
    let (margin, preview) = match tool {
        ToolKind::Shell => (500, Limits::default()),
        // A preview is read by `read_file`, which returns at most 2,000 lines, and longer lines in parts.
        ToolKind::Other => (200, Limits { lines: Some(1900), ..Limits::default() }),
    };
    let limits = Limits {
        chars: Some(limit(configured, otherwise, margin)),
        bytes: Some(MAX_BYTES),
        ..Limits::default()
    };
    ReaderLimits { success: limits, failure: limits, preview, char_convention: CharConvention::Utf16 }
}

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
            json!({"matcher": SHELL_TOOL, "hooks": hook("before")}),
            " hook gemini before",
        )
        .with_presence(method.wants(Method::Rewrite)),
        // Its terminal loses the end of long outputs, and offcut does not shorten what goes to a terminal.
        Edit::member(&["tools", "shell"], "enableInteractiveShell", false, "false"),
    ];
    let file = directory.join(".env");
    let is_hidden = hidden_env_file(&file, scope, context).is_some();
    let presence = if is_hidden { Presence::Absent } else { method.wants(Method::Shell) };
    let variable =
        Line::variable("BASH_ENV", &context.bash_env(), BASH_ENV_SIGNATURE).with_presence(presence);
    let mut changes = context.files_for_bash_env(method);
    changes.push(Change { path: file, content: Content::Line(variable) });
    changes.push(Change::json(directory.join("settings.json"), edits));
    if scope == Scope::User {
        changes.push(Change { path: directory.join("policies/offcut.toml"), content: policy(context) });
    }
    changes
}

/// Allows reading stored outputs, as the notices suggest, and nothing else. A rule in `tools.allowed` would not do: with it,
/// Gemini CLI denies all other commands where it cannot ask.
fn policy(context: &InstallContext) -> Content {
    let program = context.command_in_notices();
    let commands = json!([format!("{program} read"), format!("{program} grep")]);
    Content::OwnFile(format!(
        "# Written by `offcut init gemini`; remove it with `offcut init gemini --uninstall`.\n\
         # Lets the model read stored outputs without asking.\n\
         [[rule]]\n\
         toolName = \"{SHELL_TOOL}\"\n\
         commandPrefix = {commands}\n\
         decision = \"allow\"\n\
         priority = 100\n"
    ))
}

/// A text in the variable `BASH_ENV` that offcut wrote.
const BASH_ENV_SIGNATURE: &str = "offcut-bash-env.sh";

/// The file that Gemini CLI would not read if `file` had only offcut's variable: it reads the nearest `.env` file alone.
fn hidden_env_file(file: &Path, scope: Scope, context: &InstallContext) -> Option<PathBuf> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    if text.lines().any(|line| !line.trim().is_empty() && !line.contains(BASH_ENV_SIGNATURE)) {
        return None;
    }
    let project = context.project.canonicalize().unwrap_or_default();
    let projects = project.ancestors().filter(|_| scope == Scope::Project);
    projects
        .chain([context.home.as_path()])
        .flat_map(|directory| [directory.join(".gemini/.env"), directory.join(".env")])
        .find(|other| other.is_file() && other.canonicalize().ok() != file.canonicalize().ok())
}

fn advice(method: Method, context: &InstallContext) -> Vec<String> {
    let mut advice = vec![
        "commands run without a terminal: Gemini CLI's interactive shell loses the end of long outputs; to use programs that \
         need one, set tools.shell.enableInteractiveShell to true"
            .to_owned(),
    ];
    if method == Method::Shell {
        let file = AGENT.settings_directory(Scope::User, context).join(".env");
        advice.push(match hidden_env_file(&file, Scope::User, context) {
            None => "Gemini CLI reads only one .env file: if the project has its own, the hook shortens command output instead"
                .to_owned(),
            Some(hidden) => format!(
                "Gemini CLI would not read {} next to {}, so the hook shortens command output; for offcut's shell, add \
                 BASH_ENV={} to it",
                hidden.display(),
                file.display(),
                context.bash_env()
            ),
        });
    }
    advice
}

fn rewritten(input: &str) -> String {
    format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"BeforeTool\",\"tool_input\":{input}}}}}")
}

fn sample(text: &str) -> String {
    format!("{{\"tool_name\":\"x\",\"tool_response\":{{\"llmContent\":\"{text}\"}}}}")
}

/// Tools whose results the agent pages through itself or needs exactly, and instructions, which must be whole.
const EXACT: &[&str] = &[
    "read_file",
    "read_many_files",
    "replace",
    "write_file",
    "edit",
    "save_memory",
    "activate_skill",
    "enter_plan_mode",
    "exit_plan_mode",
    "write_todos",
    "update_topic",
    "get_internal_docs",
];

const OUTPUT: &str = "Output: ";
/// Part of an output of which Gemini CLI has dropped the beginning.
const TRUNCATED: &str = "[GEMINI_CLI_WARNING: Output truncated";
const OPENING: &str = "<untrusted_context>\n";
const CLOSING: &str = "\n</untrusted_context>";

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(rename = "llmContent", borrow)]
    content: &'a RawValue,
    #[serde(rename = "returnDisplay", default, borrow)]
    display: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

fn after(input: &str, services: &Services<'_>) -> Answer {
    let call = Call::parse(input)?;
    if EXACT.contains(&call.tool_name.as_str()) {
        return Ok(None);
    }
    let response: Response<'_> =
        serde_json::from_str(call.tool_response.get()).map_err(|error| error.to_string())?;
    let content = response.content.get();
    if call.is_page(content, services.read_page) {
        return Ok(None);
    }
    let text = match content.as_bytes().first() {
        Some(b'"') => serde_json::from_str(content).map_err(|error| error.to_string())?,
        Some(b'[') if is_only_text(content) => texts(content)?,
        Some(b'[' | b'{') => return Ok(None),
        _ => return Err(format!("unknown shape of llmContent for {}", call.tool_name)),
    };
    let WrappedText { before, inside, after } = unwrap_text(&text, call.tool_name == SHELL_TOOL);
    let json = format!("{{\"llmContent\":{}}}", quoted(&inside)?);
    let Some(json) = (services.shorten)(&json, Shape::Takumi, &call.context()) else { return Ok(None) };
    let shown: String =
        serde_json::from_str(&member(&json, "llmContent")?).map_err(|error| error.to_string())?;
    let shown = if after.is_empty() { shown.as_str() } else { shown.trim_end() };
    // What went to Gemini CLI's own terminal, which loses the end of it, has a display with styles.
    let is_from_terminal = response.display.is_some_and(|display| display.get().starts_with('['));
    let is_doubtful = is_from_terminal || inside.contains(TRUNCATED);
    let shown = if is_doubtful { with_doubt(shown) } else { shown.into() };
    let text = format!("{before}{shown}{after}");
    let saved = match response.error {
        None if read_file::may_be_missing(&settings_directories(&call)) => None,
        None => read_file::readable(&text)
            .and_then(|text| (services.save_text)(&temporary_directory(&call)?, &text)),
        Some(_) => None,
    };
    Ok(Some(match saved {
        Some(path) => format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"AfterTool\",\"tailToolCallRequest\":{{\"name\":\"read_file\",\"args\":{{\"file_path\":{}}}}}}}}}",
            quoted(&path.to_string_lossy())?
        ),
        None => format!("{{\"decision\":\"deny\",\"reason\":{}}}", quoted(&text)?),
    }))
}

/// The directory of the session's tool outputs, which `read_file` may read and Gemini CLI cleans.
fn temporary_directory(call: &Call<'_>) -> Option<PathBuf> {
    let chats = call.transcript_path.as_deref()?.parent().filter(|directory| directory.ends_with("chats"))?;
    let session = call.session_id.as_deref().filter(|id| !id.contains(['/', '.']))?;
    Some(chats.parent()?.join(format!("tool-outputs/session-{session}")))
}

/// The directories of Gemini CLI's settings: the user's, with the transcripts, and the project's.
fn settings_directories(call: &Call<'_>) -> Vec<PathBuf> {
    let users = call.transcript_path.iter().filter_map(|path| path.ancestors().nth(4));
    users.map(Path::to_owned).chain(call.cwd.iter().map(|project| project.join(".gemini"))).collect()
}

/// A preview whose header does not claim that nothing is lost.
fn with_doubt(shown: &str) -> Cow<'_, str> {
    let Some((header, rest)) = shown.split_once('\n') else { return shown.into() };
    let Some(Notice { tag, message }) = Notice::parse(header) else { return shown.into() };
    let Message::Header { shown: amount, total, mut details, place } = message else { return shown.into() };
    details.push("Gemini CLI may have lost a part of it".to_owned());
    let place = match place {
        Place::Stored(location) => Place::Incomplete(location),
        place => place,
    };
    let message = Message::Header { shown: amount, total, details, place };
    format!("{}\n{rest}", Notice { tag, message }).into()
}

/// The text of a tool, and the agent's text around it, which stays.
struct WrappedText<'a> {
    before: String,
    inside: Cow<'a, str>,
    after: String,
}

fn unwrap_text(text: &str, is_shell: bool) -> WrappedText<'_> {
    let (opening, inside, closing) =
        match text.strip_prefix(OPENING).and_then(|text| text.strip_suffix(CLOSING)) {
            Some(inside) => (OPENING, inside, CLOSING),
            None => ("", text, ""),
        };
    if let (true, Some(inside)) = (is_shell, inside.strip_prefix(OUTPUT)) {
        let output = without_status_lines(inside);
        let (before, after) = (format!("{opening}{OUTPUT}"), format!("{}{closing}", &inside[output.len()..]));
        return WrappedText { before, inside: output.into(), after };
    }
    match mcp_error(text) {
        Some((before, inside)) => WrappedText { before, inside: inside.into(), after: String::new() },
        None => WrappedText { before: opening.to_owned(), inside: inside.into(), after: closing.to_owned() },
    }
}

/// The output of a command line, without the lines that Gemini CLI adds to it.
fn without_status_lines(text: &str) -> &str {
    let added = ["\nProcess Group PGID: ", "\nBackground PIDs: ", "\nSignal: ", "\nExit Code: "];
    added.iter().fold(text, |text, line| match text.rsplit_once(line) {
        Some((output, value)) if !value.contains('\n') => output,
        _ => text,
    })
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
