//! Answers that once passed around the budget, or ended the proxy.

use super::{CALL, Client, large, peak, result_of, text_result, texts};
use crate::harness::Sandbox;
use serde_json::{Value, json};

/// The largest answer to a call: the preview and what is around it.
const MOST: usize = 11_000;

/// The answer to a call to which the server answers with these bytes; it must be bounded.
#[track_caller]
fn bounded(answer: &[u8]) -> Value {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("answer.1"), answer).unwrap();
    let mut client = Client::proxied(&sandbox, &[], &[]);
    client.send(CALL);
    let line = client.line();
    assert!(line.len() < MOST, "{} bytes: {line:.300}", line.len());
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert!(line.contains("[offcut"), "{line}");
    assert_eq!(client.leave().0, Some(0));
    answer
}

#[test]
fn deep_json_that_is_cut_off_does_not_end_the_proxy() {
    for text in ["[".repeat(20_000), "[".repeat(500_000)] {
        bounded(text_result(1, &text).as_bytes());
    }
    let sandbox = Sandbox::new();
    let cut = sandbox.run(&["cut", "--max-bytes", "30000"], &b"[".repeat(50_000));
    assert!(cut.code == Some(0) && cut.stdout.len() <= 30_000, "{cut:?}");
}

/// A text that names a stored output in every line is no preview of it.
#[test]
fn text_with_a_known_id_in_every_line_is_bounded() {
    let sandbox = Sandbox::new();
    let mut client = Client::proxied(&sandbox, &[], &[&text_result(1, &large())]);
    client.send(CALL);
    let answer = client.json();
    let id = answer["result"]["_meta"]["offcut.dev/cut"]["id"].as_str().unwrap();
    let lines = [
        format!("[offcut {id}: lines 100-200 not shown]\n"),
        format!("line [offcut {id}: 5 bytes not shown]\n"),
        format!("[offcut {id}: more: offcut_read {{\"id\":\"{id}\"}}]\n"),
    ];
    for (line, number) in lines.iter().zip(2_u64..) {
        let answer = text_result(number, &line.repeat(20_000));
        std::fs::write(sandbox.path().join(format!("answer.{number}")), answer).unwrap();
        let answer = client.ask(number, "tools/call", json!({"name": "big"}));
        assert!(answer.to_string().len() < MOST, "{} bytes for {line}", answer.to_string().len());
    }
}

#[test]
fn invalid_utf8_does_not_hide_a_message() {
    let wrong = |json: &str| {
        let at = json.find('@').unwrap();
        [&json.as_bytes()[..at], b"\xFF", &json.as_bytes()[at + 1..]].concat()
    };
    bounded(&wrong(&text_result(1, &format!("@{}", large()))));
    bounded(&wrong(&result_of(1, &json!({"content": [{"type": "text", "text": large()}], "later": "@"}))));
    // In the request: the server receives it as it is.
    let sandbox = Sandbox::new();
    let mut client = Client::proxied(&sandbox, &[], &[&text_result(1, &large())]);
    let call = wrong(&CALL.replace("{}", "{\"a\":\"@\"}"));
    client.send(&call);
    assert!(client.line().len() < MOST);
    assert_eq!(std::fs::read(sandbox.path().join("seen")).unwrap(), [&call[..], b"\n"].concat());
    // A line that does not change passes byte for byte.
    let sandbox = Sandbox::new();
    let line = wrong("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"a\":\"@\"}}\n");
    std::fs::write(sandbox.path().join("answer.1"), &line).unwrap();
    let mut client = Client::proxied(&sandbox, &[], &[]);
    client.send(CALL);
    let mut passed = vec![0; line.len()];
    std::io::Read::read_exact(&mut client.output, &mut passed).unwrap();
    assert_eq!(passed, line);
}

/// Some clients accept more than JSON allows.
#[test]
fn long_answer_that_is_almost_json_is_an_error() {
    let sandbox = Sandbox::new();
    let almost =
        |id: u64, text: &str| text_result(id, text).replacen("\"result\":{", "\"result\":{\"x\":NaN,", 1);
    let small = almost(2, "small");
    let mut client = Client::proxied(&sandbox, &[], &[&almost(1, &large()), &small]);
    client.send(CALL);
    let line = client.line();
    assert!(line.len() < 1000 && line.contains("not valid JSON"), "{line:.300}");
    client.send(CALL.replace("\"id\":1", "\"id\":2"));
    assert_eq!(client.line() + "\n", small);
}

#[test]
fn id_written_differently_is_the_same_id() {
    for id in ["1.0", "1e0", "10e-1", "1.00"] {
        let answer = text_result(7, &large()).replacen("\"id\":7", &format!("\"id\":{id}"), 1);
        bounded(answer.as_bytes());
    }
}

