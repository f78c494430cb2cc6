//! Output that is shown while the command runs. Each command waits for a line of input, so no test depends on timing.

use crate::harness::{Sandbox, finish, is_gone, numbered, until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A command that is running, and what it has shown so far.
struct Running {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    seen: String,
}

impl Running {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Running {
        let mut command = sandbox.command();
        command.args(arguments).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Running { child, input, output, seen: String::new() }
    }

    /// Lets the command go on.
    fn go(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let mut block = [0; 4096];
            let count = self.output.read(&mut block).unwrap();
            assert_ne!(count, 0, "{text:?} was not shown: {}", self.seen);
            self.seen += std::str::from_utf8(&block[..count]).unwrap();
        }
    }

    /// The rest of the output and the exit code.
    fn finish(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (self.seen + &rest, finish(self.child).code)
    }
}

#[test]
fn output_is_shown_while_the_command_runs_and_whole_at_the_end() {
    for front_end in [&["shell", "-c"][..], &["run", "--", "sh", "-c"]] {
        let sandbox = Sandbox::new();
        let line = "printf 'ready\\nqu'; read _; echo estion; exit 3";
        let mut running = Running::start(&sandbox, &[front_end, &[line]].concat());
        running.wait_for("ready\nqu");
        running.go();
        assert_eq!(running.finish(), ("ready\nquestion\n".to_owned(), Some(3)));
        assert_eq!(
            sandbox.run(&["ls"], b"").text().lines().count(),
            1,
            "an output within the limits is not kept"
        );
    }
}

#[test]
fn withheld_output_is_announced_and_readable_while_the_command_runs() {
    let sandbox = Sandbox::new();
    let line = "seq 1 20000; read _; echo 'listening on 3000'; read _; echo error: it broke; exit 3";
    let mut running = Running::start(&sandbox, &["run", "--", "sh", "-c", line]);
    running.wait_for(" --lines -50:]\n");
    let notice = running.seen.lines().last().unwrap().to_owned();
    let (_, hint) = notice.trim_end_matches(']').split_once("more: ").unwrap();
    assert!(running.seen.starts_with("1\n2\n3\n"));
    let id = hint.split(' ').nth(2).unwrap();
    assert_eq!(sandbox.run(&["read", id, "--lines", "19999:20000"], b"").code, Some(0));
    assert!(sandbox.paste(hint).text().contains("\n19999\n20000\n"));
    assert!(sandbox.run(&["grep", "^12345$", id], b"").text().contains("12345"));
    running.go();
    running.wait_for("\nlistening on 3000\n");
    running.go();
    let (shown, code) = running.finish();
    assert_eq!(code, Some(3));
    assert!(shown.len() <= 9500, "{}", shown.len());
    assert_eq!(shown.matches("\n20\n").count(), 1, "what was shown is not repeated");
    let rest = &shown[shown.find(&notice).unwrap() + notice.len()..];
    assert!(rest.contains("error: it broke\n") && rest.contains("exit 3 after"), "{rest}");
    let output = numbered(20_000) + "listening on 3000\nerror: it broke\n";
    assert_eq!(sandbox.run(&["cat", id], b"").stdout, output.as_bytes());
}

#[test]
fn output_of_a_killed_call_was_shown_and_is_readable() {
    let sandbox = Sandbox::new();
    let line = "seq -f 'line %g of the output' 1 140; read _; sleep 1000";
    let mut running = Running::start(&sandbox, &["shell", "-c", line]);
    running.wait_for("line 70 of the output\n");
    running.child.kill().unwrap();
    assert_eq!(running.child.wait().unwrap().signal(), Some(9));
    until(|| sandbox.run(&["show", "last", "--format", "json"], b"").text().contains("\"abandoned\""));
    let stored = sandbox.run(&["cat", "last"], b"").stdout;
    assert_eq!(String::from_utf8_lossy(&stored).lines().count(), 140);
}

#[test]
fn command_ends_when_nobody_reads_its_output() {
    let sandbox = Sandbox::new();
    let mut running = Running::start(&sandbox, &["run", "--", "sh", "-c", "trap '' TERM; exec yes"]);
    running.wait_for("y\ny\n");
    let Running { mut child, output, input, .. } = running;
    drop((input, output));
    assert_eq!(child.wait().unwrap().code(), Some(128 + 13), "as without offcut");
}

