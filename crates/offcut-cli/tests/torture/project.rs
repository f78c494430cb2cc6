//! Hostile project files: they neither raise a limit nor move the store, and the command runs unchanged.

use crate::entries;
use crate::harness::Sandbox;
use crate::random::Random;

const KEYS: &[&str] = &[
    "profile",
    "store.path",
    "store.layout",
    "store.spool",
    "store.deadline",
    "store.share_commands",
    "host",
    "limits.lines",
    "limits.bytes",
    "limits.chars",
    "limits.tokens",
    "keep.lines",
    "keep.bytes",
    "keep.tokens",
    "strategy",
    "split",
    "enabled",
    "truncation",
    "terminal",
    "task",
    "reach",
    "mcp.readable",
    "shell",
    "events.file",
    "max_output",
    "retention.days",
    "retention.max_total",
    "retention.max_entries",
    "tools.bash.enabled",
    "tools.bash.limits.bytes",
    "tools.\"*\".limits.lines",
    "tools.shell.strategy",
    "\"\"",
    "a.b.c.d",
    "\"\\u001b[31m\"",
];
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "1e308",
    "nan",
    "\"none\"",
    "\"1TiB\"",
    "false",
    "true",
    "\"head\"",
    "\"/tmp\"",
    "\"../..\"",
    "\"raw\"",
    "\"s3://evil/x\"",
    "[]",
    "[1, 0]",
    "[0, 0]",
    "{}",
    "{ x = 1 }",
    "1979-05-27",
    "\"\\u0000\"",
    "'''\n'''",
    "\"opencode\"",
    "\"/bin/false\"",
    "\"stderr\"",
    "\"512\"",
    "\"4\"",
];

fn file(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(6) {
        text += &format!("{} = {}\n", random.pick(KEYS), random.pick(VALUES));
    }
    let mut bytes = text.into_bytes();
    match random.below(5) {
        0 => {
            let at = random.below(bytes.len() + 1);
            let inserted = random.size(40);
            bytes.splice(at..at, random.bytes(inserted));
        }
        1 => bytes.extend("x = ".bytes().chain("[".repeat(random.size(50_000)).bytes())),
        2 => bytes.extend(format!("{}y = 1\n", "a.".repeat(random.size(20_000))).bytes()),
        3 => bytes.extend(format!("[{}]\n", "tools.x.".repeat(random.size(3000))).bytes()),
        _ => {}
    }
    bytes
}

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let project = file(random);
    std::fs::write(sandbox.path().join(".offcut.toml"), &project).unwrap();
    let context = String::from_utf8_lossy(&project[..project.len().min(500)]).into_owned();
    let text = random.lines(2000).into_bytes();
    std::fs::write(sandbox.path().join("input"), &text).unwrap();
    let ran = sandbox.run(&["run", "--", "/bin/sh", "-c", "echo ran; echo problem >&2; exit 7"], b"");
    assert_eq!((ran.code, ran.stdout.as_slice()), (Some(7), &b"ran\nproblem\n"[..]), "{context}");
    check_messages(&ran.stderr, &context);
    for arguments in [
        &["cut"][..],
        &["run", "--tool", "bash", "--", "/bin/cat", "input"],
        &["shell", "-c", "/bin/cat input"],
    ] {
        let ran = sandbox.run(arguments, &text);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}: {context}", ran.stderr);
        check_messages(&ran.stderr, &context);
        entries::check_size(&ran.stdout, &text);
        let stored = sandbox.run(&["cat", "last"], b"");
        assert!(stored.stdout == text, "{arguments:?} did not store the output: {context}");
        assert!(!ran.stdout.is_empty(), "{arguments:?}: {context}");
    }
    let listed = sandbox.run(&["ls", "--format", "json"], b"");
    let listed = listed.json();
    for entry in listed.as_array().unwrap() {
        assert!(
            entry["path"].as_str().unwrap().starts_with(sandbox.store().to_str().unwrap()),
            "{entry}: {context}"
        );
    }
    4
}

/// At most a few lines, none of them with terminal control.
fn check_messages(stderr: &str, context: &str) {
    assert!(stderr.len() < 5000 && stderr.lines().count() <= 2, "{stderr}: {context}");
    assert!(!stderr.chars().any(|char| char.is_control() && char != '\n'), "{stderr:?}: {context}");
}
