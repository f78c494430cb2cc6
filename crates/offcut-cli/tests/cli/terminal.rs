//! On a terminal: the status line, and signals sent by the terminal.

use crate::harness::{Sandbox, binary, is_gone, isolate, shell_code, until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

pub(crate) struct Terminal {
    controller: File,
    child: Child,
    pub(crate) seen: String,
}

impl Terminal {
    /// Runs a command line with `offcut run` on a new terminal.
    fn open(sandbox: &Sandbox, variables: &[(&str, &str)], line: &str) -> Terminal {
        let mut command = sandbox.command();
        command.args(["run", "--", "/bin/sh", "-c", line]).env("TERM", "xterm");
        command.envs(variables.iter().copied());
        Terminal::start(command)
    }

    /// Runs a command line in a shell on a new terminal, with the path of offcut in `$offcut`.
    pub(crate) fn open_shell(sandbox: &Sandbox, line: &str) -> Terminal {
        Terminal::open_in(sandbox, "/bin/sh", line)
    }

    /// The same in bash, whose job control is that of an interactive shell.
    fn open_bash(sandbox: &Sandbox, line: &str) -> Terminal {
        Terminal::open_in(sandbox, "/bin/bash", line)
    }

    fn open_in(sandbox: &Sandbox, shell: &str, line: &str) -> Terminal {
        let mut command = Command::new(shell);
        command.args(["-c", line]).env_clear().env("TERM", "xterm").env("HOME", sandbox.path());
        command.env("offcut", binary()).current_dir(sandbox.path());
        Terminal::start(command)
    }

    #[expect(unsafe_code, reason = "a new session needs code between fork and exec")]
    pub(crate) fn start(mut command: Command) -> Terminal {
        isolate(&mut command);
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::io::fcntl_setfd(&controller, rustix::io::FdFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        // Without this flag, it becomes the terminal of the tests themselves if these lead a session that has none.
        let flags = libc::O_NOCTTY;
        let terminal_file =
            File::options().read(true).write(true).custom_flags(flags).open(name.to_str().unwrap()).unwrap();
        // Without this flag, the terminal discards pending output on an interrupt.
        let mut modes = tcgetattr(&terminal_file).unwrap();
        modes.local_modes |= LocalModes::NOFLSH;
        tcsetattr(&terminal_file, OptionalActions::Now, &modes).unwrap();
        let stdio = || terminal_file.try_clone().unwrap();
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        // SAFETY: between fork and exec only two system calls are made; nothing is allocated or locked.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        let controller: OwnedFd = controller.as_fd().try_clone_to_owned().unwrap();
        Terminal { controller: File::from(controller), child, seen: String::new() }
    }

    /// Reads until the terminal shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            assert!(self.read(), "{text:?} was not shown: {:?}", self.seen);
        }
    }

    fn read(&mut self) -> bool {
        let mut block = [0; 4096];
        // When the other end is closed, Linux reports an error, other systems report the end of the file.
        let count = self.controller.read(&mut block).unwrap_or(0);
        self.seen += &String::from_utf8_lossy(&block[..count]);
        count > 0
    }

    pub(crate) fn type_in(&mut self, keys: &[u8]) {
        self.controller.write_all(keys).unwrap();
    }

    /// Returns everything shown, and the exit code.
    pub(crate) fn close(mut self) -> (String, Option<i32>) {
        while self.read() {}
        (self.seen, shell_code(self.child.wait().unwrap()))
    }
}

#[test]
fn status_line_is_updated_and_erased() {
    let sandbox = Sandbox::new();
    for (variables, is_dim) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let mut terminal = Terminal::open(&sandbox, variables, "echo first; read line; echo $line; exit 3");
        terminal.wait_for("1 lines  6 bytes  first");
        terminal.type_in(b"typed\n");
        let (seen, code) = terminal.close();
        assert_eq!(seen.contains("\x1b[2m"), is_dim, "{seen:?}");
        assert!(seen.ends_with("\r\x1b[2Kfirst\r\ntyped\r\n"), "{seen:?}");
        assert_eq!(code, Some(3));
    }
    let (seen, code) = Terminal::open(&sandbox, &[("TERM", "dumb")], "sleep 0.8; echo done").close();
    assert_eq!((seen.as_str(), code), ("done\r\n", Some(0)));
}

