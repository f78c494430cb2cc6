//! System calls that fail, by strace: offcut neither panics nor claims to have stored what it has not.

use crate::entries;
use crate::harness::{Sandbox, binary, feed};
use crate::random::Random;
use std::process::Command;

/// Calls that can fail on a real system. A failing `close` that leaves the file open, or a pipe that refuses one byte, cannot.
const CALLS: &[&str] = &[
    "openat",
    "fstat",
    "newfstatat",
    "statx",
    "lseek",
    "mkdir",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "unlink",
    "flock",
    "fcntl",
    "ftruncate",
    "fchmod",
    "chmod",
    "getdents64",
    "readlink",
    "getcwd",
    "ioctl",
    "copy_file_range",
    "read",
];
const ERRORS: &[&str] =
    &["EIO", "ENOSPC", "EACCES", "EMFILE", "EINTR", "EAGAIN", "ENOMEM", "EPERM", "ENOENT", "EDQUOT"];

pub(crate) fn missing() -> Option<String> {
    // Without a failing call there is no attack.
    let inject =
        ["-o", "/dev/null", "-e", "trace=openat", "-e", "inject=openat:error=EIO", "/bin/cat", "/dev/null"];
    let output = Command::new("strace").args(inject).output();
    let works = output.is_ok_and(|output| {
        !output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("strace:")
    });
    (!works).then(|| "strace is not installed, or may not trace".to_owned())
}

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let lines = 1500 + random.size(20_000);
    let text = random.lines(lines).into_bytes();
    let input = sandbox.path().join("input");
    std::fs::write(&input, &text).unwrap();
    let runs = random.once_in(2);
    let call = if !runs && random.once_in(5) { "write" } else { random.pick(CALLS) };
    let error = random.pick(ERRORS);
    let times = format!("{}{}", 1 + random.size(16), random.pick(&["", "", "+"]));
    // EINTR for ever would be a loop for any program.
    let times = if ["EINTR", "EAGAIN"].contains(error) { times.replace('+', "") } else { times };
    let inject = format!("inject={call}:error={error}:when={times}");
    let mut strace = Command::new("strace");
    let log = sandbox.path().join("log");
    strace.arg("-o").arg(&log).args(["-e", &format!("trace={call}"), "-e", &inject]);
    match runs {
        true => strace.args([binary(), "run", "--shell", &format!("cat {}; exit 7", input.display())]),
        // With its threads; `run` is traced alone because the command would be attacked too.
        false => strace.args(["-f", binary(), "cut"]),
    };
    strace.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin").current_dir(sandbox.path());
    let ran = feed(strace, &text);
    if ran.stderr.contains("error while loading shared libraries") || ran.stderr.contains("strace:") {
        return 0;
    }
    let context = format!("{inject}, run: {runs}, exit {:?}: {}", ran.code, ran.stderr);
    assert!(runs || ran.stdout.len() <= 9500, "{} bytes are shown: {context}", ran.stdout.len());
    assert!(!ran.stderr.contains("panicked"), "{context}");
    assert!(!runs || ran.code == Some(7), "the exit code is not that of the command: {context}");
    // Where offcut cannot follow a command, the command runs as without it, and a warning says so.
    let is_plain = runs && ran.stdout == text && ran.stderr.contains("neither shortened nor stored");
    if !is_plain {
        entries::check_preview(&sandbox, &ran.stdout, &text);
    }
    entries::check(&sandbox, &[text]);
    u64::from(std::fs::read_to_string(log).unwrap_or_default().contains("(INJECTED)"))
}
