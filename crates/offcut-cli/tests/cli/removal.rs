//! `offcut rm` with the filters of `offcut ls`.

use crate::harness::{Ran, Sandbox, feed, numbered};
use crate::terminal::Terminal;

/// A store with two outputs of each of two sessions; one of the first session is pinned.
fn two_sessions() -> Sandbox {
    let sandbox = Sandbox::new();
    for session in ["s-1", "s-2", "s-1", "s-2"] {
        sandbox.run(&["cut", "--session", session], numbered(5000).as_bytes());
    }
    sandbox.run(&["pin", "last-1"], b"");
    sandbox
}

/// How many outputs of each session, and how many pinned ones, are stored.
fn stored(sandbox: &Sandbox) -> (usize, usize, usize) {
    let rows = sandbox.run(&["ls", "--all", "--format", "json"], b"").json();
    let count = |is_wanted: &dyn Fn(&serde_json::Value) -> bool| {
        rows.as_array().unwrap().iter().filter(|row| is_wanted(row)).count()
    };
    let session = |name: &'static str| count(&move |row| row["session"] == name);
    (session("s-1"), session("s-2"), count(&|row| row["pinned"] == true))
}

#[track_caller]
fn says(ran: &Ran, text: &str) {
    assert!(ran.stderr.contains(text), "{text:?} is not in {:?}", ran.stderr);
}

#[test]
fn rm_with_filters_deletes_only_what_they_choose() {
    let sandbox = two_sessions();
    let refused = sandbox.run(&["rm", "--session", "s-2"], b"y\n");
    refused.failed(2, "use --yes to delete 2 outputs, 48 kB");
    assert_eq!(
        String::from_utf8(refused.stdout).unwrap().lines().count(),
        3,
        "it lists what it would delete"
    );
    assert_eq!(stored(&sandbox), (2, 2, 1), "without a terminal and without --yes nothing is deleted");

    let ran = sandbox.run(&["rm", "--session", "s-2", "--yes"], b"");
    assert_eq!(ran.text().lines().count(), 3);
    says(&ran, "removed 2 outputs, 48 kB");
    assert_eq!(stored(&sandbox), (2, 0, 1));

    let ran = sandbox.run(&["rm", "--session", "s-1", "--yes"], b"");
    says(&ran, "removed 1 output, 24 kB");
    says(&ran, "kept what is pinned or being written, 1 output, 24 kB; --force deletes it too");
    assert_eq!(stored(&sandbox), (1, 0, 1));
    sandbox.run(&["rm", "--session", "s-1", "--yes", "--force"], b"").text();
    assert_eq!(stored(&sandbox), (0, 0, 0));
    says(&sandbox.run(&["rm", "--session", "s-1", "--yes"], b""), "no stored output matches");
}

#[test]
fn rm_here_deletes_what_commands_in_the_directory_printed() {
    let sandbox = Sandbox::new();
    for directory in ["client", "client/sub", "other"] {
        let directory = sandbox.path().join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        let mut command = sandbox.command();
        command.arg("cut").current_dir(directory);
        feed(command, numbered(5000).as_bytes());
    }
    let mut command = sandbox.command();
    command.args(["rm", "--here", "--since", "1d", "--yes"]).current_dir(sandbox.path().join("client"));
    says(&feed(command, b""), "removed 2 outputs");
    let rows = sandbox.run(&["ls", "--format", "json"], b"").json();
    assert!(rows[0]["directory"].as_str().unwrap().ends_with("/other"), "{rows}");
    assert_eq!(rows.as_array().unwrap().len(), 1);
}

#[test]
fn rm_pin_and_unpin_print_json() {
    let sandbox = two_sessions();
    let json = |arguments: &[&str]| sandbox.run(&[arguments, &["--format", "json"]].concat(), b"");
    let rows = json(&["ls", "--session", "s-1"]).json();
    let (first, pinned) = (&rows[1]["id"], &rows[0]["id"]);
    let report = json(&["rm", "--session", "s-1"]);
    report.failed(2, "use --yes");
    assert_eq!(
        String::from_utf8(report.stdout).unwrap(),
        format!("{{\"removed\":0,\"removed_bytes\":0,\"ids\":[],\"kept\":[{pinned},{first}]}}\n")
    );
    let report = json(&["rm", first.as_str().unwrap(), pinned.as_str().unwrap()]);
    report.failed(2, "it is pinned");
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!((&report["removed"], &report["kept"]), (&0.into(), &serde_json::json!([first, pinned])));
    let ran = json(&["rm", "--session", "s-1", "--yes"]);
    let expected =
        serde_json::json!({ "removed": 1, "removed_bytes": 23893, "ids": [first], "kept": [pinned] });
    assert_eq!((ran.json(), ran.stderr.as_str()), (expected, ""));
    let expected = serde_json::json!({ "pinned": false, "ids": [pinned] });
    assert_eq!(json(&["unpin", pinned.as_str().unwrap()]).json(), expected);
    let expected = serde_json::json!({ "pinned": true, "ids": [pinned] });
    let ran = json(&["pin", pinned.as_str().unwrap()]);
    assert_eq!((ran.json(), ran.stderr.as_str()), (expected, ""));
    let ran = json(&["rm", "--force", pinned.as_str().unwrap()]);
    let expected = serde_json::json!({ "removed": 1, "removed_bytes": 23893, "ids": [pinned], "kept": [] });
    assert_eq!((ran.json(), ran.stderr.as_str()), (expected, ""));
    let ran = json(&["rm", "--session", "none", "--yes"]);
    assert_eq!((ran.json()["removed"].clone(), ran.stderr.as_str()), (0.into(), ""));
    assert_eq!(stored(&sandbox), (0, 2, 0));
}

#[test]
fn rm_needs_ids_or_filters_and_not_both() {
    let sandbox = two_sessions();
    sandbox.run(&["rm"], b"").failed(2, "required");
    sandbox.run(&["rm", "last", "--session", "s-1"], b"").failed(2, "cannot be used with");
    sandbox.run(&["rm", "last", "--yes"], b"").failed(2, "required");
    assert_eq!(stored(&sandbox), (2, 2, 1));
}

#[test]
fn rm_asks_on_a_terminal_and_again_for_pinned_outputs() {
    let sandbox = two_sessions();
    let rm = |arguments: &str, answers: &[(&str, &str)]| {
        let mut terminal = Terminal::open_shell(&sandbox, &format!("\"$offcut\" rm {arguments}"));
        for (question, answer) in answers {
            terminal.wait_for(question);
            terminal.seen.clear();
            terminal.type_in(format!("{answer}\n").as_bytes());
        }
        terminal.close()
    };
    let all = "delete 1 output, 24 kB? [y/N] ";
    let pinned = "delete also what is pinned or being written, 1 output, 24 kB? [y/N] ";
    let (seen, code) = rm("--session s-1", &[(all, "")]);
    assert!(seen.contains("nothing was deleted") && code == Some(0), "{seen}");
    assert_eq!(stored(&sandbox), (2, 2, 1));
    rm("--session s-1", &[(all, "y"), (pinned, "n")]);
    assert_eq!(stored(&sandbox), (1, 2, 1));
    let (seen, code) = rm("last-1", &[(" is pinned. Delete it? [y/N] ", "n")]);
    assert!(seen.contains("nothing was deleted") && code == Some(0), "{seen}");
    assert!(!seen.contains("unpin"), "{seen}");
    assert_eq!(stored(&sandbox), (1, 2, 1));
    rm("--session s-1", &[(pinned, "y")]);
    assert_eq!(stored(&sandbox), (0, 2, 0));
}
