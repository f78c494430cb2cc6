//! Tests of `--events`: one line of JSON for each decision.

use crate::harness::Sandbox;
use serde_json::Value;

fn events(text: &[u8]) -> Vec<Value> {
    std::str::from_utf8(text).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn events_are_appended_to_a_file_or_printed() {
    let sandbox = Sandbox::new();
    let (small, large) = (b"small\n".to_vec(), b"line\n".repeat(5000));
    sandbox.run(&["cut", "--events", "events.jsonl", "--tool", "bash"], &small);
    let cut = sandbox.run(&["cut", "--events", "events.jsonl", "--message-id", "m1"], &large);
    let read = &["cut", "--profile", "coding-agent", "--events", "events.jsonl", "--tool", "read"];
    sandbox.run(read, &large);
    let found = events(&std::fs::read(sandbox.path().join("events.jsonl")).unwrap());
    let kinds: Vec<_> = found.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["passed", "truncated", "skipped"]);
    assert_eq!((&found[0]["tool"], &found[0]["original_bytes"]), (&"bash".into(), &6.into()));
    assert_eq!(found[1]["content_bytes"], cut.stdout.len());
    let stored = std::fs::read(found[1]["path"].as_str().unwrap()).unwrap();
    assert_eq!(stored, large);

    let printed = sandbox.run(&["cut", "--events", "stderr"], &small);
    assert_eq!(printed.stdout, small);
    assert_eq!(events(printed.stderr.as_bytes())[0]["event"], "passed");
}

#[test]
fn message_id_is_stored_with_the_entry() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut", "--message-id", "m1"], &b"line\n".repeat(5000));
    let shown = sandbox.run(&["--format", "json", "show", "last"], b"");
    let entry: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(entry["message_id"], "m1", "{entry}");
}

#[test]
fn unusable_event_file_is_a_warning() {
    let sandbox = Sandbox::new();
    let cut = sandbox.run(&["cut", "--events", "missing/events.jsonl"], b"small\n");
    assert_eq!((cut.stdout.as_slice(), cut.code), (&b"small\n"[..], Some(0)));
    assert!(cut.stderr.contains("cannot write events to missing/events.jsonl"), "{}", cut.stderr);
}
