//! klaude's command lines, which `bash -lc` hands to offcut by a line in the user's startup file.

use crate::harness::{Ran, Sandbox, feed, numbered};
use std::process::Command;

/// A home directory with a startup file, in which klaude is configured.
fn home() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join(".profile"), "export MINE=\"$MINE+\"\n").unwrap();
    assert_eq!(sandbox.run(&["init", "klaude"], b"").code, Some(0));
    sandbox
}

/// Runs bash as klaude does.
fn bash(sandbox: &Sandbox, arguments: &[&str], session: Option<&str>) -> Ran {
    let mut command = Command::new("bash");
    command.args(arguments).env_clear().envs(session.map(|id| ("KLAUDE_SESSION_ID", id)));
    command.env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin").current_dir(sandbox.path());
    feed(command, b"")
}

#[test]
fn command_line_of_klaude_is_shortened_and_stored() {
    let sandbox = home();
    let ran = bash(&sandbox, &["-lc", "set -o pipefail\nseq 1 50000; exit 3"], Some("s"));
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.code == Some(3) && text.contains("[offcut ") && text.len() < 21_000, "{text:.300}");
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), numbered(50_000));
    let show = sandbox.run(&["show", "last", "--format", "json"], b"").json();
    assert_eq!((&show["agent"], &show["session"]), (&"klaude".into(), &"s".into()), "{show}");
}

#[test]
fn shells_inside_and_outside_of_klaude_are_not_affected() {
    let sandbox = home();
    let inner = bash(&sandbox, &["-lc", "bash -lc 'seq 1 50000' | wc -l; echo $MINE"], Some("s"));
    assert_eq!(inner.text(), "50000\n+\n", "the startup file runs once");
    let outer = bash(&sandbox, &["-lc", "seq 1 50000"], None);
    assert_eq!(outer.text(), numbered(50_000));
    // Without the file, the shell starts as before.
    std::fs::remove_dir_all(sandbox.path().join(".config/offcut")).unwrap();
    let without = bash(&sandbox, &["-lc", "seq 1 50000"], Some("s"));
    assert_eq!((without.text(), without.stderr.as_str()), (numbered(50_000), ""));
}
