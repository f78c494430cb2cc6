//! `offcut ls`: what was run, and which outputs are listed.

use crate::harness::{Sandbox, feed, numbered};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::time::Duration;

/// Runs a command line in a shell with `offcut run`, in a directory below the sandbox.
fn run_in(sandbox: &Sandbox, directory: &str, line: &str) {
    let directory = sandbox.path().join(directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut command = sandbox.command();
    command.args(["run", "--", "/bin/sh", "-c", line]).env("PATH", std::env::var_os("PATH").unwrap());
    feed(
        {
            command.current_dir(directory);
            command
        },
        b"",
    );
}

/// The command lines that `ls` lists, newest first.
fn listed(sandbox: &Sandbox, directory: &str, options: &[&str]) -> Vec<String> {
    let mut command = sandbox.command();
    command.args(["ls", "--format", "json"]).args(options).current_dir(sandbox.path().join(directory));
    let rows = feed(command, b"").json();
    let line = |row: &Value| row["command"].as_str().unwrap_or("-").to_owned();
    rows.as_array().unwrap().iter().map(line).collect()
}

fn newest(sandbox: &Sandbox) -> Value {
    sandbox.run(&["ls", "-n", "1", "--format", "json"], b"").json()[0].clone()
}

#[test]
fn every_front_end_records_what_was_run_where_and_by_whom() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path().canonicalize().unwrap();
    let directory = directory.to_str().unwrap();
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let check = |front_end: &str, expected: Value| {
        let entry = newest(&sandbox);
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&entry[field], value, "{front_end}: {field} in {entry}");
        }
        assert_eq!((&entry["host"], &entry["user"]), (&json!(host), &json!("ann")), "{front_end}: {entry}");
    };
    let started = |front_end: &str| {
        let entry = newest(&sandbox);
        assert!(entry["started"].as_str().is_some_and(|time| time.ends_with('Z')), "{front_end}: {entry}");
    };
    let run = |arguments: &[&str], variables: &[(&str, &str)], input: &str| {
        let mut command = sandbox.command();
        command.args(arguments).env("USER", "ann").env("PATH", std::env::var_os("PATH").unwrap());
        feed(
            {
                command.envs(variables.iter().copied());
                command
            },
            input.as_bytes(),
        )
    };
    let claude = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s-1")];

    run(&["run", "--", "/bin/sh", "-c", "seq 9000; exit 3"], &[], "");
    check(
        "run",
        json!({
            "command": "/bin/sh -c 'seq 9000; exit 3'", "directory": directory, "exit_code": 3, "agent": null,
        }),
    );
    assert!(newest(&sandbox)["duration_ms"].is_u64());
    started("run");
    run(&["run", "--", "/bin/sh", "-c", "seq 9000; kill -9 $$"], &claude, "");
    check("run for an agent", json!({ "signal": 9, "exit_code": 137, "agent": "claude" }));

    run(&["shell", "-c", "seq 90000; exit 4"], &claude, "");
    check(
        "shell",
        json!({
            "command": "seq 90000; exit 4", "directory": directory, "exit_code": 4, "agent": "claude", "tool": "bash",
        }),
    );
    started("shell");

    run(&["cut"], &claude, &numbered(5000));
    check("cut", json!({ "command": null, "directory": directory, "exit_code": null, "agent": "claude" }));
    started("cut");

    let part = json!([{ "type": "text", "text": numbered(50_000) }]);
    run(&["result", "--tool", "find"], &claude, &json!({ "content": part }).to_string());
    check("result", json!({ "tool": "find", "directory": directory, "agent": "claude" }));

    let call = |input: Value| {
        json!({
            "tool_name": "mcp__files__find", "tool_use_id": "t-1", "session_id": "s-2", "cwd": "/project/x",
            "tool_input": input, "tool_response": part,
        })
    };
    run(&["hook", "claude", "after"], &[], &call(json!({ "name": "*.rs" })).to_string());
    check(
        "hook",
        json!({
            "command": "{\"name\":\"*.rs\"}", "directory": "/project/x", "agent": "claude", "session": "s-2",
            "call_id": "t-1", "tool": "mcp__files__find",
        }),
    );
    run(&["hook", "claude", "after"], &[], &call(json!({ "command": "ls -lR" })).to_string());
    check("hook of a command", json!({ "command": "ls -lR" }));

    let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": { "content": part } });
    std::fs::write(sandbox.path().join("answer"), format!("{answer}\n")).unwrap();
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "clientInfo": { "name": "editor" } } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "find", "arguments": { "n": 1 } } }),
    ];
    let requests: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let server = "read -r line; read -r line; cat answer";
    run(&["mcp", "proxy", "--session", "s-3", "--", "/bin/sh", "-c", server], &[], &requests);
    check(
        "mcp proxy",
        json!({
            "command": "{\"n\":1}", "directory": directory, "agent": "editor", "session": "s-3", "tool": "find",
        }),
    );
    started("mcp proxy");
}

