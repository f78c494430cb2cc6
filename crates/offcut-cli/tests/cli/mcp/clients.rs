//! Clients with other limits than offcut's default: those that cut results again, and those that pass on more.

use super::{Client, result_of, text_result, texts};
use crate::harness::Sandbox;
use serde_json::{Value, json};

/// The most characters of a result, as JSON, that Cline passes to the model.
const CLINE: usize = 8_000;

/// Half a megabyte of lines that are not similar enough for one short preview.
fn large() -> String {
    (0..20_000).map(|number| format!("{number} answered in {} ms\n", number % 97)).collect()
}

/// A proxy whose client has this name, and a server that answers calls with these lines.
fn connected(sandbox: &Sandbox, name: &str, options: &[&str], answers: &[&str]) -> Client {
    let hello = result_of(0, &json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}));
    let answers: Vec<&str> = std::iter::once(hello.as_str()).chain(answers.iter().copied()).collect();
    let mut client = Client::proxied(sandbox, options, &answers);
    let info = json!({"name": name, "version": "1"});
    client.ask(0, "initialize", json!({"protocolVersion": "2025-06-18", "clientInfo": info}));
    client
}

/// What the client gets for a call that the server answers with this result.
fn result(name: &str, options: &[&str], answer: &str) -> Value {
    let sandbox = Sandbox::new();
    let mut client = connected(&sandbox, name, options, &[answer]);
    let answer = client.ask(1, "tools/call", json!({"name": "big"}));
    assert_eq!(client.leave().0, Some(0));
    answer["result"].clone()
}

fn chars(result: &Value) -> usize {
    result.to_string().chars().count()
}

#[test]
fn preview_is_within_the_limit_of_the_client() {
    let quotes = json!((0..5_000).map(|number| json!({"a": "b", "n": number})).collect::<Vec<_>>());
    for text in [large(), "日本語🚀 ok ".repeat(20_000), quotes.to_string(), "x".repeat(8_100)] {
        let shortened = result("@cline/core", &[], &text_result(1, &text));
        assert!(shortened.to_string().contains("[offcut"), "{shortened:.300}");
        assert!((4_000..=CLINE).contains(&chars(&shortened)), "{} characters: {text:.30}", chars(&shortened));
    }
    let data = json!({"content": [{"type": "text", "text": large()}], "structuredContent": {"all": large()}});
    let shortened = result("@cline/core", &[], &result_of(1, &data));
    assert!(chars(&shortened) <= CLINE, "{} characters", chars(&shortened));
}

#[test]
fn result_that_the_client_takes_whole_is_unchanged() {
    let text = "a line of a log\n".repeat(460);
    assert_eq!(texts(&result("@cline/core", &[], &text_result(1, &text))), [text]);
}

#[test]
fn limits_of_the_user_and_of_other_clients_stay() {
    let answer = text_result(1, &large());
    assert!(chars(&result("claude-code", &[], &answer)) > CLINE);
    assert!(chars(&result("@cline/core", &["--max-bytes", "20000"], &answer)) > 2 * CLINE);
}

#[test]
fn result_that_an_agent_passes_on_whole_is_unchanged() {
    for (agent, size) in [
        ("claude-code", 49_000),
        ("opencode", 49_000),
        ("gemini-cli-mcp-client", 39_000),
        ("copilot-cli", 19_000),
        ("goose-cli", 49_000),
    ] {
        let text = "a line of a log, with a few more words\n".repeat(size / 39);
        let shown = |client: &str| texts(&result(client, &[], &text_result(1, &text))).concat();
        assert_eq!(shown(agent), text, "{agent}");
        assert_ne!(shown("another"), text);
        // The model is not known here.
        assert_ne!(shown("codex-mcp-client"), text);
    }
}

#[test]
fn data_that_an_agent_passes_on_whole_is_unchanged() {
    let data = json!({"content": [{"type": "text", "text": "see the data"}], "structuredContent": {"all": "a ".repeat(10_000)}});
    assert_eq!(result("claude-code", &[], &result_of(1, &data)), data);
}

#[test]
fn failure_is_within_the_limit_of_the_agent() {
    let failed = json!({"content": [{"type": "text", "text": large()}], "isError": true});
    let shortened = texts(&result("claude-code", &[], &result_of(1, &failed))).concat();
    assert!((8_000..10_900).contains(&shortened.len()), "{} bytes", shortened.len());
    let error =
        format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": large()}}));
    let sandbox = Sandbox::new();
    let answer =
        connected(&sandbox, "claude-code", &[], &[&error]).ask(1, "tools/call", json!({"name": "big"}));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!((8_000..10_900).contains(&message.len()), "{} bytes", message.len());
}

#[test]
fn texts_and_data_share_the_limit_of_an_agent_that_passes_on_both() {
    let text = &large()[..15_000];
    let both = json!({"content": [{"type": "text", "text": text}], "structuredContent": {"all": text}});
    let shortened = result("copilot-cli", &[], &result_of(1, &both));
    let passed = texts(&shortened).concat().len() + shortened["structuredContent"].to_string().len();
    assert!((10_000..20_000).contains(&passed), "{passed} bytes");
    assert_eq!(result("claude-code", &[], &result_of(1, &both)), both);
}

#[test]
fn limit_of_the_user_comes_before_that_of_the_agent() {
    for (limit, least, most) in [("6000", 4_000, 6_000), ("70000", 55_000, 70_000)] {
        let shortened = texts(&result("claude-code", &["--max-bytes", limit], &text_result(1, &large())));
        let size = shortened.concat().len();
        assert!((least..=most).contains(&size), "{limit}: {size} bytes");
    }
}

#[test]
fn limit_follows_the_settings_of_the_agent() {
    let sandbox = Sandbox::new();
    let settings = sandbox.path().join(".gemini");
    std::fs::create_dir(&settings).unwrap();
    let threshold = r#"{"tools": {"truncateToolOutputThreshold": 12000}}"#;
    std::fs::write(settings.join("settings.json"), threshold).unwrap();
    let mut client = connected(&sandbox, "gemini-cli-mcp-client", &[], &[&text_result(1, &large())]);
    let answer = client.ask(1, "tools/call", json!({"name": "big"}));
    let size = texts(&answer["result"]).concat().len();
    assert!((9_600..12_000).contains(&size), "{size} bytes");
}

#[test]
fn page_is_within_the_limit_of_the_client() {
    let sandbox = Sandbox::new();
    let mut client = connected(&sandbox, "@cline/core", &[], &[&text_result(1, &large())]);
    client.ask(1, "tools/call", json!({"name": "big"}));
    for arguments in
        [json!({"id": "last"}), json!({"id": "last", "lines": "500:20000", "max_bytes": 100_000})]
    {
        let answer = client.ask(2, "tools/call", json!({"name": "offcut_read", "arguments": arguments}));
        assert!((4_000..=CLINE).contains(&chars(&answer["result"])), "{}", chars(&answer["result"]));
    }
    let small = json!({"id": "last", "lines": "1:2", "max_bytes": 100});
    let (page, failed) = client.read(small);
    assert!(!failed && page[0].starts_with("0 answered in 0 ms\n1 answered"), "{page:?}");
}
