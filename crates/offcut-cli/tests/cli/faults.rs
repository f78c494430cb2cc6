//! Failing stores under `offcut cut`: the output is still shortened, and the notice says what was stored.

use crate::harness::{Sandbox, binary, feed, numbered};
use std::process::Command;

#[test]
fn cut_reports_error_when_store_is_not_writable() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("file");
    std::fs::write(&file, "").unwrap();
    let text = numbered(100_000);
    for (store, reason) in [
        (file.to_str().unwrap(), "Not a directory"),
        ("/proc/nothing/here", "No such file or directory"),
        ("gs://bucket/prefix", "unsupported store"),
        ("", "--store is empty"),
    ] {
        for profile in ["native", "opencode", "coding-agent"] {
            let arguments = ["cut", "--format", "json", "--profile", profile, "--store", store];
            let result = sandbox.run(&arguments, text.as_bytes()).json();
            assert_eq!(result["saved"], serde_json::Value::Null);
            assert!(result["save_error"].as_str().unwrap().contains(reason), "{store}: {result}");
            let content = result["content"].as_str().unwrap();
            assert!(content.len() < 60_000 && content.contains(reason), "{store} {profile}");
            assert!(
                !content.contains("aved to") && !content.contains("nothing is lost"),
                "{store} {profile}"
            );
        }
    }
    sandbox.run(&["ls", "--store", file.to_str().unwrap()], b"").failed(4, "Not a directory");
}

#[test]
fn cut_shortens_without_home_directory() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.arg("cut").env_remove("HOME");
    // The home directory may come from the password database; the output is shortened in both cases.
    let ran = feed(command, numbered(100_000).as_bytes());
    assert!(ran.code == Some(0) && ran.stdout.len() <= 9500);
}

#[test]
fn commands_work_in_deleted_directory() {
    let sandbox = Sandbox::new();
    let line = format!("mkdir gone && cd gone && rmdir ../gone && exec '{}' \"$@\"", binary());
    let run = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line, "sh"]).args(arguments).current_dir(sandbox.path());
        command.env_clear().env("HOME", sandbox.path());
        feed(command, input)
    };
    assert_eq!(run(&["run", "--", "true"], b"").text(), "");
    assert!(run(&["cut"], numbered(100_000).as_bytes()).text().contains("nothing is lost: "));
    assert!(run(&["run", "--", "seq", "100000"], b"").text().contains("nothing is lost: "));
    assert_eq!(run(&["read", "last", "--lines", "7:8"], b"").text(), "7\n8\n");
}

#[test]
fn commands_work_without_usable_home_directory() {
    for home in [None, Some(""), Some("/proc/nowhere"), Some("nowhere")] {
        let sandbox = Sandbox::new();
        let run = |store: &str, arguments: &[&str], input: &[u8]| {
            let mut command = sandbox.command();
            command.env_remove("HOME").envs(home.map(|home| ("HOME", home)));
            command.args(["--store", store]).args(arguments);
            feed(command, input)
        };
        let store = sandbox.path().join("store");
        let store = store.to_str().unwrap();
        assert_eq!(run(store, &["run", "--", "true"], b"").text(), "", "{home:?}");
        let shown = run(store, &["cut"], numbered(100_000).as_bytes()).text();
        assert!(shown.contains("nothing is lost: "), "{home:?}: {shown}");
        assert_eq!(run(store, &["read", "last", "--lines", "7:8"], b"").text(), "7\n8\n", "{home:?}");
    }
}

#[test]
fn cut_and_run_work_when_home_directory_is_not_writable() {
    let sandbox = Sandbox::new();
    let run = |arguments: &[&str], input: &[u8]| {
        let mut command = sandbox.command();
        command.args(arguments).env("HOME", "/proc/nowhere");
        feed(command, input)
    };
    assert_eq!(run(&["run", "--", "true"], b"").text(), "");
    for shown in
        [run(&["cut"], numbered(100_000).as_bytes()).text(), run(&["run", "--", "seq", "100000"], b"").text()]
    {
        assert!(shown.len() <= 9500 && shown.contains("the rest was not stored: "), "{shown}");
    }
    run(&["read", "last"], b"").failed(3, "no stored output");
}

/// A file size limit stands in for a full disk, which a test cannot produce.
#[test]
fn cut_stores_first_part_when_disk_fills_up() {
    let sandbox = Sandbox::new();
    let text = numbered(1_000_000);
    let input = sandbox.path().join("input");
    std::fs::write(&input, &text).unwrap();
    let line = format!(
        "ulimit -f 1000; trap '' XFSZ; exec '{}' cut --format json < '{}'",
        binary(),
        input.display()
    );
    let mut command = Command::new("/bin/bash");
    command.args(["-c", &line]).env_clear().env("HOME", sandbox.path());
    let result = feed(command, b"").json();
    assert_eq!(result["saved"], serde_json::Value::Null);
    let error = result["save_error"].as_str().unwrap();
    assert!(error.contains("File too large") && error.contains("only the first"), "{error}");
    assert!(result["content"].as_str().unwrap().contains(" bytes were stored: File too large"), "{result}");
    let listed = sandbox.run(&["ls", "--format", "json"], b"").json();
    assert_eq!((&listed[0]["state"], &listed[0]["complete"]), (&"capped".into(), &false.into()));
    let kept = sandbox.run(&["cat", "last"], b"");
    assert!(
        !kept.stdout.is_empty() && text.as_bytes().starts_with(&kept.stdout),
        "the stored part can be read"
    );
    assert!(kept.stderr.contains("is capped"), "{}", kept.stderr);
}
