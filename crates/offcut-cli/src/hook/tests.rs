//! Payloads as sent by the real agents (abbreviated), and the answers.

use super::*;
use crate::agents;
use std::path::Path;

/// Stands for a long text, which is replaced with a preview.
const LONG: &str = "LONG";

/// The answer of an agent's hook.
fn answer(agent: &str, payload: &str) -> Answer {
    let shorten = |json: &str, _: Shape, context: &Context| {
        assert!(context.tool.is_some(), "the call has a tool");
        json.contains(LONG).then(|| json.replace(LONG, "a \\\"preview\\\""))
    };
    let read_page = |tool: &str, arguments: &str| {
        (tool.starts_with("offcut_") && arguments == r#"{"id":"1q2hz"}"#).then(|| LONG.to_owned())
    };
    let agent = agents::ALL.iter().find(|known| known.name == agent).expect("a known agent");
    let hooks = agent.hooks.as_ref().expect("an agent with hooks");
    let save_text = |directory: &Path, text: &str| {
        assert!(text.contains("a \"preview\""), "{text}");
        Some(directory.join(format!("{}.txt", text.replace('\n', "|"))))
    };
    let services = Services { shorten: &shorten, read_page: &read_page, save_text: &save_text };
    (hooks.after)(payload, &services)
}

#[track_caller]
fn check(agent: &str, payload: &str, expected: Result<&str, &str>) {
    match (answer(agent, payload), expected) {
        (Ok(answer), Ok(expected)) => assert_eq!(answer.as_deref().unwrap_or(NEUTRAL), expected),
        (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
        (found, expected) => panic!("{found:?} instead of {expected:?}"),
    }
}

fn claude(rest: &str) -> String {
    format!(
        r#"{{"session_id":"9508b65e","transcript_path":"/home/you/.claude/projects/x/9508b65e.jsonl","cwd":"/home/you/x",
        "prompt_id":"75376433","permission_mode":"default","effort":{{"level":"high"}},"hook_event_name":"PostToolUse",
        {rest},"tool_use_id":"toolu_0000","duration_ms":310}}"#
    )
}

