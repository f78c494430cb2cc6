//! The ledger, and `offcut stats`, which adds it up.

use crate::harness::{Ran, Sandbox, feed, numbered};
use serde_json::Value;
use std::path::PathBuf;

/// Runs the binary as the given agent's shell would.
fn run_for(sandbox: &Sandbox, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = sandbox.command();
    command.args(arguments).envs(variables.iter().copied());
    feed(command, b"")
}

fn run_in_claude(sandbox: &Sandbox, line: &str) -> Ran {
    run_for(sandbox, &[("CLAUDECODE", "1")], &["run", "--shell", line])
}

fn rows(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let ran = sandbox.run(&[&["stats", "--format", "json"], arguments].concat(), b"");
    ran.json().as_array().unwrap().clone()
}

fn row(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let rows = rows(sandbox, arguments);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0].clone()
}

fn directory(sandbox: &Sandbox) -> PathBuf {
    sandbox.path().join(".local/state/offcut/ledger")
}

fn file(sandbox: &Sandbox) -> PathBuf {
    let mut files: Vec<_> =
        std::fs::read_dir(directory(sandbox)).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn stats_compare_with_whole_output_and_with_agent_alone() {
    let sandbox = Sandbox::new();
    run_in_claude(&sandbox, "echo short").text();
    let shown = run_in_claude(&sandbox, "seq 1 100000").stdout.len() as u64;
    let row = row(&sandbox, &["--by", "agent"]);
    assert_eq!(
        (row["agent"].as_str(), row["calls"].as_u64(), row["outputs"].as_u64()),
        (Some("claude"), Some(2), Some(1))
    );
    assert_eq!(row["original_bytes"], 588_895);
    assert_eq!(row["shown_bytes"], shown);
    assert_eq!(row["spared_bytes"], 588_895 - shown);
    // Claude Code itself shows 2 kB of a longer output, which is less than a preview has.
    let alone = &row["alone"];
    assert_eq!(alone["bytes"], 2_260);
    assert_eq!(alone["spared_bytes"].as_i64().unwrap(), 2_260 - i64::try_from(shown).unwrap());
}

/// No model saw a preview of it.
#[test]
fn input_of_a_usage_error_is_not_counted() {
    let sandbox = Sandbox::new();
    let input = numbered(100_000);
    sandbox.run(&["cut", "--max-byts", "300"], input.as_bytes()).failed(2, "the input was stored");
    assert_eq!(rows(&sandbox, &[]), Vec::<Value>::new());
    assert_eq!(sandbox.run(&["show", "--format", "json"], b"").json()["gaps"][0]["why"], "unseen");
}

#[test]
fn failed_command_is_compared_with_what_agent_shows_of_failures() {
    let sandbox = Sandbox::new();
    assert_eq!(run_in_claude(&sandbox, "seq 1 100000; exit 3").code, Some(3));
    let alone = row(&sandbox, &["--by", "agent"])["alone"]["bytes"].as_u64().unwrap();
    assert!((10_000..=11_000).contains(&alone), "{alone}");
}

#[test]
fn output_without_agent_is_not_compared_with_agents() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(10_000).as_bytes());
    assert_eq!(row(&sandbox, &[])["alone"]["outputs"], 0);
    let text = sandbox.run(&["stats"], b"").text();
    assert!(text.contains("unknown: no output of a known agent was cut"), "{text}");
}

#[test]
fn later_readings_are_subtracted() {
    let sandbox = Sandbox::new();
    run_in_claude(&sandbox, "seq 1 100000").text();
    let before = row(&sandbox, &["--by", "agent"]);
    let read = |arguments: &[&str]| run_for(&sandbox, &[("CLAUDECODE", "1")], arguments).stdout.len() as i64;
    let page = read(&["read", "last", "--lines", "500:600"]) + read(&["grep", "^77", "last"]);
    let all = read(&["cat", "last"]);
    // A person who reads costs a model nothing.
    sandbox.run(&["cat", "last"], b"").text();
    let after = row(&sandbox, &["--by", "agent"]);
    let number = |row: &Value, name: &str| row.pointer(name).unwrap().as_i64().unwrap();
    assert_eq!(number(&after, "/read_bytes"), page + all);
    for name in ["/spared_bytes", "/alone/spared_bytes"] {
        assert_eq!(number(&after, name), number(&before, name) - page - all, "{name}");
    }
}

#[test]
fn ledger_outlives_stored_outputs() {
    let sandbox = Sandbox::new();
    run_in_claude(&sandbox, "seq 1 100000").text();
    sandbox.run(&["rm", "last"], b"").text();
    assert_eq!(row(&sandbox, &["--by", "agent"])["outputs"], 1);
}

#[test]
fn stored_output_that_is_not_in_ledger_counts_once() {
    let sandbox = Sandbox::new();
    run_in_claude(&sandbox, "seq 1 100000").text();
    let recorded = row(&sandbox, &["--by", "agent"]);
    std::fs::remove_dir_all(directory(&sandbox)).unwrap();
    run_for(&sandbox, &[("CLAUDECODE", "1")], &["read", "last"]).text();
    let stored = row(&sandbox, &["--by", "agent"]);
    for name in ["agent", "outputs", "original_bytes", "alone"] {
        let field = |row: &Value| row[name].get("bytes").unwrap_or(&row[name]).clone();
        assert_eq!(field(&stored), field(&recorded), "{name}");
    }
}

