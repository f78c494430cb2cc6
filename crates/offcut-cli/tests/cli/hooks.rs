//! `offcut hook`: reads one JSON object and prints one, for any input.

use crate::harness::{Sandbox, numbered};
use serde_json::{Value, json};

#[test]
fn hook_shortens_and_stores_long_result() {
    let sandbox = Sandbox::new();
    let long = numbered(50_000);
    let part = json!({"type": "text", "text": long});
    let cases = [
        (
            "claude",
            json!({"tool_name": "mcp__a__b", "session_id": "s", "tool_use_id": "c", "tool_response": [part]}),
        ),
        ("codex", json!({"tool_name": "mcp__a__b", "tool_response": {"content": [part]}})),
        ("gemini", json!({"tool_name": "b", "tool_response": {"llmContent": long, "returnDisplay": ""}})),
        (
            "copilot",
            json!({"toolName": "a-b", "toolResult": {"resultType": "success", "textResultForLlm": long}}),
        ),
        ("opencode", json!({"tool": "a_b", "sessionID": "s", "callID": "c", "content": [part]})),
    ];
    for (agent, payload) in cases {
        let ran = sandbox.run(&["hook", agent, "after"], payload.to_string().as_bytes());
        assert_eq!(ran.stderr, "");
        let answer: Value = ran.json();
        let text = answer.to_string();
        assert!(text.contains("[offcut ") && text.len() < 60_000, "{agent}: {text}");
        assert_eq!(sandbox.run(&["cat", "last"], b"").text(), long, "{agent}");
    }
    let show = sandbox.run(&["show", "last", "--format", "json"], b"").json();
    assert_eq!((&show["tool"], &show["session"]), (&json!("a_b"), &json!("s")), "{show}");
}

/// Claude Code ignores an answer in which a member has another value than its tool allows.
#[test]
fn hook_keeps_members_beside_the_long_one_unchanged_in_claude() {
    let sandbox = Sandbox::new();
    let long = numbered(50_000);
    let report = json!({
        "status": "completed", "prompt": "p", "agentId": "a1", "content": [{"type": "text", "text": long}],
        "usage": {"service_tier": "standard"}, "canContinueAgent": true,
    });
    let search =
        json!({"mode": "content", "numFiles": 0, "filenames": [], "content": long, "numLines": 50_000});
    for (tool, response) in [("Agent", report), ("Grep", search)] {
        let payload = json!({"tool_name": tool, "tool_input": {}, "tool_response": response});
        let answer = sandbox.run(&["hook", "claude", "after"], payload.to_string().as_bytes()).json();
        let mut updated = answer["hookSpecificOutput"]["updatedToolOutput"].clone();
        let shown = updated["content"].take().to_string();
        assert!(shown.contains("[offcut ") && shown.len() < 60_000, "{shown}");
        let mut others = response;
        others["content"].take();
        assert_eq!(updated, others, "{tool}");
        assert_eq!(sandbox.run(&["cat", "last"], b"").text(), long, "{tool}");
    }
}

/// All members together are within the limit, and each has the type that it had.
#[test]
fn hook_shortens_all_long_members_in_claude() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..20_000).map(|number| format!("src/module_{number}.rs")).collect();
    let response = json!({"mode": "content", "numFiles": 20_000, "filenames": names,
        "content": numbered(80_000), "numLines": 80_000});
    let payload = json!({"tool_name": "Grep", "tool_input": {}, "tool_response": response});
    let answer = sandbox.run(&["hook", "claude", "after"], payload.to_string().as_bytes()).json();
    let updated = &answer["hookSpecificOutput"]["updatedToolOutput"];
    let texts = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    assert!(updated["content"].is_string() && texts(&updated["filenames"]), "{updated}");
    assert_eq!((&updated["mode"], &updated["numFiles"]), (&response["mode"], &response["numFiles"]));
    let text = updated.to_string();
    assert!(text.contains("[offcut ") && text.len() < 60_000, "{}", text.len());
    let glob = json!({"filenames": names, "durationMs": 5, "numFiles": 20_000, "truncated": false});
    let payload = json!({"tool_name": "Glob", "tool_input": {}, "tool_response": glob});
    let answer = sandbox.run(&["hook", "claude", "after"], payload.to_string().as_bytes()).json();
    assert!(texts(&answer["hookSpecificOutput"]["updatedToolOutput"]["filenames"]), "{answer}");
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), names.join("\n"));
}

