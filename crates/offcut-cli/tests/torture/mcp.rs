//! Hostile MCP servers and clients on standard input and output: the proxy keeps running, and no answer exceeds the budget.

use crate::harness::{Sandbox, finish, isolate};
use crate::random::Random;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// The default limit.
pub(crate) const BUDGET: usize = 9500;

/// Answers each line with the next file, and the last request with a large result.
const SERVER: &str = r#"n=0
while IFS= read -r line; do
    case $line in
        *last-request*) cat last;;
        *) n=$((n + 1)); if [ -f "answer.$n" ]; then cat "answer.$n"; fi;;
    esac
done
"#;

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    let is_proxy = !random.once_in(4);
    if is_proxy {
        command.args(["mcp", "proxy", "--max-bytes", &BUDGET.to_string(), "--", "/bin/sh", "-c", SERVER]);
    } else {
        command.args(["mcp", "serve"]);
    }
    let count = 1 + random.below(8);
    let (mut requests, mut calls) = (Vec::new(), Vec::new());
    for id in 0..count {
        std::fs::write(sandbox.path().join(format!("answer.{}", id + 1)), answer(random, id)).unwrap();
        if random.once_in(2) {
            calls.push(id);
            requests.extend(call(id).bytes());
        } else {
            requests.extend(noise(random, id));
        }
        requests.push(b'\n');
    }
    std::fs::write(sandbox.path().join("last"), large_result("\"last-request\"")).unwrap();
    let last = if is_proxy {
        r#"{"jsonrpc":"2.0","id":"last-request","method":"tools/call","params":{"name":"t"}}"#
    } else {
        r#"{"jsonrpc":"2.0","id":"last-request","method":"ping"}"#
    };
    requests.extend(last.bytes().chain(*b"\n"));
    let seen = converse(command, requests);
    let last = check_answers(&seen, calls);
    assert!(last.is_some(), "no answer to the last request: {}", String::from_utf8_lossy(&seen));
    if is_proxy {
        assert!(last.unwrap().to_string().contains("offcut_read"), "the last answer is not bounded");
    }
    count as u64
}

/// Sends everything, and returns everything that arrives until the last request is answered.
pub(crate) fn converse(mut command: Command, requests: Vec<u8>) -> Vec<u8> {
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    isolate(&mut command);
    let mut child = command.spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut errors = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = std::io::Read::read_to_end(&mut errors, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(&requests);
        input
    });
    let mut seen = Vec::new();
    loop {
        let start = seen.len();
        if output.read_until(b'\n', &mut seen).unwrap() == 0 || is_last(&seen[start..]) {
            break;
        }
    }
    drop(writer.join().unwrap());
    drop(output);
    let ran = finish(child);
    let errors = errors.join().unwrap();
    assert!(!errors.contains("panicked") && ran.code == Some(0), "exit {:?}: {errors}", ran.code);
    seen
}

fn is_last(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|answer| answer["id"] == "last-request")
}

/// Checks the first answer to each call, and returns the last answer. Answers that no call waits for pass unchanged.
pub(crate) fn check_answers(seen: &[u8], mut calls: Vec<usize>) -> Option<Value> {
    let mut last = None;
    for line in seen.split(|&byte| byte == b'\n') {
        let Ok(answer) = serde_json::from_str::<Value>(&String::from_utf8_lossy(line)) else { continue };
        if answer["id"] == "last-request" {
            check_budget(&answer);
            last = Some(answer);
        } else if let Some(at) = calls.iter().position(|id| answer["id"] == *id) {
            calls.remove(at);
            check_budget(&answer);
        }
    }
    last
}

fn check_budget(answer: &Value) {
    let parts = answer["result"]["content"].as_array().into_iter().flatten();
    let texts: usize = parts.filter_map(|part| part["text"].as_str()).map(str::len).sum();
    let structure = &answer["result"]["structuredContent"];
    let structure = if structure.is_null() { 0 } else { structure.to_string().len() };
    let message = answer["error"]["message"].as_str().map_or(0, str::len);
    for (name, size) in [("text", texts), ("structure", structure), ("message", message)] {
        assert!(
            size <= BUDGET,
            "a {name} of {size} bytes: {}",
            answer.to_string().chars().take(3000).collect::<String>()
        );
    }
}

pub(crate) fn call(id: usize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t", "arguments": {}}})
        .to_string()
}

pub(crate) fn large_result(id: &str) -> String {
    let text = "a line of a large result\\n".repeat(3000);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

/// What a hostile server sends for a call.
pub(crate) fn answer(random: &mut Random, id: usize) -> Vec<u8> {
    let size = random.size(200_000);
    let big = "x y\\n".repeat(size / 4);
    let result =
        |result: String| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes();
    let deep = size / 10;
    match random.below(16) {
        0 => large_result(&id.to_string()).into_bytes(),
        1 => result(format!("{{\"content\":[{}]}}", vec![format!("{{\"type\":\"text\",\"text\":\"{}\"}}", "z".repeat(300)); 1 + size / 300].join(","))),
        2 => result(format!("{{\"content\":[],\"structuredContent\":{{\"a\":\"{big}\"}}}}")),
        3 => result(format!("{}{}", "{\"a\":".repeat(deep), "[".repeat(deep))),
        4 => result(format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{big}\"}}],\"x\":{}{}}}", "[".repeat(deep), "]".repeat(deep))),
        5 => [random.bytes(size / 4), b"\n".to_vec()].concat(),
        6 => {
            let mut line = large_result(&id.to_string()).into_bytes();
            for _ in 0..20 {
                let at = random.below(line.len() - 1);
                line[at] = 0x80 | random.number() as u8;
            }
            line
        }
        7 => large_result(&format!("{id}, \"id\": {id}")).into_bytes(),
        8 => large_result(&format!("{id}.0")).into_bytes(),
        9 => large_result(&id.to_string()).replace("\"id\"", "\"\\u0069d\"").into_bytes(),
        10 => [large_result(&id.to_string()), large_result(&id.to_string())].concat().into_bytes(),
        11 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"{big}\",\"data\":\"{big}\"}}}}\n").into_bytes(),
        12 => result(format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\\ud800\"}}]}}", "\\u0000\\ud83d".repeat(size / 12))),
        13 => format!("\u{feff}{}", large_result(&id.to_string())).into_bytes(),
        14 => format!("{}\n", large_result(&id.to_string()).trim_end().repeat(2)).into_bytes(),
        _ => "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n".repeat(1 + size / 100).into_bytes(),
    }
}

/// What a hostile client sends instead of a call, without line feeds.
pub(crate) fn noise(random: &mut Random, id: usize) -> Vec<u8> {
    let size = random.size(20_000);
    let mut line = match random.below(10) {
        0 => random.bytes(size),
        1 => "{\"a\":".repeat(size).into_bytes(),
        2 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{}\"}}}}", "n".repeat(size)).into_bytes(),
        3 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"resources/read\",\"params\":{{\"uri\":\"offcut://../../etc/passwd\"}}}}").into_bytes(),
        4 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"offcut_read\",\"arguments\":{{\"id\":\"{}\"}}}}}}", "9".repeat(size)).into_bytes(),
        5 => format!("[{}]", vec![call(id); 1 + size / 1000].join(",")).into_bytes(),
        6 => call(id).replace("\"id\"", "\"id\":0,\"id\"").into_bytes(),
        7 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\"}}", "1".repeat(size)).into_bytes(),
        8 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}").into_bytes(),
        _ => Vec::new(),
    };
    line.retain(|&byte| byte != b'\n');
    line
}
