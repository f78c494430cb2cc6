//! Completions: what the internal command answers, and what the shells make of it.

use crate::harness::{Ran, Sandbox, binary, feed, numbered};
use crate::terminal::Terminal;
use std::path::Path;
use std::process::Command;

/// The kind of the answer, and its values.
#[track_caller]
fn complete(sandbox: &Sandbox, words: &[&str]) -> (String, Vec<String>) {
    let words: Vec<&str> = ["__complete", "offcut"].iter().chain(words).copied().collect();
    let text = sandbox.run(&words, b"").text();
    let mut lines = text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned());
    (lines.next().unwrap(), lines.collect())
}

/// The id of the last output of the sandbox.
fn last(sandbox: &Sandbox) -> String {
    sandbox.run(&["ls", "--limit", "1", "--format", "json"], b"").json()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn completes_ids_newest_first_with_what_was_run() {
    let sandbox = Sandbox::new();
    let mut ids = Vec::new();
    for count in ["5000", "6000", "7000"] {
        sandbox.run(&["run", "seq", count], b"");
        ids.insert(0, last(&sandbox));
    }
    for command in ["read", "cat", "show", "rm", "pin", "unpin", "fsck"] {
        assert_eq!(complete(&sandbox, &[command, ""]), ("words".to_owned(), ids.clone()), "{command}");
    }
    assert_eq!(complete(&sandbox, &["grep", "error", ""]).1, ids);
    assert_eq!(complete(&sandbox, &["ls", "--before", &ids[1]]).1, ids[1..2]);
    assert_eq!(complete(&sandbox, &["read", "la"]).1, ["last", "last-1"]);
    assert_eq!(complete(&sandbox, &["grep", "error", "al"]).1, ["all"]);
    assert_eq!(complete(&sandbox, &["read", "al"]).1, Vec::<String>::new());
    let text = sandbox.run(&["__complete", "offcut", "read", &ids[0]], b"").text();
    assert!(text.contains(&format!("{}\t", ids[0])) && text.trim_end().ends_with("seq 7000"), "{text}");
    assert_eq!(complete(&sandbox, &["read", "./ou"]).0, "files", "a path names an output too");
    let elsewhere = complete(&sandbox, &["--store", "elsewhere", "read", ""]);
    assert_eq!(elsewhere, ("words".to_owned(), Vec::new()), "the store of the line counts");
}

#[test]
fn completes_names_and_keys() {
    let sandbox = Sandbox::new();
    for (session, tool) in [("one", "bash"), ("$(touch x)", "my tool"), ("two", "grep"), ("one", "bash")] {
        sandbox.run(&["cut", "--session", session, "--tool", tool], numbered(5000).as_bytes());
    }
    let profiles = sandbox.path().join(".config/offcut/profiles");
    std::fs::create_dir_all(&profiles).unwrap();
    std::fs::write(profiles.join("mine.toml"), "about = \"My own\"\n").unwrap();
    let check = |words: &[&str], expected: &[&str]| {
        let (kind, values) = complete(&sandbox, words);
        assert_eq!(
            (kind.as_str(), values),
            ("words", expected.iter().map(ToString::to_string).collect()),
            "{words:?}"
        );
    };
    // What a shell would execute is not offered.
    check(&["ls", "--session", ""], &["one", "two"]);
    check(&["rm", "--tool", ""], &["bash", "grep"]);
    check(&["ls", "--agent", "cl"], &["claude"]);
    check(&["cut", "--profile", "m"], &["mine"]);
    check(&["cut", "--profile=m"], &["--profile=mine"]);
    // As bash divides it.
    check(&["cut", "--profile", "=", "m"], &["mine"]);
    check(&["profiles", "nat"], &["native"]);
    check(&["config", "set", "limits.l"], &["limits.lines"]);
    check(&["config", "unset", "tools.bash.limits.l"], &["tools.bash.limits.lines"]);
    check(&["config", "set", "ledger", ""], &["true", "false"]);
    check(&["config", "set", "tools.bash.strategy", "hea"], &["head", "head-tail"]);
    check(&["init", "co"], &["codex", "copilot"]);
    for words in [["ls", "--day", ""], ["rm", "--since", ""], ["stats", "--since", ""]] {
        check(&words, &["today", "yesterday"]);
    }
    check(&["man", "gr"], &["grep"]);
    check(&["unp"], &["unpin"]);
    check(&["read", "--arou"], &["--around"]);
    check(&["read", "--max-bytes", ""], &[]);
    assert_eq!(complete(&sandbox, &["cut", "no"]).0, "files");
    assert_eq!(complete(&sandbox, &["--store", "dir"]).0, "files");
}

#[test]
fn leaves_command_lines_to_the_shell() {
    let sandbox = Sandbox::new();
    for (words, first) in [
        (&["run", "ma"][..], 2),
        (&["run", "make", "-"], 2),
        (&["run", "--timeout", "5m", "make", "all", ""], 4),
        (&["run", "--timeout", "=", "5m", "make", ""], 5),
        (&["run", "env", "--chdir", "=", "x"], 2),
        (&["run", "--", "ma"], 3),
        (&["--store", "x", "run", ""], 4),
        (&["mcp", "proxy", "--name", "x", "np"], 5),
    ] {
        assert_eq!(complete(&sandbox, words).0, format!("command {first}"), "{words:?}");
    }
    assert_eq!(complete(&sandbox, &["run", "--time"]).1, ["--timeout"]);
    assert_eq!(complete(&sandbox, &["run", "--timeout", ""]), ("words".to_owned(), Vec::new()));
}

/// Runs a script in a shell that completes by the script of `offcut completions`; `None` without the shell.
fn in_shell(sandbox: &Sandbox, shell: &str, script: &str) -> Option<Ran> {
    let program = ["/bin", "/usr/bin", "/usr/local/bin"].map(|directory| Path::new(directory).join(shell));
    let program = program.into_iter().find(|program| program.exists())?;
    let completions = sandbox.run(&["completions", shell], b"").text();
    let file = sandbox.path().join("completions");
    std::fs::write(&file, completions).unwrap();
    let mut command = Command::new(program);
    let path = format!("{}:/usr/bin:/bin", Path::new(binary()).parent().unwrap().display());
    command.env_clear().env("HOME", sandbox.path()).env("PATH", path).current_dir(sandbox.path());
    command.args(["-c", script]);
    Some(feed(command, b""))
}

#[test]
fn bash_completes() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "seq", "5000"], b"");
    std::fs::write(sandbox.path().join("notes.txt"), "").unwrap();
    let id = last(&sandbox);
    let script = format!(
        "source ./completions
         try() {{ COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _offcut offcut \"${{!#}}\" '' 2>/dev/null; echo \"${{COMPREPLY[@]}}\"; }}
         try offcut read ''; try offcut read {}; try offcut unp; try offcut run tes; try offcut cut --profile = nat; try offcut cut not",
        &id[..8]
    );
    let text = in_shell(&sandbox, "bash", &script).unwrap().text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[1], lines[2]), (&id[..], &id[..], "unpin"), "{text}");
    assert!(lines[3].split(' ').any(|command| command == "test"), "{text}");
    assert_eq!(lines[4..], ["native", ""], "bash itself completes names of files");
}

