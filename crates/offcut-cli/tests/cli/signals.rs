//! Signals and time: the command gets what it would have got, and we end as it ends.

use crate::harness::{Sandbox, feed, until};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(sandbox: &Sandbox, line: &str) -> Child {
    let mut command = sandbox.command();
    command.args(["run", "--", "/bin/sh", "-c", line]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn kill(signal: &str, process: &str) {
    assert!(
        Command::new("/bin/kill").args([&format!("-{signal}"), "--", process]).status().unwrap().success()
    );
}

#[test]
fn signals_are_passed_on_and_the_output_is_kept() {
    for signal in ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"] {
        let sandbox = Sandbox::new();
        let line = format!(
            "trap 'echo got it; exit 9' {signal}; echo before; : > ready; while :; do sleep 0.02; done"
        );
        let child = start(&sandbox, &line);
        until(|| sandbox.path().join("ready").exists());
        kill(signal, &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(9), "{signal}");
        // The shell may remark on its `sleep`, which got the signal too.
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.starts_with("before\n") && shown.ends_with("got it\n"), "{signal} {shown}");
    }
}

#[test]
fn a_command_without_a_trap_dies_of_them() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let sandbox = Sandbox::new();
        let child = start(&sandbox, "echo before; : > ready; exec sleep 100");
        until(|| sandbox.path().join("ready").exists());
        kill(signal, &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert_eq!(output.stdout, b"before\n", "{signal}");
    }
}

/// What was ignored stays ignored, and nothing else is.
#[test]
fn dispositions_are_inherited() {
    let sandbox = Sandbox::new();
    let offcut = env!("CARGO_BIN_EXE_offcut");
    // Whoever runs the tests may ignore signals, too.
    let plainly = if cfg!(target_os = "linux") { "env --default-signal" } else { "env" };
    for (line, expected) in [
        (format!("trap '' HUP; exec '{offcut}' run -- /bin/sh -c 'kill -HUP $$; echo alive'"), "alive\n"),
        (format!("trap '' INT; exec '{offcut}' run -- /bin/sh -c 'kill -INT $$; echo alive'"), "alive\n"),
        (format!("exec {plainly} '{offcut}' run -- /bin/sh -c 'kill -INT $$; echo alive'"), ""),
        (
            format!("{plainly} '{offcut}' run -- /bin/bash -c 'yes | head -1; echo ${{PIPESTATUS[0]}}'"),
            "y\n141\n",
        ),
        (
            format!(
                "trap '' PIPE; '{offcut}' run -- /bin/bash -c 'yes 2>&- | head -1; echo ${{PIPESTATUS[0]}}'"
            ),
            "y\n1\n",
        ),
    ] {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line]).env("HOME", sandbox.path());
        assert_eq!(String::from_utf8_lossy(&feed(command, b"").stdout), expected, "{line}");
    }
}

/// Whatever a caller ignores or blocks, the command is told the same as without us, and we still see it end.
#[cfg(target_os = "linux")]
#[test]
fn signals_are_set_as_the_caller_set_them() {
    let sandbox = Sandbox::new();
    for setting in [
        &[][..],
        &["--ignore-signal=PIPE"],
        &["--ignore-signal=CHLD"],
        &["--ignore-signal=HUP", "--ignore-signal=XFSZ"],
        &["--block-signal=CHLD"],
        &["--block-signal=TERM", "--block-signal=PIPE", "--block-signal=USR1"],
        &["--ignore-signal", "--block-signal"],
    ] {
        let told = |wrapper: &[&str]| {
            let mut command = Command::new("/usr/bin/env");
            command.args(setting).args(wrapper).args(["/usr/bin/env", "--list-signal-handling", "true"]);
            command.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin");
            let ran = feed(command, b"");
            (ran.code, String::from_utf8_lossy(&ran.stdout).into_owned() + &ran.stderr)
        };
        let wrapped = told(&[env!("CARGO_BIN_EXE_offcut"), "run", "--"]);
        assert_eq!(wrapped, told(&[]), "{setting:?}");
    }
}

#[test]
fn a_timeout_stops_all_of_it_and_keeps_what_was_printed() {
    for (line, stays) in [
        ("echo before; exec sleep 100", false),
        ("echo before; sleep 100 & sleep 100; echo after", false),
        // Whoever does not listen is killed.
        ("trap '' TERM; echo before; while :; do sleep 1; done", true),
    ] {
        let sandbox = Sandbox::new();
        let started = Instant::now();
        let ran = sandbox.run(&["run", "--timeout", "300ms", "--", "/bin/sh", "-c", line], b"");
        assert_eq!(ran.code, Some(124), "{line}");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "before\n", "{line}");
        assert!(ran.stderr.contains("timed out after 300ms"), "{}", ran.stderr);
        assert!(started.elapsed() >= Duration::from_millis(if stays { 2300 } else { 300 }));
        assert!(started.elapsed() < Duration::from_secs(50), "nothing waited for the end of the sleep");
        assert!(!sandbox.store().exists(), "nothing holds the output open");
    }
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "--timeout", "300ms", "--shell", "seq 1 100000; exec sleep 100"], b"");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(
        shown.lines().last().unwrap().contains("timed out, exit code 124"),
        "{shown}"
    );
    assert_eq!(sandbox.run(&["run", "--timeout", "1h", "--", "echo", "quick"], b"").text(), "quick\n");
}

/// Whoever kills us means the command.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_offcut_takes_the_command_with_it() {
    let sandbox = Sandbox::new();
    let mut child = start(&sandbox, "echo $$ > process; exec sleep 1000");
    let file = sandbox.path().join("process");
    until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    let process = std::fs::read_to_string(&file).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // It is gone, or nobody has taken notice of its end yet.
    let stat = format!("/proc/{}/stat", process.trim());
    until(|| {
        std::fs::read_to_string(&stat).is_err()
            || std::fs::read_to_string(&stat).is_ok_and(|text| text.contains(") Z "))
    });
}
