//! What goes wrong: nothing hangs, nothing is lost without a word, memory is bounded.

use super::{CALL, Client, SERVER, result_of, text_result};
use crate::harness::{Sandbox, until};
use serde_json::{Value, json};
use std::io::Read;

#[test]
fn a_server_that_dies_leaves_no_request_unanswered() {
    let sandbox = Sandbox::new();
    // Two requests wait; half a message is all that comes.
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
fn a_last_line_without_its_end_is_a_message_if_it_is_one() {
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
fn a_message_that_is_too_large_is_an_error_and_the_stream_goes_on() {
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
    // What the server asks goes back to the server as an error.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
    let seen = sandbox.path().join("seen");
    until(|| std::fs::read_to_string(&seen).unwrap().lines().count() == 4);
    let last: Value =
        serde_json::from_str(std::fs::read_to_string(&seen).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!("s"), &json!(-32000)));
    // What the client asks does not reach the server.
    let answer = client.ask(3, "tools/call", json!({"name": "z".repeat(2_000_000)}));
    assert_eq!(answer["error"]["code"], -32000);
    let (code, rest, _) = client.leave();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(&seen).unwrap().lines().count(), 4);
}

#[test]
fn a_server_that_does_not_start_or_listen() {
    let sandbox = Sandbox::new();
    sandbox.run(&["mcp", "proxy", "--", "/no/such/server"], b"").failed(127, "cannot start");
    sandbox.run(&["mcp", "proxy", "--", "/etc/passwd"], b"").failed(126, "cannot start");
    sandbox.run(&["mcp", "proxy"], b"").failed(2, "--url");
    sandbox.run(&["mcp", "proxy", "--max-bytes", "3", "--", "cat"], b"").failed(2, "256");
    // It has closed its input, and lives.
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
fn a_signal_is_for_the_server() {
    let sandbox = Sandbox::new();
    let script = "trap 'echo told > told; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", script]);
    assert_eq!(client.line(), "ready");
    let pid = rustix::process::Pid::from_child(&client.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    client.child.wait().unwrap();
    assert!(sandbox.path().join("told").exists());
}

/// A shell or `npx` before the server is not what has to end.
#[test]
fn a_server_behind_another_program_ends_with_it() {
    let sandbox = Sandbox::new();
    let inner = "trap \"echo told > told; exit\" TERM; echo ready; while :; do sleep 0.01; done";
    let script = format!("/bin/sh -c '{inner}'; true");
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", &script]);
    assert_eq!(client.line(), "ready");
    let pid = rustix::process::Pid::from_child(&client.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    client.child.wait().unwrap();
    // The proxy waits for the first of them only.
    until(|| sandbox.path().join("told").exists());
}

/// The most memory that a process ever had, in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_does_not_read_makes_the_server_wait() {
    let sandbox = Sandbox::new();
    // Notifications without end; how far it has come is in a file, at first.
    let script = r#"line=$(printf '{"jsonrpc":"2.0","method":"x","params":"%01000d"}' 0)
        n=0; while [ $n -lt 200 ]; do echo "$line"; n=$((n + 1)); echo $n > far; done
        while :; do echo "$line"; done"#;
    let mut client = Client::start(&sandbox, &["mcp", "proxy", "--", "/bin/sh", "-c", script]);
    // It has begun, and nobody reads; how much fits the pipes is for the system to say.
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
fn a_batch_is_taken_apart_only_for_what_is_ours() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], crate::harness::numbered(20_000).as_bytes());
    let mut client = Client::proxied(&sandbox, &[], &[&text_result(2, "small")]);
    let ours = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"offcut_read","arguments":{"id":"last","lines":"1:1"}}}"#;
    let theirs = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call", "params":{"name":"x"}}"#;
    client.send(&format!("[ {ours} , {theirs} ]"));
    let mut answers = [client.json(), client.json()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"]["content"][0]["text"], "1\n");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "small");
    drop(client);
    let seen = std::fs::read_to_string(sandbox.path().join("seen")).unwrap();
    assert_eq!(seen, format!("[ {theirs} ]\n"));
    assert!(SERVER.contains("seen"));
}