#[test]
fn output_that_could_not_be_stored_is_reported() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path().join(".local/share")).unwrap();
    std::fs::write(sandbox.store(), "not a directory").unwrap();
    sandbox.run(&["--store", sandbox.store().to_str().unwrap(), "cut"], numbered(10_000).as_bytes());
    std::fs::remove_file(sandbox.store()).unwrap();
    let lost = row(&sandbox, &[]);
    assert_eq!((&lost["not_kept"], &lost["original_bytes"]), (&1.into(), &48_894.into()));
    assert_eq!(
        (&lost["spared_bytes"], &lost["spared_tokens"]),
        (&0.into(), &0.into()),
        "it is lost, not saved"
    );
    assert!(sandbox.run(&["stats"], b"").text().contains("Not kept: 1"));
    assert!(sandbox.run(&["ls"], b"").stderr.contains("Not kept: 1 "));
    let ran = sandbox.run(&["ls", "--tool", "grep"], b"");
    assert!(!ran.stderr.contains("Not kept"), "the filter does not choose it: {}", ran.stderr);
    let doctor = String::from_utf8(sandbox.run(&["doctor"], b"").stdout).unwrap();
    assert!(doctor.contains("Not kept: 1 "), "{doctor}");
}

/// The user does not want to store it.
#[test]
fn output_of_a_call_without_store_counts_as_saved() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut", "--store", "none"], numbered(10_000).as_bytes()).text();
    let row = row(&sandbox, &[]);
    assert_eq!(row["not_kept"], 0);
    assert!(row["spared_bytes"].as_i64().unwrap() > 30_000, "{row}");
}

#[test]
fn ledger_survives_truncated_and_damaged_lines() {
    let sandbox = Sandbox::new();
    let cut = || sandbox.run(&["cut"], numbered(10_000).as_bytes());
    cut();
    let file = file(&sandbox);
    let whole = std::fs::read(&file).unwrap();
    for damage in [&whole[..whole.len() / 2], b"\n{\"time\": tru", b"\n\0\xFF\n", b"\n{}\n"] {
        std::fs::remove_dir_all(sandbox.store()).unwrap();
        std::fs::write(&file, [&whole[..], b"\n", damage].concat()).unwrap();
        cut();
        assert_eq!(row(&sandbox, &[])["outputs"], 2, "{damage:?}");
    }
}

#[test]
fn ledger_has_every_record_of_concurrent_writers() {
    let sandbox = Sandbox::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..25).for_each(|_| drop(sandbox.run(&["run", "--", "true"], b""))));
        }
    });
    assert_eq!(row(&sandbox, &[])["calls"], 200);
    let text = std::fs::read_to_string(file(&sandbox)).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    // A record that crosses a page of the file is visible in part while it is written. A writer that sees it so begins with a
    // line feed, and an empty line remains. The first line is never empty, and no record is damaged or missing.
    assert!(!text.starts_with('\n'), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 200, "{text}");
    assert!(lines.iter().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
}

#[test]
fn stats_since_leaves_out_older_records() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut", "--store", "none"], numbered(10_000).as_bytes());
    let file = file(&sandbox);
    let text = std::fs::read_to_string(&file).unwrap();
    let time: u64 = text.split("\"time\":").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    let old = text.replace(&time.to_string(), &(time - 40 * 24 * 60 * 60).to_string());
    std::fs::write(&file, text + &old).unwrap();
    assert_eq!(rows(&sandbox, &[]).len(), 2);
    for since in ["30d", "today", "yesterday"] {
        assert_eq!(row(&sandbox, &["--since", since])["outputs"], 1, "{since}");
    }
    assert_eq!(rows(&sandbox, &["--since", "2001-02-03 04:05"]).len(), 2);
    let text = |arguments: &[&str]| sandbox.run(&[&["stats"], arguments].concat(), b"").text();
    assert_eq!(text(&["--since", "2601-02-03"]), "no outputs are recorded since 2601-02-03 00:00:00\n");
    sandbox.run(&["stats", "--since", "soon"], b"").failed(2, "expected an age or a date");
}

/// Sizes and names are recorded, but nothing that may be secret.
#[test]
fn ledger_contains_no_command_and_can_be_switched_off() {
    let sandbox = Sandbox::new();
    run_in_claude(&sandbox, "seq 1 100000; : hunter2").text();
    let text = std::fs::read_to_string(file(&sandbox)).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("seq"), "{text}");
    let before = text.len();
    run_for(&sandbox, &[("OFFCUT_LEDGER", "false")], &["run", "--", "seq", "1", "100000"]).text();
    assert_eq!(std::fs::read(file(&sandbox)).unwrap().len(), before);
}

#[test]
fn call_works_without_ledger() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path().join(".local/state/offcut")).unwrap();
    std::fs::write(directory(&sandbox), "not a directory").unwrap();
    let ran = sandbox.run(&["run", "--", "echo", "hi"], b"");
    assert_eq!((ran.code, &ran.stdout[..], &ran.stderr[..]), (Some(0), &b"hi\n"[..], ""));
}

#[test]
fn table_fits_80_columns() {
    let sandbox = Sandbox::new();
    let tool = "a-tool-with-a-name-that-is-much-longer-than-its-column\u{1b}[31m";
    sandbox.run(&["cut", "--tool", tool], numbered(200_000).as_bytes());
    run_in_claude(&sandbox, "seq 1 100000").text();
    for by in [&[][..], &["--by", "day"], &["--by", "agent"], &["--by", "host"], &["--by", "tool"]] {
        let text = sandbox.run(&[&["stats", "--since", "30d"], by].concat(), b"").text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
