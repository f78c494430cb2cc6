//! `offcut mcp`: what passes unchanged, what is bounded, and how the rest is read.

mod budget;
mod clients;
mod faults;
mod http;
mod results;
mod retrieval;
mod structured;
mod versions;

use crate::harness::Sandbox;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A scripted server: after each line that it reads, it prints the file of that number.
const SERVER: &str = r#"n=0
while IFS= read -r line; do
    n=$((n + 1))
    printf '%s\n' "$line" >> seen
    if [ -f "answer.$n" ]; then cat "answer.$n"; fi
done
if [ -f last ]; then cat last; fi
"#;

/// A client of the real binary.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Client {
        Client::start_with(sandbox, arguments, &[])
    }

    fn start_with(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Client {
        let mut command = sandbox.command();
        command.args(arguments).env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(variables.iter().copied());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Client { child, input, output }
    }

    /// A proxy and a server that answers its lines with these texts.
    fn proxied(sandbox: &Sandbox, options: &[&str], answers: &[&str]) -> Client {
        for (index, answer) in answers.iter().enumerate() {
            std::fs::write(sandbox.path().join(format!("answer.{}", index + 1)), answer).unwrap();
        }
        let mut arguments = vec!["mcp", "proxy"];
        arguments.extend(options);
        arguments.extend(["--", "/bin/sh", "-c", SERVER]);
        Client::start(sandbox, &arguments)
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The next line without its line feed.
    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the stream has ended: {line:?}");
        line.pop();
        line
    }

    #[track_caller]
    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    #[track_caller]
    fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let answer = self.json();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls the read tool; returns its text and whether it is an error.
    #[track_caller]
    fn read(&mut self, arguments: Value) -> (Vec<String>, bool) {
        let answer = self.ask("own", "tools/call", json!({"name": "offcut_read", "arguments": arguments}));
        let result = &answer["result"];
        assert_eq!(result["_meta"]["anthropic/maxResultSizeChars"], 500_000, "{answer}");
        (texts(result), result["isError"] == true)
    }

    /// Closes the client's end; returns the exit code, the remaining output and the standard error.
    fn leave(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        let ended = self.child.wait_with_output().unwrap();
        (ended.status.code(), rest, String::from_utf8_lossy(&ended.stderr).into_owned())
    }
}

fn texts(result: &Value) -> Vec<String> {
    let parts = result["content"].as_array().unwrap();
    parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect()
}

/// Half a megabyte of lines, one of them an error.
fn large() -> String {
    (0..20_000)
        .map(|number| match number {
            12_345 => "ERROR: the needle is here\n".to_owned(),
            _ => format!("line {number} of an output\n"),
        })
        .collect()
}

fn result_of(id: u64, result: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn text_result(id: u64, text: &str) -> String {
    result_of(id, &json!({"content": [{"type": "text", "text": text}]}))
}

/// The peak memory of a process in KiB.
#[cfg(target_os = "linux")]
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{}}}"#;

#[test]
fn other_messages_pass_byte_for_byte() {
    let sandbox = Sandbox::new();
    // Unknown fields, a future content type, unusual numbers and escapes, duplicates, white space, notifications.
    let said = [
        "  {\"jsonrpc\" : \"2.0\",\"id\":1e2, \"result\":{ \"content\":[{\"type\":\"hologram\",\"n\":9223372036854775809}],\"a\":1,\"a\":2,\"x\":\"\\u0041\"} , \"future\":[1.0E+5]}\t\r\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"t\",\"progress\":1e2,\"extra\":null}}\n{\"id\":\"100\",\"jsonrpc\":\"2.0\",\"method\":\"sampling/createMessage\",\"params\":{\"later\":{}}}\n",
        "this is not JSON\n\n[{\"jsonrpc\":\"2.0\",\"id\":18446744073709551617,\"result\":{}} ,\n{\"half\":\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"error\":{\"code\":-32001,\"message\":\"no\",\"extra\":{\"b\":1}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n",
    ];
    let asked = [
        "{\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"x\":1e2,\"x\":\"\\u0041\"}}",
        " { \"id\" : 18446744073709551617, \"method\":\"prompts/get\", \"params\":{ },\"jsonrpc\":\"2.0\" } \r",
        "neither is this",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1e2,\"reason\":\"é\\u00e9\"}}",
    ];
    let mut client = Client::proxied(&sandbox, &[], &said);
    asked.iter().for_each(|line| client.send(line));
    let (code, got, stderr) = client.leave();
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(got, said.concat());
    let seen = std::fs::read_to_string(sandbox.path().join("seen")).unwrap();
    assert_eq!(seen, asked.map(|line| format!("{line}\n")).concat());
    assert!(!sandbox.store().exists(), "nothing was kept");
}
