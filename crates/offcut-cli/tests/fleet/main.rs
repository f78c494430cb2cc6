//! The real binary with a shared store: `scripts/with-seaweedfs cargo test -p offcut-cli --test fleet`.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

#[path = "../cli/harness.rs"]
#[expect(dead_code, reason = "shared with the other tests, which use more of it")]
mod harness;

mod failures;
mod machines;

use harness::{Ran, Sandbox, feed};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A machine: its own home directory, and the variables for the store.
struct Machine {
    sandbox: Sandbox,
    store: String,
    variables: Vec<(String, String)>,
}

/// A prefix that no other test uses.
fn place() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let bucket = variable("OFFCUT_TEST_BUCKET");
    format!("s3://{bucket}/cli/{since}-{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

#[track_caller]
fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run the test with scripts/with-seaweedfs"))
}

impl Machine {
    fn new(name: &str, store: &str) -> Machine {
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"];
        let mut variables: Vec<_> = names.iter().map(|name| ((*name).to_owned(), variable(name))).collect();
        variables.push(("OFFCUT_HOST".to_owned(), name.to_owned()));
        Machine { sandbox: Sandbox::new(), store: store.to_owned(), variables }
    }

    /// Changes one variable.
    fn set(&mut self, name: &str, value: &str) -> &mut Machine {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn command(&self) -> Command {
        let mut command = self.sandbox.command();
        command.env("OFFCUT_STORE", &self.store);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(arguments);
        feed(command, input)
    }

    /// Shortens a text and returns the id of the stored output.
    #[track_caller]
    fn cut(&self, options: &[&str], input: &[u8]) -> String {
        let arguments = [&["cut", "--format", "json"], options].concat();
        let id = self.run(&arguments, input).json()["saved"]["id"].as_str().unwrap().to_owned();
        assert_eq!(id.len(), 16);
        id
    }
}
