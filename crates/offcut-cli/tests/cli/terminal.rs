//! On a terminal: a status line, and signals that the terminal sends itself.

use crate::harness::{Sandbox, until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

pub(crate) struct Terminal {
    ours: File,
    child: Child,
    pub(crate) seen: String,
}

impl Terminal {
    /// Runs a line by `offcut run` on a terminal of its own, as in a window that was just opened.
    fn open(sandbox: &Sandbox, variables: &[(&str, &str)], line: &str) -> Terminal {
        let mut command = sandbox.command();
        command.args(["run", "--", "/bin/sh", "-c", line]).env("TERM", "xterm");
        command.envs(variables.iter().copied());
        Terminal::start(command)
    }

    /// Runs a line by a shell that has the terminal, and offcut as `$offcut`.
    fn open_shell(sandbox: &Sandbox, line: &str) -> Terminal {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().env("TERM", "xterm").env("HOME", sandbox.path());
        command.env("offcut", env!("CARGO_BIN_EXE_offcut")).current_dir(sandbox.path());
        Terminal::start(command)
    }

    #[expect(unsafe_code, reason = "a new session needs code between fork and exec")]
    pub(crate) fn start(mut command: Command) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        // Else the terminal throws away what is printed while it interrupts, also by whoever was interrupted.
        let mut modes = tcgetattr(&theirs).unwrap();
        modes.local_modes |= LocalModes::NOFLSH;
        tcsetattr(&theirs, OptionalActions::Now, &modes).unwrap();
        let stdio = || theirs.try_clone().unwrap();
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
        let ours: OwnedFd = ours.as_fd().try_clone_to_owned().unwrap();
        Terminal { ours: File::from(ours), child, seen: String::new() }
    }

    /// Reads until a text has been shown.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            assert!(self.read(), "{text:?} was not shown: {:?}", self.seen);
        }
    }

    fn read(&mut self) -> bool {
        let mut block = [0; 4096];
        // Where Linux says that nobody is at the other end, others say that the text has ended.
        let count = self.ours.read(&mut block).unwrap_or(0);
        self.seen += &String::from_utf8_lossy(&block[..count]);
        count > 0
    }

    fn type_in(&mut self, keys: &[u8]) {
        self.ours.write_all(keys).unwrap();
    }

    /// All that was shown, and the exit code.
    fn close(mut self) -> (String, Option<i32>) {
        while self.read() {}
        (self.seen, self.child.wait().unwrap().code())
    }
}

#[test]
fn a_status_line_lives_and_is_erased() {
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

/// The terminal interrupts the whole group once: a second interrupt from us would end what handles the first.
#[test]
fn an_interrupt_arrives_once() {
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
fn an_interrupt_ends_what_does_not_handle_it() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::open(&sandbox, &[], "echo ready; exec sleep 100");
    terminal.wait_for("ready");
    terminal.type_in(b"\x03");
    let (seen, code) = terminal.close();
    assert!(seen.ends_with("\r\x1b[2Kready\r\n"), "{seen:?}");
    assert_eq!(code, Some(130));
}

/// The command is in a group with others, who are none of ours: only what it started goes with it.
#[cfg(target_os = "linux")]
#[test]
fn a_timeout_stops_what_the_command_started_and_nothing_else() {
    for script in [
        "sleep 1000 & echo $! > kin; sleep 1000",
        "(sleep 1000; :) & (sleep 1000 & echo $! > kin; wait); :",
        // Whoever does not listen is killed.
        "trap '' TERM; sleep 1000 & echo $! > kin; wait; wait",
    ] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.path().join("script"), script).unwrap();
        let line = "sleep 1000 & other=$!; \"$offcut\" run --timeout 500ms -- /bin/sh script; echo code $?;
            kill -0 $other && echo unharmed; kill $other; n=0;
            while [ $n -lt 200 ]; do
                case $(cut -d ' ' -f 3 /proc/$(cat kin)/stat) in '' | Z) echo gone; break ;; esac; n=$((n+1)); sleep 0.05;
            done 2> /dev/null";
        let (seen, _) = Terminal::open_shell(&sandbox, line).close();
        for expected in ["code 124", "unharmed", "gone"] {
            assert!(seen.contains(&format!("{expected}\r\n")), "{script}: no {expected:?} in {seen:?}");
        }
        assert!(!seen.contains("still being captured"), "{seen:?}");
    }
}

/// Stopped by the terminal and continued, as a person does it with Ctrl-Z and `fg`.
#[test]
fn a_stop_stops_both_and_they_go_on() {
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
