//! Adds a prefix to a command line before it runs, which hands the line to `offcut-bash`.
//!
//! The line itself stays unchanged, so that rules and prompts of the agent still see every command in it. The answer
//! approves nothing, and an allow rule for the prefix does not cover the commands after it.

use super::{Answer, Hooks, quoted};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(alias = "tool", alias = "toolName")]
    tool_name: String,
    #[serde(alias = "args", alias = "toolArgs", borrow)]
    tool_input: BTreeMap<String, &'a RawValue>,
    /// Set by Cursor, which also runs the hooks of Claude Code, but does not accept their answers.
    #[serde(default, borrow)]
    cursor_version: Option<&'a RawValue>,
}

/// Answers an agent before it runs a tool, with `prefix` added to the command line.
pub(crate) fn before(hooks: &Hooks, input: &str, prefix: &str) -> Answer {
    let mut call: Call<'_> = serde_json::from_str(input).map_err(|error| error.to_string())?;
    if call.tool_name != hooks.shell_tool || call.cursor_version.is_some() {
        return Ok(None);
    }
    let line = call.tool_input.get("command").ok_or("missing field \"command\"")?;
    let line: String = serde_json::from_str(line.get()).map_err(|error| error.to_string())?;
    if line.trim().is_empty() || has_offcut(&line, prefix) {
        return Ok(None);
    }
    let rewritten =
        RawValue::from_string(quoted(&format!("{prefix}{line}"))?).map_err(|error| error.to_string())?;
    call.tool_input.insert("command".to_owned(), &rewritten);
    let updated = serde_json::to_string(&call.tool_input).map_err(|error| error.to_string())?;
    Ok(Some((hooks.rewritten)(&updated)))
}

/// Whether a line already has the prefix, or is one command of offcut and nothing else.
fn has_offcut(line: &str, prefix: &str) -> bool {
    let line = line.trim();
    let first_word = line.split_whitespace().next().unwrap_or_default();
    let program = first_word.rsplit('/').next().unwrap_or_default();
    let is_offcut = (program == "offcut" || program.starts_with("offcut-")) && !first_word.contains('=');
    // Only text in single quotes cannot start another command, and only if nothing else quotes or hides the quotes.
    let step = if line.contains(['"', '\\', '#']) { 1 } else { 2 };
    let mut unquoted = line.split('\'').step_by(step).flat_map(str::chars);
    let is_one_command = !unquoted.any(|letter| ";|&\n`$()<>{}".contains(letter));
    line.starts_with(prefix.trim_end()) || (is_offcut && is_one_command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;
    use serde_json::json;

    const PREFIX: &str = ". /o.sh; ";

    #[track_caller]
    fn check(agent: &str, payload: &str, expected: Result<&str, &str>) {
        let agent = agents::ALL.iter().find(|known| known.name == agent).expect("a known agent");
        let hooks = agent.hooks.as_ref().expect("an agent with hooks");
        match (before(hooks, payload, PREFIX), expected) {
            (Ok(answer), Ok(expected)) => assert_eq!(answer.as_deref().unwrap_or("{}"), expected),
            (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn before_adds_prefix_without_approval() {
        check(
            "claude",
            r#"{"session_id":"12c22d11","transcript_path":"/home/you/.claude/projects/x/12c22d11.jsonl","cwd":"/home/you/x","prompt_id":"7a97fa37","permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo \"one\"\ntwo","timeout":1e3},"tool_use_id":"toolu_0000"}"#,
            Ok(
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":". /o.sh; echo \"one\"\ntwo","timeout":1e3}}}"#,
            ),
        );
        check(
            "codex",
            r#"{"session_id":"01a1e24c","turn_id":"01a1e24d","transcript_path":"/home/you/.codex/sessions/x.jsonl","cwd":"/home/you/x","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"echo one"},"tool_use_id":"call_0"}"#,
            Ok(
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":". /o.sh; echo one"}}}"#,
            ),
        );
        check(
            "gemini",
            r#"{"session_id":"5eb84293","transcript_path":"/home/you/.gemini/tmp/x.jsonl","cwd":"/home/you/x","hook_event_name":"BeforeTool","timestamp":"2026-11-16T03:00:28.340Z","tool_name":"run_shell_command","tool_input":{"command":"echo one"}}"#,
            Ok(
                r#"{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":". /o.sh; echo one"}}}"#,
            ),
        );
        check(
            "opencode",
            r#"{"tool":"bash","sessionID":"ses_1","callID":"call_0","args":{"command":"echo one","description":"x"}}"#,
            Ok(r#"{"args":{"command":". /o.sh; echo one","description":"x"}}"#),
        );
        check(
            "copilot",
            r#"{"sessionId":"2a54ecd6","timestamp":1794930028918,"cwd":"/home/you/x","toolName":"bash","toolArgs":{"command":"echo one","description":"x"}}"#,
            Ok(r#"{"modifiedArgs":{"command":". /o.sh; echo one","description":"x"}}"#),
        );
    }

    #[test]
    fn before_leaves_offcut_commands_and_empty_lines_unchanged() {
        let check = |command: &str, expected: &str| {
            let payload = json!({"tool": "bash", "args": {"command": command}}).to_string();
            check("opencode", &payload, Ok(expected));
        };
        for line in [
            "offcut read last",
            " /usr/bin/offcut grep x",
            "offcut grep 'error|warning' last",
            "offcut-sh -c x",
            ". /o.sh; seq 9",
            ". /o.sh;seq 9",
            "",
            " ",
        ] {
            check(line, "{}");
        }
        check("echo offcut", r#"{"args":{"command":". /o.sh; echo offcut"}}"#);
        check("offcutter", r#"{"args":{"command":". /o.sh; offcutter"}}"#);
        for line in [
            "offcut ls; cat huge",
            "offcut ls\ncat huge",
            "offcut ls && cat huge",
            "offcut ls `cat huge`",
            "offcut;",
        ] {
            check(line, &format!(r#"{{"args":{{"command":{}}}}}"#, json!(format!("{PREFIX}{line}"))));
        }
        for line in [
            r#"offcut read "it's"; cat 'huge'"#,
            r"offcut read it\'s; cat 'huge'",
            "offcut ls # it's\ncat huge # '",
            "CARGO_TARGET_DIR=/tmp/offcut cargo test",
        ] {
            check(line, &format!(r#"{{"args":{{"command":{}}}}}"#, json!(format!("{PREFIX}{line}"))));
        }
    }

    #[test]
    fn before_leaves_other_tools_and_agents_unchanged() {
        check("claude", r#"{"tool_name":"Read","tool_input":{"file_path":"/x"}}"#, Ok("{}"));
        check(
            "claude",
            r#"{"cursor_version":"3","tool_name":"Bash","tool_input":{"command":"x"}}"#,
            Ok("{}"),
        );
        check("codex", r#"{"tool_name":"apply_patch","tool_input":{"command":"x"}}"#, Ok("{}"));
        check("claude", r#"{"tool_name":"Bash","tool_input":{}}"#, Err("missing field"));
        check("claude", r#"{"tool_name":"Bash","tool_input":{"command":7}}"#, Err("invalid type"));
        check("claude", "nonsense", Err("expected"));
    }
}
