//! `offcut result`: shortens tool results as a filter.

use crate::harness::{Sandbox, binary, feed, isolate};
use serde_json::{Value, json};
use std::process::Command;

fn long() -> String {
    (1..=20_000).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn result_keeps_shape_and_other_bytes() {
    let sandbox = Sandbox::new();
    let input = format!(
        " {{\"n\":18446744073709551617, \"content\":[{{\"type\":\"text\",\"text\":{}}}] }}\n",
        json!(long())
    );
    let ran = sandbox.run(&["result", "--tool", "search"], input.as_bytes());
    let text = ran.text();
    assert!(
        text.starts_with(" {\"n\":18446744073709551617, \"content\":[") && text.ends_with(" }\n"),
        "{text:.200}"
    );
    assert!(text.len() < 12_000);
    let value: Value = serde_json::from_str(&text).unwrap();
    let pointer = value["content"][2]["text"].as_str().unwrap();
    // The command in the notice, as a model would run it, finds lines that are not shown.
    let command = pointer.split("more: ").nth(1).unwrap().trim_end_matches(']');
    let found = sandbox.paste(&command.replace("PATTERN", "'^line 2345$'")).text();
    assert!(found.contains("line 2345\n") && !text.contains("line 2345\\n"), "{command}: {found}");
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), long());
    // A second pass changes and stores nothing, even with lower limits.
    let again = sandbox.run(&["result", "--max-bytes", "1k"], text.as_bytes());
    assert_eq!(again.text(), text);
    assert_eq!(sandbox.run(&["ls", "--format", "json"], b"").text().lines().count(), 1);
}

#[test]
fn result_shortens_text_that_names_a_preview_in_every_line() {
    let sandbox = Sandbox::new();
    let shorten = |text: &str| {
        let result = json!({"role": "tool", "content": text}).to_string();
        let value: Value = serde_json::from_str(&sandbox.run(&["result"], result.as_bytes()).text()).unwrap();
        value["content"].as_str().unwrap().to_owned()
    };
    let preview = shorten(&long());
    let footer = preview.lines().last().unwrap();
    let padding = "x".repeat(290_000);
    for text in [
        format!("{preview}\n{}", format!("{footer}\n").repeat(9000)),
        format!("{preview}\n{}", format!("{padding}{footer}\n").repeat(3)),
        format!("{}{preview}", format!("{footer}\n").repeat(9000)),
    ] {
        let shown = shorten(&text);
        assert!(shown.len() <= 9500, "{} of {} bytes are shown", shown.len(), text.len());
    }
}

#[test]
fn result_passes_unknown_input_through_with_warning() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["result"], b"{\"a\": 1}");
    assert_eq!(ran.text(), "{\"a\": 1}");
    assert!(ran.stderr.contains("1 not recognised as a tool result"));
    for input in [&b"not json"[..], b"{\"output\": \"cut o", b"", b"\xff\xfe", b"{\"a\":1}{"] {
        let ran = sandbox.run(&["result"], input);
        ran.failed(2, "input passed through unchanged: the result is not JSON");
        assert_eq!(ran.stdout, input);
    }
    sandbox.run(&["result", "--shape", "nope"], b"{}").failed(2, "nope");
    let ran = sandbox.run(&["result", "--shape", "takumi"], b"{\"content\": \"x\"}");
    assert_eq!(ran.text(), "{\"content\": \"x\"}");
    assert!(ran.stderr.contains("no text where a result of shape takumi has it"), "{}", ran.stderr);
    assert_eq!(sandbox.run(&["result", "--shape", "auto"], b"[]").text(), "[]");
    assert!(!sandbox.store().exists());
}

