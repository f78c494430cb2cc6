//! What the proxy bounds, and how the rest is read.

use super::{CALL, Client, large, result_of, text_result, texts};
use crate::harness::Sandbox;
use serde_json::{Value, json};

#[test]
fn large_result_is_bounded_and_readable_in_full() {
    let sandbox = Sandbox::new();
    let image =
        "\"data\" : \"AAAA\", \"mimeType\":\"image/png\",\"type\":\"image\",\"big\":9223372036854775809";
    let text = large();
    let answer = format!(
        "{{ \"jsonrpc\":\"2.0\",\"id\":1, \"result\":{{\"content\":[{{{image}}},{{\"type\":\"text\",\"text\":{}}},{{\"type\":\"resource_link\",\"uri\":\"file:///x\",\"name\":\"x\"}}],\"isError\":true}} }}\n",
        json!(text)
    );
    let mut client = Client::proxied(&sandbox, &[], &[&answer]);
    client.send(CALL);
    let line = client.line();
    assert!(line.len() < 11_000, "{}", line.len());
    assert!(line.contains(image) && line.contains("ERROR: the needle is here"), "{line}");
    let answer: Value = serde_json::from_str(&line).unwrap();
    let result = &answer["result"];
    assert_eq!(result["isError"], true);
    let kinds: Vec<_> = result["content"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["image", "text", "text", "text", "resource_link"], "{line}");
    let cut = &result["_meta"]["offcut.dev/cut"];
    let id = cut["id"].as_str().unwrap();
    // Through the file.
    assert_eq!(std::fs::read_to_string(cut["path"].as_str().unwrap()).unwrap(), text);
    // Through the resource, complete and in part.
    let resource = client.ask(7, "resources/read", json!({"uri": format!("offcut://{id}")}));
    assert_eq!(resource["result"]["contents"][0]["text"], text);
    let part = client.ask(8, "resources/read", json!({"uri": format!("offcut://{id}?lines=12346:12346")}));
    assert_eq!(part["result"]["contents"][0]["text"], "ERROR: the needle is here\n");
    // Through the tool: with the hint, with a pattern, and page by page.
    let hint =
        texts(result).into_iter().find_map(|text| Some(text.split_once("more: offcut_read ")?.1.to_owned()));
    let arguments = hint.unwrap().replace("PATTERN", "line 12344 ");
    let (shown, failed) = client.read(serde_json::from_str(arguments.trim_end_matches(']')).unwrap());
    assert!(!failed && shown[0].contains("12345:line 12344 of an output\n"), "{shown:?}");
    let (found, _) = client.read(json!({"id": id, "pattern": "needle", "context": 1}));
    assert_eq!(
        found[0],
        "12345-line 12344 of an output\n12346:ERROR: the needle is here\n12347-line 12346 of an output\n"
    );
    let mut whole = String::new();
    let mut next = json!({"id": id, "max_bytes": 150_000});
    loop {
        let (texts, failed) = client.read(next);
        assert!(!failed && texts[0].len() <= 150_000, "{texts:?}");
        whole += &texts[0];
        let Some((_, rest)) = texts.get(1).and_then(|notice| notice.split_once("more: offcut_read ")) else {
            break;
        };
        next = serde_json::from_str(rest.trim_end_matches(']')).unwrap();
    }
    assert_eq!(whole, text);
    // None of that reached the server.
    assert_eq!(std::fs::read_to_string(sandbox.path().join("seen")).unwrap().lines().count(), 1);
    assert_eq!(client.leave().0, Some(0));
}

#[test]
fn concurrent_large_results_are_both_stored() {
    let sandbox = Sandbox::new();
    let (first, second) = (large(), large().replace("line", "row"));
    let answers = text_result(2, &second) + &text_result(1, &first);
    let mut client = Client::proxied(&sandbox, &[], &["", &answers]);
    client.send(CALL);
    client.send(CALL.replace("\"id\":1", "\"id\":2"));
    let answers = [client.json(), client.json()];
    for (answer, (id, text)) in answers.iter().zip([(2, &second), (1, &first)]) {
        assert_eq!(answer["id"], id);
        let kept = answer["result"]["_meta"]["offcut.dev/cut"]["id"].as_str().unwrap();
        let whole = client.ask(9, "resources/read", json!({"uri": format!("offcut://{kept}")}));
        assert_eq!(whole["result"]["contents"][0]["text"], **text);
    }
}