#[test]
fn bash_sorts_commands_and_lists_each_once() {
    let sandbox = Sandbox::new();
    let completions = sandbox.run(&["completions", "bash"], b"").text();
    std::fs::write(sandbox.path().join("startup"), format!("{completions}\nPS1='ready> '\n")).unwrap();
    for program in ["one/zz-last", "one/zz-first", "two/zz-last", "two/zz-first"] {
        let path = sandbox.path().join(program);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/bin/true", path).unwrap();
    }
    let mut command = Command::new("/bin/bash");
    command.args(["--noprofile", "--rcfile", "startup", "-i"]).env_clear().current_dir(sandbox.path());
    command.env("HOME", sandbox.path()).env("TERM", "dumb");
    command.env("PATH", format!("{0}/one:{0}/two:/bin", sandbox.path().display()));
    let mut terminal = Terminal::start(command);
    terminal.wait_for("ready> ");
    terminal.type_in(b"offcut run zz-\t\t");
    terminal.wait_for("zz-first  zz-last");
    terminal.type_in(b"\x15exit\n");
    let (seen, _) = terminal.close();
    assert_eq!(seen.matches("zz-first").count(), 1, "{seen:?}");
}

#[test]
fn fish_completes() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "seq", "5000"], b"");
    std::fs::write(sandbox.path().join("notes.txt"), "").unwrap();
    let id = last(&sandbox);
    let script = "source ./completions
        for line in 'offcut read ' 'offcut unp' 'offcut run seq --equal-w' 'offcut cut --profile=nat' 'offcut cut not'
            complete --do-complete $line; echo ---
        end";
    let Some(ran) = in_shell(&sandbox, "fish", script) else { return };
    let text = ran.text();
    let answers: Vec<&str> = text.split("---\n").collect();
    assert!(answers[0].starts_with(&format!("{id}\t")) && answers[0].ends_with("seq 5000\n"), "{text}");
    assert!(answers[1].starts_with("unpin\tAllow"), "{text}");
    assert!(answers[2].starts_with("--equal-width"), "{text}");
    assert!(answers[3].starts_with("--profile=native\t"), "{text}");
    assert_eq!(answers[4].trim_end(), "notes.txt", "{text}");
}

/// A real completion needs a terminal. The functions of zsh that the script calls are replaced by ones that print.
#[test]
fn zsh_completes() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "seq", "5000"], b"");
    let id = last(&sandbox);
    let script = "compdef() { }; compset() { }; _files() { echo files }
        _describe() { print -rl -- ${(P)3} }; _normal() { echo normal $CURRENT $words }
        source ./completions
        try() { words=(\"$@\"); CURRENT=$#; PREFIX=$words[-1]; _offcut; echo --- }
        try offcut read ''; try offcut unp; try offcut run --timeout 5m make al; try offcut cut --profile=nat; try offcut cut n";
    let Some(ran) = in_shell(&sandbox, "zsh", script) else { return };
    let text = ran.text();
    let answers: Vec<&str> = text.split("---\n").collect();
    assert!(answers[0].starts_with(&format!("{id}:")) && answers[0].ends_with("seq 5000\n"), "{text}");
    assert!(answers[1].starts_with("unpin:Allow"), "{text}");
    assert_eq!(answers[2], "normal 2 make al\n");
    assert!(answers[3].starts_with("--profile=native:"), "{text}");
    assert_eq!(answers[4], "files\n");
}
