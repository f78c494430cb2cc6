//! Runs a command line with long output in an agent's sandbox, and checks whether its output is stored.

use super::{Findings, Verdict};
use crate::agents::Agent;
use offcut::retrieve;
use offcut::store::Store;
use std::path::Path;
use std::process::{Command, Stdio};

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
    let Ok(output) =
        command.args(arguments).arg(shell).args(["-c", "seq 1 3000"]).stdin(Stdio::null()).output()
    else {
        // Agents that are not on PATH have a finding of their own.
        return;
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