#[test]
fn many_blocks_long_lines_and_protocol_errors_are_bounded() {
    let sandbox = Sandbox::new();
    let blocks: Vec<Value> =
        (0..5000).map(|number| json!({"type": "text", "text": format!("block {number} of many")})).collect();
    let rows: Vec<Value> = (0..20_000).map(|number| json!({"row": number, "name": "a name"})).collect();
    let message =
        json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": large(), "data": rows}});
    let answers = [
        result_of(1, &json!({"content": blocks})),
        text_result(2, &json!(rows).to_string()),
        format!("{message}\n"),
    ];
    let mut client = Client::proxied(&sandbox, &[], &answers.each_ref().map(String::as_str));
    for id in 1..=3 {
        client.send(CALL.replace("\"id\":1", &format!("\"id\":{id}")));
        let line = client.line();
        assert!(line.len() < 25_000, "{id}: {}", line.len());
        assert!(line.contains("offcut_read"), "{id}: {line}");
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"].is_object(), id == 3);
    }
}

/// The result of a tool with this schema (or none) and this structure, through the proxy.
fn structured(schema: Option<Value>, text: &str, structure: &Value) -> (Sandbox, Client, Value) {
    let sandbox = Sandbox::new();
    let mut tool = json!({"name": "big", "inputSchema": {"type": "object"}});
    if let Some(schema) = schema {
        tool["outputSchema"] = schema;
    }
    let result = json!({"content": [{"type": "text", "text": text}], "structuredContent": structure});
    let answers = [result_of(1, &json!({"tools": [tool]})), result_of(2, &result)];
    let mut client = Client::proxied(&sandbox, &[], &answers.each_ref().map(String::as_str));
    client.ask(1, "tools/list", json!({}));
    let answer = client.ask(2, "tools/call", json!({"name": "big"}));
    (sandbox, client, answer["result"].clone())
}

#[test]
fn structured_content_that_repeats_the_text_is_bounded_with_it() {
    let text = large();
    // This schema allows no further members.
    let schema = json!({"type": "object", "properties": {"content": {"type": "string"}},
        "required": ["content"], "additionalProperties": false});
    let (sandbox, _client, result) = structured(Some(schema), &text, &json!({"content": text}));
    let structure = &result["structuredContent"];
    assert!(structure.to_string().len() <= 9500, "{}", structure.to_string().len());
    assert_eq!(structure.as_object().unwrap().len(), 1);
    assert!(structure["content"].as_str().unwrap().contains("ERROR: the needle is here"));
    assert!(texts(&result).concat().contains("ERROR: the needle is here"));
    assert_eq!(
        sandbox.run(&["ls", "--format", "json"], b"").json().as_array().unwrap().len(),
        1,
        "kept once"
    );
}

#[test]
fn separate_structured_content_is_bounded_stored_and_reported() {
    let rows: Vec<Value> =
        (0..20_000).map(|number| json!({"row": number, "name": format!("name {number}")})).collect();
    let whole = json!({"rows": rows, "total": 20_000, "note": "x".repeat(20_000)});
    let (sandbox, mut client, result) = structured(None, "20000 rows", &whole);
    let structure = &result["structuredContent"];
    assert!(structure.to_string().len() <= 9500, "{}", structure.to_string().len());
    assert_eq!(structure["total"], 20_000);
    assert_eq!(structure["rows"][1], rows[1]);
    assert!(structure["note"].as_str().unwrap().contains("bytes not shown]"));
    let id = structure["offcut"]["id"].as_str().unwrap();
    assert_eq!(result["_meta"]["offcut.dev/structured"]["id"], id);
    let told = texts(&result);
    assert_eq!(told[0], "20000 rows");
    assert!(told[1].contains(&format!("more: offcut_read {{\"id\":\"{id}\",\"bytes\":\"")), "{told:?}");
    let kept = sandbox.run(&["cat", id], b"").json();
    assert_eq!(kept, whole);
    let resource = client.ask(9, "resources/read", json!({"uri": format!("offcut://{id}")}));
    assert_eq!(resource["result"]["contents"][0]["text"], whole.to_string(), "as it is kept");
    let (found, _) = client.read(json!({"id": id, "pattern": "\"name 19999\""}));
    assert!(found[0].contains("\"name\": \"name 19999\""), "{found:?}");
}

