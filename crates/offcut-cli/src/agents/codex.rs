//! Codex: bash starts offcut by `BASH_ENV`, and a hook shortens MCP results.
//!
//! - Shell: `shell_environment_policy.set` has `BASH_ENV`. With `--rewrite`, a `PreToolUse` hook adds a prefix to command lines.
//!   The limit depends on the model, which is in the file of the session.
//! - MCP: in `PostToolUse`, `continue: false` with a `reason` replaces the result with that text, and the turn continues.
//!   Unknown fields make Codex ignore the whole answer. For its shell tool, Codex passes truncated output to the hook, so only
//!   MCP results are shortened there.

use super::limits::{AgentSettings, ToolKind};
use super::{Agent, Base, Options, SettingsPlace, Variables};
use crate::config;
use crate::hook::{Answer, Call, Hooks, Services, is_only_text, member, quoted, texts};
use crate::install::{Change, Content, Edit, InstallContext, Method, Scope};
use offcut::measure::CharConvention;
use offcut::results::Shape;
use offcut::{Limits, ReaderLimits};
use serde::Deserialize;
use serde_json::json;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml_edit::{DocumentMut, Item};

/// The models that Codex knows, by the beginning of their names.
const KNOWN_MODELS: &[&str] =
    &["codex-auto-review", "gpt-5.5", "gpt-5.6-", "gpt-6-", "gpt-6.1-", "gpt-daybreak-"];

/// How much of a session's file is read at once, and how much of its end is searched for the current turn.
const SESSION_BLOCK: u64 = 256 << 10;
const MAX_SESSION_BYTES: usize = 8 << 20;

/// A part of the line that describes a turn.
const TURN: &[u8] = br#""type":"turn_context""#;

pub(super) const AGENT: Agent = Agent {
    name: "codex",
    title: "Codex",
    settings: SettingsPlace {
        variable: Some("CODEX_HOME"),
        user: ".codex",
        base: Base::Home,
        project: ".codex",
    },
    variables: Variables {
        own: "CODEX_THREAD_ID",
        session: Some("CODEX_THREAD_ID"),
        call: Some("CODEX_TOOL_CALL_ID"),
    },
    measured_version: "0.166.0",
    // `codex-mcp-client`, but its limit depends on the model of the session.
    mcp_client: None,
    limits,
    excerpt: |_, _| None,
    options: Options::ALL,
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: "Bash", rewritten, after, sample }),
    sandbox: Some(&["sandbox", "-c", "sandbox_mode=\"workspace-write\"", "--"]),
};

/// Its newer models call commands from a script (`exec`), which reads the whole output: up to 1 MiB.
fn limits(tool: ToolKind, settings: &AgentSettings) -> ReaderLimits {
    let is_for_script = tool == ToolKind::Shell
        && (settings.variable)("CODEX_TOOL_CALL_ID").is_some_and(|call| call.starts_with("exec-"));
    let bytes = match is_for_script {
        true => 1_000_000,
        false => bytes_for_model(settings),
    };
    let limits = Limits { bytes: Some(bytes), ..Limits::default() };
    ReaderLimits {
        success: limits,
        failure: limits,
        preview: Limits::default(),
        char_convention: CharConvention::Utf16,
    }
}

/// A model gets at most 10,000 tokens of 4 bytes, and 10,000 bytes if Codex does not know it. The configured limit applies to
/// all models.
fn bytes_for_model(settings: &AgentSettings) -> u64 {
    const MOST: u64 = 40_000;
    let configuration: Option<DocumentMut> =
        config::read(&settings.user.join("config.toml"), config::Trust::User)
            .ok()
            .and_then(|text| text.parse().ok());
    let configured = |key: &str| configuration.as_ref()?.get(key);
    let tokens = configured("tool_output_token_limit").and_then(Item::as_integer);
    let model = current_model(settings).or_else(|| Some(configured("model")?.as_str()?.to_owned()));
    let is_known = model.is_none_or(|model| {
        let name = model.rsplit('/').next().unwrap_or_default();
        KNOWN_MODELS.iter().any(|known| name.starts_with(known))
    });
    let bytes = match tokens.and_then(|tokens| u64::try_from(tokens).ok()) {
        Some(tokens) => tokens.saturating_mul(4).min(MOST),
        None if is_known => MOST,
        None => 10_000,
    };
    bytes.saturating_sub(500).max(500)
}

