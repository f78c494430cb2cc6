//! Signals at random times: a command that handles them ends as it chose to, and its output is complete.

use crate::entries;
use crate::harness::{Sandbox, finish};
use crate::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;
use std::time::Duration;

/// Signals that reach the command, which ignores them, and signals that are about offcut alone.
const STORM: &[Signal] = &[
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
    Signal::CHILD,
    Signal::WINCH,
    Signal::PIPE,
    Signal::URG,
    Signal::CONT,
    Signal::STOP,
];
const DEADLY: &[(Signal, i32)] =
    &[(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143), (Signal::USR1, 138)];

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let lines = random.size(60_000);
    let text = random.lines(lines).into_bytes();
    std::fs::write(sandbox.path().join("input"), &text).unwrap();
    let is_handled = !random.once_in(4);
    let line = match is_handled {
        true => "trap '' HUP INT QUIT TERM USR1 USR2 PIPE; : > ready; cat input; sleep 0.03; exit 7",
        false => "cat input; : > ready; exec sleep 100",
    };
    let mut command = sandbox.command();
    command.args(["run", "--", "/bin/sh", "-c", line]).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = Pid::from_child(&child);
    crate::harness::until(|| sandbox.path().join("ready").exists());
    let expected = if is_handled {
        for _ in 0..random.below(60) {
            let _ = kill_process(process, *random.pick(STORM));
            std::thread::sleep(Duration::from_micros(random.size(2000) as u64));
        }
        let _ = kill_process(process, Signal::CONT);
        7
    } else {
        let (signal, code) = *random.pick(DEADLY);
        kill_process(process, signal).unwrap();
        code
    };
    let ran = finish(child);
    entries::check_end(&ran);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(expected), ""), "{line}");
    if text.len() <= 9500 && lines <= 1900 {
        assert!(ran.stdout == text, "an output within the limits changed: {line}");
    } else {
        entries::check_preview(&sandbox, &ran.stdout, &text);
        assert_eq!(entries::check(&sandbox, &[text]), 1, "{line}");
    }
    1
}