#[test]
fn shortened_structured_content_matches_its_schema() {
    let long = "y".repeat(50_000);
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["code", "rows", "note", "least"],
        "properties": {
            "code": {"type": "string", "pattern": "^y+$"},
            "kind": {"enum": [long]},
            "note": {"anyOf": [{"$ref": "#/$defs/Note"}, {"type": "null"}]},
            "rows": {"type": "array", "items": {"type": "object"}, "minItems": 3},
            "least": {"type": "string", "minLength": 4000},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}], "minItems": 2},
        },
        "$defs": {"Note": {"type": "string", "description": "a note"}}
    });
    let row = json!({"text": "z".repeat(9000)});
    let whole = json!({"code": long, "kind": long, "note": long, "rows": vec![row; 40], "least": long, "pair": [long, long]});
    let (_sandbox, _client, result) = structured(Some(schema), "short", &whole);
    let structure = &result["structuredContent"];
    for frozen in ["code", "kind", "pair"] {
        assert_eq!(structure[frozen], whole[frozen], "{frozen}");
    }
    assert!(structure["note"].as_str().unwrap().len() < 2000);
    assert!(structure["least"].as_str().unwrap().len() >= 4000);
    let rows = structure["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["text"].as_str().unwrap().len() < 1000), "{rows:?}");
    assert_eq!(structure.as_object().unwrap().len(), 6);
}

/// What the schema requires is complete, and a member name in the schema is not used for a note.
#[test]
fn complete_structured_content_has_no_notice() {
    let whole = json!({"a": "k".repeat(30_000)});
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^k+$"}}});
    let (_sandbox, _client, result) = structured(Some(schema), "short", &whole);
    assert_eq!(result, json!({"content": [{"type": "text", "text": "short"}], "structuredContent": whole}));
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string"}, "offcut": {"type": "integer"}}});
    let (_sandbox, _client, result) = structured(Some(schema), "short", &whole);
    let structure = &result["structuredContent"];
    assert_eq!(structure["offcut"], Value::Null);
    assert!(structure["a"].as_str().unwrap().len() < 9500);
}

#[test]
fn limits_can_be_set_per_server_and_per_tool() {
    let check = |options: &[&str], tool: &str, most: usize| {
        let sandbox = Sandbox::new();
        let file = sandbox.path().join(".config/offcut/config.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = "strategy = \"head\"\nlimits.bytes = 8000\n[tools.mcp__git]\nlimits.bytes = 4000\n[tools.mcp__git__log]\nlimits.bytes = 2000\n";
        std::fs::write(file, text).unwrap();
        let mut client = Client::proxied(&sandbox, options, &[&text_result(1, &large())]);
        client.send(CALL.replace("big", tool));
        let shown = texts(&client.json()["result"]).concat().len();
        assert!(shown <= most && shown > most * 4 / 5, "{options:?} {tool}: {shown}");
    };
    check(&[], "log", 8000);
    check(&["--name", "git"], "status", 4000);
    check(&["--name", "git"], "log", 2000);
    check(&["--name", "git", "--max-bytes", "1000"], "log", 1000);
}

#[test]
fn results_are_bounded_when_the_store_fails() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("file"), "").unwrap();
    let mut client = Client::proxied(&sandbox, &["--store", "file/store"], &[&text_result(1, &large())]);
    client.send(CALL);
    let answer = client.json();
    let told = texts(&answer["result"]).concat();
    assert!(told.len() <= 9500 && told.contains("not stored"), "{told}");
    assert_eq!(answer["result"]["_meta"]["offcut.dev/cut"]["id"], Value::Null);
    let (said, failed) = client.read(json!({"id": "last"}));
    assert!(failed, "{said:?}");
}