/// Node.js gives its children sockets.
#[test]
fn command_ends_when_the_reader_closes_a_socket() {
    let sandbox = Sandbox::new();
    for arguments in [&["run"][..], &["run", "--split"], &["--format", "json", "run"]] {
        let (reader, stdout) = UnixStream::pair().unwrap();
        let mut command = sandbox.command();
        command.args(arguments).args(["--", "yes"]).env("PATH", "/usr/bin:/bin").stderr(Stdio::piped());
        let child = command.stdin(Stdio::null()).stdout(OwnedFd::from(stdout)).spawn().unwrap();
        drop((command, reader));
        assert_eq!(finish(child).code, Some(128 + 13), "as without offcut: {arguments:?}");
    }
}

/// A command that has printed something live, and its full output pipe.
struct FullPipe {
    child: Child,
    input: ChildStdin,
    output: PipeReader,
    filled: usize,
}

impl FullPipe {
    fn start(sandbox: &Sandbox, mode: PipeMode, arguments: &[&str], line: &str) -> FullPipe {
        let (output, mut writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let mut filled = 0;
        while let Ok(count) = writer.write(&[b'.'; 4096]) {
            filled += count;
        }
        rustix::io::ioctl_fionbio(&writer, mode == PipeMode::NonBlocking).unwrap();
        let mut command = sandbox.command();
        command.arg("run").args(arguments).args(["--", "sh", "-c", line]).env("PATH", "/usr/bin:/bin");
        let mut child = command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        // The output is stored when it is first printed.
        until(|| sandbox.run(&["ls", "--format", "json"], b"").text().contains("\"running\""));
        FullPipe { child, input, output, filled }
    }

    /// What was printed after the pipe had been filled, and the exit code.
    fn finish(mut self) -> (String, Option<i32>) {
        let mut seen = String::new();
        self.output.read_to_string(&mut seen).unwrap();
        (seen.split_off(self.filled), finish(self.child).code)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PipeMode {
    Blocking,
    NonBlocking,
}

#[test]
fn output_is_printed_whole_after_the_pipe_was_full() {
    for mode in [PipeMode::Blocking, PipeMode::NonBlocking] {
        for is_read_before_the_end in [true, false] {
            let sandbox = Sandbox::new();
            let line = "echo early; read _; echo late; : > ended; exit 3";
            let mut pipe = FullPipe::start(&sandbox, mode, &[], line);
            if is_read_before_the_end {
                let mut seen = vec![0; pipe.filled + "early\n".len()];
                pipe.output.read_exact(&mut seen).unwrap();
                assert!(seen.ends_with(b".early\n"));
                pipe.filled = 0;
            }
            pipe.input.write_all(b"\n").unwrap();
            until(|| sandbox.path().join("ended").exists());
            let expected = if is_read_before_the_end { "late\n" } else { "early\nlate\n" };
            assert_eq!(pipe.finish(), (expected.to_owned(), Some(3)), "{mode:?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn timeout_applies_while_the_pipe_is_full() {
    for mode in [PipeMode::Blocking, PipeMode::NonBlocking] {
        let sandbox = Sandbox::new();
        let line = "echo $$ > process; echo early; exec sleep 1000";
        let pipe = FullPipe::start(&sandbox, mode, &["--timeout", "3s"], line);
        let process = std::fs::read_to_string(sandbox.path().join("process")).unwrap();
        until(|| is_gone(process.trim()));
        assert_eq!(pipe.finish(), ("early\n".to_owned(), Some(124)), "{mode:?}");
    }
}

#[test]
fn signal_ends_offcut_while_it_prints_after_the_command() {
    let sandbox = Sandbox::new();
    let mut pipe =
        FullPipe::start(&sandbox, PipeMode::Blocking, &[], "echo early; trap '' TERM; read _; exit 3");
    pipe.input.write_all(b"\n").unwrap();
    until(|| {
        let _ = kill_process(Pid::from_child(&pipe.child), Signal::TERM);
        pipe.child.try_wait().unwrap().is_some()
    });
    assert_eq!(pipe.child.wait().unwrap().signal(), Some(15));
}

#[test]
fn json_and_separate_streams_are_printed_at_the_end() {
    let sandbox = Sandbox::new();
    for arguments in [&["--format", "json", "run", "--"][..], &["run", "--split", "--"]] {
        let line = "echo early; read _; touch seen; read _";
        let mut running = Running::start(&sandbox, &[arguments, &["sh", "-c", line]].concat());
        running.go();
        until(|| sandbox.path().join("seen").exists());
        // Longer than the delay after which output flows.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let mut polled = [PollFd::new(&running.output, PollFlags::IN)];
        assert_eq!(poll(&mut polled, Some(&Timespec::default())), Ok(0), "{arguments:?}");
        running.go();
        let (shown, code) = running.finish();
        assert_eq!(code, Some(0));
        assert_eq!(shown.matches("early").count(), 1, "{shown}");
    }
}
