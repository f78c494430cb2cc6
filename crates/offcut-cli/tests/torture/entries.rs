//! What must be true of a store after an attack.

use crate::harness::{Ran, Sandbox, until};
use serde_json::Value;

/// Checks every entry: its bytes are the beginning of one of `texts`, all of it only if the entry says so, and what the entry
/// says about them is correct. Returns how many entries are complete.
#[track_caller]
pub(crate) fn check(sandbox: &Sandbox, texts: &[Vec<u8>]) -> usize {
    let list = || sandbox.run(&["ls", "--all", "--format", "json"], b"");
    let mut listed = list();
    // A process that continues an output may live a little longer than the one that was killed.
    until(|| {
        listed = list();
        !String::from_utf8_lossy(&listed.stdout).contains("\"state\":\"running\"")
    });
    assert_eq!(listed.stderr, "", "no metadata is partly written");
    let entries = listed.json();
    let complete =
        entries.as_array().unwrap().iter().filter(|entry| check_entry(sandbox, entry, texts)).count();
    assert_eq!(list().stdout, listed.stdout, "entries are repaired once and then stay the same");
    complete
}

#[track_caller]
fn check_entry(sandbox: &Sandbox, entry: &Value, texts: &[Vec<u8>]) -> bool {
    let stored = std::fs::read(entry["path"].as_str().unwrap()).unwrap_or_default();
    let read = sandbox.run(&["cat", entry["id"].as_str().unwrap()], b"");
    let state = entry["state"].as_str().unwrap();
    assert_eq!(entry["complete"] == true, state == "complete", "{entry}");
    assert!(
        texts.iter().any(|text| text.starts_with(&stored)),
        "the stored bytes are not from the output: {entry}"
    );
    if !stored.is_empty() {
        assert_eq!(entry["digest"], blake3::hash(&stored).to_hex().as_str(), "{entry}");
        assert_eq!(entry["bytes"], stored.len(), "{entry}");
        assert!(read.stdout == stored, "`offcut cat` prints other bytes: {entry}");
    }
    match state {
        "complete" => {
            assert!(
                texts.contains(&stored),
                "an entry with {} bytes claims to be complete: {entry}",
                stored.len()
            );
            assert_eq!(read.stderr, "", "{entry}");
            true
        }
        "abandoned" | "capped" | "damaged" => {
            assert!(entry["reason"].is_string(), "{entry}");
            assert!(
                stored.is_empty() || !read.stderr.is_empty(),
                "`offcut cat` does not report the state: {entry}"
            );
            false
        }
        other => panic!("unexpected state {other}: {entry}"),
    }
}

/// Checks that what is shown of `text` is within the default limits.
#[track_caller]
pub(crate) fn check_size(shown: &[u8], text: &[u8]) {
    let lines = shown.split_inclusive(|&byte| byte == b'\n').count();
    assert!(shown.len() <= 9500 && lines <= 1900, "{} bytes of {} are shown", shown.len(), text.len());
}

/// Checks that a preview is within the default limits and claims that nothing is lost only if the store has `text`.
#[track_caller]
pub(crate) fn check_preview(sandbox: &Sandbox, shown: &[u8], text: &[u8]) {
    check_size(shown, text);
    let shown = String::from_utf8_lossy(shown);
    if let Some((_, place)) = shown.lines().next().unwrap_or_default().split_once("nothing is lost: ") {
        // An output that was stored in a temporary directory may have been moved since; the path still names it.
        let stored = sandbox.run(&["cat", place.trim_end_matches(']')], b"").stdout;
        assert!(stored == text, "{place} has {} of {} bytes", stored.len(), text.len());
        let entry = &sandbox.run(&["ls", "--format", "json"], b"").json()[0];
        assert_eq!(entry["state"], "complete", "{entry}");
    }
}

/// How a process must never end, however it is attacked.
#[track_caller]
pub(crate) fn check_end(ran: &Ran) {
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(ran.code.is_some(), "killed by a signal: {}", ran.stderr);
}