/// An empty output (coding-agent, seed 000 §7.1) and a result of images only (takumi, seed 003) are nothing to warn about.
#[test]
fn result_does_not_warn_about_results_without_text() {
    let sandbox = Sandbox::new();
    let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    for (profile, input, expected) in [
        ("coding-agent", r#"{"success":true,"output":""}"#.to_owned(), None),
        ("native", format!(r#"{{"content":[{image}]}}"#), None),
        ("native", r#"{"content":[]}"#.to_owned(), None),
        (
            "takumi",
            format!(r#"{{"llmContent":[{image}]}}"#),
            Some(format!(r#"{{"llmContent":[{image}],"truncated":false}}"#)),
        ),
    ] {
        let ran = sandbox.run(&["result", "--profile", profile], input.as_bytes());
        assert_eq!((ran.text(), ran.stderr.as_str()), (expected.unwrap_or(input), ""), "{profile}");
    }
}

/// opencode (seed 001 §6): the hint depends on the agent's permission rules.
#[test]
fn result_reads_permission_rules() {
    let sandbox = Sandbox::new();
    let input = json!({"title": "", "output": long()}).to_string();
    let file = sandbox.path().join("rules.json");
    std::fs::write(&file, r#"[{"permission":"*","pattern":"*","action":"ask"}]"#).unwrap();
    let file = file.to_str().unwrap();
    for (flags, expected) in [
        (&["--permissions", r#"{"task":"deny"}"#][..], false),
        (&["--permissions", r#"{"task":{"*":"ask","explore":"deny"}}"#], true),
        (&["--permissions", file], true),
        (&["--permissions", file, "--no-task"], false),
        (&[], false),
    ] {
        let ran = sandbox.run(&[&["result", "--profile", "opencode"], flags].concat(), input.as_bytes());
        assert_eq!(ran.text().contains("Use the Task tool"), expected, "{flags:?}");
    }
    sandbox.run(&["cut", "--permissions", "{}x"], b"").failed(2, "invalid permission rules");
    sandbox.run(&["cut", "--permissions", "/nowhere"], b"").failed(2, "cannot read /nowhere");
}

#[test]
fn result_handles_deep_nesting_and_huge_strings() {
    let sandbox = Sandbox::new();
    // 10,000 levels of nesting next to the text, and in its place.
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let input = format!("{{\"role\":\"tool\",\"x\":{deep},\"content\":{}}}", json!(long()));
    let text = sandbox.run(&["result"], input.as_bytes()).text();
    assert!(text.contains(&deep) && text.len() < deep.len() + 12_000);
    let input = format!("{{\"functionResponse\":{{\"name\":\"f\",\"response\":{{\"output\":{deep}}}}}}}");
    let text = sandbox.run(&["result"], input.as_bytes()).text();
    assert!(
        text.starts_with("{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"[offcut: "),
        "{text:.200}"
    );
    assert!(text.len() < 12_000);
    // A string of 200 MB.
    let mut input = b"{\"role\":\"tool\",\"content\":\"".to_vec();
    input.resize(input.len() + 200_000_000, b'x');
    input.extend_from_slice(b"\"}");
    let text = sandbox.run(&["result"], &input).text();
    assert!(text.len() < 11_000 && text.contains(" kB of 200 MB shown; "), "{text:.300}");
}

#[test]
fn result_shortens_structured_content() {
    let sandbox = Sandbox::new();
    let rows: Vec<Value> = (0..20_000).map(|number| json!({"row": number, "name": "a name"})).collect();
    let structure = json!({"rows": rows, "count": 20_000});
    let text = json!([{"type": "text", "text": "20000 rows"}]);
    for input in [
        json!({"structuredContent": structure}),
        json!({"structuredContent": structure, "content": []}),
        json!({"structuredContent": structure, "content": text, "_meta": {"a": 1}}),
        json!({"structuredContent": structure, "content": [{"type": "text", "text": structure.to_string()}]}),
    ] {
        let ran = sandbox.run(&["result"], input.to_string().as_bytes());
        assert_eq!(ran.stderr, "");
        let output = ran.json();
        assert!(ran.stdout.len() < 25_000, "{} bytes", ran.stdout.len());
        let shown = &output["structuredContent"];
        assert_eq!((&shown["count"], &shown["rows"][0]), (&structure["count"], &structure["rows"][0]));
        let next = shown["offcut"]["next"].as_str().unwrap();
        let (id, lines) = next.strip_prefix("offcut read ").unwrap().split_once(" --lines ").unwrap();
        assert_eq!(sandbox.run(&["cat", id], b"").json(), structure);
        let rows = shown["rows"].as_array().unwrap();
        assert_eq!(shown["offcut"]["not_shown"], format!("{} of 20000 items", 20_000 - rows.len()));
        let first = rows.iter().zip(0..).position(|(row, number)| row["row"] != number).unwrap();
        let page = sandbox.run(&["read", id, "--lines", lines], b"").text();
        assert!(page.contains(&format!("\"row\": {first}\n")), "{page:.300}");
        assert!(output["content"].to_string().contains(next), "{output:.2000}");
    }
    // In an array, each by itself; beside them what is not a result.
    let input =
        json!([{"structuredContent": structure}, 7, {"structuredContent": structure, "content": text}]);
    let ran = sandbox.run(&["result"], input.to_string().as_bytes());
    let output = ran.json();
    assert!(ran.stdout.len() < 25_000 && output[1] == 7, "{} bytes", ran.stdout.len());
    for shown in [&output[0], &output[2]] {
        assert_eq!(shown["structuredContent"]["rows"][0], structure["rows"][0]);
        assert!(shown["content"].to_string().contains("offcut read"), "{output:.2000}");
    }
    // What fits, what is exempt and what is of another shape stays unchanged.
    let small = json!({"structuredContent": {"a": 1}}).to_string();
    let ran = sandbox.run(&["result"], small.as_bytes());
    assert_eq!((ran.text(), &*ran.stderr), (small, ""));
    let large = json!({"structuredContent": structure}).to_string();
    let exempt = ["result", "--tool", "x", "--skip-tool", "x"];
    assert_eq!(sandbox.run(&exempt, large.as_bytes()).text(), large);
}

/// The readable form of the data has five times as many bytes as the data.
#[test]
#[cfg(target_os = "linux")]
fn result_and_read_do_not_hold_the_readable_form_in_memory() {
    let sandbox = Sandbox::new();
    let limited = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new("/bin/sh");
        // Three times the input of 32 MB; memory that is reserved and not used counts, too.
        command.args(["-c", "ulimit -d 130000; exec \"$0\" \"$@\"", binary()]).args(arguments);
        command.env_clear().env("HOME", sandbox.path()).current_dir(sandbox.path());
        isolate(&mut command);
        feed(command, input)
    };
    let numbers = vec!["1234567890123456789012345678901"; 1_000_000].join(",");
    let data = format!("{}{numbers}{}", "[".repeat(70), "]".repeat(70));
    let input = format!("{{\"status\":\"success\",\"data\":{data},\"text\":\"\",\"stats\":{{}}}}");
    let text = limited(&["result", "--profile", "unified"], input.as_bytes()).text();
    assert!(text.len() < 100_000, "{} bytes", text.len());
    let page = limited(&["read", "last", "--lines", "500000:500001"], b"").text();
    assert!(page.contains("1234567890123456789012345678901") && page.len() < 1000, "{page:.300}");
    let found = limited(&["grep", "status", "last"], b"").text();
    assert!(found.contains("\"status\": \"success\""), "{found:.300}");
}

#[test]
fn result_succeeds_when_store_fails() {
    let sandbox = Sandbox::new();
    let input = json!({"role": "tool", "content": long()}).to_string();
    let ran = sandbox.run(&["--store", "/proc/nowhere", "result"], input.as_bytes());
    let value: Value = serde_json::from_str(&ran.text()).unwrap();
    let content = value["content"].as_str().unwrap();
    assert!(content.len() <= 9500 && content.contains("not stored") && !content.contains("nothing is lost"));
}

#[test]
fn read_pages_unified_result_in_readable_form() {
    let sandbox = Sandbox::new();
    let envelope = json!({"status": "success", "data": {"stdout": long()}, "text": "", "context": {}});
    sandbox
        .run(&["result", "--profile", "unified", "--tool", "Bash"], envelope.to_string().as_bytes())
        .text();
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), envelope.to_string());
    let page = sandbox.run(&["read", "last", "--lines", "100:101"], b"").text();
    assert!(page.lines().all(|line| line.starts_with("line ")) && page.lines().count() == 2, "{page}");
    assert!(sandbox.run(&["grep", "^line 17777$"], b"").text().contains("line 17777"));
}

#[test]
fn result_counts_structured_content_in_the_total() {
    let sandbox = Sandbox::new();
    let rows = |count: usize| json!({"structuredContent": {"rows": vec!["a row of a table"; count]}});
    let total =
        |input: &Value, total: &str| sandbox.run(&["result", "--total", total], input.to_string().as_bytes());
    // Two structures of 8 kB share 10 kB, and a total that is too small is exceeded with a warning.
    let input = json!([rows(400), rows(400), {"role": "tool", "content": "small"}]);
    let ran = total(&input, "10k");
    let shown: usize =
        ran.json().as_array().unwrap().iter().map(|value| value["structuredContent"].to_string().len()).sum();
    assert!(shown < 10_000 && shown > 7000 && ran.stderr.is_empty(), "{shown} bytes, {}", ran.stderr);
    let ran = total(&input, "1k");
    assert!(ran.stderr.contains("results exceed --total by"), "{}", ran.stderr);
    let ran = total(&json!([rows(5), {"content": [{"type": "text", "text": "x"}]}]), "1k");
    assert_eq!((ran.json()[0].clone(), ran.stderr.as_str()), (rows(5), ""));
}

#[test]
fn result_bounds_all_values_of_a_bedrock_result() {
    let sandbox = Sandbox::new();
    let rows: Vec<Value> = (0..5000).map(|number| json!({"row": number})).collect();
    let image = json!({"image": {"format": "png", "source": {"bytes": "AAAA"}}});
    for parts in [
        json!([{"json": {"rows": rows}}, {"json": {"rows": rows}}]),
        json!([{"text": "5000 rows"}, {"json": {"rows": rows}}, image]),
        json!([{"json": "one\n".repeat(9000)}, {"json": 1}]),
        json!([{"type": "x", "text": "one\n".repeat(9000)}]),
    ] {
        let input = json!({"toolResult": {"toolUseId": "t", "content": parts}});
        let ran = sandbox.run(&["result"], input.to_string().as_bytes());
        assert!(ran.stdout.len() < 12_000, "{} bytes", ran.stdout.len());
        let output = ran.json();
        let shown = output["toolResult"]["content"].as_array().unwrap();
        assert!(shown.iter().any(|part| part.to_string().contains("[offcut")), "{output}");
        assert_eq!(shown.contains(&image), parts.as_array().unwrap().contains(&image));
    }
    let small = json!({"toolUseId": "t", "content": [{"json": {"a": 1}}, {"text": "x"}, image]}).to_string();
    assert_eq!(sandbox.run(&["result"], small.as_bytes()).text(), small);
}

#[test]
fn result_limits_array_total_and_prints_panel() {
    let sandbox = Sandbox::new();
    let one = json!({"role": "tool", "tool_call_id": "a", "name": "grep", "content": long()});
    let small = json!({"role": "tool", "tool_call_id": "b", "content": "small"});
    let arguments = ["result", "--total", "5k", "--panel", "--strategy", "head-tail"];
    let ran = sandbox.run(&arguments, json!([one, small, one]).to_string().as_bytes());
    let values: Vec<Value> = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(values[1]["content"], "small");
    let sum: usize = values.iter().map(|value| value["content"].as_str().unwrap().len()).sum();
    assert!(sum <= 5000 && sum > 4000, "{sum}");
    assert_eq!(ran.stderr.matches("grep (a): output truncated").count(), 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("original") && ran.stderr.contains("shown"));
    let skipped = sandbox.run(&["result", "--skip-tool", "grep"], one.to_string().as_bytes());
    assert_eq!(skipped.text(), one.to_string());
}
