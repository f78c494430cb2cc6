//! Claude Code: offcut is its shell, and a hook shortens the results of other tools.
//!
//! - Shell: `CLAUDE_CODE_SHELL` in `env` names `offcut-bash`, or the same for the shell of the user. With `--rewrite`, a
//!   `PreToolUse` hook adds a prefix to command lines.
//! - Other tools: in `PostToolUse`, `updatedToolOutput` replaces what the model sees, in the shape of the tool. The hook is
//!   called for successful calls only.
//! - Reading back: `permissions.allow` has rules for `offcut read`, `offcut grep` and the files of the store.

use super::limits::{AgentSettings, CommandOutcome, MAX_BYTES, ToolKind, limit};
use super::{Agent, Base, McpClient, Options, PassedContent, SettingsPlace, Variables};
use crate::hook::{Answer, Call, Hooks, Services, Shorten, member, quoted};
use crate::install::{Change, Edit, InstallContext, Method, Scope};
use offcut::json::{Edits, Node};
use offcut::measure::CharConvention;
use offcut::results::Shape;
use offcut::{Limits, ReaderLimits};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// More tokens than any MCP result has.
const UNLIMITED_TOKENS: &str = "1000000000";

pub(super) const AGENT: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    settings: SettingsPlace {
        variable: Some("CLAUDE_CONFIG_DIR"),
        user: ".claude",
        base: Base::Home,
        project: ".claude",
    },
    variables: Variables { own: "CLAUDECODE", session: Some("CLAUDE_CODE_SESSION_ID"), call: None },
    measured_version: "2.1.325",
    mcp_client: Some(McpClient { name: "claude-code", passes: PassedContent::TextsOrData }),
    limits,
    excerpt,
    options: Options::ALL,
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: "Bash", rewritten, after, sample }),
    sandbox: None,
};

/// It shows 2 kB of a longer success. A failure that is longer is cut to 10,039 characters.
fn limits(tool: ToolKind, settings: &AgentSettings) -> ReaderLimits {
    let characters = |most| Limits { chars: Some(most), bytes: Some(MAX_BYTES), ..Limits::default() };
    let configured = (settings.variable)("BASH_MAX_OUTPUT_LENGTH").and_then(|length| length.parse().ok());
    let bytes = Limits { bytes: Some(limit(configured, 30_000, 500)), ..Limits::default() };
    let limits = ReaderLimits {
        success: characters(29_500).at_most(bytes),
        failure: characters(10_800).at_most(bytes),
        preview: Limits { bytes: Some(10_800), ..Limits::default() },
        char_convention: CharConvention::Utf16,
    };
    match tool {
        ToolKind::Shell => limits,
        ToolKind::Other => {
            // A token has about four characters.
            let tokens: Option<i64> =
                (settings.variable)("MAX_MCP_OUTPUT_TOKENS").and_then(|tokens| tokens.parse().ok());
            let characters_of_tokens = tokens.map(|tokens| tokens.saturating_mul(4));
            let most = limit(characters_of_tokens, 50_000, 500).min(49_500);
            ReaderLimits { success: characters(most), failure: characters(10_800), ..limits }
        }
    }
}

fn excerpt(tool: ToolKind, outcome: CommandOutcome) -> Option<u64> {
    match (tool, outcome) {
        (ToolKind::Shell, CommandOutcome::Success) => Some(2_260),
        (ToolKind::Other, CommandOutcome::Success) => Some(1_350),
        (_, CommandOutcome::Failure) => None,
    }
}

fn changes(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let file = match scope {
        Scope::User => "settings.json",
        // The other settings file of a project is shared with everybody who works on it.
        Scope::Project => "settings.local.json",
    };
    let hook =
        |event: &str| json!([{"type": "command", "command": context.hook("claude", event), "timeout": 10}]);
    // A hook delays each call by 6 ms. As the shell, offcut needs none for command lines.
    let matcher = match method {
        Method::Shell => "mcp__.*|Grep|Glob|WebFetch|WebSearch|Agent|Task|TaskOutput",
        Method::Rewrite => "mcp__.*|Grep|Glob|WebFetch|WebSearch|Agent|Task|TaskOutput|Bash",
    };
    let mut edits = vec![
        Edit::member(&["env"], "CLAUDE_CODE_SHELL", context.users_shell().to_string_lossy(), "offcut-")
            .with_presence(method.wants(Method::Shell)),
        // Above the agent's own limit, the hook would get only the name of a file. Without the hook, the agent still
        // truncates the result.
        Edit::member(&["env"], "MAX_MCP_OUTPUT_TOKENS", UNLIMITED_TOKENS, UNLIMITED_TOKENS),
        Edit::element(
            &["hooks", "PostToolUse"],
            json!({"matcher": matcher, "hooks": hook("after")}),
            " hook claude after",
        ),
        Edit::element(
            &["hooks", "PreToolUse"],
            json!({"matcher": "Bash", "hooks": hook("before")}),
            " hook claude before",
        )
        .with_presence(method.wants(Method::Rewrite)),
    ];
    // Allow reading stored outputs, as the notices suggest, and nothing else.
    let allow = |rule: String, signature: &str| Edit::element(&["permissions", "allow"], rule, signature);
    if let Some(store) = &context.store {
        let rule = format!("Read(/{}/**)", store.display());
        let signature = Value::from(rule.clone()).to_string();
        edits.push(allow(rule, &signature));
    }
    edits.extend(["read", "grep"].map(|command| {
        let rule = format!("Bash({} {command}:*)", context.command_in_notices());
        let signature = Value::from(rule.clone()).to_string();
        allow(rule, &signature)
    }));
    let mut changes = context.files_for_users_shell(method);
    changes.push(Change::json(AGENT.settings_directory(scope, context).join(file), edits));
    changes
}

