//! The read tool and the resources, in the proxy and in `offcut mcp serve`.

use super::{CALL, Client, large, result_of, text_result, texts};
use crate::harness::{Sandbox, numbered};
use serde_json::{Value, json};

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn read_tool_gets_a_free_name() {
    let sandbox = Sandbox::new();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let first = result_of(1, &json!({"tools": [tool("offcut_read"), tool("a")], "nextCursor": "2"}));
    let last = " {\"jsonrpc\":\"2.0\", \"id\":2,\"result\":{\"tools\" : [ {\"name\":\"offcut_read_2\",\"execution\":{\"n\":1e2}} ],\"nextCursor\":null}}\n";
    let call = text_result(3, "the server's own");
    let after = result_of(5, &json!({"tools": []}));
    let mut client =
        Client::proxied(&sandbox, &[], &[&first, last, &call, &text_result(4, &large()), &after]);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(client.line() + "\n", first, "only the last page gets the added tool");
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}"#);
    let line = client.line();
    assert!(line.starts_with(last.split_once(" ]").unwrap().0), "{line}");
    assert!(line.ends_with(&last.trim_end_matches('\n')[last.find(" ]").unwrap()..]), "{line}");
    assert_eq!(names(&serde_json::from_str(&line).unwrap()), ["offcut_read_2", "offcut_read_3"]);
    let answer = client.ask(3, "tools/call", json!({"name": "offcut_read"}));
    assert_eq!(texts(&answer["result"]), ["the server's own"]);
    let answer = client.ask(4, "tools/call", json!({"name": "big"}));
    assert!(texts(&answer["result"]).concat().contains("more: offcut_read_3 {"), "{answer}");
    let answer = client.ask(
        6,
        "tools/call",
        json!({"name": "offcut_read_3", "arguments": {"id": "last", "lines": 2}}),
    );
    assert_eq!(texts(&answer["result"])[0], "line 1 of an output\n");
    // The server lists other tools the second time.
    let answer = client.ask(5, "tools/list", json!({}));
    assert_eq!(names(&answer), ["offcut_read"]);
}

#[test]
fn proxy_offers_resources_when_the_server_has_none() {
    let check = |capabilities: Value, ours: bool| {
        let sandbox = Sandbox::new();
        let info = json!({"protocolVersion": "2099-01-01", "capabilities": capabilities, "serverInfo": {"name": "x", "new": 1}});
        let empty = result_of(2, &json!({"resources": ["the server's"]}));
        let mut client = Client::proxied(&sandbox, &[], &[&result_of(1, &info), &empty]);
        let answer = client.ask(1, "initialize", json!({}));
        let mut expected = info;
        if ours {
            expected["capabilities"]["resources"] = json!({});
        }
        assert_eq!(answer["result"], expected);
        let answer = client.ask(2, "resources/list", json!({}));
        assert_eq!(answer["result"]["resources"] == json!([]), ours, "{answer}");
        if ours {
            let answer = client.ask(3, "resources/templates/list", json!({}));
            assert_eq!(
                answer["result"]["resourceTemplates"][0]["uriTemplate"],
                "offcut://{id}{?lines,bytes}"
            );
        }
    };
    check(json!({"tools": {"listChanged": true}}), true);
    check(json!({"tools": {}, "resources": {"subscribe": true}}), false);
    check(json!({"prompts": {}}), false);
}

