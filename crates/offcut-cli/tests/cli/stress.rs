//! Many processes at once, and killed processes: ids never collide, and incomplete outputs are marked as such.

use crate::harness::{Sandbox, finish, numbered};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::process::Stdio;

#[test]
fn store_keeps_all_outputs_of_two_hundred_concurrent_processes() {
    let sandbox = Sandbox::new();
    let texts: Vec<String> =
        (0..200).map(|number| format!("process {number}\n{}", numbered(20_000 + number))).collect();
    let children: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let input = sandbox.path().join(format!("input{number}"));
            std::fs::write(&input, text).unwrap();
            let mut command = sandbox.command();
            command.args([
                "cut",
                "--tool",
                "t",
                "--profile",
                if number % 2 == 0 { "native" } else { "opencode" },
            ]);
            command
                .stdin(File::open(&input).unwrap())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let ran = finish(child);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let listed = sandbox.run(&["ls", "--all", "--format", "json"], b"").json();
    let entries = listed.as_array().unwrap();
    assert_eq!(entries.len(), 200);
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 200, "ids are unique");
    let wanted: BTreeMap<String, &String> =
        texts.iter().map(|text| (blake3::hash(text.as_bytes()).to_hex().to_string(), text)).collect();
    let mut found = BTreeSet::new();
    for entry in entries {
        assert_eq!(entry["state"], "complete");
        let digest = entry["digest"].as_str().unwrap();
        let stored = std::fs::read_to_string(entry["path"].as_str().unwrap()).unwrap();
        assert_eq!(Some(&&stored), wanted.get(digest), "the bytes match the digest");
        found.insert(digest.to_owned());
    }
    assert_eq!(found.len(), 200, "every output is stored");
}

#[test]
fn store_stays_consistent_when_cut_is_killed_at_any_time() {
    let sandbox = Sandbox::new();
    let text = numbered(300_000);
    let (mut killed, mut finished) = (0, 0);
    for round in 0..100_u64 {
        let mut child = sandbox
            .command()
            .args(["cut"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A different time in each round: after a number of bytes, then after a pause.
        let enough = (round as usize * 7919 * 37) % (text.len() + 200_000);
        let pause = std::time::Duration::from_micros((round * 131) % 3000);
        let _ = stdin.write_all(&text.as_bytes()[..enough.min(text.len())]);
        if enough >= text.len() {
            drop(stdin);
        }
        std::thread::sleep(pause);
        let _ = child.kill();
        if child.wait().unwrap().success() { finished += 1 } else { killed += 1 }
    }
    assert!(killed > 0, "all {finished} processes ended before they were killed");

    let listed = sandbox.run(&["ls", "--all", "--format", "json"], b"");
    assert_eq!(listed.stderr, "", "no metadata is partly written");
    let mut complete = 0;
    for entry in listed.json().as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let stored = std::fs::read(entry["path"].as_str().unwrap()).unwrap_or_default();
        assert!(text.as_bytes().starts_with(&stored), "the stored part is a prefix of the output");
        let read = sandbox.run(&["cat", id], b"");
        match entry["state"].as_str().unwrap() {
            "complete" => {
                complete += 1;
                assert_eq!(stored.len(), entry["bytes"].as_u64().unwrap() as usize);
                assert_eq!(entry["digest"], blake3::hash(&stored).to_hex().as_str());
                assert_eq!((read.stderr.as_str(), read.stdout == stored), ("", true));
            }
            "abandoned" => {
                assert!(!entry["complete"].as_bool().unwrap());
                assert!(stored.is_empty() || read.stdout == stored);
                assert!(stored.is_empty() || read.stderr.contains("is abandoned"), "{}", read.stderr);
            }
            other => panic!("{other}"),
        }
    }
    assert!(complete >= finished, "a process that exited normally left a complete entry");
}
