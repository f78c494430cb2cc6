//! `offcut show`: what the model saw of an output.

use crate::harness::{Sandbox, feed, numbered};
use crate::terminal::Terminal;
use serde_json::{Value, json};

/// A long output with failures far apart, which leaves many gaps.
fn with_failures() -> String {
    let line = |number: usize| match number % 400 {
        0 => format!("error: step {number} failed\n"),
        _ => format!("line {number} of a build\n"),
    };
    (1..8000).map(line).collect()
}

#[test]
fn preview_is_printed_again_byte_for_byte() {
    let sandbox = Sandbox::new();
    for (name, text, options) in [
        ("lines", numbered(20_000), &["cut"][..]),
        ("failures", with_failures(), &["cut"]),
        ("colours", with_failures().replace("error", "\x1b[31merror\x1b[0m"), &["cut", "--raw"]),
        ("one line", "x".repeat(100_000), &["cut"]),
        ("binary", "\0\x01\x02".repeat(30_000), &["cut"]),
        ("another profile", numbered(20_000), &["cut", "--profile", "opencode"]),
    ] {
        let shown = sandbox.run(options, text.as_bytes()).stdout;
        assert!(shown.len() < text.len(), "{name}");
        assert_eq!(sandbox.run(&["show", "--preview"], b"").stdout, shown, "{name}");
        let report = sandbox.run(&["show", "--format", "json"], b"").json();
        assert_eq!(report["preview"], json!(String::from_utf8_lossy(&shown)), "{name}");
        assert!(!report["gaps"].as_array().unwrap().is_empty(), "{name}: {report}");
    }
}

#[test]
fn preview_includes_what_was_printed_while_the_command_ran() {
    let sandbox = Sandbox::new();
    let line = "seq 1 3000; sleep 1.6; echo error: in the middle; seq 1 30000; sleep 0.6; seq 1 300";
    let mut command = sandbox.command();
    command.args(["run", "--", "/bin/sh", "-c", line]).env("PATH", std::env::var_os("PATH").unwrap());
    let shown = feed(command, b"").stdout;
    assert!(shown.starts_with(b"1\n2\n3\n"));
    assert_eq!(sandbox.run(&["show", "--preview"], b"").stdout, shown);
}

#[test]
fn diff_marks_exactly_what_was_not_shown() {
    let sandbox = Sandbox::new();
    let text = with_failures();
    let shown = sandbox.run(&["cut"], text.as_bytes()).text();
    let diff = sandbox.run(&["show", "--diff"], b"").text();
    assert!(!diff.contains('\x1b'), "no colour in a pipe");
    let lines: Vec<&str> = diff.lines().collect();
    assert_eq!(lines.iter().map(|line| &line[2..]).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
    let of_output = |line: &&str| line.starts_with("line ") || line.starts_with("error: ");
    let seen: Vec<&str> = shown.lines().filter(of_output).collect();
    let marked: Vec<&str> =
        lines.iter().filter(|line| line.starts_with("  ")).map(|line| &line[2..]).collect();
    assert_eq!(marked, seen);
    assert!(lines.iter().any(|line| line.starts_with("- line")));
}

#[test]
fn diff_dims_what_was_not_shown_in_a_pager_on_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], with_failures().as_bytes());
    let line = "PATH=/usr/bin:/bin PAGER='tee pager-input' \"$offcut\" show --diff";
    let (seen, code) = Terminal::open_shell(&sandbox, line).close();
    let paged = std::fs::read_to_string(sandbox.path().join("pager-input")).unwrap();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(paged.lines().count(), 7999);
    assert!(paged.contains("\x1b[2mline ") && paged.contains("\nerror: step 400 failed\n"), "{paged}");
    let line = "PATH=/nowhere NO_COLOR=1 \"$offcut\" show --diff";
    let (seen, code) = Terminal::open_shell(&sandbox, line).close();
    assert!(seen.contains("\r\n- line 7901 of a build\r\n") && code == Some(0), "without a pager: {seen}");
}

#[test]
fn gaps_are_all_listed() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], with_failures().as_bytes());
    let report = sandbox.run(&["show", "--format", "json"], b"").json();
    let gaps = report["gaps"].as_array().unwrap();
    assert!(gaps.len() > 8, "{report}");
    let listed = sandbox.run(&["show", "--gaps"], b"").text();
    assert_eq!(listed.lines().count(), gaps.len());
    let bytes: u64 =
        gaps.iter().map(|gap| gap["end"].as_u64().unwrap() - gap["start"].as_u64().unwrap()).sum();
    assert_eq!(
        report["original"]["bytes"].as_u64().unwrap(),
        report["shown"]["bytes"].as_u64().unwrap() + bytes
    );
    assert!(listed.contains(" similar lines ") && listed.contains(" not shown, "), "{listed}");
    let text = sandbox.run(&["show"], b"").text();
    assert!(text.contains(&format!("  and {} more: offcut show ", gaps.len() - 8)), "{text}");
}

#[test]
fn preview_of_an_older_entry_is_reported_as_missing() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(5000).as_bytes());
    let id = sandbox.run(&["show", "--format", "json"], b"").json()["id"].as_str().unwrap().to_owned();
    std::fs::remove_file(sandbox.store().join(format!(".offcut/{id}.preview"))).unwrap();
    sandbox.run(&["show", "--preview"], b"").failed(3, "is not stored");
    assert_eq!(sandbox.run(&["show", "--format", "json"], b"").json()["preview"], Value::Null);
    sandbox.run(&["show", "--preview", "--diff"], b"").failed(2, "cannot be used with");
    // The preview is removed with its output.
    sandbox.run(&["cut"], numbered(5000).as_bytes());
    sandbox.run(&["rm", "last", "last-1"], b"");
    let files = std::fs::read_dir(sandbox.store().join(".offcut")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name != "cleaned").collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn gaps_are_named_as_in_the_preview() {
    let sandbox = Sandbox::new();
    for text in [format!("{}\n", "x".repeat(60_000)), with_failures(), "the same line\n".repeat(5000)] {
        let shown = sandbox.run(&["cut"], text.as_bytes()).text();
        let gaps = sandbox.run(&["show", "--gaps"], b"").text();
        let details = sandbox.run(&["show"], b"").text();
        let markers = |line: &str| line.starts_with("[offcut") && line.ends_with(" not shown]");
        let markers: Vec<&str> = shown.lines().filter(|line| markers(line)).collect();
        assert_eq!(gaps.lines().count(), markers.len(), "{shown}\n{gaps}");
        for (marker, gap) in markers.iter().zip(gaps.lines()) {
            let marker = marker.split_once(": ").unwrap().1.trim_end_matches(']');
            assert!(gap.starts_with(&format!("  {marker}, ")), "{marker:?} {gap:?}");
        }
        assert!(details.contains(gaps.lines().next().unwrap()), "{details}");
    }
}
