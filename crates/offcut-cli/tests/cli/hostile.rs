//! Hostile surroundings: streams that cannot be written, files of cloned repositories and of other users.

use crate::harness::{Ran, Sandbox, binary, feed, numbered};
use serde_json::json;
use std::io::Write;
use std::process::Command;

/// Runs a line of bash in the sandbox, with the binary as `$OFFCUT`.
fn bash(sandbox: &Sandbox, line: &str, input: &[u8]) -> Ran {
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", line]).env_clear().env("HOME", sandbox.path()).env("OFFCUT", binary());
    shell.env("PATH", "/usr/bin:/bin").current_dir(sandbox.path());
    feed(shell, input)
}

fn project(sandbox: &Sandbox, text: &str) {
    std::fs::write(sandbox.path().join(".offcut.toml"), text).unwrap();
}

#[test]
fn warning_that_cannot_be_written_does_not_end_the_call() {
    let sandbox = Sandbox::new();
    project(&sandbox, "nonsense = 1\n");
    assert_eq!(bash(&sandbox, "\"$OFFCUT\" cut", b"text\n").stderr.matches("nonsense").count(), 1);
    for stderr in ["2>/dev/full", "2>&-"] {
        let ran = bash(&sandbox, &format!("\"$OFFCUT\" run -- touch ran {stderr}; ls ran"), b"");
        assert_eq!((ran.code, ran.text().as_str()), (Some(0), "ran\n"), "{stderr}");
        std::fs::remove_file(sandbox.path().join("ran")).unwrap();
        let text = numbered(20_000);
        let result = json!({"content": [{"type": "text", "text": text}]}).to_string();
        for (command, input) in [("cut", &text), ("result", &result), ("run -- cat", &text)] {
            let ran = bash(&sandbox, &format!("\"$OFFCUT\" {command} {stderr}"), input.as_bytes());
            assert!(ran.text().contains("nothing is lost"), "{command} {stderr}: {ran:?}");
        }
        assert_eq!(bash(&sandbox, &format!("\"$OFFCUT\" read last --lines 7 {stderr}"), b"").text(), "7\n");
        let unknown = bash(&sandbox, &format!("\"$OFFCUT\" read nothing {stderr}"), b"");
        assert_eq!(unknown.code, Some(3), "{stderr}: {unknown:?}");
    }
}

/// A pipe that nobody reads, set to non-blocking by another process, refuses writes.
#[test]
fn warning_on_full_nonblocking_pipe_does_not_end_the_call() {
    let sandbox = Sandbox::new();
    project(&sandbox, "nonsense = 1\n");
    let (_reader, mut writer) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    let mut command = sandbox.command();
    let ran = command.args(["run", "--", "echo", "ran"]).stderr(writer).output().unwrap();
    assert_eq!((ran.status.code(), ran.stdout), (Some(0), b"ran\n".to_vec()));
}