fn advice(method: Method, context: &InstallContext) -> Vec<String> {
    match method {
        Method::Shell => Vec::new(),
        Method::Rewrite => {
            let mut advice = context.prefix_needs_bash();
            advice.push(
                "Claude Code asks before each command line with the prefix, unless all of Bash is allowed; without --rewrite it does not"
                    .to_owned(),
            );
            advice
        }
    }
}

fn rewritten(input: &str) -> String {
    // Without a decision, the agent's own rules apply.
    format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{input}}}}}")
}

fn sample(text: &str) -> String {
    format!(
        "{{\"tool_name\":\"mcp__doctor__x\",\"tool_response\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
    )
}

/// Tools whose results the agent pages through itself or needs exactly, and instructions, which must be whole.
const EXACT: &[&str] = &[
    "Read",
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "NotebookRead",
    "TodoWrite",
    "Skill",
    "SlashCommand",
    "EnterPlanMode",
    "ExitPlanMode",
    "Workflow",
];

fn after(input: &str, services: &Services<'_>) -> Answer {
    let Services { shorten, read_page, .. } = services;
    let call = Call::parse(input)?;
    let response = call.tool_response.get();
    let is_exact = call.cursor_version.is_some() || EXACT.contains(&call.tool_name.as_str());
    if is_exact || call.is_page(response, read_page) {
        return Ok(None);
    }
    let updated = match (call.is_mcp(), response.as_bytes().first()) {
        // Claude Code passes the parts of an MCP result without the fields around them.
        (true, Some(b'[')) => parts(&call, response, shorten)?,
        (true, Some(b'{')) => shorten(response, Shape::Mcp, &call.context()),
        (true, Some(b'"')) => strings(&call, response, shorten)?,
        (false, Some(b'{')) if call.tool_name == "Bash" && is_cut(response) => None,
        (false, Some(b'{')) if call.tool_name == "Bash" => strings(&call, response, shorten)?,
        (false, Some(b'{')) => long_members(&call, response, shorten)?,
        _ => return Err(format!("unknown shape of tool_response for {}", call.tool_name)),
    };
    Ok(updated.map(|json| {
        format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PostToolUse\",\"updatedToolOutput\":{json}}}}}"
        )
    }))
}

/// The most bytes of a text that stays as it is. The agent may check such a value: the status of a sub-agent.
const SHORT_MEMBER: usize = 1000;

/// Shortens the long members of the response: texts and lists of texts together, others one by one. Each keeps its type.
fn long_members(call: &Call<'_>, response: &str, shorten: &Shorten<'_>) -> Result<Option<String>, String> {
    let node = Node::parse(response).map_err(|error| error.to_string())?;
    let mut edits = Edits::default();
    let (mut members, mut texts) = (Vec::new(), Vec::new());
    for (_, member) in node.members() {
        let json = member.json();
        let list = serde_json::from_str::<Vec<String>>(json);
        match (member.is_text(), list) {
            (true, _) | (_, Ok(_)) if json.len() <= SHORT_MEMBER => continue,
            (true, _) => texts.push(json.to_owned()),
            (false, Ok(list)) => texts.push(quoted(&list.join("\n"))?),
            (false, Err(_)) => {
                let is_part = |part: &Node<'_>| part.get("type").is_some_and(|kind| kind.is_text());
                let shortened = match member.is_array() && member.elements().iter().all(is_part) {
                    true => parts(call, json, shorten)?,
                    false => strings(call, json, shorten)?,
                };
                if let Some(json) = shortened {
                    edits.replace(member, json);
                }
                continue;
            }
        }
        members.push(member);
    }
    if let Some(json) = strings(call, &format!("[{}]", texts.join(",")), shorten)? {
        let shown: Vec<String> = serde_json::from_str(&json).map_err(|error| error.to_string())?;
        for (member, text) in members.into_iter().zip(shown) {
            let value = if member.is_text() { json!(text) } else { text.lines().collect() };
            edits.replace(member, value.to_string());
        }
    }
    Ok((!edits.is_empty()).then(|| edits.apply(response)))
}

/// Shortens the parts of a result: texts, images and others.
fn parts(call: &Call<'_>, parts: &str, shorten: &Shorten<'_>) -> Result<Option<String>, String> {
    let json = shorten(&format!("{{\"content\":{parts}}}"), Shape::Mcp, &call.context());
    json.map(|json| member(&json, "content")).transpose()
}

/// Shortens all strings of the response together. Their structure stays, because the agent checks it.
fn strings(call: &Call<'_>, response: &str, shorten: &Shorten<'_>) -> Result<Option<String>, String> {
    let name = quoted(&call.tool_name)?;
    let wrapped = format!("{{\"name\":{name},\"response\":{response}}}");
    shorten(&wrapped, Shape::Gemini, &call.context()).map(|json| member(&json, "response")).transpose()
}

/// Whether Claude Code has stored the output in a file and passes only its beginning.
fn is_cut(response: &str) -> bool {
    #[derive(Deserialize)]
    struct Response {
        #[serde(rename = "persistedOutputPath", default)]
        path: Option<String>,
    }
    serde_json::from_str::<Response>(response).is_ok_and(|response| response.path.is_some())
}
