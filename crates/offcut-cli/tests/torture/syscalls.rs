//! System calls that fail, by strace: offcut neither panics nor claims to have stored what it has not.

use crate::entries;
use crate::harness::{Sandbox, binary, feed};
use crate::random::Random;
use std::process::Command;

const CALLS: &[&str] = &[
    "read",
    "write",
    "writev",
    "openat",
    "close",
    "fstat",
    "newfstatat",
    "statx",
    "lseek",
    "mkdir",
    "rename",
    "renameat",
    "linkat",
    "unlink",
    "flock",
    "fcntl",
    "ftruncate",
    "fchmod",
    "chmod",
    "getrandom",
    "pipe2",
    "poll",
    "ppoll",
    "clone3",
    "getdents64",
    "readlink",
    "getcwd",
    "ioctl",
    "copy_file_range",
    "mmap",
    "futex",
    "wait4",
    "waitid",
    "kill",
    "dup",
];
const ERRORS: &[&str] =
    &["EIO", "ENOSPC", "EACCES", "EMFILE", "EINTR", "EAGAIN", "ENOMEM", "EPERM", "ENOENT", "EDQUOT"];

pub(crate) fn missing() -> Option<String> {
    let inject = ["-o", "/dev/null", "-e", "trace=none", "-e", "inject=getcwd:error=EIO", "/bin/true"];
    let works = Command::new("strace").args(inject).output().is_ok_and(|output| output.status.success());
    (!works).then(|| "strace is not installed, or may not trace".to_owned())
}

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let lines = 1500 + random.size(20_000);
    let text = random.lines(lines).into_bytes();
    let input = sandbox.path().join("input");
    std::fs::write(&input, &text).unwrap();
    let (call, error) = (random.pick(CALLS), random.pick(ERRORS));
    let times = format!("{}{}", 1 + random.size(60), random.pick(&["", "", "+"]));
    // EINTR for ever would be a loop for any program.
    let times = if ["EINTR", "EAGAIN"].contains(error) { times.replace('+', "") } else { times };
    let inject = format!("inject={call}:error={error}:when={times}");
    let runs = random.once_in(2);
    let mut strace = Command::new("strace");
    strace.args(["-o", "/dev/null", "-e", "trace=none", "-e", &inject]);
    match runs {
        true => strace.args([binary(), "run", "--shell", &format!("cat {}; exit 7", input.display())]),
        // With its threads; `run` is traced alone because the command would be attacked too.
        false => strace.args(["-f", "/bin/sh", "-c", "exec \"$0\" cut < \"$1\"", binary()]).arg(&input),
    };
    strace.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin").current_dir(sandbox.path());
    let ran = feed(strace, b"");
    if ran.stderr.contains("error while loading shared libraries") || ran.stderr.contains("strace:") {
        return 0;
    }
    let context = format!("{inject}, run: {runs}, {ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{context}");
    entries::check_preview(&sandbox, &ran.stdout, &text);
    entries::check(&sandbox, &[text]);
    1
}
