//! Runs the binary in a home of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) struct Sandbox {
    home: TempDir,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
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
    pub(crate) fn failed(&self, code: i32, says: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(says), "{says:?} is not in {:?}", self.stderr);
    }
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// Where outputs are kept by default.
    pub(crate) fn store(&self) -> PathBuf {
        self.path().join(".local/share/offcut")
    }

    /// The binary with nothing of the caller's environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offcut"));
        command.env_clear().env("HOME", self.path()).current_dir(self.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(arguments);
        feed(command, input)
    }

    /// A command line as a person or a model would paste it.
    pub(crate) fn paste(&self, line: &str) -> Ran {
        let binaries = Path::new(env!("CARGO_BIN_EXE_offcut")).parent().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().env("HOME", self.path()).env("PATH", binaries);
        feed(command, b"")
    }
}

pub(crate) fn feed(mut command: Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let Output { status, stdout, stderr } = std::thread::scope(|scope| {
        // The child may end before it has read everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Ran { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

pub(crate) fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}

/// Waits for something that another process does. The deadline is only there to fail instead of hanging.
#[track_caller]
pub(crate) fn until(mut happened: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !happened() {
        assert!(std::time::Instant::now() < deadline, "it did not happen");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