#[test]
fn claude_replaces_long_results() {
    let check = |rest: &str, expected: Result<&str, &str>| check("claude", &claude(rest), expected);
    check(
        r#""tool_name":"mcp__long__report","tool_input":{},"tool_response":[{"type":"text","text":"LONG"}]"#,
        Ok(
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":[{"type":"text","text":"a \"preview\""}]}}"#,
        ),
    );
    check(r#""tool_name":"mcp__long__report","tool_response":[{"type":"text","text":"short"}]"#, Ok("{}"));
    check(
        r#""tool_name":"Bash","tool_input":{"command":"x"},"tool_response":{"stdout":"LONG","stderr":"","interrupted":false,"isImage":false}"#,
        Ok(
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"a \"preview\"","stderr":"","interrupted":false,"isImage":false}}}"#,
        ),
    );
    // The agent needs the exact text of files that it edits.
    check(
        r#""tool_name":"Read","tool_input":{"file_path":"/x"},"tool_response":{"type":"text","file":{"filePath":"/x","content":"LONG","numLines":1,"startLine":1,"totalLines":1}}"#,
        Ok("{}"),
    );
    check(r#""tool_name":"Grep","tool_response":7"#, Err("unknown shape"));
    check(r#""tool_name":"Grep""#, Err("tool_response"));
    // Cursor also runs these hooks, but does not accept their answers.
    check(
        r#""cursor_version":"3.1","tool_name":"mcp__x","tool_response":[{"type":"text","text":"LONG"}]"#,
        Ok("{}"),
    );
}

#[test]
fn copilot_replaces_long_results() {
    let check = |tool: &str, result: &str, expected: Result<&str, &str>| {
        let payload = format!(
            r#"{{"sessionId":"2a54ecd6","timestamp":1794930029202,"cwd":"/home/you/x","toolName":"{tool}","toolArgs":{{"id":"1q2hz"}},"toolResult":{result}}}"#
        );
        check("copilot", &payload, expected);
    };
    check(
        "bash",
        r#"{"resultType":"success","textResultForLlm":"LONG\n<shellId: 0 completed with exit code 3>"}"#,
        Ok(
            r#"{"modifiedResult":{"resultType":"success","textResultForLlm":"a \"preview\"\n<shellId: 0 completed with exit code 3>"}}"#,
        ),
    );
    check(
        "long-report",
        r#"{"resultType":"success","textResultForLlm":"LONG"}"#,
        Ok(r#"{"modifiedResult":{"resultType":"success","textResultForLlm":"a \"preview\""}}"#),
    );
    check("bash", r#"{"resultType":"success","textResultForLlm":"short"}"#, Ok("{}"));
    // The agent needs the exact text of files that it edits.
    check("view", r#"{"resultType":"success","textResultForLlm":"LONG"}"#, Ok("{}"));
    check("behind-offcut_read", r#"{"resultType":"success","textResultForLlm":"LONG"}"#, Ok("{}"));
    check("bash", "7", Err("invalid type"));
}

fn codex(rest: &str) -> String {
    format!(
        r#"{{"session_id":"01a1e1b2","turn_id":"01a1e1b3","transcript_path":"/home/you/.codex/sessions/x.jsonl",
        "cwd":"/home/you/x","hook_event_name":"PostToolUse","model":"m","permission_mode":"default",{rest},"tool_use_id":"call_0"}}"#
    )
}

#[test]
fn codex_replaces_long_mcp_results() {
    let check = |rest: &str, expected: Result<&str, &str>| check("codex", &codex(rest), expected);
    check(
        r#""tool_name":"mcp__long__report","tool_input":{},"tool_response":{"content":[{"type":"text","text":"LONG"},{"type":"text","text":"end"}]}"#,
        Ok(r#"{"continue":false,"reason":"a \"preview\"\nend"}"#),
    );
    check(
        r#""tool_name":"mcp__long__report","tool_response":{"content":[{"type":"text","text":"LONG"}],"isError":true}"#,
        Ok(r#"{"decision":"block","reason":"a \"preview\""}"#),
    );
    check(
        r#""tool_name":"mcp__x","tool_response":{"content":[{"type":"text","text":"LONG"},{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#,
        Ok("{}"),
    );
    check(r#""tool_name":"Bash","tool_input":{"command":"x"},"tool_response":"LONG""#, Ok("{}"));
    check(r#""tool_name":"mcp__x","tool_response":"LONG""#, Err("expected struct"));
}

fn gemini(rest: &str) -> String {
    format!(
        r#"{{"session_id":"e290bf8c","transcript_path":"/home/you/.gemini/tmp/x/chats/session-e290bf8c.jsonl","cwd":"/home/you/x",
        "hook_event_name":"AfterTool","timestamp":"2026-11-16T00:11:59.346Z",{rest}}}"#
    )
}

/// The answer by which `read_file` returns this text, with `|` for line ends, as the result.
fn tail_call(text: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"AfterTool","tailToolCallRequest":{{"name":"read_file","args":{{"file_path":"/home/you/.gemini/tmp/x/tool-outputs/session-e290bf8c/{text}.txt"}}}}}}}}"#
    )
}