/// Stores one output under a session.
fn kept(sandbox: &Sandbox, session: &str) -> String {
    let cut = sandbox.run(&["cut", "--format", "json", "--session", session], numbered(20_000).as_bytes());
    cut.json()["saved"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn read_tool_accepts_only_ids() {
    let sandbox = Sandbox::new();
    let id = kept(&sandbox, "one");
    std::fs::write(sandbox.path().join("secret.txt"), "a secret").unwrap();
    let stored = sandbox.store().join(format!("{id}.txt"));
    let mut client = Client::proxied(&sandbox, &[], &[]);
    let paths = [
        "/etc/passwd",
        "secret.txt",
        "./secret.txt",
        "../secret.txt",
        stored.to_str().unwrap(),
        "offcut:///etc/passwd",
        "",
        "last-x",
        "all",
    ];
    for path in paths {
        let (said, failed) = client.read(json!({"id": path}));
        assert!(failed && said[0].contains("is not the id"), "{path:?}: {said:?}");
        let uri = format!("offcut://{}", path.trim_start_matches("offcut://"));
        let answer = client.ask(1, "resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["code"], -32002, "{path:?}: {answer}");
    }
    for reference in [id.as_str(), &id[..12], "last", &format!("offcut://{id}")] {
        let (said, failed) = client.read(json!({"id": reference, "lines": "3:4"}));
        assert!(!failed && said[0] == "3\n4\n", "{reference}: {said:?}");
    }
    for wrong in [
        json!({"id": id, "lines": "x"}),
        json!({"id": id, "lines": "1:2", "bytes": "1:2"}),
        json!({}),
        json!({"id": 7}),
        json!({"id": id, "pattern": "(("}),
        json!({"id": id, "lines": "99999999:"}),
    ] {
        assert!(client.read(wrong.clone()).1, "{wrong}");
    }
}

#[test]
fn session_reads_only_its_entries() {
    let sandbox = Sandbox::new();
    let other = kept(&sandbox, "other");
    let file = sandbox.path().join(".config/offcut/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "mcp.readable = \"session\"\n").unwrap();
    let mut client = Client::proxied(&sandbox, &[], &[&text_result(1, &large())]);
    assert!(client.read(json!({"id": other})).1);
    assert!(client.read(json!({"id": "last"})).1);
    client.send(CALL);
    let own = client.json()["result"]["_meta"]["offcut.dev/cut"]["id"].as_str().unwrap().to_owned();
    assert!(!client.read(json!({"id": own})).1);
    assert!(!client.read(json!({"id": "last"})).1);
    assert!(client.read(json!({"id": other})).1);
    sandbox.run(&["mcp", "serve"], b"").failed(2, "--session");
    let mut client = Client::start(&sandbox, &["mcp", "serve", "--session", "other"]);
    assert!(!client.read(json!({"id": other})).1);
    assert!(client.read(json!({"id": own})).1);
}

#[test]
fn serve_offers_tools_and_resources() {
    let sandbox = Sandbox::new();
    let id = kept(&sandbox, "one");
    let mut client = Client::start(&sandbox, &["mcp", "serve"]);
    for (asked, given) in
        [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25")]
    {
        let answer = client.ask(1, "initialize", json!({"protocolVersion": asked, "capabilities": {}}));
        assert_eq!(answer["result"]["protocolVersion"], given);
    }
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(client.ask("p", "ping", json!({}))["result"], json!({}));
    let tools = client.ask(2, "tools/list", json!({}));
    assert_eq!(names(&tools), ["offcut_read", "offcut_search", "offcut_list"]);
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["_meta"]["anthropic/maxResultSizeChars"], 500_000, "{tool}");
    }
    assert_eq!(client.read(json!({"id": id, "bytes": "0:4"})).0[0], "1\n2\n");
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let answer = client.ask(3, "tools/call", call("offcut_search", json!({"pattern": "^1999[89]$"})));
    assert_eq!(texts(&answer["result"])[0], "19998:19998\n19999:19999\n");
    let answer = client.ask(4, "tools/call", call("offcut_list", json!({})));
    assert!(texts(&answer["result"])[0].contains(&id), "{answer}");
    let listed = client.ask(5, "resources/list", json!({}));
    let uri = listed["result"]["resources"][0]["uri"].as_str().unwrap().to_owned();
    let whole = client.ask(6, "resources/read", json!({"uri": uri}));
    assert_eq!(whole["result"]["contents"][0]["text"], numbered(20_000));
    assert_eq!(client.ask(7, "tools/call", call("nothing", json!({})))["error"]["code"], -32602);
    assert_eq!(client.ask(8, "no/such", json!({}))["error"]["code"], -32601);
    client.send("not JSON");
    assert_eq!(client.json()["error"]["code"], -32700);
    client.send(r#"[{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#);
    assert_eq!(client.json()["id"], 9);
    assert_eq!(client.leave(), (Some(0), String::new(), String::new()));
}

#[test]
fn binary_output_is_returned_unchanged() {
    let sandbox = Sandbox::new();
    let mut bytes = numbered(20_000).into_bytes();
    bytes.extend_from_slice(b"\xFF\xFE");
    sandbox.run(&["cut"], &bytes);
    let mut client = Client::start(&sandbox, &["mcp", "serve"]);
    let answer = client.ask(1, "resources/read", json!({"uri": "offcut://last?bytes=0:4"}));
    assert_eq!(answer["result"]["contents"][0]["text"], "1\n2\n");
    let answer = client.ask(2, "resources/read", json!({"uri": "offcut://last?lines=-1:"}));
    assert_eq!(answer["result"]["contents"][0]["blob"], "//4=");
}
