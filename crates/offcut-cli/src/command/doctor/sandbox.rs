//! Runs a command line with long output in an agent's sandbox, and checks whether its output is stored.

use super::{Findings, LONG_OUTPUT, Verdict};
use crate::agents::Agent;
use offcut::retrieve;
use offcut::store::Store;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A sandbox that takes longer to start cannot be tested.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Tests the agent's sandbox. `arguments` start it, and `shell` is offcut as a shell. The output of the test is removed from
/// `store`.
pub(super) fn check(
    findings: &mut Findings,
    agent: &Agent,
    arguments: &[&str],
    shell: &Path,
    store: &dyn Store,
) {
    let mut command = Command::new(agent.name);
    command.args(arguments).arg(shell).args(["-c", LONG_OUTPUT]).stdin(Stdio::null());
    let output = match output_within(&mut command, TIME_LIMIT) {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            let message = format!("cannot test its sandbox: no result within {TIME_LIMIT:?}");
            return findings.add(Verdict::Note, agent.name, message);
        }
        // Agents that are not on PATH have a finding of their own.
        Err(_) => return,
    };
    let not_stored = |reason: &str| format!("outputs of commands in its sandbox are not stored: {reason}");
    let text = String::from_utf8_lossy(&output.stdout);
    let (state, message) = if let Some((_, rest)) = text.split_once("[offcut ") {
        let id = rest.split(':').next().unwrap_or_default();
        match retrieve::resolve(store, id).and_then(|id| Ok(store.remove(&id)?)) {
            Ok(()) => (
                Verdict::Good,
                "outputs of commands in its sandbox are stored, unless the sandbox is read-only".to_owned(),
            ),
            Err(error) => (Verdict::Bad, not_stored(&error.to_string())),
        }
    } else if let Some((_, reason)) = text.split_once("not stored: ") {
        (Verdict::Bad, not_stored(reason.split([']', '\n']).next().unwrap_or_default()))
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        let reason = errors.lines().rev().find(|line| !line.trim().is_empty());
        let reason = reason.map_or_else(|| output.status.to_string(), str::to_owned);
        (Verdict::Note, format!("cannot test its sandbox: {reason}"))
    };
    findings.add(state, agent.name, message);
}

/// Runs a command and kills it and its children after the time limit.
fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let group = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        let _ = kill_process_group(group, Signal::KILL);
        Err(ErrorKind::TimedOut.into())
    })
}

#[cfg(test)]
mod tests {
    use super::output_within;
    use std::io::ErrorKind;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn command_is_killed_after_the_time_limit() {
        let (started, mut command) = (Instant::now(), Command::new("sh"));
        let ran = output_within(command.args(["-c", "sleep 60; echo done"]), Duration::from_millis(100));
        assert_eq!(ran.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(30));
        let ran = output_within(Command::new("sh").args(["-c", "echo done"]), Duration::from_secs(60));
        assert_eq!(ran.unwrap().stdout, b"done\n");
    }
}
