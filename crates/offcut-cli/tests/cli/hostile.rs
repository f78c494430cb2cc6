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

/// With too few descriptors for offcut, the command runs as without it.
#[test]
fn command_runs_with_few_free_descriptors() {
    let sandbox = Sandbox::new();
    for limit in [5, 8, 10, 12, 16, 20, 30] {
        let ran = bash(
            &sandbox,
            &format!("ulimit -n {limit}; exec \"$OFFCUT\" run -- sh -c 'echo ran; exit 7'"),
            b"",
        );
        assert_eq!((ran.code, ran.stdout.as_slice()), (Some(7), &b"ran\n"[..]), "{limit}: {}", ran.stderr);
    }
}

#[test]
fn command_finds_closed_streams_closed() {
    let sandbox = Sandbox::new();
    let probe = "for stream in 0 1 2; do { true >&$stream; } 2>/dev/null && echo $stream; done > open";
    for closed in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"] {
        for arguments in ["run --shell", "run --split --shell", "shell -c"] {
            bash(&sandbox, &format!("sh -c '{probe}' {closed}; mv open plain"), b"");
            bash(&sandbox, &format!("\"$OFFCUT\" {arguments} '{probe}' {closed}"), b"");
            let read = |name| std::fs::read_to_string(sandbox.path().join(name)).unwrap();
            assert_eq!(read("open"), read("plain"), "{arguments} {closed}");
        }
    }
    let ran = bash(&sandbox, "\"$OFFCUT\" run -- sh -c 'echo message >&2' >&-", b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), "message\n"));
}

#[test]
fn cut_without_standard_output_is_an_error_and_stores_the_text() {
    let sandbox = Sandbox::new();
    let text = numbered(20_000);
    for command in ["cut", "read last", "cat last", "ls"] {
        let ran = bash(&sandbox, &format!("\"$OFFCUT\" {command} >&-"), text.as_bytes());
        ran.failed(4, "cannot write to standard output");
    }
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), text);
}

/// Expects one line about the file, and its valid settings in force.
#[track_caller]
fn check_reported(sandbox: &Sandbox, message: &str) {
    let ran = sandbox.run(&["cut"], numbered(100).as_bytes());
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(message) && ran.stderr.len() < 1000, "{}", ran.stderr);
    assert_ne!(ran.text(), numbered(100), "the limit of the file does not apply");
}

/// Expects a project file to be ignored with one line on standard error.
#[track_caller]
fn check_ignored(sandbox: &Sandbox, reason: &str) {
    let ran = sandbox.run(&["cut"], numbered(100).as_bytes());
    assert_eq!(ran.text(), numbered(100), "the limit of the file applied");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(
        lines.len() == 1 && lines[0].contains(reason) && lines[0].len() < 2500,
        "{reason:?}: {:?}",
        ran.stderr
    );
}

#[test]
fn hostile_project_files_are_reported_with_one_line() {
    let sandbox = Sandbox::new();
    let limit = "limits.lines = 20\n";
    project(&sandbox, limit);
    assert_ne!(sandbox.run(&["cut"], numbered(100).as_bytes()).text(), numbered(100));
    project(&sandbox, &format!("{limit}# {}\n", "x".repeat(256 << 10)));
    check_ignored(&sandbox, "more than 256 KiB");
    for shift in ["", "x"] {
        project(&sandbox, &format!("{limit}#{shift}{}\n", "漢字é".repeat(64 << 10)));
        check_ignored(&sandbox, "more than 256 KiB");
    }
    let key = "k".repeat(200_000);
    project(&sandbox, &format!("{limit}{key} = 1\n"));
    check_reported(&sandbox, "unknown key");
    project(&sandbox, &format!("{limit}{}x = 1\n", "a.".repeat(100_000)));
    check_reported(&sandbox, ".offcut.toml");
    project(&sandbox, &format!("{limit}x = {}\n", "[".repeat(200_000)));
    check_reported(&sandbox, "invalid TOML");
    project(&sandbox, "\"evil\\u001b]0;title\\u0007\\nkey\" = 1\n");
    check_ignored(&sandbox, "unknown key");
    for odd in ["ln -s /proc/self/pagemap", "ln -s /dev/zero", "mkfifo", "mkdir"] {
        let ran = bash(&sandbox, &format!("rm -rf .offcut.toml && {odd} .offcut.toml"), b"");
        assert_eq!(ran.code, Some(0), "{odd}: {}", ran.stderr);
        check_ignored(&sandbox, "cannot use ");
    }
}

/// As git ignores a repository of another user.
#[test]
fn project_file_of_another_user_is_ignored() {
    let sandbox = Sandbox::new();
    project(&sandbox, "limits.lines = 20\n");
    let file = sandbox.path().join(".offcut.toml");
    if std::os::unix::fs::chown(&file, Some(12345), None).is_ok() {
        check_ignored(&sandbox, "another user");
    } else {
        // Without the right to give files away: a file of root that everybody can read.
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
        check_ignored(&sandbox, "another user");
    }
}

#[test]
fn init_prints_no_secrets_and_creates_nothing_that_others_can_write() {
    let sandbox = Sandbox::new();
    let settings = |name: &str, text: &str| {
        let path = sandbox.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    settings(".gemini/.env", "A_KEY=SECRET1\nB=\"SECRET2\nSECRET3\"");
    settings(".claude/settings.json", "{\n  \"env\": {\n    \"API_KEY\": \"SECRET4\"\n  }\n}\n");
    let codex = "[mcp_servers.x]\nargs = [\"--api-key\", \"SECRET5\"]\nenv = { \"K\" = \"SECRET6\" }\n";
    settings(".codex/config.toml", codex);
    let ran = bash(&sandbox, "umask 000; \"$OFFCUT\" init --all", b"");
    let printed = ran.text() + &ran.stderr;
    assert!(printed.contains("+BASH_ENV=") && printed.contains("CLAUDE_CODE_SHELL"), "{printed}");
    assert!(!printed.contains("SECRET"), "{printed}");
    let listed = bash(&sandbox, "find . -perm -0002 ! -type l", b"").text();
    assert_eq!(listed, "", "others can write to these");
}

#[test]
fn result_says_how_much_it_passed_on_when_input_cannot_be_read() {
    let ran = bash(&Sandbox::new(), "\"$OFFCUT\" result < /", b"");
    ran.failed(2, "only the first 0 bytes were passed through");
    assert!(!ran.stderr.contains("unchanged"), "{}", ran.stderr);
}