#[test]
fn ls_filters_by_what_was_run() {
    let sandbox = Sandbox::new();
    run_in(&sandbox, "project", "seq 9001; exit 1");
    run_in(&sandbox, "project/sub", "seq 9002");
    run_in(&sandbox, "project2", "seq 9003; kill -TERM $$");
    let mut command = sandbox.command();
    command.args(["shell", "-c", "seq 20004"]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "s-1");
    feed(
        {
            command.env("PATH", std::env::var_os("PATH").unwrap());
            command
        },
        b"",
    );
    sandbox.run(&["cut", "--session", "s-2"], numbered(5000).as_bytes());

    let check = |directory: &str, options: &[&str], expected: &[&str]| {
        let found = listed(&sandbox, directory, options);
        assert_eq!(found.len(), expected.len(), "{options:?}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{options:?}: {found} instead of {expected}");
        }
    };
    check("", &["--failed"], &["9003", "9001"]);
    check("", &["--grep", "SEQ [0-9]*3"], &[]);
    check("", &["--grep", "seq [0-9]*[13]"], &["9003", "9001"]);
    check("", &["--agent", "claude"], &["20004"]);
    check("", &["--session", "s-1"], &["20004"]);
    check("", &["--session", "s-2"], &["-"]);
    check("project", &["--here"], &["9002", "9001"]);
    check("project", &["--here", "--failed"], &["9001"]);
    check("project/sub", &["--here"], &["9002"]);
    check("", &["--since", "1d"], &["-", "20004", "9003", "9002", "9001"]);
    check("", &["--since", "today", "--failed"], &["9003", "9001"]);
    check("", &["--day", "today", "--agent", "claude"], &["20004"]);
    check("", &["--day", "yesterday"], &[]);
    check("", &["--since", "2h", "--limit", "1", "--failed"], &["9003"]);
    check("", &["--since", "2001-01-01"], &["-", "20004", "9003", "9002", "9001"]);
    std::thread::sleep(Duration::from_millis(1100));
    check("", &["--since", "1s"], &[]);
    // A pattern that does not compile is searched as it is.
    let ran = sandbox.run(&["ls", "--grep", "seq ((", "--format", "json"], b"");
    assert_eq!(ran.json(), json!([]));
    assert!(ran.stderr.contains("\"seq ((\" is not a regular expression (unclosed group)"), "{}", ran.stderr);
    sandbox.run(&["ls", "--since", "soon"], b"").failed(2, "expected an age or a date");
    sandbox.run(&["ls", "--day", "soon"], b"").failed(2, "expected a date");
}