#[test]
fn every_kind_of_part_is_bounded() {
    let part = |part: Value| bounded(result_of(1, &json!({"content": [part]})).as_bytes());
    let answer = part(json!({"type": "hologram", "text": large()}));
    assert!(texts(&answer["result"]).concat().contains("ERROR: the needle is here"), "{answer}");
    let answer =
        part(json!({"type": "resource_link", "uri": "file:///x", "name": "x", "description": large()}));
    assert_eq!(answer["result"]["content"][0]["uri"], "file:///x");
    part(json!({"type": "hologram", "rays": [{"caption": large()}]}));
    // A text that is no string, a second text, and long strings beside a text or beside binary data.
    part(json!({"type": "resource", "text": 5, "resource": {"uri": "file:///x", "text": large()}}));
    part(json!({"type": "text", "text": "a", "resource": {"uri": "file:///x", "text": large()}}));
    part(json!({"type": "text", "text": "a", "annotations": {"audience": [large()]}}));
    part(json!({"type": "resource", "resource": {"uri": large(), "blob": "QQ=="}}));
    part(json!({"type": "hologram", "data": {"text": large()}}));
    let picture = "A".repeat(500);
    let answer =
        part(json!({"type": "image", "data": picture, "mimeType": "image/png", "rays": [large(), large()]}));
    assert_eq!(answer["result"]["content"][0]["data"], picture);
    // Many links with descriptions of any size.
    let link = |number: usize| json!({"type": "resource_link", "uri": format!("file:///{number}"), "name": "x", "description": "word ".repeat(4000)});
    let links: Vec<Value> = (0..5).map(link).collect();
    let answer = bounded(result_of(1, &json!({"content": links})).as_bytes());
    assert_eq!(answer["result"]["content"][4]["uri"], "file:///4");
}

#[test]
fn parts_with_very_many_or_very_long_members_keep_the_others() {
    let members: serde_json::Map<String, Value> =
        (0..5000).map(|number| (format!("member {number}"), json!("a value"))).collect();
    for (part, kept) in [
        (json!({"type": "hologram", "rays": members}), "hologram"),
        (json!({"type": "text", "text": "a", large(): 1}), "text"),
    ] {
        let answer = bounded(result_of(1, &json!({"content": [part]})).as_bytes());
        let shown = &answer["result"]["content"];
        assert_eq!((&shown[0]["type"], &shown[0]["text"]), (&json!(kept), &part["text"]));
        let rays = shown[0]["rays"].as_object().into_iter().flatten();
        assert!(rays.clone().all(|(name, _)| members.contains_key(name)));
        assert!(kept == "text" || rays.count() > 50, "{answer}");
        let notice = shown[1]["text"].as_str().unwrap();
        assert!(notice.contains("(1 of 1 parts)") && notice.contains("more: offcut_read"), "{notice}");
    }
}

/// Long numbers, and values at great depth.
#[test]
fn parts_that_cannot_be_shortened_are_replaced_by_a_notice() {
    let deep = format!("{}{}{}", "[".repeat(100), json!(large()), "]".repeat(100));
    for part in [
        format!("{{\"type\":\"hologram\",\"rays\":{}}}", "1".repeat(100_000)),
        format!("{{\"type\":\"text\",\"text\":\"a\",\"rays\":{deep}}}"),
    ] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[{part}]}}}}\n");
        let answer = bounded(line.as_bytes());
        let notice = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(notice.contains("(1 of 1 parts)") && notice.contains("more: offcut_read"), "{notice}");
    }
}

#[test]
fn parts_with_shortened_arrays_have_a_notice() {
    let rays: Vec<u64> = (0..10_000).collect();
    let answer = bounded(result_of(1, &json!({"content": [{"type": "hologram", "rays": rays}]})).as_bytes());
    let shown = &answer["result"]["content"];
    assert!(rays.len() > shown[0]["rays"].as_array().unwrap().len(), "{answer}");
    let notice = shown[1]["text"].as_str().unwrap();
    assert!(notice.contains("bytes not shown (1 of 1 parts): more: offcut_read"), "{notice}");
}

#[test]
fn parts_that_are_cut_are_stored_even_if_they_fit_alone() {
    let sandbox = Sandbox::new();
    let link = |length: usize| json!({"type": "resource_link", "uri": "file:///x", "name": "x", "description": "w".repeat(length)});
    let mut links = vec![link(5000)];
    links.extend((0..9).map(|_| link(900)));
    let mut client = Client::proxied(&sandbox, &[], &[&result_of(1, &json!({"content": links}))]);
    client.send(CALL);
    let line = client.line();
    assert!(line.contains("bytes not shown]") && !line.contains("not stored"), "{line}");
    let id = line.split_once("[offcut ").and_then(|(_, rest)| rest.split_once(':')).unwrap().0;
    let stored: Value = serde_json::from_slice(&sandbox.run(&["cat", id], b"").stdout).unwrap();
    assert_eq!(stored, json!(links));
}

