//! Failing stores and killed processes under `offcut run`: the exit code is never lost, and no notice claims that an
//! incomplete output is complete.

use crate::harness::{Ran, Sandbox, binary, feed};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Expects a preview with the exit code and the reason why the output was not stored.
#[track_caller]
fn check_not_stored(ran: &Ran, reason: &str) {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(7), ""), "{ran:?}");
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(
        shown.len() <= 9500 && (shown.contains("not stored") || shown.contains("bytes were stored")),
        "{shown}"
    );
    assert!(shown.contains(reason) && !shown.contains("nothing is lost"), "{reason:?} is not in {shown}");
    assert!(shown.lines().last().unwrap().contains("exit 7"), "{shown}");
}

#[test]
fn run_keeps_exit_code_when_store_is_not_writable() {
    let sandbox = Sandbox::new();
    for (store, reason) in
        [("/proc/nothing/here", "No such file"), ("/dev/null", "Not a directory"), ("", "--store is empty")]
    {
        let ran = sandbox.run(&["run", "--store", store, "--shell", "seq 1 100000; exit 7"], b"");
        check_not_stored(&ran, reason);
    }
}

/// Runs offcut with a file size limit of 1,024,000 bytes.
fn with_small_files(sandbox: &Sandbox, trap: &str, arguments: &str) -> Ran {
    let offcut = binary();
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", &format!("ulimit -f 1000; {trap} exec '{offcut}' {arguments}")]);
    shell.env_clear().env("HOME", sandbox.path());
    feed(shell, b"")
}

/// A file size limit, with SIGXFSZ and with the signal ignored.
#[test]
fn run_stores_first_part_when_disk_fills_up() {
    for trap in ["", "trap '' XFSZ;"] {
        for command in ["seq 1 1000000; exit 7", "seq 1 10000000; exit 7"] {
            let sandbox = Sandbox::new();
            let ran = with_small_files(&sandbox, trap, &format!("run --shell '{command}'"));
            check_not_stored(&ran, "only the first 1024000 bytes were stored");
            let entry = &sandbox.run(&["ls", "--format", "json"], b"").json()[0];
            assert_eq!((&entry["state"], &entry["bytes"]), (&"capped".into(), &1_024_000.into()));
            let stored = std::fs::read(entry["path"].as_str().unwrap()).unwrap();
            assert_eq!(
                entry["digest"],
                blake3::hash(&stored).to_hex().as_str(),
                "the digest is that of the stored part"
            );
            // The command in the notice prints the stored part.
            let shown = String::from_utf8_lossy(&ran.stdout);
            let command = shown.rsplit_once("more: ").unwrap().1.trim_end().trim_end_matches(']');
            let (_, arguments) = command.split_once("read ").unwrap();
            assert!(entry["id"].as_str().unwrap().starts_with(arguments));
            assert!(sandbox.run(&["read", arguments], b"").text().starts_with("1\n2\n3\n"));
        }
    }
}

/// Short notices are also correct.
#[test]
fn notice_reports_partial_output_within_small_limits() {
    for (most, expected) in [("256", "not stored"), ("600", "not stored"), ("9500", "bytes were stored: ")] {
        let sandbox = Sandbox::new();
        let ran = with_small_files(&sandbox, "", &format!("run --max-bytes {most} -- seq 1 1000000"));
        assert!(ran.text().contains(expected), "{most}: {ran:?}");
        assert!(ran.stdout.len() <= most.parse().unwrap(), "{ran:?}");
    }
}

#[test]
fn run_keeps_exit_code_when_store_is_removed_while_running() {
    for more in ["seq 1 1000", "seq 1 3000000"] {
        let sandbox = Sandbox::new();
        let store = sandbox.store();
        let line = format!(
            "seq 1 100000; until [ -e '{0}' ]; do :; done; until rm -rf '{0}'; do :; done; {more}; exit 7",
            store.display()
        );
        check_not_stored(&sandbox.run(&["run", "--shell", &line], b""), "cannot");
        assert!(!store.exists());
    }
}

#[test]
fn store_stays_consistent_when_run_is_killed_at_any_time() {
    let sandbox = Sandbox::new();
    let (mut killed, mut finished) = (0, 0);
    for round in 0..100_u64 {
        let mut child = sandbox
            .command()
            .args(["run", "--shell", "seq 1 300000; exit 7"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A different time in each round; the last rounds are not killed.
        if round < 90 {
            std::thread::sleep(Duration::from_micros((round * 1237) % 20_000));
            let _ = child.kill();
        }
        match child.wait().unwrap().code() {
            Some(code) => {
                assert_eq!(code, 7, "the exit code is the command's");
                finished += 1;
            }
            None => killed += 1,
        }
    }
    assert!(killed > 0 && finished >= 10, "{killed} killed, {finished} finished");

    let whole: Vec<u8> = (1..=300_000).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    let list = || sandbox.run(&["ls", "--all", "--format", "json"], b"");
    let first = list();
    assert_eq!(first.stderr, "", "no metadata is partly written");
    let mut complete = 0;
    for entry in first.json().as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let stored = std::fs::read(entry["path"].as_str().unwrap()).unwrap_or_default();
        assert!(whole.starts_with(&stored), "the stored part is a prefix of the output");
        if entry["state"] == "complete" {
            complete += 1;
            assert_eq!((stored.len(), &entry["exit_code"]), (whole.len(), &7.into()));
        } else {
            assert_eq!((&entry["state"], &entry["complete"]), (&"abandoned".into(), &false.into()));
            assert_eq!(entry["reason"], "the writing process ended early");
        }
        if !stored.is_empty() {
            assert_eq!(
                entry["digest"],
                blake3::hash(&stored).to_hex().as_str(),
                "the digest of a repaired entry is correct"
            );
            let metadata = sandbox.store().join(".offcut").join(format!("{id}.json"));
            assert!(!std::fs::read_to_string(metadata).unwrap().contains("\"writing\""));
            assert_eq!(sandbox.run(&["cat", id], b"").stdout, stored);
        }
    }
    assert!(complete >= finished, "a process that exited normally left a complete entry");
    assert_eq!(list().stdout, first.stdout, "entries are repaired once and then stay the same");
}
