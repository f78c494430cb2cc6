//! Many processes at once, and processes that die: nothing collides, nothing incomplete calls itself full.

use crate::harness::{Sandbox, numbered};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::process::Stdio;

#[test]
fn two_hundred_processes_at_once() {
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
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let listed = sandbox.run(&["ls", "--all", "--format", "json"], b"").json();
    let entries = listed.as_array().unwrap();
    assert_eq!(entries.len(), 200);
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 200, "no two share an id");
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
    assert_eq!(found.len(), 200, "every output is there");
}

#[test]
fn killed_at_any_moment() {
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
        // A different moment each time: after so many bytes, and then a moment later.
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
    assert!(killed > 0, "no process was killed in time: {finished} finished");

    let listed = sandbox.run(&["ls", "--all", "--format", "json"], b"");
    assert_eq!(listed.stderr, "", "no metadata is half written");
    let mut complete = 0;
    for entry in listed.json().as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let stored = std::fs::read(entry["path"].as_str().unwrap()).unwrap_or_default();
        assert!(text.as_bytes().starts_with(&stored), "what is there is a beginning of the output");
        let read = sandbox.run(&["cat", id], b"");
        match entry["state"].as_str().unwrap() {
            "complete" => {
                complete += 1;
                assert_eq!(stored.len(), entry["bytes"].as_u64().unwrap() as usize);
                assert_eq!(entry["digest"], blake3::hash(&stored).to_hex().as_str());
                assert_eq!((read.stderr.as_str(), read.stdout == stored), ("", true));
            }
            "incomplete" => {
                assert!(!entry["complete"].as_bool().unwrap());
                assert!(stored.is_empty() || read.stdout == stored);
                assert!(stored.is_empty() || read.stderr.contains("is incomplete"), "{}", read.stderr);
            }
            other => panic!("{other}"),
        }
    }
    assert!(complete >= finished, "a process that ended well left a complete entry");
}
