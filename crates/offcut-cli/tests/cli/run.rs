//! `offcut run`: the command behaves as without offcut.

use crate::harness::{Ran, Sandbox, binary, feed, finish, numbered};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

fn run(sandbox: &Sandbox, options: &[&str], command: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["run"].iter().chain(options).chain(&["--"]).chain(command).copied().collect();
    sandbox.run(&arguments, b"")
}

fn shell(sandbox: &Sandbox, options: &[&str], line: &str) -> Ran {
    run(sandbox, options, &["/bin/sh", "-c", line])
}

#[test]
fn run_exits_with_code_of_command() {
    let sandbox = Sandbox::new();
    let script = sandbox.path().join("no-interpreter");
    std::fs::write(&script, "echo ran \"$1\"\nexit 9\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let plain = sandbox.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let (script, plain) = (script.to_str().unwrap(), plain.to_str().unwrap());
    for (command, code, stdout) in [
        (&["/bin/sh", "-c", "echo out; exit 0"][..], 0, "out\n"),
        (&["/bin/sh", "-c", "echo out; exit 1"], 1, "out\n"),
        (&["/bin/sh", "-c", "printf no-newline; exit 7"], 7, "no-newline"),
        (&["/bin/sh", "-c", "exit 255"], 255, ""),
        (&["/bin/sh", "-c", "echo out; kill -TERM $$"], 143, "out\n"),
        (&["/bin/sh", "-c", "echo out; kill -KILL $$"], 137, "out\n"),
        (&["/bin/sh", "-c", "exit 2"], 2, ""),
        (&[script, "a b"], 9, "ran a b\n"),
        (&["true"], 0, ""),
    ] {
        let ran = run(&sandbox, &[], command);
        assert_eq!((ran.code, ran.stdout.as_slice()), (Some(code), stdout.as_bytes()), "{command:?}");
        assert_eq!(ran.stderr, "", "{command:?}");
    }
    let orphan = sandbox.path().join("orphan");
    std::fs::write(&orphan, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&orphan, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (command, code, reason) in [
        ("no-such-program-anywhere", 127, "No such file"),
        ("/no/such/file", 127, "No such file"),
        (orphan.to_str().unwrap(), 127, "the interpreter named in its first line was not found"),
        (plain, 126, "Permission denied"),
        ("/", 126, "it is a directory"),
        ("", 127, "the command is empty"),
    ] {
        run(&sandbox, &[], &[command]).failed(code, "cannot run");
        run(&sandbox, &[], &[command]).failed(code, reason);
    }
    assert!(!sandbox.store().exists(), "nothing was stored");
}

#[test]
fn run_exits_with_125_when_usage_is_invalid() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["run"][..],
        &["run", "--"],
        &["run", "--no-such-option", "--", "true"],
        &["--store", "x", "run", "--timeout", "soon", "--", "true"],
        &["run", "--timeout", "0s", "--", "true"],
        &["run", "--timeout", "-3s", "--", "true"],
        &["run", "--shell", "true", "--", "true"],
        &["run", "--max-bytes", "3", "--", "true"],
        &["run", "--max-lines", "0", "--", "true"],
        &["run", "--profile", "nope", "--", "true"],
        &["run", "--format", "xml", "--", "true"],
    ] {
        let ran = sandbox.run(arguments, b"");
        assert_eq!(ran.code, Some(125), "{arguments:?} {ran:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
    assert!(sandbox.run(&["run", "-j8", "make"], b"").stderr.contains("offcut run CMD ARGS..."));
    assert_eq!(sandbox.run(&["run", "--help"], b"").code, Some(0));
    assert_eq!(sandbox.run(&["cut", "--no-such-option"], b"").code, Some(2));
}

#[test]
fn run_passes_arguments_unchanged() {
    let sandbox = Sandbox::new();
    let given: Vec<OsString> =
        ["a  b", "", "*", "\"q'", "$HOME", "--", "-x", "--help", "\\", "new\nline", "  ", "漢"]
            .into_iter()
            .map(OsString::from)
            .chain([OsString::from_vec(b"\xFF\xFE not utf-8".to_vec())])
            .collect();
    let mut command = sandbox.command();
    command
        .args(["run", "--", "/bin/sh", "-c", "for a in \"$@\"; do printf '%s|' \"$a\"; done", "sh"])
        .args(&given);
    let expected: Vec<u8> = given.iter().flat_map(|argument| [argument.as_bytes(), b"|"].concat()).collect();
    assert_eq!(feed(command, b"").stdout, expected);
}

#[test]
fn run_shell_uses_shell_of_user() {
    let sandbox = Sandbox::new();
    for (shell, line, expected) in [
        (None, "echo \"$0\"; echo a  'b  c' | cat", "/bin/sh\na b  c\n"),
        (Some("/bin/bash"), "echo \"$0\"; [[ -n x ]] && echo yes", "/bin/bash\nyes\n"),
        (Some(""), "echo \"$0\"", "/bin/sh\n"),
        (None, "", ""),
    ] {
        let mut command = sandbox.command();
        command.args(["run", "--shell", line]);
        if let Some(shell) = shell {
            command.env("SHELL", shell);
        }
        let ran = feed(command, b"");
        assert!(String::from_utf8_lossy(&ran.stdout).ends_with(expected), "{line:?} {ran:?}");
    }
    assert_eq!(sandbox.run(&["run", "--shell", "exit 42"], b"").code, Some(42));
    let mut command = sandbox.command();
    command.args(["run", "--shell", "true"]).env("SHELL", "/no/such/shell");
    feed(command, b"").failed(127, "your shell ($SHELL) /no/such/shell");
}

#[test]
fn run_passes_input_environment_and_directory_unchanged() {
    let sandbox = Sandbox::new();
    let text = numbered(300);
    assert_eq!(sandbox.run(&["run", "--", "cat"], text.as_bytes()).text(), text);
    let bare = |program: &str| {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", sandbox.path()).current_dir(sandbox.path());
        command.env("B", "2").env("A", "x\ny").env("OFFCUT_X", OsStr::from_bytes(b"\xFF"));
        command
    };
    for program in ["/usr/bin/env", "/bin/pwd"] {
        let expected = bare(program).output().unwrap().stdout;
        let mut command = bare(binary());
        command.args(["run", "--", program]);
        assert_eq!(feed(command, b"").stdout, expected, "{program}");
    }
}

/// Closed standard streams stay closed for the command: `cat` fails as without offcut.
#[test]
fn run_keeps_closed_streams_closed() {
    let sandbox = Sandbox::new();
    let offcut = binary();
    let run = |program: &str, redirections: &str| {
        let mut command = Command::new("/bin/sh");
        let line = format!("{program} /bin/sh -c 'cat; exit $((40 + $?))' {redirections}");
        command.args(["-c", &line]).env("HOME", sandbox.path());
        feed(command, b"").code
    };
    for redirections in ["<&-", "<&- 2>&-", "<&- >&- 2>&-", ">&-", "2>&-", ">&- 2>&-"] {
        let plain = run("", redirections);
        assert_eq!(run(&format!("'{offcut}' run --"), redirections), plain, "{redirections}");
    }
    // A command that ignores that its output goes nowhere ends as it does without offcut.
    let code = |program: &str| {
        let mut command = Command::new("/bin/sh");
        let line = format!("{program} /bin/sh -c 'seq 1 100000; echo err >&2; exit 7' >&- 2>&-");
        command.args(["-c", &line]).env("HOME", sandbox.path());
        feed(command, b"").code
    };
    assert_eq!((code(""), code(&format!("'{offcut}' run --"))), (Some(7), Some(7)));
}

#[test]
fn run_merges_outputs_in_order_or_splits_them() {
    let sandbox = Sandbox::new();
    let line = "i=0; while [ $i -lt 100 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let both: String = (0..100).map(|number| format!("out {number}\nerr {number}\n")).collect();
    assert_eq!(shell(&sandbox, &[], line).text(), both);
    let ran = shell(&sandbox, &["--split"], line);
    assert_eq!(ran.text(), (0..100).map(|number| format!("out {number}\n")).collect::<String>());
    assert_eq!(ran.stderr, (0..100).map(|number| format!("err {number}\n")).collect::<String>());

    let ran = shell(&sandbox, &["--split"], "seq 1 100000; seq 1 50000 >&2; exit 3");
    assert_eq!(ran.code, Some(3));
    let stdout = String::from_utf8(ran.stdout).unwrap();
    for (shown, lines) in [(&stdout, "100000 lines"), (&ran.stderr, "50000 lines")] {
        assert!(shown.len() <= 9500 && shown.contains(lines), "{shown}");
        assert!(shown.lines().last().unwrap().contains("exit 3"), "{shown}");
    }
}

#[test]
fn run_ends_with_exit_code_notice_within_limits() {
    let sandbox = Sandbox::new();
    for (limits, expected) in [
        (&["--max-bytes", "9500"][..], "exit 7 after"),
        (&["--max-bytes", "1000"], "exit 7 after"),
        (&["--max-bytes", "400"], "exit 7 after"),
        (&["--max-bytes", "256"], "exit 7 after"),
        (&["--max-lines", "4"], "exit 7 after"),
        (&["--max-lines", "10"], "exit 7 after"),
        (&["--max-tokens", "128"], "exit 7 after"),
    ] {
        for line in ["seq 1 100000; exit 7", "head -c 100000 /dev/zero | tr '\\0' x; exit 7"] {
            let ran = shell(&sandbox, limits, line);
            assert_eq!(ran.code, Some(7));
            let shown = String::from_utf8(ran.stdout).unwrap();
            let last = shown.lines().last().unwrap();
            assert!(last.contains(expected) && last.starts_with("[offcut "), "{limits:?} {shown}");
            let most: usize = limits[1].parse().unwrap();
            match limits[0] {
                "--max-bytes" => assert!(shown.len() <= most, "{limits:?} {shown}"),
                "--max-lines" => assert!(shown.lines().count() <= most, "{limits:?} {shown}"),
                #[cfg(feature = "tokens")]
                "--max-tokens" => {
                    let counted = tiktoken::get_encoding("o200k_base").unwrap().count(&shown);
                    assert!(counted <= most, "{counted} tokens: {shown}");
                }
                _ => {}
            }
        }
    }
    let shown = shell(&sandbox, &["--profile", "opencode"], "seq 1 100000").text();
    assert!(shown.lines().last().unwrap().contains("exit 0 after"), "{shown}");
    let ran = shell(&sandbox, &[], "seq 1 100000; kill -9 $$");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(shown.lines().last().unwrap().contains("killed by signal 9 after"), "{shown}");
    assert!(shown.lines().last().unwrap().contains("; more: offcut read "), "{shown}");
}

#[test]
fn run_stores_what_was_run_where_and_when() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path().canonicalize().unwrap();
    let show = |options: &[&str]| {
        let mut command = sandbox.command();
        command.env("USER", "ada").env("CODEX_THREAD_ID", "t-1").env("PATH", "/bin:/usr/bin").args(options);
        feed(command, b"");
        sandbox.run(&["show", "last", "--format", "json"], b"").json()
    };
    let entry = show(&["run", "--", "sh", "-c", "seq 1 20000; exit 3", "it's"]);
    assert_eq!(entry["command"], r#"sh -c 'seq 1 20000; exit 3' "it's""#);
    assert_eq!(entry["directory"], directory.to_str().unwrap());
    assert_eq!((&entry["agent"], &entry["exit_code"]), (&"codex".into(), &3.into()));
    assert!(entry["started"].as_str() <= entry["created"].as_str(), "{entry}");
    assert!(entry["duration_ms"].is_u64() && entry.get("signal").is_none(), "{entry}");
    let metadata = sandbox.store().join(format!(".offcut/{}.json", entry["id"].as_str().unwrap()));
    let metadata: serde_json::Value = serde_json::from_slice(&std::fs::read(metadata).unwrap()).unwrap();
    assert_eq!(metadata["user"], "ada");

    let line = "seq 1 20000; kill -9 $$ # \u{1b}[31m";
    let entry = show(&["run", "--shell", line]);
    assert_eq!((&entry["command"], &entry["signal"]), (&line.into(), &9.into()));
    let text = sandbox.run(&["show", "last"], b"").text();
    for row in [
        "agent     codex\n",
        "command   seq 1 20000; kill -9 $$ # ?[31m\n",
        &format!("directory {}\n", directory.display()),
        "started   20",
        "duration  ",
        "exit      137, killed by signal 9\n",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }

    let long = format!("seq 1 20000 # {}", "é".repeat(10_000));
    let stored = show(&["run", "--shell", &long])["command"].as_str().unwrap().to_owned();
    assert!(stored.chars().count() == 8193 && stored.ends_with("é…"), "{}", stored.len());
}

#[test]
fn run_stores_large_output_completely() {
    let sandbox = Sandbox::new();
    let line = "head -c 20000000 /dev/zero | tr '\\0' x; echo; : > last-statement; exit 7";
    assert_eq!(shell(&sandbox, &[], line).code, Some(7));
    assert!(sandbox.path().join("last-statement").exists());
    let shown = sandbox.run(&["run", "--format", "json", "--shell", "yes | head -c 20000000"], b"").json();
    assert_eq!(
        (&shown["original"]["lines"], &shown["original"]["bytes"]),
        (&10_000_000.into(), &20_000_000.into())
    );
    assert_eq!(
        (&shown["exit_code"], &shown["timed_out"], &shown["signal"]),
        (&0.into(), &false.into(), &().into())
    );
    let stored = std::fs::read(shown["saved"]["path"].as_str().unwrap()).unwrap();
    assert_eq!(shown["saved"]["digest"], blake3::hash(&stored).to_hex().as_str());
    assert_eq!(stored.len(), 20_000_000);
}

#[test]
fn run_stores_random_bytes_unchanged() {
    let sandbox = Sandbox::new();
    let mut random = vec![0; 200_000];
    blake3::Hasher::new().update(b"a fixed seed").finalize_xof().fill(&mut random);
    std::fs::write(sandbox.path().join("random"), &random).unwrap();
    let shown = run(&sandbox, &["--format", "json"], &["cat", "random"]).json();
    assert_eq!(std::fs::read(shown["saved"]["path"].as_str().unwrap()).unwrap(), random);
    assert_eq!(sandbox.run(&["cat", "last"], b"").stdout, random);
    // Within the limits they pass through.
    let ran = run(&sandbox, &[], &["head", "-c", "9000", "random"]);
    assert!(
        ran.stdout == random[..9000] || random[..9000].iter().filter(|&&byte| byte == b'\n').count() > 1900
    );
}

#[test]
fn run_keeps_exit_code_when_output_is_closed() {
    let sandbox = Sandbox::new();
    for line in ["seq 1 100000; exit 7", "echo small; exit 7"] {
        let mut command = sandbox.command();
        command.args(["run", "--shell", line]);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = finish(command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(7), ""), "{line}");
    }
    let line = format!("'{}' run -- seq 1 100000 | head -1", binary());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &line]).env("HOME", sandbox.path());
    let ran = feed(command, b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    // A full disk is reported, and does not change the exit code.
    let mut command = sandbox.command();
    command.args(["run", "--shell", "echo x; exit 7"]).stdin(Stdio::null());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    if let Ok(full) = full {
        finish(command.stdout(full).stderr(Stdio::piped()).spawn().unwrap())
            .failed(7, "cannot write to standard output");
    }
}
