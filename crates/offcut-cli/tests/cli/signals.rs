//! Signals and timeouts: the command gets the same signals as without offcut, and offcut ends as the command ended.

use crate::harness::{Sandbox, binary, feed, finish, is_gone, until};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(sandbox: &Sandbox, line: &str) -> Child {
    start_in(sandbox, "/bin/sh", line)
}

fn start_in(sandbox: &Sandbox, shell: &str, line: &str) -> Child {
    let mut command = sandbox.command();
    command.args(["run", "--", shell, "-c", line]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn kill(signal: &str, process: &str) {
    let line = format!("kill -{signal} -- {process}");
    assert!(Command::new("/bin/bash").args(["-c", &line]).status().unwrap().success(), "{line}");
}

#[test]
fn run_forwards_signals_and_prints_output_when_trapped() {
    for signal in [
        "INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "ALRM", "ABRT", "XCPU", "VTALRM", "PROF", "IO", "PWR",
        "STKFLT", "WINCH", "URG", "PIPE", "XFSZ", "RTMIN", "RTMAX",
    ] {
        let sandbox = Sandbox::new();
        let line = format!(
            "trap 'echo got it; exit 9' {signal}; echo before; : > ready; while :; do sleep 0.02; done"
        );
        let child = start_in(&sandbox, "/bin/bash", &line);
        until(|| sandbox.path().join("ready").exists());
        kill(signal, &child.id().to_string());
        let ran = finish(child);
        assert_eq!(ran.code, Some(9), "{signal}");
        // The shell may report the death of its `sleep`, which gets the signal too.
        let shown = String::from_utf8_lossy(&ran.stdout);
        assert!(shown.starts_with("before\n") && shown.ends_with("got it\n"), "{signal} {shown}");
    }
}

#[test]
fn run_dies_of_the_signal_that_ended_the_command() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)] {
        let sandbox = Sandbox::new();
        let child = start(&sandbox, "echo before; : > ready; exec sleep 100");
        until(|| sandbox.path().join("ready").exists());
        kill(signal, &child.id().to_string());
        let ran = finish(child);
        assert_eq!((ran.code, ran.signal), (Some(code), Some(code - 128)), "as the command: {signal}");
        assert_eq!(ran.stdout, b"before\n", "{signal}");
    }
}

/// Some agents signal each process by itself, from the last descendant to the first ancestor.
#[test]
fn run_prints_output_when_the_command_is_signalled_first() {
    let sandbox = Sandbox::new();
    let child = start(&sandbox, "seq 1 20000; echo $$ > process; exec sleep 1000");
    let file = sandbox.path().join("process");
    until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    let process = std::fs::read_to_string(&file).unwrap();
    kill("TERM", &format!("{} {}", process.trim(), child.id()));
    let ran = finish(child);
    assert_eq!(ran.signal, Some(15));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("\n20000\n"));
}

/// The command inherits ignored signals, and offcut ignores no others.
#[test]
fn run_passes_ignored_signals_to_command() {
    let sandbox = Sandbox::new();
    let offcut = binary();
    for (line, expected) in [
        (format!("trap '' HUP; exec '{offcut}' run -- /bin/sh -c 'kill -HUP $$; echo alive'"), "alive\n"),
        (format!("trap '' INT; exec '{offcut}' run -- /bin/sh -c 'kill -INT $$; echo alive'"), "alive\n"),
        (format!("exec '{offcut}' run -- /bin/sh -c 'kill -INT $$; echo alive'"), ""),
        (format!("'{offcut}' run -- /bin/bash -c 'yes | head -1; echo ${{PIPESTATUS[0]}}'"), "y\n141\n"),
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

/// The command sees the same ignored and blocked signals as without offcut, and offcut still notices its end.
#[cfg(target_os = "linux")]
#[test]
fn run_preserves_signal_handling_of_caller() {
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
        let reported = |wrapper: &[&str]| {
            let mut command = Command::new("/usr/bin/env");
            command.args(setting).args(wrapper).args(["/usr/bin/env", "--list-signal-handling", "true"]);
            command.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin");
            let ran = feed(command, b"");
            (ran.code, String::from_utf8_lossy(&ran.stdout).into_owned() + &ran.stderr)
        };
        let wrapped = reported(&[binary(), "run", "--"]);
        assert_eq!(wrapped, reported(&[]), "{setting:?}");
    }
}

#[test]
fn timeout_stops_process_group_and_prints_output_so_far() {
    for (line, ignores_term) in [
        ("echo before; exec sleep 100", false),
        ("echo before; sleep 100 & sleep 100; echo after", false),
        // The command changes its process group.
        ("echo before; exec timeout 100 sleep 100", false),
        ("echo before; setsid sleep 100; echo after", false),
        ("echo before; kill -STOP $$; echo after", false),
        // A command that ignores SIGTERM is killed.
        ("trap '' TERM; echo before; while :; do sleep 1; done", true),
    ] {
        let sandbox = Sandbox::new();
        let started = Instant::now();
        let ran = sandbox.run(&["run", "--timeout", "300ms", "--", "/bin/sh", "-c", line], b"");
        assert_eq!(ran.code, Some(124), "{line}");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "before\n", "{line}");
        assert!(ran.stderr.contains("timed out after 300ms"), "{}", ran.stderr);
        assert!(started.elapsed() >= Duration::from_millis(if ignores_term { 2300 } else { 300 }));
        assert!(started.elapsed() < Duration::from_secs(50), "offcut does not wait for the end of the sleep");
        assert_eq!(sandbox.run(&["ls"], b"").text().lines().count(), 1, "no process holds the output open");
    }
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "--timeout", "300ms", "--shell", "seq 1 100000; exec sleep 100"], b"");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(shown.lines().last().unwrap().contains("timed out after"), "{shown}");
    assert_eq!(sandbox.run(&["run", "--timeout", "1h", "--", "echo", "quick"], b"").text(), "quick\n");
}