#[test]
fn hook_logs_unexpected_input_and_changes_nothing() {
    let sandbox = Sandbox::new();
    for agent in ["claude", "codex", "gemini", "opencode", "copilot"] {
        for input in [&b"not JSON"[..], b"", b"{}", b"\xff\xfe"] {
            let ran = sandbox.run(&["hook", agent, "after"], input);
            assert_eq!((ran.text().as_str(), ran.stderr.as_str()), ("{}", ""), "{agent} {input:?}");
        }
    }
    let log = std::fs::read_to_string(sandbox.path().join(".local/state/offcut/hooks.log")).unwrap();
    assert_eq!(log.lines().count(), 20, "{log}");
    // The log stays small, however many errors there are.
    let message = [b'x'; 4000];
    for _ in 0..400 {
        sandbox.run(&["hook", "claude", "after"], &message);
    }
    let size = |name: &str| {
        std::fs::metadata(sandbox.path().join(".local/state/offcut").join(name))
            .map_or(0, |found| found.len())
    };
    assert!(size("hooks.log") < 70_000 && size("hooks.old.log") < 70_000);
}

/// The settings may come from another version of offcut. To agents, exit code 2 means that the tool must not run.
#[test]
fn hook_exits_with_zero_when_arguments_are_unknown() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["hook", "claude", "sometime"][..],
        &["hook", "someone", "after"],
        &["hook"],
        &["hook", "claude", "after", "--new"],
    ] {
        let ran = sandbox.run(arguments, b"{}");
        assert_eq!((ran.code, ran.stdout.as_slice()), (Some(0), &b"{}"[..]), "{arguments:?} {ran:?}");
        assert!(!ran.stderr.is_empty(), "the reason is printed");
    }
    assert!(sandbox.run(&["doctor"], b"").text().contains("sometime"));
}

#[test]
fn hook_passes_a_page_of_a_stored_output_and_no_other_text_of_a_tool_of_that_name() {
    let sandbox = Sandbox::new();
    let (stored, other) = (numbered(50_000), numbered(50_000).replace('7', "8"));
    sandbox.run(&["cut"], stored.as_bytes());
    let id = sandbox.run(&["show", "last", "--format", "json"], b"").json()["id"].clone();
    let answer = |text: &str, arguments: &Value| {
        let part = json!({"type": "text", "text": text});
        let cases = [
            (
                "claude",
                json!({"tool_name": "mcp__x__offcut_read", "tool_input": arguments, "tool_response": [part]}),
            ),
            (
                "codex",
                json!({"tool_name": "mcp__x__offcut_read", "tool_input": arguments, "tool_response": {"content": [part]}}),
            ),
            (
                "gemini",
                json!({"tool_name": "mcp_x_offcut_read", "tool_input": arguments,
                "tool_response": {"llmContent": [{"text": text}], "returnDisplay": text}}),
            ),
            (
                "copilot",
                json!({"toolName": "x-offcut_read", "toolArgs": arguments,
                "toolResult": {"resultType": "success", "textResultForLlm": text}}),
            ),
            ("opencode", json!({"tool": "x_offcut_read", "args": arguments, "content": [part]})),
        ];
        cases.map(|(agent, payload)| {
            sandbox.run(&["hook", agent, "after"], payload.to_string().as_bytes()).text()
        })
    };
    let request = json!({"id": id, "bytes": "1000:101000", "max_bytes": 150_000});
    let page = &stored[1000..101_000];
    for answer in answer(page, &request) {
        assert_eq!(answer, "{}");
    }
    for answer in
        answer(&other[1000..101_000], &request).into_iter().chain(answer(page, &json!({"id": "none"})))
    {
        assert!(answer.contains("[offcut ") && answer.len() < 60_000, "{answer:.300}");
    }
}

/// Copilot CLI writes a long result to a file, and deletes the file later.
#[test]
fn hook_of_copilot_reads_only_files_that_copilot_wrote() {
    let sandbox = Sandbox::new();
    let long = numbered(50_000);
    let answer = |name: &str, link: Option<&str>| {
        let file = sandbox.path().join(name);
        match link {
            Some(target) => std::os::unix::fs::symlink(target, &file).unwrap(),
            None => std::fs::write(&file, &long).unwrap(),
        }
        let text = format!(
            "Output too large to read at once (282.1 KB). Saved to: {}\nConsider using tools like grep.\n\nPreview (first 500 chars):\n1\n2\n\n<shellId: 0 completed with exit code 3>",
            file.display()
        );
        let result = json!({"resultType": "success", "textResultForLlm": text});
        let payload = json!({"toolName": "bash", "sessionId": "s", "toolArgs": {}, "toolResult": result});
        sandbox.run(&["hook", "copilot", "after"], payload.to_string().as_bytes()).json()
    };
    let answer_of_file = answer("1794-copilot-tool-output-1.txt", None);
    let text = answer_of_file["modifiedResult"]["textResultForLlm"].as_str().unwrap();
    assert!(text.contains("[offcut ") && text.contains("\n50000\n") && text.len() < 10_000, "{text:.300}");
    assert!(text.ends_with("\n<shellId: 0 completed with exit code 3>"), "{text:?}");
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), long);
    for (name, link) in [("notes.txt", None), ("2-copilot-tool-output-2.txt", Some("notes.txt"))] {
        assert_eq!(answer(name, link), json!({}), "{name}");
    }
}

