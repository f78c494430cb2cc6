//! Clients that cut results again, below offcut's default limits.

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
    for text in [large(), "日本語🚀 ok\n".repeat(20_000), quotes.to_string(), "x".repeat(8_100)] {
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
