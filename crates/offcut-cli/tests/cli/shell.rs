//! `offcut shell`: command lines behave as in the real shell, and their output is shortened.

use crate::harness::{Ran, Sandbox, binary, feed, numbered};
use crate::terminal::Terminal;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// Creates a link to the binary under another name.
fn link(sandbox: &Sandbox, name: &str) -> PathBuf {
    let path = sandbox.path().join(name);
    if !path.exists() {
        symlink(binary(), &path).unwrap();
    }
    path
}

fn call(sandbox: &Sandbox, program: &str, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir(sandbox.path());
    command.env("HOME", sandbox.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("A", "b c");
    feed(command, input)
}

/// Expects the same output and exit code from bash and `offcut-bash`.
#[track_caller]
fn check(arguments: &[&str], input: &str) {
    let sandbox = Sandbox::new();
    let link_path = link(&sandbox, "offcut-bash");
    let expected = call(&sandbox, "bash", arguments, input.as_bytes());
    let found = call(&sandbox, link_path.to_str().unwrap(), arguments, input.as_bytes());
    let all = |ran: &Ran| String::from_utf8_lossy(&ran.stdout).into_owned() + &ran.stderr;
    // offcut starts the real shell by its full path.
    let name = |text: String| text.replace("/usr/bin/bash", "bash").replace("/bin/bash", "bash");
    assert_eq!((found.code, name(all(&found))), (expected.code, all(&expected)), "{arguments:?}");
}

/// Command lines of all kinds.
pub(crate) const LINES: &[&str] = &[
    "true",
    "exit 3",
    "no-such-program-here",
    "echo a; echo b >&2; false",
    "printf '%s|' \"$A\" '$A' \\$A \"a'b\" 'a\"b'",
    "cat <<'END'\n$A `date` \"quoted\"\nEND\nexit 7",
    "cat <<END\n$A\nEND",
    "cd / && pwd",
    "x=$(seq 1 100000 | wc -l); echo $x",
    "seq 1 100000 | bash -c 'wc -l'",
    "bash -c 'seq 1 100000' | wc -c",
    "f() { return 4; }; f",
    "trap 'echo bye' EXIT; echo hello",
    "set -e; false; echo never",
    "sleep 0.01 & wait $!; echo $?",
    "read line; echo \"got $line\"; cat",
    "echo 日本語; printf '\\x00\\xff'",
    "echo ${BASH_VERSION:+bash}",
    "# only a comment",
    "",
];

#[test]
fn shell_behaves_like_real_shell_within_limits() {
    for line in LINES {
        check(&["-c", line], "first\nsecond\n");
    }
    check(&["-c", "-l", "echo login; shopt -q login_shell; echo $?"], "");
    check(&["-lc", "shopt -q login_shell; echo $?"], "");
    check(&["-eo", "pipefail", "-c", "false | true; echo never"], "");
    check(&["-c", "echo \"$0 $1 $2\"", "zero", "one", "two words"], "");
    check(&["-s", "x"], "echo from input $1\nexit 5\n");
    check(&["/no/such/script", "-c"], "");
    check(&["--norc", "--noprofile", "-c", "echo plain"], "");
}

#[test]
fn shell_exits_with_128_plus_signal_when_killed() {
    let sandbox = Sandbox::new();
    let ran = call(&sandbox, link(&sandbox, "offcut-bash").to_str().unwrap(), &["-c", "kill -TERM $$"], b"");
    assert_eq!((ran.code, ran.stdout.len(), ran.stderr.as_str()), (Some(143), 0, ""));
}

#[test]
fn shell_shortens_and_stores_long_output() {
    let sandbox = Sandbox::new();
    for (program, arguments) in [
        (link(&sandbox, "offcut-sh"), vec!["-c"]),
        (link(&sandbox, "offcut-bash"), vec!["-lc"]),
        (PathBuf::from(binary()), vec!["shell", "-c"]),
    ] {
        let line = "seq 1 50000; echo 'error: it broke' >&2; seq 50001 100000; exit 3";
        let arguments: Vec<&str> = arguments.into_iter().chain([line]).collect();
        let ran = call(&sandbox, program.to_str().unwrap(), &arguments, b"");
        let text = String::from_utf8(ran.stdout).unwrap();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""));
        assert!(text.starts_with("[offcut: ") && text.len() <= 9500, "{text}");
        assert!(text.contains("error: it broke") && text.contains("exit 3 after"), "{text}");
        let stored = numbered(100_000).replace("\n50001\n", "\nerror: it broke\n50001\n");
        assert_eq!(sandbox.run(&["cat", "last"], b"").text(), stored);
        let show = sandbox.run(&["show", "last", "--format", "json"], b"").json();
        assert_eq!(show["tool"], "bash", "{show}");
        assert_eq!((&show["command"], &show["exit_code"]), (&line.into(), &3.into()), "{show}");
    }
}