#[test]
fn hook_leaves_short_results_and_previews_unchanged() {
    let sandbox = Sandbox::new();
    let small = json!({"tool_name": "mcp__a__b", "tool_response": [{"type": "text", "text": "short"}]});
    assert_eq!(sandbox.run(&["hook", "claude", "after"], small.to_string().as_bytes()).text(), "{}");
    // A preview of coloured lines, as the agent's shell tool returns it: the stored bytes differ from the displayed text.
    let line = "i=0; while [ $i -lt 3000 ]; do printf '\\033[31mred %d\\033[0m\\n' $i; i=$((i+1)); done";
    let mut command = sandbox.command();
    command.args(["shell", "-c", line]).env("PATH", "/usr/bin:/bin");
    let preview = crate::harness::feed(command, b"").text();
    let around =
        format!("<untrusted_context>\nOutput: {preview}Process Group PGID: 4711\n</untrusted_context>");
    let payload = json!({"tool_name": "run_shell_command", "tool_response": {"llmContent": around}});
    assert_eq!(sandbox.run(&["hook", "gemini", "after"], payload.to_string().as_bytes()).text(), "{}");
}

/// The lines that Gemini CLI adds to an output do not count.
#[test]
fn gemini_hook_leaves_outputs_that_fit_unchanged() {
    let sandbox = Sandbox::new();
    let answer = |output: &str| {
        let text = format!(
            "<untrusted_context>\nOutput: {output}\nExit Code: 3\nProcess Group PGID: 4711\n</untrusted_context>"
        );
        let payload = json!({"tool_name": "run_shell_command", "tool_response": {"llmContent": text}});
        sandbox.run(&["hook", "gemini", "after"], payload.to_string().as_bytes()).text()
    };
    let line = "a line that is one of many\n";
    // Gemini CLI passes on 40,000 characters, frame included.
    let most = 39_800 / line.len();
    assert_eq!(answer(line.repeat(most).trim_end()), "{}");
    assert!(answer(&line.repeat(most + 10)).contains("[offcut "));
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), line.repeat(most + 10));
}

/// In a terminal, Gemini CLI loses the end of a long output; elsewhere, the beginning of more than 16 MB.
#[test]
fn gemini_hook_does_not_claim_that_an_output_is_complete_which_may_not_be() {
    let sandbox = Sandbox::new();
    let answer = |display: Value, end: &str| {
        let text = format!("Output: {}{end}", numbered(30_000));
        let response = json!({"llmContent": text, "returnDisplay": display});
        let payload = json!({"tool_name": "run_shell_command", "tool_response": response});
        sandbox.run(&["hook", "gemini", "after"], payload.to_string().as_bytes()).json()["reason"].to_string()
    };
    let complete = answer(json!("1\n2"), "");
    assert!(complete.contains("nothing is lost: /") && !complete.contains("Gemini CLI"), "{complete:.300}");
    let warning = "[GEMINI_CLI_WARNING: Output truncated. The buffer is limited to 16MB.]";
    for doubtful in [answer(json!([[{"text": "1", "bold": false}]]), ""), answer(json!("1\n2"), warning)] {
        assert!(!doubtful.contains("nothing is lost"), "{doubtful:.300}");
        let place = "; Gemini CLI may have lost a part of it; stored as received: /";
        assert!(doubtful.contains(place), "{doubtful:.300}");
    }
}

#[test]
fn gemini_hook_writes_the_preview_where_gemini_reads_it() {
    let sandbox = Sandbox::new();
    let project = sandbox.path().join(".gemini/tmp/x");
    let payload = json!({
        "session_id": "s-1", "transcript_path": project.join("chats/session.jsonl"), "tool_name": "mcp_a_b",
        "tool_response": {"llmContent": numbered(30_000)},
    });
    let answer = sandbox.run(&["hook", "gemini", "after"], payload.to_string().as_bytes()).json();
    let request = &answer["hookSpecificOutput"]["tailToolCallRequest"];
    let path = std::path::Path::new(request["args"]["file_path"].as_str().unwrap());
    assert!(path.starts_with(project.join("tool-outputs/session-s-1")), "{answer}");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("[offcut: ") && text.len() <= 39_800 && text.lines().count() <= 2000, "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!((request["name"].as_str(), mode & 0o777), (Some("read_file"), 0o600));
    // Without the tool that reads it, the model would not get the result at all.
    let settings = sandbox.path().join(".gemini/settings.json");
    std::fs::write(settings, "{\"tools\": {\"exclude\": [\"read_file\"]}}").unwrap();
    let answer = sandbox.run(&["hook", "gemini", "after"], payload.to_string().as_bytes()).json();
    assert!(answer["decision"] == "deny" && answer["reason"].to_string().contains("[offcut "), "{answer}");
}