#[test]
fn status_line_of_cut_is_updated_and_erased() {
    let sandbox = Sandbox::new();
    let line = "{ echo first; read line; echo $line; } | \"$offcut\" cut";
    let mut terminal = Terminal::open_shell(&sandbox, line);
    terminal.wait_for("1 lines  6 bytes  first");
    terminal.type_in(b"typed\n");
    let (seen, code) = terminal.close();
    assert!(seen.ends_with("\r\x1b[2Kfirst\r\ntyped\r\n"), "{seen:?}");
    assert_eq!(code, Some(0));
    // What is typed needs its line.
    let mut terminal = Terminal::open_shell(&sandbox, "\"$offcut\" cut");
    terminal.type_in(b"typed\n");
    std::thread::sleep(std::time::Duration::from_millis(800));
    terminal.type_in(b"\x04");
    assert_eq!(terminal.close().0, "typed\r\ntyped\r\n");
}

#[test]
fn status_line_returns_after_fg() {
    let sandbox = Sandbox::new();
    let line = "set -m; \"$offcut\" run -- /bin/sh -c 'echo one; read line'; echo stopped; fg > /dev/null";
    let mut terminal = Terminal::open_bash(&sandbox, line);
    terminal.wait_for("one\r\n");
    terminal.type_in(b"\x1a");
    terminal.wait_for("stopped");
    terminal.seen.clear();
    terminal.wait_for("1 lines  4 bytes  one");
    terminal.type_in(b"\n");
    terminal.close();
}

#[test]
fn status_line_is_updated_after_part_of_a_line_was_printed_elsewhere() {
    let sandbox = Sandbox::new();
    let line = "\"$offcut\" run -- /bin/sh -c 'printf par; read line; printf t; read line' > output";
    let mut terminal = Terminal::open_shell(&sandbox, line);
    until(|| std::fs::read(sandbox.path().join("output")).is_ok_and(|text| text == b"par"));
    terminal.type_in(b"\n");
    terminal.wait_for("0 lines  4 bytes  part");
    terminal.type_in(b"\n");
    terminal.close();
}

/// The terminal interrupts the whole group once; a second interrupt from offcut could end a command that handles the first.
#[test]
fn interrupt_arrives_once() {
    let sandbox = Sandbox::new();
    let line = "n=0; trap 'n=$((n+1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; echo n=$n; exit 5";
    let mut terminal = Terminal::open(&sandbox, &[], line);
    terminal.wait_for("ready");
    terminal.type_in(b"\x03");
    let (seen, code) = terminal.close();
    assert!(seen.ends_with("ready\r\nn=1\r\n"), "{seen:?}");
    assert_eq!(code, Some(5));
}

#[test]
fn interrupt_ends_command_without_trap() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::open(&sandbox, &[], "echo ready; exec sleep 100");
    terminal.wait_for("ready");
    terminal.type_in(b"\x03");
    let (seen, code) = terminal.close();
    assert!(seen.ends_with("\r\x1b[2Kready\r\n"), "{seen:?}");
    assert_eq!(code, Some(130));
}

/// The command shares its process group with unrelated processes: only its descendants are stopped.
#[cfg(target_os = "linux")]
#[test]
fn timeout_stops_descendants_and_nothing_else_in_group() {
    for script in [
        "sleep 1000 & echo $! > descendant; sleep 1000",
        "(sleep 1000; :) & (sleep 1000 & echo $! > descendant; wait); :",
        // A command that ignores SIGTERM is killed.
        "trap '' TERM; sleep 1000 & echo $! > descendant; wait; wait",
    ] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.path().join("script"), script).unwrap();
        let line = "sleep 1000 & other=$!; \"$offcut\" run --timeout 500ms -- /bin/sh script; echo code $?;
            kill -0 $other && echo unharmed; kill $other; n=0;
            while [ $n -lt 200 ]; do
                case $(cut -d ' ' -f 3 /proc/$(cat descendant)/stat) in '' | Z) echo gone; break ;; esac; n=$((n+1)); sleep 0.05;
            done 2> /dev/null";
        let (seen, _) = Terminal::open_shell(&sandbox, line).close();
        for expected in ["code 124", "unharmed", "gone"] {
            assert!(seen.contains(&format!("{expected}\r\n")), "{script}: no {expected:?} in {seen:?}");
        }
        assert!(!seen.contains("still being captured"), "{seen:?}");
    }
}

