//! On a terminal: a status line, and signals that the terminal sends itself.

use crate::harness::Sandbox;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Child;

struct Terminal {
    ours: File,
    child: Child,
    seen: String,
}

impl Terminal {
    /// Runs a line on a terminal of its own, as in a window that was just opened.
    #[expect(unsafe_code, reason = "a new session needs code between fork and exec")]
    fn open(sandbox: &Sandbox, variables: &[(&str, &str)], line: &str) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut command = sandbox.command();
        command
            .args(["run", "--", "/bin/sh", "-c", line])
            .env("TERM", "xterm")
            .envs(variables.iter().copied());
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
    fn wait_for(&mut self, text: &str) {
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