#[test]
fn ls_prints_whole_lines_for_programs() {
    let sandbox = Sandbox::new();
    let line = format!("seq 9000; : \x1b[31m{}; exit 7", "x".repeat(300));
    run_in(&sandbox, "", &line);
    let table = sandbox.run(&["ls"], b"").text();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("ID  ") && rows[0].ends_with("COMMAND"), "{table}");
    assert!(rows[1].starts_with(newest(&sandbox)["id"].as_str().unwrap()), "{table}");
    assert!(rows[1].contains("  7  ") && rows[1].contains(&"x".repeat(300)), "{table}");
    assert!(!table.contains('\x1b') && rows.len() == 2, "{table}");
}

#[test]
fn ls_fits_the_width_of_a_terminal() {
    let sandbox = Sandbox::new();
    run_in(&sandbox, "", &format!("seq 9000; : {}", "漢字".repeat(60)));
    run_in(&sandbox, "", "seq 9000; : \x1b[2J; kill -9 $$");
    sandbox.run(&["pin", "last"], b"");
    for columns in [80, 40, 200] {
        let line = format!("stty cols {columns}; PATH=/usr/bin:/bin; \"$offcut\" ls");
        let (seen, code) = Terminal::open_shell(&sandbox, &line).close();
        assert_eq!(code, Some(0), "{seen}");
        let seen = seen.replace("\x1b[31m", "").replace("\x1b[33m", "").replace("\x1b[0m", "");
        assert!(!seen.contains('\x1b'), "{seen:?}");
        let rows: Vec<&str> = seen.lines().collect();
        assert_eq!(rows.len(), 3, "{seen}");
        let width =
            |row: &str| row.chars().map(|char| if char.is_ascii() || char == '…' { 1 } else { 2 }).sum();
        let most = if columns == 40 { 60 } else { columns };
        assert!(
            rows.iter().all(|row| {
                let width: usize = width(row);
                width <= most
            }),
            "{columns}: {seen}"
        );
        assert!(
            rows[1].contains("SIGKILL") && rows[1].contains("pinned") && rows[1].contains("44 kB"),
            "{seen}"
        );
        assert!(columns == 200 || rows[2].ends_with('…'), "{seen}");
        // The short id names the output.
        let id = rows[2].split(' ').next().unwrap();
        assert!(id.len() < 16, "{id}");
        assert_eq!(sandbox.run(&["cat", id], b"").stdout, numbered(9000).as_bytes());
    }
}

/// A filter that cannot be applied must not select everything.
#[test]
fn rm_rejects_a_day_outside_the_calendar() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(10_000).as_bytes()).text();
    sandbox.run(&["rm", "--day", "9999-12-31", "--yes"], b"").failed(2, "cannot use the day 9999-12-31");
    assert_eq!(sandbox.run(&["ls", "--format", "json"], b"").json().as_array().unwrap().len(), 1);
}

#[test]
fn rm_keeps_an_output_that_is_being_written() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["run", "--shell", "seq 1 20000; read line"]).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let list = || sandbox.run(&["ls", "--format", "json"], b"").json();
    crate::harness::until(|| list()[0]["state"] == "running");
    let kept = sandbox.run(&["rm", "--since", "1h", "--yes"], b"");
    assert!(kept.stderr.contains("kept what is pinned or being written, 1 output"), "{}", kept.stderr);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(list()[0]["state"], "complete");
}

#[test]
fn ls_says_why_nothing_is_listed() {
    let sandbox = Sandbox::new();
    let says = |arguments: &[&str]| sandbox.run(&[&["ls"], arguments].concat(), b"").stderr;
    assert!(says(&[]).contains("no stored outputs yet: "));
    sandbox.run(&["cut"], numbered(5000).as_bytes());
    assert_eq!(says(&["-n", "0"]), "offcut: no output is listed: the limit is 0\n");
    let within = "an output within the limits is not stored\n";
    assert_eq!(says(&["--tool", "x"]), format!("offcut: no stored output matches; {within}"));
    sandbox.run(&["rm", "last"], b"").text();
    assert_eq!(says(&[]), format!("offcut: no stored outputs; {within}"));
}