/// The model of the running session, which a flag or a command of the user can have chosen: Codex writes it to the session's
/// file at the start of each turn. Empty if the file does not say it.
fn current_model(settings: &AgentSettings) -> Option<String> {
    #[derive(Deserialize)]
    struct Line {
        payload: Turn,
    }
    #[derive(Deserialize)]
    struct Turn {
        model: String,
    }
    let thread = (settings.variable)("CODEX_THREAD_ID")?;
    let file = session_file(&settings.user.join("sessions"), &format!("-{thread}.jsonl"))?;
    let mut file = File::open(file).ok()?;
    let mut end = file.metadata().ok()?.len();
    // Backwards in blocks, each with the beginning of the next one, where its last line may end.
    let mut text = Vec::new();
    while end > 0 && text.len() < MAX_SESSION_BYTES {
        let start = end.saturating_sub(SESSION_BLOCK);
        let mut block = vec![0; usize::try_from(end - start).ok()?];
        file.seek(SeekFrom::Start(start)).ok()?;
        file.read_exact(&mut block).ok()?;
        let is_found = |text: &[u8]| text.windows(TURN.len()).any(|part| part == TURN);
        block.append(&mut text);
        text = block;
        end = start;
        if let Some(turn) = text.rsplit(|&byte| byte == b'\n').find(|line| is_found(line)) {
            // A line that begins before this block is parsed with the next one.
            if let Ok(line) = serde_json::from_slice::<Line>(turn) {
                return Some(line.payload.model);
            }
        }
    }
    // The model is not known.
    Some(String::new())
}

/// The file of a session, among those of the latest days: `sessions/2026/11/17/rollout-...-THREAD.jsonl`.
fn session_file(directory: &Path, ending: &str) -> Option<PathBuf> {
    const DAYS: usize = 7;
    let sorted = |directory: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable_by(|first, second| second.cmp(first));
        paths
    };
    let months = sorted(directory).into_iter().flat_map(|year| sorted(&year));
    let days = months.flat_map(|month| sorted(&month)).take(DAYS);
    days.flat_map(|day| sorted(&day)).find(|file| file.to_string_lossy().ends_with(ending))
}

fn changes(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let variable = |name: &str, value: &str, signature: &str| {
        Edit::member(&["shell_environment_policy", "set"], name, value, signature)
            .with_presence(method.wants(Method::Shell))
    };
    let hook =
        |event: &str| json!([{"type": "command", "command": context.hook("codex", event), "timeout": 10}]);
    let edits = vec![
        variable("BASH_ENV", &context.bash_env(), "offcut-bash-env"),
        // In a sandbox without network, Debian's bash believes that a remote shell started it and reads another file
        // instead, unless SHLVL says that it was started by a shell.
        variable("SHLVL", "1", "\"1\""),
        Edit::element(
            &["hooks", "PostToolUse"],
            json!({"matcher": "mcp__.*", "hooks": hook("after")}),
            " hook codex after",
        ),
        Edit::element(
            &["hooks", "PreToolUse"],
            json!({"matcher": "Bash", "hooks": hook("before")}),
            " hook codex before",
        )
        .with_presence(method.wants(Method::Rewrite)),
    ];
    let path = AGENT.settings_directory(scope, context).join("config.toml");
    let mut changes = context.files_for_bash_env(method);
    changes.push(Change { path, content: Content::Toml(edits) });
    changes
}

fn advice(_: Method, context: &InstallContext) -> Vec<String> {
    let mut advice = Vec::new();
    if context.shell != "bash" {
        advice.push(format!(
            "Codex runs command lines in your shell, {}, where offcut cannot shorten them: only MCP results are shortened",
            context.shell
        ));
    }
    advice.push("Codex asks once whether to trust the hook: allow it with /hooks".to_owned());
    advice.push("in Codex's read-only sandbox, outputs are shortened but not stored".to_owned());
    advice
}

fn rewritten(input: &str) -> String {
    // Codex accepts a new command line only with this decision, but still applies its rules, prompts and sandbox.
    format!(
        "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{input}}}}}"
    )
}

fn sample(text: &str) -> String {
    format!(
        "{{\"tool_name\":\"mcp__doctor__x\",\"tool_response\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
    )
}

fn after(input: &str, services: &Services<'_>) -> Answer {
    let Services { shorten, read_page, .. } = services;
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
