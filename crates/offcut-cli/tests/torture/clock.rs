//! Clocks that are wrong, jump and run backwards: every output keeps its own id and can be read.

use crate::entries;
use crate::harness::{Ran, Sandbox, feed};
use crate::random::Random;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

/// A library that changes what offcut reads from the clock, compiled once.
static HOOK: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
    let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libtorture_clock.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torture/clock_hook.rs");
    let mut command = Command::new("rustc");
    command
        .args(["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "-o"])
        .arg(&library)
        .arg(source);
    match command.output() {
        Ok(output) if output.status.success() => Ok(library),
        Ok(output) => {
            Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned())
        }
        Err(error) => Err(format!("rustc: {error}")),
    }
});

pub(crate) fn missing() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("the library that changes the clock is for Linux".to_owned());
    }
    HOOK.as_ref().err().cloned()
}

/// Runs offcut with a clock that is this many seconds off and jumps by up to `jump` seconds at each reading.
fn run(sandbox: &Sandbox, offset: i64, jump: i64, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = sandbox.command();
    command.args(arguments).env("LD_PRELOAD", HOOK.as_ref().unwrap()).env("OFFCUT_RETENTION_DAYS", "0");
    command.env("TORTURE_CLOCK_OFFSET", offset.to_string()).env("TORTURE_CLOCK_JUMP", jump.to_string());
    let ran = feed(command, input);
    assert!(
        !ran.stderr.contains("panicked"),
        "{offset} s off, jumps {jump} s: {arguments:?}: {}",
        ran.stderr
    );
    ran
}

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let mut texts = Vec::new();
    for _ in 0..5 {
        let text = random.lines(2000).into_bytes();
        // Up to ten thousand years in both directions.
        let offset = random.size(320_000_000_000) as i64 * random.pick(&[1, -1]);
        let jump = random.size(100_000_000) as i64 * random.pick(&[0, 1]);
        let arguments = *random.pick(&[&["cut"][..], &["run", "--", "/bin/cat"]]);
        let ran = run(&sandbox, offset, jump, arguments, &text);
        assert_eq!(ran.code, Some(0), "{offset} s off, jumps {jump} s: {arguments:?}: {}", ran.stderr);
        entries::check_size(&ran.stdout, &text);
        assert!(
            String::from_utf8_lossy(&ran.stdout).contains("nothing is lost"),
            "{offset} s off, jumps {jump} s: {arguments:?}: {}",
            String::from_utf8_lossy(&ran.stdout)
        );
        texts.push(text);
        let command = *random.pick(&[&["ls"][..], &["stats"], &["show", "last"], &["clean", "--dry-run"]]);
        run(&sandbox, -offset, jump, command, b"");
    }
    assert_eq!(entries::check(&sandbox, &texts), texts.len(), "every output has its own entry");
    10
}