/// Without job control, a command that another process continues goes on.
#[cfg(target_os = "linux")]
#[test]
fn stopped_command_is_continued_by_another_process() {
    for wrapper in [&[][..], &["setsid", "--wait"]] {
        let sandbox = Sandbox::new();
        let line = "(until grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done; kill -CONT $$) & \
            kill -STOP $$; echo done";
        let mut command = Command::new("/usr/bin/env");
        command.args(wrapper).args([binary(), "run", "--", "/bin/sh", "-c", line]);
        command.env("HOME", sandbox.path());
        assert_eq!(feed(command, b"").text(), "done\n", "{wrapper:?}");
    }
}

/// What the command started is gone when it would be gone without offcut: agents kill the group of the shell they started.
#[cfg(target_os = "linux")]
#[test]
fn killing_the_process_group_ends_everything_the_command_started() {
    for signal in ["KILL", "TERM"] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command();
        let line = "sleep 1000 & echo $! > server; echo $$ > shell; sleep 1000";
        command.args(["shell", "-c", line]).env("PATH", "/usr/bin:/bin").process_group(0);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let number = |name| std::fs::read_to_string(sandbox.path().join(name)).unwrap_or_default();
        until(|| number("shell").ends_with('\n'));
        kill(signal, &format!("-{}", child.id()));
        child.wait().unwrap();
        for name in ["server", "shell"] {
            until(|| is_gone(number(name).trim()));
        }
    }
}

/// To kill offcut is to stop the command.
#[cfg(target_os = "linux")]
#[test]
fn command_dies_when_offcut_is_killed() {
    let sandbox = Sandbox::new();
    let mut child = start(&sandbox, "echo $$ > process; exec sleep 1000");
    let file = sandbox.path().join("process");
    until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    let process = std::fs::read_to_string(&file).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    until(|| is_gone(process.trim()));
}

#[test]
fn signal_just_after_the_command_has_no_effect() {
    // On a busy machine the signals may come late.
    let ran = std::iter::repeat_with(|| {
        let sandbox = Sandbox::new();
        let child = start(&sandbox, "echo $$ > process; seq 1 100000");
        // offcut waits for a reader of the preview, which does not fit into the pipe.
        rustix::pipe::fcntl_setpipe_size(child.stdout.as_ref().unwrap(), 4096).unwrap();
        let process = sandbox.path().join("process");
        until(|| std::fs::read_to_string(&process).is_ok_and(|number| is_gone(number.trim())));
        let ended = Instant::now();
        for signal in ["INT", "TERM", "HUP"] {
            kill(signal, &child.id().to_string());
        }
        let is_in_time = ended.elapsed() < Duration::from_millis(500);
        is_in_time.then(|| finish(child))
    });
    let ran = ran.flatten().next().unwrap();
    assert_eq!(ran.code, Some(0));
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("\n100000\n") && shown.trim_end().ends_with(']'), "{shown}");
}
