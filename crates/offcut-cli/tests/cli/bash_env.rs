//! The file for `BASH_ENV`: an agent's command line runs as in plain bash with the same arguments, and is shortened; lines of
//! other programs that inherited the variable are not changed.

use crate::harness::{Ran, Sandbox, feed, numbered};
use std::process::Command;

/// A home directory in which Gemini CLI is configured by a copy of the binary, and the value of its `BASH_ENV`.
fn home() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let mut init = Command::new(sandbox.copy_of_binary());
    init.args(["init", "gemini"]).env_clear().env("HOME", sandbox.path()).current_dir(sandbox.path());
    assert_eq!(feed(init, b"").code, Some(0));
    let script = sandbox.path().join(".config/offcut/agents/offcut-bash-env.sh");
    (sandbox, script.to_str().unwrap().to_owned())
}

/// Runs bash as an agent does, which sets the variable for its children only.
fn bash(sandbox: &Sandbox, arguments: &[&str], bash_env: Option<&str>) -> Ran {
    let mut command = Command::new("bash");
    command.args(arguments).env_clear().envs(bash_env.map(|file| ("BASH_ENV", file)));
    command
        .env("HOME", sandbox.path())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(sandbox.path());
    feed(command, b"first\nsecond\n")
}

#[test]
fn options_of_the_shell_apply_to_the_line() {
    let (sandbox, script) = home();
    let failing = "cd /nonexistent; echo after";
    for arguments in [
        &["-ec", failing][..],
        &["-e", "-c", failing],
        &["-o", "errexit", "-c", failing],
        &["-uc", "echo $unset; echo after"],
        &["-o", "pipefail", "-c", "false | true; echo $?"],
        &["-eo", "pipefail", "-c", "false | true; echo after"],
        &["-O", "extglob", "-c", "[[ aab == +(a)b ]] && echo extended"],
        &["-O", "nullglob", "-c", "echo /nonexistent/*"],
        &["+O", "promptvars", "-c", "shopt promptvars"],
        &["-fc", "echo /*"],
        &["+B", "-c", "echo {a,b}"],
        &["-rc", "cd /; echo after"],
        &["-xc", "echo traced"],
        &["-ac", "A=b; env | grep -c '^offcut\\|^A=b'"],
        &["-c", "echo $- $SHELLOPTS; set | grep -c offcut"],
        &["--noprofile", "-lc", "shopt -q login_shell && echo login; echo $-"],
        &["-c", "echo \"$0\" \"$@\" $#; read line; echo $line", "name", "one", "two words", ""],
        &["-euc", "exit 3"],
        &["-c", "kill -TERM $$"],
    ] {
        // offcut merges the two streams, and starts bash by its full path.
        let all = |bash_env| {
            let ran = bash(&sandbox, arguments, bash_env);
            let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &ran.stderr;
            let text = text.replace("/usr/bin/bash", "bash").replace("/bin/bash", "bash");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            (ran.code.unwrap_or(143), lines)
        };
        assert_eq!(all(Some(&script)), all(None), "{arguments:?}");
    }
    assert!(bash(&sandbox, &["-c", "seq 1 100000"], Some(&script)).stdout.len() <= 9500);
    assert!(bash(&sandbox, &["-euo", "pipefail", "-c", "seq 1 100000"], Some(&script)).stdout.len() <= 9500);
}

/// A server that the agent starts has the variable in its own environment.
#[test]
fn line_of_a_program_that_inherited_the_variable_is_left_alone() {
    let (sandbox, script) = home();
    let inner = ["-c", "bash -c 'seq 1 100000'; true"];
    let mut server = Command::new("env");
    server.arg("bash").args(["--posix"]).args(inner);
    server.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    server.env("BASH_ENV", &script).current_dir(sandbox.path());
    assert_eq!(feed(server, b"").text(), numbered(100_000));
    assert_eq!(bash(&sandbox, &["-c", "bash -c 'seq 1 100000' | wc -l"], Some(&script)).text(), "100000\n");
}

#[test]
fn script_does_nothing_without_the_program() {
    let (sandbox, script) = home();
    std::fs::remove_file(sandbox.path().join("bin/offcut")).unwrap();
    assert_eq!(bash(&sandbox, &["-c", "seq 1 100000"], Some(&script)).text(), numbered(100_000));
    let ran = bash(&sandbox, &["-xeuc", "echo $-; set | grep -c offcut_ || true"], Some(&script));
    assert_eq!(ran.text(), bash(&sandbox, &["-xeuc", "echo $-; set | grep -c offcut_ || true"], None).text());
}

/// A sandbox with its own numbers of processes, but the /proc of the outside, as `unshare` makes it.
#[test]
fn line_runs_where_proc_numbers_other_processes() {
    let (sandbox, script) = home();
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "bash",
        "-ec",
        "seq 1 100000; false; echo never",
    ]);
    command.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("BASH_ENV", &script).current_dir(sandbox.path());
    let ran = feed(command, b"");
    // Not every machine allows it.
    if !ran.stderr.contains("unshare") {
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.code == Some(1) && text.contains("\n100000\n") && !text.contains("never"), "{text}");
    }
}

/// Gemini CLI also runs its hooks in bash, with the same environment.
#[test]
fn answer_of_a_hook_is_never_shortened() {
    let (sandbox, script) = home();
    let settings = std::fs::read_to_string(sandbox.path().join(".gemini/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let hook = settings["hooks"]["AfterTool"][0]["hooks"][0]["command"].as_str().unwrap();
    let lines: String = (1..30_000).map(|number| format!("\"\\{:x}\"\n", number * 7919 % 100_003)).collect();
    let payload = serde_json::json!({"tool_name": "x", "tool_response": {"llmContent": lines}}).to_string();
    let mut command = Command::new("bash");
    command.args(["-c", hook]).env_clear().env("BASH_ENV", &script).env("HOME", sandbox.path());
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir(sandbox.path());
    let answer = feed(command, payload.as_bytes());
    assert!(answer.stdout.len() > 9500 && answer.json()["reason"].is_string());
}