/// As with Ctrl-Z and `fg` at a prompt.
#[test]
fn stop_and_continue_apply_to_offcut_and_command() {
    let sandbox = Sandbox::new();
    let line = "set -m; \"$offcut\" run -- /bin/sh -c 'echo one; : > ready; read line; echo \"$line\"; exit 6'; echo stopped $?; fg > /dev/null; echo code $?";
    let mut terminal = Terminal::open_shell(&sandbox, line);
    until(|| sandbox.path().join("ready").exists());
    terminal.type_in(b"\x1a");
    terminal.wait_for("stopped");
    terminal.type_in(b"typed\n");
    let (seen, _) = terminal.close();
    assert!(seen.ends_with("one\r\ntyped\r\ncode 6\r\n"), "{seen:?}");
}

/// As with `ssh -t host offcut run …` when the connection breaks.
#[cfg(target_os = "linux")]
#[test]
fn command_ends_when_the_terminal_of_its_session_is_closed() {
    let sandbox = Sandbox::new();
    let line = "echo $$ > process; echo ready; exec sleep 1000";
    let mut terminal = Terminal::open(&sandbox, &[], line);
    terminal.wait_for("ready");
    let process = std::fs::read_to_string(sandbox.path().join("process")).unwrap();
    let Terminal { controller, mut child, .. } = terminal;
    drop(controller);
    until(|| is_gone(process.trim()));
    assert_eq!(shell_code(child.wait().unwrap()), Some(129));
}

/// A loop of calls ends with one Ctrl-C, as a loop of plain commands does.
#[test]
fn interrupt_ends_a_loop_of_calls() {
    let sandbox = Sandbox::new();
    let line =
        "for i in 1 2 3; do \"$offcut\" run -- /bin/sh -c 'echo ready; exec sleep 1000'; done; echo never";
    let mut terminal = Terminal::open_bash(&sandbox, line);
    terminal.wait_for("ready");
    terminal.type_in(b"\x03");
    let (seen, code) = terminal.close();
    assert_eq!(
        (seen.matches("ready\r\n").count(), seen.contains("never"), code),
        (1, false, Some(130)),
        "{seen:?}"
    );
}

/// `fg` brings a call that was started in the background to the terminal.
#[test]
fn background_call_reads_the_terminal_after_fg() {
    let sandbox = Sandbox::new();
    let line = "set -m; \"$offcut\" run -- /bin/sh -c ': > ready; read line; echo \"got $line\"; exit 6' & \
        while ! [ -e ready ]; do sleep 0.02; done; echo started; fg > /dev/null; echo code $?";
    let mut terminal = Terminal::open_bash(&sandbox, line);
    terminal.wait_for("started");
    terminal.type_in(b"typed\n");
    let (seen, _) = terminal.close();
    assert!(seen.ends_with("got typed\r\ncode 6\r\n"), "{seen:?}");
}

/// A command that stops itself stops the job, and one that ignores Ctrl-Z goes on.
#[test]
fn job_stops_exactly_when_the_command_stops() {
    let sandbox = Sandbox::new();
    let line = "set -m; \"$offcut\" run -- /bin/sh -c 'kill -STOP $$; echo woke; exit 6'; echo stopped $?; fg > /dev/null; echo code $?";
    let (seen, _) = Terminal::open_bash(&sandbox, line).close();
    assert!(seen.contains("stopped 1") && seen.ends_with("woke\r\ncode 6\r\n"), "{seen:?}");

    // A stop signal for the whole group stops it once.
    let line = "set -m; \"$offcut\" run -- /bin/sh -c 'kill -TSTP 0; sleep 0.3; echo woke; exit 6'; echo stopped $?; fg > /dev/null; echo code $?";
    let (seen, _) = Terminal::open_bash(&sandbox, line).close();
    assert!(seen.contains("stopped 1") && seen.ends_with("woke\r\ncode 6\r\n"), "{seen:?}");

    let line = "set -m; \"$offcut\" run -- /bin/sh -c 'trap \"\" TSTP; : > ready; read line; echo \"got $line\"; exit 7'; echo code $?";
    let mut terminal = Terminal::open_bash(&sandbox, line);
    until(|| sandbox.path().join("ready").exists());
    terminal.type_in(b"\x1atyped\n");
    let (seen, _) = terminal.close();
    assert!(seen.ends_with("got typed\r\ncode 7\r\n"), "{seen:?}");
}
