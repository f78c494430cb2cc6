//! `offcut init --rewrite`: a command line with the prefix behaves as without it, and is shortened once.

use crate::harness::{Ran, Sandbox, binary, feed};
use crate::shell::LINES;
use serde_json::json;
use std::process::Command;

/// Creates a home directory in which Claude Code rewrites command lines.
fn home() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path().join("it's here")).unwrap();
    let mut command = command(&sandbox, sandbox.copy_of_binary().to_str().unwrap());
    command.args(["init", "claude", "--rewrite"]);
    let text = feed(command, b"").text();
    assert!(text.contains("configured.") && text.contains("see the prefix `. "), "{text}");
    sandbox
}

/// The directory of the installed files has a name that must be quoted.
fn command(sandbox: &Sandbox, program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(sandbox.path()).env("HOME", sandbox.path()).env("A", "b c");
    command.env("XDG_CONFIG_HOME", sandbox.path().join("it's here"));
    command.env("SHELL", "/bin/bash").env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

/// Returns the command line as rewritten by the hook.
fn rewritten(sandbox: &Sandbox, line: &str) -> String {
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": line}}).to_string();
    let mut command = command(sandbox, binary());
    command.args(["hook", "claude", "before"]);
    let answer = feed(command, payload.as_bytes()).json();
    assert_eq!(answer["hookSpecificOutput"].get("permissionDecision"), None);
    let input = &answer["hookSpecificOutput"]["updatedInput"]["command"];
    input.as_str().unwrap_or(line).to_owned()
}

fn run(sandbox: &Sandbox, program: &str, arguments: &[&str]) -> Ran {
    let mut command = command(sandbox, program);
    command.args(arguments);
    feed(command, b"first\nsecond\n")
}

#[test]
fn rewritten_line_behaves_like_original() {
    let sandbox = home();
    let all = |ran: &Ran| {
        let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &ran.stderr;
        (ran.code, text.replace("/usr/bin/bash", "bash").replace("/bin/bash", "bash"))
    };
    let here = ["echo $#", "echo ${OFFCUT_LINE-none}", "echo \"$0\"", "cd \"it's here\"; pwd"];
    for line in LINES.iter().chain(&here) {
        let prefixed = rewritten(&sandbox, line);
        assert!(prefixed.ends_with(line), "{prefixed}");
        assert_eq!(prefixed.starts_with(". "), !line.is_empty(), "{prefixed}");
        for options in [&["-c"][..], &["-l", "-c"], &["-c", "-l"]] {
            let run = |line: &str| run(&sandbox, "bash", &[options, &[line]].concat());
            assert_eq!(all(&run(&prefixed)), all(&run(line)), "{line}");
        }
    }
    // As Claude Code runs it: the commands after the line still run.
    let line = "eval ".to_owned() + &shlex::try_quote(&rewritten(&sandbox, "cd /usr; exit 3 | cat")).unwrap();
    let ran = run(&sandbox, "bash", &["-c", &format!("{line} < /dev/null && pwd -P")]);
    assert_eq!(ran.text(), "/usr\n");
}

#[test]
fn rewritten_line_is_shortened_once() {
    let sandbox = home();
    let line = rewritten(&sandbox, "seq 1 100000; exit 3");
    let files = sandbox.path().join("it's here/offcut/agents");
    let link = files.join("offcut-bash");
    // In bash, and in an agent that also uses offcut as its shell.
    for program in ["bash", link.to_str().unwrap()] {
        let ran = run(&sandbox, program, &["-c", &line]);
        let text = String::from_utf8(ran.stdout).unwrap();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""));
        assert!(text.starts_with("[offcut: ") && text.len() <= 9500, "{text}");
        let stored = std::fs::read_dir(sandbox.store())
            .unwrap()
            .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "txt"));
        assert_eq!(stored.count(), 1, "{program}");
        std::fs::remove_dir_all(sandbox.store()).unwrap();
    }
    // The prefix has no effect in other shells.
    let ran = run(&sandbox, "dash", &["-c", &line]);
    assert_eq!((ran.code, ran.stdout.len()), (Some(3), 588_895));
}

#[test]
fn rewritten_line_still_runs_when_installed_files_are_missing() {
    let sandbox = home();
    let line = rewritten(&sandbox, "echo hi");
    let files = sandbox.path().join("it's here/offcut/agents");
    std::fs::remove_file(files.join("offcut-bash")).unwrap();
    assert_eq!(run(&sandbox, "bash", &["-c", &line]).text(), "hi\n");
    std::fs::remove_file(sandbox.path().join("bin/offcut")).unwrap();
    assert_eq!(run(&sandbox, "bash", &["-c", &line]).text(), "hi\n");
    std::fs::remove_file(files.join("offcut-line.sh")).unwrap();
    assert_eq!(rewritten(&sandbox, "echo hi"), "echo hi");
    // An agent that is still running may have a rewritten line from before.
    assert_eq!(run(&sandbox, "bash", &["-c", &line]).text(), "hi\n");
}
