//! Runs the binary in a temporary home directory.
//!
//! Every child starts with default signal dispositions, however the tests themselves were started (`nohup` ignores
//! signals, and children inherit that), and is killed when it exceeds the time limit, so that a hang is a failure.

use rustix::process::{Pid, Signal, kill_process};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No child of a test takes nearly as long, even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct Sandbox {
    home: TempDir,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// As a shell reports it: 128 plus the signal if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    #[track_caller]
    pub(crate) fn failed(&self, code: i32, message: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(message), "{message:?} is not in {:?}", self.stderr);
    }
}

/// The binary under test: the one that cargo built, or the one that `OFFCUT_TEST_BINARY` names by its absolute path.
pub(crate) fn binary() -> &'static str {
    static BINARY: LazyLock<String> = LazyLock::new(|| {
        std::env::var("OFFCUT_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_offcut").to_owned())
    });
    &BINARY
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// The default store.
    pub(crate) fn store(&self) -> PathBuf {
        self.path().join(".local/share/offcut")
    }

    /// The binary, without any of the caller's environment variables.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command.env_clear().env("HOME", self.path()).current_dir(self.path());
        isolate(&mut command);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(arguments);
        feed(command, input)
    }

    /// The path of another copy of the binary, in the directory `bin`, which a test can remove.
    pub(crate) fn copy_of_binary(&self) -> PathBuf {
        let copy = self.path().join("bin/offcut");
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        // A link is quicker, but impossible between file systems. Another process copies the file: one that this process has
        // open for writing may be inherited by a child of another test, and cannot be started then.
        if std::fs::hard_link(binary(), &copy).is_err() {
            assert!(Command::new("cp").arg(binary()).arg(&copy).status().unwrap().success());
        }
        copy
    }

    /// Runs a command line as a person or a model would paste it into a shell.
    pub(crate) fn paste(&self, line: &str) -> Ran {
        let binaries = Path::new(binary()).parent().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().env("HOME", self.path()).env("PATH", binaries);
        feed(command, b"")
    }
}

impl Drop for Sandbox {
    /// Ends what a failed test left running: every process whose home directory is the sandbox.
    fn drop(&mut self) {
        let home = [b"HOME=", self.path().as_os_str().as_bytes()].concat();
        let is_in_sandbox = |process: &Pid| {
            let environment = std::fs::read(format!("/proc/{}/environ", process.as_raw_nonzero()));
            environment.unwrap_or_default().split(|&byte| byte == 0).any(|variable| variable == home)
        };
        // A process may start another one before it is killed.
        for _ in 0..10 {
            let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            let processes = names.filter_map(|name| Pid::from_raw(name.file_name().to_str()?.parse().ok()?));
            let remaining: Vec<Pid> = processes.filter(is_in_sandbox).collect();
            if remaining.is_empty() {
                break;
            }
            for process in remaining {
                let _ = kill_process(process, Signal::KILL);
            }
        }
    }
}

/// Gives a child default signal dispositions and the time limit.
#[expect(unsafe_code, reason = "dispositions and timers of a child are set between fork and exec")]
pub(crate) fn isolate(command: &mut Command) {
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe {
        command.pre_exec(|| {
            for signal in 1..=31 {
                // Fails for SIGKILL and SIGSTOP, which have no other disposition.
                libc::signal(signal, libc::SIG_DFL);
            }
            // The timer survives exec, and its signal ends a program that does not handle it.
            libc::alarm(TIME_LIMIT.as_secs() as u32);
            Ok(())
        });
    }
}

/// Starts a command, writes its input and waits for its end.
#[track_caller]
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Ran {
    isolate(&mut command);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The child may end before it has read everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        finish(child)
    })
}

/// The exit code as a shell reports it.
pub(crate) fn shell_code(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal))
}

/// Waits for the end of a child and of its output. Panics with the output if the child exceeds the time limit.
#[track_caller]
pub(crate) fn finish(child: Child) -> Ran {
    let process = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(child.wait_with_output())));
    let Ok(output) = receiver.recv_timeout(TIME_LIMIT + Duration::from_secs(10)) else {
        // `wait_with_output` reads to the end before it reaps the child, so the number is still that of the child.
        let _ = kill_process(process, Signal::KILL);
        panic!("the output is still open after {TIME_LIMIT:?}");
    };
    let Output { status, stdout, stderr } = output.unwrap();
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    let ran = Ran { code: shell_code(status), signal: status.signal(), stdout, stderr };
    let stdout = String::from_utf8_lossy(&ran.stdout);
    // offcut forwards the signal to its command, and returns its exit code.
    assert_ne!(ran.code, Some(128 + libc::SIGALRM), "killed after {TIME_LIMIT:?}: {stdout}\n{}", ran.stderr);
    ran
}

pub(crate) fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}

/// Whether a process is gone, or a zombie that its parent has not reaped yet.
pub(crate) fn is_gone(process: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).map_or(true, |text| text.contains(") Z "))
}

/// Waits for something that another process does. The deadline is only there to fail instead of hanging.
#[track_caller]
pub(crate) fn until(mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIME_LIMIT;
    while !happened() {
        assert!(Instant::now() < deadline, "nothing happened within {TIME_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
