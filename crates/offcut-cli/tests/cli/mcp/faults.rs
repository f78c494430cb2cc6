//! Failures: nothing hangs, every loss is reported, memory is bounded.

use super::{CALL, Client, SERVER, peak, result_of, text_result};
use crate::harness::{Sandbox, until};
use serde_json::{Value, json};
use std::io::Read;

#[test]
fn every_request_is_answered_when_the_server_dies() {
    let sandbox = Sandbox::new();
    // Two requests are pending; the server sends half a message.
    let script =
        "read a; read b; read c; printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"resu'; echo oops >&2; exit 7";
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", script]);
    client.send(CALL);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.send(r#"{"jsonrpc":"2.0","id":"two","method":"prompts/list"}"#);
    let mut answers = [client.json(), client.json()];
    answers.sort_by_key(|answer| answer["id"].is_string());
    for (answer, id) in answers.iter().zip([json!(1), json!("two")]) {
        assert_eq!(answer["id"], id);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("the server has ended (exit status: 7)"), "{message}");
    }
    let (code, rest, stderr) = client.leave();
    assert_eq!((code, rest.as_str()), (Some(7), ""));
    for said in ["oops", "in the middle of a message", "the MCP server ended: exit status: 7"] {
        assert!(stderr.contains(said), "{stderr}");
    }
}

#[test]
fn last_line_without_line_feed_is_a_message_if_it_is_json() {
    let sandbox = Sandbox::new();
    let answer = result_of(1, &json!({"content": []}));
    std::fs::write(sandbox.path().join("last"), answer.trim_end()).unwrap();
    let mut client = Client::proxied(&sandbox, &[], &[]);
    let input = client.input.as_mut().unwrap();
    std::io::Write::write_all(input, CALL.as_bytes()).unwrap();
    let (code, rest, _) = client.leave();
    assert_eq!((code, rest), (Some(0), answer));
    assert_eq!(std::fs::read_to_string(sandbox.path().join("seen")).unwrap(), format!("{CALL}\n"));
}

#[test]
fn too_large_message_is_an_error_and_the_stream_continues() {
    let sandbox = Sandbox::new();
    let huge = text_result(1, &"x".repeat(3_000_000));
    let asks = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {"x": "y".repeat(2_000_000)}})
    );
    let mut client =
        Client::proxied(&sandbox, &["--largest-message", "1MiB"], &[&huge, &text_result(2, "small"), &asks]);
    client.send(CALL);
    let answer = client.json();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("the limit is 1048576"), "{answer}");
    let answer = client.ask(2, "tools/call", json!({"name": "big"}));
    assert_eq!(answer["result"]["content"][0]["text"], "small");
    // A request of the server is answered with an error.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
    let seen = sandbox.path().join("seen");
    until(|| std::fs::read_to_string(&seen).unwrap().lines().count() == 4);
    let last: Value =
        serde_json::from_str(std::fs::read_to_string(&seen).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!("s"), &json!(-32000)));
    // A request of the client does not reach the server.
    let answer = client.ask(3, "tools/call", json!({"name": "z".repeat(2_000_000)}));
    assert_eq!(answer["error"]["code"], -32000);
    let (code, rest, _) = client.leave();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(&seen).unwrap().lines().count(), 4);
}

#[test]
fn command_of_the_server_needs_no_separator() {
    let sandbox = Sandbox::new();
    let script = "printf '%s\\n' \"$@\"";
    let arguments = ["mcp", "proxy", "--name", "x", "/bin/sh", "-c", script, "sh", "-y", "--url", "--", "z"];
    let client = Client::start(&sandbox, &arguments);
    assert_eq!(client.leave().1, "-y\n--url\n--\nz\n");
    sandbox.run(&["mcp", "proxy", "/no/such/server", "--flag"], b"").failed(127, "cannot start");
}

#[test]
fn reports_a_server_that_does_not_start_or_read() {
    let sandbox = Sandbox::new();
    sandbox.run(&["mcp", "proxy", "--", "/no/such/server"], b"").failed(127, "cannot start");
    sandbox.run(&["mcp", "proxy", "--", "/etc/passwd"], b"").failed(126, "cannot start");
    sandbox.run(&["mcp", "proxy"], b"").failed(2, "--url");
    sandbox.run(&["mcp", "proxy", "--max-bytes", "3", "--", "cat"], b"").failed(2, "256");
    // It has closed its input and keeps running.
    let script = "exec 0<&-; echo ready; while [ ! -f go ]; do sleep 0.01; done";
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", script]);
    assert_eq!(client.line(), "ready");
    client.send(CALL);
    let answer = client.json();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("does not read its input"), "{answer}");
    std::fs::write(sandbox.path().join("go"), "").unwrap();
    assert_eq!(client.leave().0, Some(0));
}

#[test]
fn signals_are_passed_to_the_server() {
    let sandbox = Sandbox::new();
    let script = "trap 'echo told > told; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", script]);
    assert_eq!(client.line(), "ready");
    let pid = rustix::process::Pid::from_child(&client.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    client.child.wait().unwrap();
    assert!(sandbox.path().join("told").exists());
}

/// A server that is started by a shell or `npx` ends, too.
#[test]
fn server_started_by_a_wrapper_ends_with_the_proxy() {
    let sandbox = Sandbox::new();
    let inner = "trap \"echo told > told; exit\" TERM; echo ready; while :; do sleep 0.01; done";
    let script = format!("/bin/sh -c '{inner}'; true");
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", &script]);
    assert_eq!(client.line(), "ready");
    let pid = rustix::process::Pid::from_child(&client.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    client.child.wait().unwrap();
    // The proxy waits only for the first process.
    until(|| sandbox.path().join("told").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn server_waits_when_the_client_does_not_read() {
    let sandbox = Sandbox::new();
    // Endless notifications; a file says when they begin.
    let script = r#"line=$(printf '{"jsonrpc":"2.0","method":"x","params":"%01000d"}' 0)
        n=0; while [ $n -lt 200 ]; do echo "$line"; n=$((n + 1)); echo $n > far; done
        while :; do echo "$line"; done"#;
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", script]);
    // It has begun, and the client does not read; the system decides how much the pipes hold.
    let far = sandbox.path().join("far");
    let how_far = || std::fs::read_to_string(&far).ok().and_then(|far| far.trim().parse::<u32>().ok());
    until(|| how_far().is_some_and(|lines| lines >= 4));
    let mut bytes = vec![0; 1 << 20];
    let mut total = 0;
    while total < 30 << 20 {
        total += client.output.read(&mut bytes).unwrap();
    }
    assert!(peak(client.child.id()) < 40_000, "{} KiB", peak(client.child.id()));
    client.child.kill().unwrap();
    client.child.wait().unwrap();
}

#[test]
fn batch_is_split_only_for_local_requests() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], crate::harness::numbered(20_000).as_bytes());
    let mut client = Client::proxied(&sandbox, &[], &[&text_result(2, "small")]);
    let ours = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"offcut_read","arguments":{"id":"last","lines":"1:1"}}}"#;
    let theirs = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call", "params":{"name":"x"}}"#;
    client.send(format!("[ {ours} , {theirs} ]"));
    let mut answers = [client.json(), client.json()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"]["content"][0]["text"], "1\n");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "small");
    drop(client);
    let seen = std::fs::read_to_string(sandbox.path().join("seen")).unwrap();
    assert_eq!(seen, format!("[ {theirs} ]\n"));
    assert!(SERVER.contains("seen"));
}