#[test]
fn nested_shell_does_not_shorten_twice() {
    let sandbox = Sandbox::new();
    let link_path = link(&sandbox, "offcut-bash");
    let link_path = link_path.to_str().unwrap();
    let run = |line: &str| call(&sandbox, link_path, &["-c", line], b"").text();
    // The output of the inner shell is part of that of the outer one.
    run(&format!("{link_path} -c 'seq 1 100000'"));
    assert_eq!(sandbox.run(&["ls", "--all", "--format", "json"], b"").json().as_array().unwrap().len(), 1);
    // The output of an inner shell that goes into a pipe is shortened by the inner shell.
    assert!(run(&format!("{link_path} -c 'seq 1 100000' | cat")).starts_with("[offcut: "));
}

#[test]
fn shell_sets_shell_variable_to_real_shell() {
    let sandbox = Sandbox::new();
    let link_path = link(&sandbox, "offcut-bash");
    let mut command = Command::new(&link_path);
    command.args(["-c", "echo \"$SHELL\"; $SHELL -c 'seq 1 100000' | wc -l"]);
    command.env_clear().env("SHELL", &link_path).env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin");
    let text = feed(command, b"").text();
    assert!(text.ends_with("bash\n100000\n") && !text.contains("offcut"), "{text}");
}

#[test]
fn the_shell_is_chosen_and_is_never_this_program() {
    let sandbox = Sandbox::new();
    let link_path = link(&sandbox, "offcut-sh");
    let check = |variables: &[(&str, &str)], expected: &str| {
        let mut command = sandbox.command();
        command.args(["shell", "-c", "echo ${BASH_VERSION:+bash}"]).env("PATH", "/usr/bin:/bin");
        command.envs(variables.iter().copied());
        assert_eq!(feed(command, b"").text().trim(), expected, "{variables:?}");
    };
    check(&[("SHELL", "/bin/bash")], "bash");
    check(&[("SHELL", "/bin/sh"), ("OFFCUT_SHELL", "/bin/bash")], "bash");
    check(&[("SHELL", link_path.to_str().unwrap()), ("OFFCUT_SHELL", "/bin/bash")], "bash");
    let mut command = sandbox.command();
    command.args(["run", "--shell", "echo plain"]).env("SHELL", &link_path).env("PATH", "/usr/bin:/bin");
    assert_eq!(feed(command, b"").text(), "plain\n");
}

#[test]
fn shell_works_when_configuration_is_invalid() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join(".offcut.toml"), "nonsense = [").unwrap();
    for variable in ["OFFCUT_PROFILE", "OFFCUT_STORE", "OFFCUT_MAX_BYTES"] {
        let mut command = sandbox.command();
        command
            .args(["shell", "-c", "echo fine"])
            .env(variable, "\u{1}nonsense")
            .env("PATH", "/usr/bin:/bin");
        let ran = feed(command, b"");
        assert_eq!((ran.code, ran.stdout.as_slice()), (Some(0), b"fine\n".as_slice()), "{variable}");
    }
}

#[test]
fn shell_runs_real_shell_on_terminal() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["shell", "-c", "test -t 1 && echo it is one; seq 1 20000"]).env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("\r\n20000\r\n");
    assert!(terminal.seen.starts_with("it is one\r\n1\r\n") && !terminal.seen.contains("[offcut"));
}
