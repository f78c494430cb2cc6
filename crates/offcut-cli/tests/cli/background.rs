//! Background processes: `offcut run` returns, they keep running, and their later output is added to the entry.

use crate::harness::{Sandbox, feed, until};
use std::path::Path;

/// Prints until the file `stop` exists, then ends: like a server that was started with `&`.
const SERVER: &str = "(while [ ! -e stop ]; do echo tick; sleep 0.02; done; echo goodbye; : > gone) &";

fn listed(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.run(&["ls", "--format", "json"], b"").json()
}

fn wait_for_state(sandbox: &Sandbox, state: &str) -> serde_json::Value {
    until(|| listed(sandbox)[0]["state"] == state);
    listed(sandbox)[0].clone()
}

fn length(entry: &serde_json::Value) -> u64 {
    Path::new(entry["path"].as_str().unwrap()).metadata().unwrap().len()
}

#[test]
fn run_stores_later_output_of_background_process() {
    for (before, limits) in [
        ("echo started", "small"),
        ("seq 1 100000", "large"),
        // The output is just within the limits; with the notice it is not.
        ("head -c 9480 /dev/zero | tr '\\0' x", "tight"),
        ("seq 1 1900", "tight"),
        ("seq 1 3000000", "large"),
        ("true", "small"),
    ] {
        let sandbox = Sandbox::new();
        let line = format!("{SERVER} {before}; exit 5");
        let ran = sandbox.run(&["run", "--", "/bin/sh", "-c", &line], b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(5), ""), "{before}");
        let shown = String::from_utf8(ran.stdout).unwrap();
        assert!(shown.len() <= 9500 && shown.lines().count() <= 1900, "{before}: {shown}");
        let last = shown.lines().last().unwrap();
        assert!(
            last.contains("exit 5 after") && last.contains("still running, later output is added"),
            "{last}"
        );
        assert!(!shown.contains("nothing is lost"), "{shown}");
        let entry = &listed(&sandbox)[0];
        assert_eq!((&entry["state"], &entry["complete"]), (&"running".into(), &false.into()), "{before}");
        let id = entry["id"].as_str().unwrap();
        assert!(last.contains(&id[..10]), "{last}");
        if limits == "small" {
            assert!(last.contains(&format!("more: offcut read {}", &id[..10])), "{last}");
            assert!(!shown.contains("not shown"), "{shown}");
        }

        // A process of offcut keeps reading the output.
        let so_far = length(entry);
        until(|| length(entry) > so_far + 20);
        let read = sandbox.run(&["read", id, "--lines", "-2:"], b"");
        assert!(read.text().contains("tick\n"), "{read:?}");
        assert!(read.stderr.contains("is still being written"), "{read:?}");

        std::fs::write(sandbox.path().join("stop"), "").unwrap();
        let entry = wait_for_state(&sandbox, "complete");
        assert!(sandbox.path().join("gone").exists(), "the process ended normally");
        let stored = std::fs::read(entry["path"].as_str().unwrap()).unwrap();
        assert!(stored.ends_with(b"tick\ngoodbye\n"));
        assert_eq!(entry["digest"], blake3::hash(&stored).to_hex().as_str());
        assert_eq!((&entry["exit_code"], &entry["bytes"]), (&5.into(), &stored.len().into()));
        assert_eq!(entry["lines"], stored.iter().filter(|&&byte| byte == b'\n').count() as u64);
        assert_eq!(sandbox.run(&["cat", id], b"").stdout, stored);
    }
}

/// A process that never stops printing does not block `offcut run`.
#[test]
fn run_returns_while_background_process_floods_output() {
    let sandbox = Sandbox::new();
    let line = "(while [ ! -e stop ]; do head -c 100000 /dev/zero; done; : > gone) & exit 5";
    let ran = sandbox.run(&["run", "--background-cap", "20MB", "--", "/bin/sh", "-c", line], b"");
    assert_eq!(ran.code, Some(5));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("still running, later output is added"));
    let entry = wait_for_state(&sandbox, "capped");
    assert!(!sandbox.path().join("gone").exists(), "the process keeps running after the cap was reached");
    std::fs::write(sandbox.path().join("stop"), "").unwrap();
    until(|| sandbox.path().join("gone").exists());
    // Output from before `offcut run` returned is stored regardless of the cap; later output is not.
    let bytes = entry["bytes"].as_u64().unwrap();
    assert!(bytes >= 20_000_000, "{bytes}");
    assert_eq!(std::fs::metadata(entry["path"].as_str().unwrap()).unwrap().len(), bytes);
}