#[test]
fn gemini_replaces_long_results_of_successful_calls_by_a_tail_call() {
    let check = |rest: &str, expected: &str| check("gemini", &gemini(rest), Ok(expected));
    check(
        r#""tool_name":"mcp_long_report","tool_input":{},"tool_response":{"llmContent":[{"text":"<untrusted_context>\nLONG\n</untrusted_context>"}],"returnDisplay":"LONG"},"mcp_context":{"server_name":"long"}"#,
        &tail_call(r#"<untrusted_context>|a \"preview\"|</untrusted_context>"#),
    );
    for (response, shown) in [
        ("Output: LONG", r#"Output: a \"preview\""#),
        (
            r"<untrusted_context>\nOutput: LONG\nExit Code: 3\nProcess Group PGID: 4711\n</untrusted_context>",
            r#"<untrusted_context>|Output: a \"preview\"|Exit Code: 3|Process Group PGID: 4711|</untrusted_context>"#,
        ),
        (
            r"Output: LONG\nExit Code: 1\nSignal: 9\nBackground PIDs: 1, 2\nProcess Group PGID: 4711",
            r#"Output: a \"preview\"|Exit Code: 1|Signal: 9|Background PIDs: 1, 2|Process Group PGID: 4711"#,
        ),
    ] {
        let rest = format!(
            r#""tool_name":"run_shell_command","tool_response":{{"llmContent":"{response}","returnDisplay":"x"}}"#
        );
        check(&rest, &tail_call(shown));
    }
    check(r#""tool_name":"read_file","tool_response":{"llmContent":"LONG"}"#, "{}");
    check(
        r#""tool_name":"x","tool_response":{"llmContent":[{"text":"LONG"},{"inlineData":{"data":"aGk="}}]}"#,
        "{}",
    );
}

#[test]
fn gemini_replaces_long_errors_by_a_denial() {
    let check = |payload: &str, expected: Result<&str, &str>| check("gemini", payload, expected);
    check(
        &gemini(
            r#""tool_name":"mcp_long_failure","tool_input":{},"tool_response":{"llmContent":"MCP tool 'failure' reported tool error for function call: {\"name\":\"failure\",\"args\":{}} with response: [{\"functionResponse\":{\"name\":\"failure\",\"response\":{\"content\":[{\"type\":\"text\",\"text\":\"LONG\"}],\"isError\":true}}}]","error":{"message":"LONG","type":"mcp_tool_error"}}"#,
        ),
        Ok(r#"{"decision":"deny","reason":"MCP tool 'failure' reported tool error:\na \"preview\""}"#),
    );
    // Without a directory for the file, and with more lines than `read_file` returns.
    let denial = Ok(r#"{"decision":"deny","reason":"a \"preview\""}"#);
    check(r#"{"tool_name":"x","tool_response":{"llmContent":"LONG"}}"#, denial);
    check(
        r#"{"tool_name":"x","session_id":"../x","transcript_path":"/home/you/chats/x","tool_response":{"llmContent":"LONG"}}"#,
        denial,
    );
    let lines = "\\n".repeat(2000);
    let long = gemini(&format!(r#""tool_name":"x","tool_response":{{"llmContent":"LONG{lines}"}}"#));
    check(&long, Ok(&format!(r#"{{"decision":"deny","reason":"a \"preview\"{lines}"}}"#)));
    check(&gemini(r#""tool_name":"x","tool_response":{"returnDisplay":"LONG"}"#), Err("llmContent"));
}

/// `read_file` shortens longer lines.
#[test]
fn gemini_breaks_long_lines() {
    let line = "ü".repeat(3000);
    let payload = gemini(&format!(r#""tool_name":"x","tool_response":{{"llmContent":"LONG\n{line}"}}"#));
    let shown = format!(r#"a \"preview\"|{}|{}"#, "ü".repeat(2000), "ü".repeat(1000));
    check("gemini", &payload, Ok(&tail_call(&shown)));
}

#[test]
fn opencode_replaces_long_results() {
    let check = |payload: &str, expected: Result<&str, &str>| check("opencode", payload, expected);
    check(
        r#"{"tool":"long_report","sessionID":"ses_1","callID":"call_0","content":[{"type":"text","text":"LONG"}]}"#,
        Ok(r#"{"content":[{"type":"text","text":"a \"preview\""}]}"#),
    );
    check(
        r#"{"tool":"grep","sessionID":"ses_1","callID":"call_0","output":"LONG"}"#,
        Ok(r#"{"title":"grep","output":"a \"preview\""}"#),
    );
    check(r#"{"tool":"read","output":"LONG"}"#, Ok("{}"));
    check(r#"{"tool":"bash","output":"LONG"}"#, Ok("{}"));
    check(r#"{"tool":"x"}"#, Err("neither"));
}

#[test]
fn retrieval_tools_are_not_shortened() {
    for name in ["offcut_read", "offcut_search", "offcut_list", "offcut_read_2"] {
        let parts = r#"[{"type":"text","text":"LONG"},{"type":"text","text":"[offcut 1q2hz: a notice]"}]"#;
        let input = r#""tool_input":{"id":"1q2hz"}"#;
        check(
            "claude",
            &claude(&format!(r#""tool_name":"mcp__x__{name}",{input},"tool_response":{parts}"#)),
            Ok("{}"),
        );
        let payload =
            format!(r#""tool_name":"mcp__x__{name}",{input},"tool_response":{{"content":{parts}}}"#);
        check("codex", &codex(&payload), Ok("{}"));
        let payload = format!(
            r#""tool_name":"mcp_x_{name}",{input},"tool_response":{{"llmContent":{parts},"returnDisplay":"LONG"}}"#
        );
        check("gemini", &gemini(&payload), Ok("{}"));
        check(
            "opencode",
            &format!(r#"{{"tool":"x_{name}","args":{{"id":"1q2hz"}},"content":{parts}}}"#),
            Ok("{}"),
        );
    }
}

/// Any server can have a tool of that name.
#[test]
fn tools_named_like_retrieval_tools_are_shortened_unless_they_return_a_page() {
    let part = r#"[{"type":"text","text":"LONG"}]"#;
    let parts = format!(r#"[{{"type":"text","text":"LONG{}"}}]"#, "x".repeat(5000));
    let (known, other) = (r#"{"id":"1q2hz"}"#, r#"{"id":"other"}"#);
    for (name, arguments, parts) in [
        ("offcut_read", known, &*parts),
        ("offcut_read", other, part),
        ("offcut_search", "7", part),
        ("myoffcut_read", known, part),
        ("offcut_reader", known, part),
    ] {
        let updated = parts.replace(LONG, "a \\\"preview\\\"");
        let expected = format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PostToolUse","updatedToolOutput":{updated}}}}}"#
        );
        let payload = claude(&format!(
            r#""tool_name":"mcp__x__{name}","tool_input":{arguments},"tool_response":{parts}"#
        ));
        check("claude", &payload, Ok(&expected));
    }
}

#[test]
fn instructions_stay_whole_and_results_of_sub_agents_are_shortened() {
    let check_all = |agent: &str, payload: &dyn Fn(&str) -> String, whole: &[&str], shortened: &[&str]| {
        for tool in whole {
            check(agent, &payload(tool), Ok("{}"));
        }
        for tool in shortened {
            assert!(answer(agent, &payload(tool)).is_ok_and(|answer| answer.is_some()), "{agent} {tool}");
        }
    };
    check_all(
        "claude",
        &|tool| {
            claude(&format!(
                r#""tool_name":"{tool}","tool_response":{{"status":"completed","content":[{{"type":"text","text":"LONG"}}]}}"#
            ))
        },
        &["Skill", "SlashCommand", "EnterPlanMode", "ExitPlanMode", "TodoWrite", "Workflow"],
        &["Agent", "Task", "TaskOutput"],
    );
    check_all(
        "gemini",
        &|tool| gemini(&format!(r#""tool_name":"{tool}","tool_response":{{"llmContent":"LONG"}}"#)),
        &[
            "activate_skill",
            "save_memory",
            "enter_plan_mode",
            "exit_plan_mode",
            "write_todos",
            "get_internal_docs",
        ],
        &["invoke_agent", "read_background_output"],
    );
    check_all(
        "opencode",
        &|tool| format!(r#"{{"tool":"{tool}","sessionID":"s","callID":"c","output":"LONG"}}"#),
        &["skill", "todowrite", "plan_enter", "plan_exit"],
        &["task"],
    );
}

#[test]
fn unexpected_payload_is_error() {
    for agent in agents::ALL.iter().filter(|agent| agent.hooks.is_some()) {
        for payload in
            ["", "null", "[]", "{}", "{\"tool_name\":1}", "\u{0}", "{\"tool_name\":\"x\",\"tool_response\":"]
        {
            check(agent.name, payload, Err(""));
        }
    }
}
