//! Version 2026-07-28 of the protocol: no `initialize`, each request names its version, and tasks have their results inline.

use super::{Client, large, result_of, texts};
use crate::harness::{Sandbox, numbered};
use serde_json::{Value, json};

/// Parameters that name the version.
fn versioned(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// Checks what the version requires in every result.
#[track_caller]
fn complete(answer: &Value) -> &Value {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete", "{answer}");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")), "{answer}");
    result
}

fn without_method(id: u64) -> String {
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
    )
}

#[test]
fn answers_of_the_proxy_have_what_the_version_requires() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(20_000).as_bytes());
    let mut client = Client::proxied(&sandbox, &[], &[]);
    let call = json!({"name": "offcut_read", "arguments": {"id": "last", "lines": "5:5"}});
    let answer = client.ask(1, "tools/call", versioned(call.clone()));
    assert_eq!(texts(complete(&answer))[0], "5\n");
    let answer = client.ask(2, "resources/read", versioned(json!({"uri": "offcut://last?lines=7:7"})));
    assert_eq!(complete(&answer)["contents"][0]["text"], "7\n");
    let answer = client.ask(3, "resources/read", versioned(json!({"uri": "offcut://nothing"})));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // Clients of other versions get nothing that they do not know.
    let answer = client.ask(4, "tools/call", call);
    assert!(answer["result"]["resultType"].is_null() && answer["result"]["ttlMs"].is_null(), "{answer}");
    let answer = client.ask(5, "resources/read", json!({"uri": "offcut://nothing"}));
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
}

/// A client may ask for the capabilities in a process of its own.
#[test]
fn proxy_lists_resources_without_having_seen_the_capabilities() {
    let sandbox = Sandbox::new();
    let listed = result_of(3, &json!({"resources": [{"uri": "x:", "name": "x"}], "resultType": "complete"}));
    let other =
        format!("{}\n", json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32603, "message": "no"}}));
    let mut client =
        Client::proxied(&sandbox, &[], &[&without_method(1), &without_method(2), &listed, &other]);
    let answer = client.ask(1, "resources/list", versioned(json!({})));
    assert_eq!(complete(&answer)["resources"], json!([]));
    let answer = client.ask(2, "resources/templates/list", versioned(json!({})));
    assert_eq!(complete(&answer)["resourceTemplates"][0]["uriTemplate"], "offcut://{id}{?lines,bytes}");
    // What the server answers passes.
    client.send(
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list", "params": versioned(json!({}))})
            .to_string(),
    );
    assert_eq!(client.line() + "\n", listed);
    client.send(
        json!({"jsonrpc": "2.0", "id": 4, "method": "resources/list", "params": versioned(json!({}))})
            .to_string(),
    );
    assert_eq!(client.line() + "\n", other);
}

#[test]
fn server_with_resources_keeps_its_errors() {
    let sandbox = Sandbox::new();
    let found = result_of(
        1,
        &json!({"capabilities": {"tools": {}, "resources": {}}, "supportedVersions": ["2026-07-28"]}),
    );
    let mut client = Client::proxied(&sandbox, &[], &[&found, &without_method(2)]);
    client.ask(1, "server/discover", versioned(json!({})));
    let answer = client.ask(2, "resources/templates/list", versioned(json!({})));
    assert_eq!(answer["error"]["code"], -32601);
}

#[test]
fn results_inside_tasks_are_bounded() {
    let sandbox = Sandbox::new();
    let tools = json!([{"name": "slow", "inputSchema": {"type": "object"}, "outputSchema": {
        "type": "object", "properties": {"kind": {"enum": ["x".repeat(12_000)]}, "rows": {"type": "array", "items": {"type": "integer"}}},
        "required": ["kind", "rows"], "additionalProperties": false}}]);
    let task = json!({"taskId": "t1", "status": "working", "createdAt": "2026-07-28T00:00:00Z"});
    let mut created = task.clone();
    created["resultType"] = "task".into();
    let finished = |result: Value| {
        let mut task = task.clone();
        task["status"] = "completed".into();
        task["result"] = result;
        task
    };
    let text = json!({"content": [{"type": "text", "text": large()}]});
    let rows: Vec<u32> = (0..50_000).collect();
    let structured = json!({"content": [], "structuredContent": {"kind": "x".repeat(12_000), "rows": rows}});
    let mut failed = task.clone();
    failed["status"] = "failed".into();
    failed["error"] = json!({"code": -32603, "message": large()});
    let notification = |params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params}))
    };
    let mut client = Client::proxied(
        &sandbox,
        &[],
        &[
            &result_of(1, &json!({"tools": tools})),
            &result_of(2, &created),
            &(notification(finished(text.clone())) + &result_of(3, &finished(text))),
            &result_of(4, &finished(structured)),
            &(notification(failed.clone()) + &result_of(5, &failed)),
        ],
    );
    client.ask(1, "tools/list", versioned(json!({})));
    assert_eq!(client.ask(2, "tools/call", versioned(json!({"name": "slow"})))["result"], created);
    let ask = |client: &mut Client, id: u64| {
        let params = versioned(json!({"taskId": "t1"}));
        client.send(json!({"jsonrpc": "2.0", "id": id, "method": "tasks/get", "params": params}).to_string());
    };
    ask(&mut client, 3);
    for key in ["params", "result"] {
        let line = client.line();
        assert!(line.len() < 11_000, "{} bytes", line.len());
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message[key]["status"], "completed");
        assert!(texts(&message[key]["result"]).concat().contains("ERROR: the needle is here"), "{line}");
    }
    // By the schema of the tool that was called: `kind` must stay complete.
    ask(&mut client, 4);
    let line = client.line();
    assert!(line.len() < 25_000, "{} bytes", line.len());
    let message: Value = serde_json::from_str(&line).unwrap();
    let structure = &message["result"]["result"]["structuredContent"];
    assert_eq!(structure["kind"], "x".repeat(12_000));
    assert!(structure["offcut"].is_null(), "{line:.500}");
    ask(&mut client, 5);
    for key in ["params", "result"] {
        let line = client.line();
        assert!(line.len() < 11_000, "{} bytes", line.len());
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message[key]["error"]["code"], -32603);
    }
}

#[test]
fn serve_supports_the_version() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(20_000).as_bytes());
    let mut client = Client::start(&sandbox, &["mcp", "serve"]);
    let answer = client.ask(1, "server/discover", versioned(json!({})));
    let found = complete(&answer);
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{answer}");
    assert_eq!(found["capabilities"], json!({"tools": {}, "resources": {}}));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "offcut");
    let answer = client.ask(2, "tools/list", versioned(json!({})));
    assert_eq!(complete(&answer)["tools"][0]["name"], "offcut_read");
    let call = json!({"name": "offcut_read", "arguments": {"id": "last", "lines": "5:5"}});
    assert_eq!(texts(complete(&client.ask(3, "tools/call", versioned(call))))[0], "5\n");
    complete(&client.ask(4, "resources/list", versioned(json!({}))));
    complete(&client.ask(5, "resources/templates/list", versioned(json!({}))));
    complete(&client.ask(6, "ping", versioned(json!({}))));
    let answer = client.ask(7, "resources/read", versioned(json!({"uri": "file:///x"})));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let mut params = versioned(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let answer = client.ask(8, "tools/list", params);
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
    assert!(
        answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2025-11-25")),
        "{answer}"
    );
}