#[test]
fn very_many_short_parts_are_stored_and_the_last_are_dropped() {
    let sandbox = Sandbox::new();
    let link = |number: usize| json!({"type": "resource_link", "uri": format!("file:///{number}"), "name": "x", "description": "w".repeat(800)});
    let links: Vec<Value> = (0..2000).map(link).collect();
    let mut client = Client::proxied(&sandbox, &[], &[&result_of(1, &json!({"content": links}))]);
    client.send(CALL);
    let line = client.line();
    assert!(line.len() < 2 * MOST, "{} bytes", line.len());
    let answer: Value = serde_json::from_str(&line).unwrap();
    let shown = answer["result"]["content"].as_array().unwrap();
    let (notice, shown) = shown.split_last().unwrap();
    assert!(!shown.is_empty() && links.starts_with(shown), "{line}");
    let notice = notice["text"].as_str().unwrap();
    let dropped = format!("({} of 2000 parts)", links.len() - shown.len());
    assert!(notice.contains(&dropped) && notice.contains("more: offcut_read"), "{notice}");
    let id = notice.strip_prefix("[offcut ").and_then(|rest| rest.split_once(':')).unwrap().0;
    let stored: Value = serde_json::from_slice(&sandbox.run(&["cat", id], b"").stdout).unwrap();
    assert_eq!(stored, json!(links));
}

/// Links that are short are a result that the model needs.
#[test]
fn short_links_and_binary_parts_are_unchanged() {
    let sandbox = Sandbox::new();
    let link = |number: usize| json!({"type": "resource_link", "uri": format!("file:///{number}"), "name": "a name", "description": "what it is"});
    let mut parts: Vec<Value> = (0..200).map(link).collect();
    parts.push(json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(100_000)}));
    parts.push(json!({"type": "resource", "resource": {"uri": "file:///b", "blob": "A".repeat(100_000)}}));
    let answer = result_of(1, &json!({"content": parts}));
    let mut client = Client::proxied(&sandbox, &[], &[&answer]);
    client.send(CALL);
    assert_eq!(client.line() + "\n", answer);
}

#[test]
fn errors_of_the_read_tool_do_not_repeat_long_arguments() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], large().as_bytes());
    let mut client = Client::proxied(&sandbox, &[], &[]);
    let long = "(".repeat(200_000);
    for arguments in [
        json!({"id": "last", "pattern": long}),
        json!({"id": long}),
        json!({"id": "last", "lines": long}),
        json!({"id": "last", "max_bytes": long}),
        json!({"id": "last", "context": long, "pattern": "x"}),
        json!({"id": "last", "ignore_case": long}),
    ] {
        let (shown, failed) = client.read(arguments);
        assert!(failed && shown.concat().len() < 6000, "{} bytes: {:.300}", shown.concat().len(), shown[0]);
    }
    let (shown, _) = client.read(json!({"id": "last", "pattern": "(".repeat(200_000)}));
    assert!(shown[0].contains("unclosed group"), "{shown:?}");
    let answer = client.ask(1, "resources/read", json!({"uri": format!("offcut://{long}")}));
    assert!(answer.to_string().len() < 6000);
    let answer = client.ask(2, "resources/read", json!({"uri": format!("offcut://last?{long}=1")}));
    assert!(answer.to_string().len() < 6000);
}

/// 32 MB each. The readable form of the first has five times as many bytes; the others have millions of values.
fn large_structures() -> [String; 3] {
    let numbers = vec!["1234567890123456789012345678901"; 1_000_000].join(",");
    let members: Vec<String> = (0..2_700_000).map(|number| format!("\"{number}\":1")).collect();
    [
        format!("{}{numbers}{}", "[".repeat(70), "]".repeat(70)),
        format!("[{}1]", "1,".repeat(16_000_000)),
        format!("{{{}}}", members.join(",")),
    ]
}

#[test]
#[cfg(target_os = "linux")]
fn large_structures_take_at_most_three_times_their_size() {
    for structure in large_structures() {
        let sandbox = Sandbox::new();
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[],\"structuredContent\":{{\"a\":{structure}}}}}}}\n"
        );
        let mut client = Client::proxied(&sandbox, &[], &[&answer]);
        client.send(CALL);
        let line = client.line();
        assert!(line.len() < 15_000, "{} bytes", line.len());
        // One page from the middle, by line.
        let (page, failed) = client.read(json!({"id": "last", "lines": "700000:700001"}));
        assert!(!failed && page[0].lines().count() == 2, "{page:?}");
        // The program itself takes some, too.
        let most = 3 * answer.len() as u64 / 1024 + 40_000;
        let peak = peak(client.child.id());
        assert!(peak < most, "{peak} KiB for {} bytes", answer.len());
    }
}
