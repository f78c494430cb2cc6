//! The plugin for opencode, called as opencode 1 and opencode 2 do. `scripts/test-agents` runs it in the real opencode 1.

use crate::harness::{Sandbox, feed};
use std::process::Command;

/// Runs the test script in Node, if there is one.
fn check(method: &[&str]) {
    if Command::new("node").arg("--version").output().is_err() {
        return;
    }
    let sandbox = Sandbox::new();
    let arguments = [&["init", "opencode"], method].concat();
    let mut command = sandbox.command();
    command.args(arguments).env("SHELL", "/bin/bash");
    feed(command, b"").text();
    // Node recognises a module by the end of its name.
    let plugin = sandbox.path().join("offcut.mjs");
    std::fs::copy(sandbox.path().join(".config/opencode/plugin/offcut.js"), &plugin).unwrap();
    let mut node = Command::new("node");
    node.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/opencode_plugin.mjs")).arg(plugin);
    node.arg((!method.is_empty()).to_string()).env("HOME", sandbox.path());
    let ran = feed(node, b"");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn plugin_shortens_and_reads_results_by_both_interfaces() {
    check(&[]);
}

#[test]
fn plugin_rewrites_command_lines_by_both_interfaces() {
    check(&["--rewrite"]);
}
