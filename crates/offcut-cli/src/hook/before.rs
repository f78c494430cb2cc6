//! Before a line runs: a command of ours is put before it, which hands the line to our shell.
//!
//! The line itself stays as it is, so that rules and prompts of the agent still see every command in it. Nothing is
//! approved here, and no rule for what we put there covers what comes behind it.

use super::{Answer, Host, NO_HOOKS, quoted};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(alias = "tool")]
    tool_name: String,
    #[serde(alias = "args", borrow)]
    tool_input: BTreeMap<String, &'a RawValue>,
    /// Another agent runs this agent's hooks, and has its own.
    #[serde(default, borrow)]
    cursor_version: Option<&'a RawValue>,
}

/// The answer to an agent that is about to run a tool; `prefix` is what goes before a line.
pub(crate) fn before(host: Host, input: &str, prefix: &str) -> Answer {
    let mut call: Call<'_> = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let shell = match host {
        Host::Claude | Host::Codex => "Bash",
        Host::Gemini => "run_shell_command",
        Host::Opencode => "bash",
        Host::Pi => return Err(NO_HOOKS.to_owned()),
    };
    if call.tool_name != shell || call.cursor_version.is_some() {
        return Ok(None);
    }
    let line = call.tool_input.get("command").ok_or("missing field \"command\"")?;
    let line: String = serde_json::from_str(line.get()).map_err(|error| error.to_string())?;
    if line.trim().is_empty() || is_ours(&line, prefix) {
        return Ok(None);
    }
    let rewritten =
        RawValue::from_string(quoted(&format!("{prefix}{line}"))?).map_err(|error| error.to_string())?;
    call.tool_input.insert("command".to_owned(), &rewritten);
    let updated = serde_json::to_string(&call.tool_input).map_err(|error| error.to_string())?;
    Ok(Some(match host {
        // Without a decision the agent's own rules decide.
        Host::Claude => format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{updated}}}}}"
        ),
        // Codex takes a new line only together with this word, which approves nothing: its rules, prompts and sandbox
        // judge the new line as any other.
        Host::Codex => format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{updated}}}}}"
        ),
        Host::Gemini => format!(
            "{{\"hookSpecificOutput\":{{\"hookEventName\":\"BeforeTool\",\"tool_input\":{updated}}}}}"
        ),
        Host::Opencode | Host::Pi => format!("{{\"args\":{updated}}}"),
    }))
}

/// Whether a line has our prefix already, or runs this program.
fn is_ours(line: &str, prefix: &str) -> bool {
    let line = line.trim_start();
    let word = line.split(|letter: char| letter.is_whitespace() || ";|&".contains(letter)).next();
    let name = word.and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    line.starts_with(prefix.trim_end()) || name == "offcut" || name.starts_with("offcut-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = ". /o.sh; ";

    #[track_caller]
    fn check(host: Host, payload: &str, expected: Result<&str, &str>) {
        match (before(host, payload, PREFIX), expected) {
            (Ok(answer), Ok(expected)) => assert_eq!(answer.as_deref().unwrap_or("{}"), expected),
            (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_line_gets_a_prefix_and_no_approval() {
        check(
            Host::Claude,
            r#"{"session_id":"12c22d11","transcript_path":"/home/you/.claude/projects/x/12c22d11.jsonl","cwd":"/home/you/x","prompt_id":"7a97fa37","permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo \"one\"\ntwo","timeout":1e3},"tool_use_id":"toolu_0000"}"#,
            Ok(
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":". /o.sh; echo \"one\"\ntwo","timeout":1e3}}}"#,
            ),
        );
        check(
            Host::Codex,
            r#"{"session_id":"01a1e24c","turn_id":"01a1e24d","transcript_path":"/home/you/.codex/sessions/x.jsonl","cwd":"/home/you/x","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"echo one"},"tool_use_id":"call_0"}"#,
            Ok(
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":". /o.sh; echo one"}}}"#,
            ),
        );
        check(
            Host::Gemini,
            r#"{"session_id":"5eb84293","transcript_path":"/home/you/.gemini/tmp/x.jsonl","cwd":"/home/you/x","hook_event_name":"BeforeTool","timestamp":"2026-11-16T03:00:28.340Z","tool_name":"run_shell_command","tool_input":{"command":"echo one"}}"#,
            Ok(
                r#"{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":". /o.sh; echo one"}}}"#,
            ),
        );
        check(
            Host::Opencode,
            r#"{"tool":"bash","sessionID":"ses_1","callID":"call_0","args":{"command":"echo one","description":"x"}}"#,
            Ok(r#"{"args":{"command":". /o.sh; echo one","description":"x"}}"#),
        );
    }

    #[test]
    fn what_is_ours_or_no_line_is_left_alone() {
        let check = |command: &str, expected: &str| {
            let payload = format!(r#"{{"tool":"bash","args":{{"command":"{command}"}}}}"#);
            check(Host::Opencode, &payload, Ok(expected));
        };
        for line in [
            "offcut read last",
            " /usr/bin/offcut grep x",
            "offcut;",
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
    }

    #[test]
    fn other_tools_and_other_agents_are_left_alone() {
        check(Host::Claude, r#"{"tool_name":"Read","tool_input":{"file_path":"/x"}}"#, Ok("{}"));
        check(
            Host::Claude,
            r#"{"cursor_version":"3","tool_name":"Bash","tool_input":{"command":"x"}}"#,
            Ok("{}"),
        );
        check(Host::Codex, r#"{"tool_name":"apply_patch","tool_input":{"command":"x"}}"#, Ok("{}"));
        check(Host::Claude, r#"{"tool_name":"Bash","tool_input":{}}"#, Err("missing field"));
        check(Host::Claude, r#"{"tool_name":"Bash","tool_input":{"command":7}}"#, Err("invalid type"));
        check(Host::Claude, "nonsense", Err("expected"));
    }
}