#[test]
fn run_split_stores_later_output_separately() {
    let sandbox = Sandbox::new();
    let line =
        "(until [ -e stop ]; do sleep 0.02; done; echo out; echo err >&2) & echo now; echo now-err >&2";
    let ran = sandbox.run(&["run", "--split", "--", "/bin/sh", "-c", line], b"");
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(stdout.starts_with("now\n[offcut ") && ran.stderr.starts_with("now-err\n[offcut "), "{ran:?}");
    std::fs::write(sandbox.path().join("stop"), "").unwrap();
    until(|| listed(&sandbox).as_array().unwrap().iter().all(|entry| entry["state"] == "complete"));
    let mut stored: Vec<_> = listed(&sandbox)
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect();
    stored.sort();
    let stored: Vec<String> = stored.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(stored, ["now\nout\n", "now-err\nerr\n"]);
}

/// Prints a megabyte when the file `go` exists, and creates `gone` at its end.
const LATE: &str = "(until [ -e go ]; do sleep 0.02; done; head -c 1000000 /dev/zero | tr '\\0' x; echo end; : > gone) & echo now";

fn finish(sandbox: &Sandbox) {
    std::fs::write(sandbox.path().join("go"), "").unwrap();
    until(|| sandbox.path().join("gone").exists());
}

#[test]
fn background_cap_discards_later_output() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "--background-cap", "64KiB", "--", "/bin/sh", "-c", LATE], b"");
    assert!(ran.text().starts_with("now\n[offcut "), "{ran:?}");
    finish(&sandbox);
    let entry = wait_for_state(&sandbox, "capped");
    assert_eq!((&entry["bytes"], &entry["complete"]), (&65536.into(), &false.into()));
    assert!(entry["reason"].as_str().unwrap().contains("size limit of 65536 bytes"), "{entry}");
}

/// The size limit of an output also applies to its later part.
#[test]
fn max_output_limits_background_output() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["run", "--", "/bin/sh", "-c", LATE]).env("OFFCUT_MAX_OUTPUT", "20000");
    assert!(feed(command, b"").text().starts_with("now\n[offcut "));
    finish(&sandbox);
    assert_eq!(wait_for_state(&sandbox, "capped")["bytes"], 20000);
}

#[test]
fn background_process_survives_when_store_is_unavailable() {
    for store in ["none", "/proc/nothing/here"] {
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&["run", "--store", store, "--", "/bin/sh", "-c", LATE], b"");
        assert!(ran.text().contains("still running, later output is not stored"), "{ran:?}");
        finish(&sandbox);
    }
}

#[test]
fn rm_removes_entry_of_running_background_process_only_with_force() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "--", "/bin/sh", "-c", LATE], b"").text();
    let message = "it is still being written; wait until its command ends, or use --force";
    sandbox.run(&["rm", "last"], b"y\n").failed(2, message);
    assert_eq!(listed(&sandbox).as_array().unwrap().len(), 1);
    assert_eq!(sandbox.run(&["rm", "last", "--force"], b"").code, Some(0));
    finish(&sandbox);
    assert_eq!(listed(&sandbox).as_array().unwrap().len(), 0);
}

#[test]
fn run_json_reports_open_output() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["run", "--format", "json", "--", "/bin/sh", "-c", LATE], b"").json();
    assert_eq!((&shown["still_open"], &shown["truncated"]), (&true.into(), &false.into()));
    assert_eq!(shown["saved"]["id"], listed(&sandbox)[0]["id"]);
    finish(&sandbox);
    assert_eq!(sandbox.run(&["run", "--format", "json", "--", "true"], b"").json().get("still_open"), None);
}

#[test]
fn dropped_sandbox_ends_its_processes() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["run", "--", "/bin/sh", "-c", "sleep 1000 & echo $!"], b"").text();
    let command = format!("/proc/{}/cmdline", ran.lines().next().unwrap());
    assert_eq!(std::fs::read(&command).unwrap(), b"sleep\x001000\0");
    drop(sandbox);
    until(|| std::fs::read(&command).unwrap_or_default().is_empty());
}
