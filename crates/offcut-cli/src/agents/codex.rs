//! Codex, `PostToolUse`: `continue: false` with a `reason` replaces the result with that text, and the turn continues.
//! Unknown fields make Codex ignore the whole answer.
//!
//! For its shell tool, Codex passes truncated output, so only MCP results are shortened here.

use super::{Agent, Base, SettingsPlace, Variables};
use crate::hook::{Answer, Call, Hooks, Services, is_only_text, member, quoted, texts};
use crate::install::{Change, Content, Edit, InstallContext, Method, Scope};
use offcut::results::Shape;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

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
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: "Bash", rewritten, after, sample }),
    sandbox: Some(&["sandbox", "-c", "sandbox_mode=\"workspace-write\"", "--"]),
};

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
