//! What people and models type out of habit from other programs.

use crate::harness::{Sandbox, feed, finish, numbered};

#[test]
fn run_passes_options_after_the_command_to_it() {
    let sandbox = Sandbox::new();
    let text = |arguments: &[&str]| sandbox.run(arguments, b"").text();
    assert_eq!(text(&["run", "printf", "%s %s", "-j8", "--format"]), "-j8 --format");
    assert_eq!(text(&["run", "printf", "%s ", "--help", "--", "-x"]), "--help -- -x ");
    assert_eq!(text(&["run", "--", "printf", "%s ", "--", "-x"]), "-- -x ");
    // A program whose name is also the value of an option.
    assert_eq!(text(&["run", "--strategy", "head", "head", "-c", "0", "/dev/null"]), "");
    assert_eq!(text(&["run", "--timeout", "5m", "echo", "5m"]), "5m\n");
    assert_eq!(text(&["run", "--tool", "echo", "echo", "run"]), "run\n");
    let json = sandbox.run(&["run", "--format", "json", "sh", "-c", "echo x; exit 3"], b"");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["content"], &json["exit_code"]), (&"x\n".into(), &3.into()));
}

#[test]
fn run_rejects_unknown_options_before_the_command() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "--splt", "true"], b"").failed(125, "a similar argument exists: '--split'");
    sandbox.run(&["run", "--shell", "true", "true"], b"").failed(125, "cannot be used with");
    sandbox.run(&["run"], b"").failed(125, "Usage: offcut run");
}

#[test]
fn cut_shortens_files_and_stores_their_names() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("short.txt"), "two\nlines").unwrap();
    std::fs::write(sandbox.path().join("build.log"), numbered(5000)).unwrap();
    assert_eq!(sandbox.run(&["cut", "short.txt"], b"not read").text(), "two\nlines");
    let preview = sandbox.run(&["cut", "build.log"], b"").text();
    assert!(preview.contains("\n1\n2\n") && preview.len() <= 9500, "{preview}");
    assert_eq!(sandbox.run(&["cat"], b"").text(), numbered(5000));
    let entry = sandbox.run(&["show", "--format", "json"], b"").json();
    assert_eq!(entry["command"], "build.log", "{entry}");

    let both = sandbox.run(&["cut", "short.txt", "-", "build.log"], b"from stdin\n").text();
    assert!(
        both.starts_with("==> short.txt <==\ntwo\nlines\n\n==> - <==\nfrom stdin\n\n==> build.log <==\n"),
        "{both}"
    );
    let json = sandbox.run(&["cut", "short.txt", "build.log", "--format", "json"], b"").text();
    let reports: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&reports[0]["file"], &reports[0]["content"]), (&"short.txt".into(), &"two\nlines".into()));
    assert_eq!((&reports[1]["file"], &reports[1]["truncated"]), (&"build.log".into(), &true.into()));
}

#[test]
fn cut_names_a_file_that_it_cannot_read_and_prints_the_others() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("there.txt"), "there\n").unwrap();
    let ran = sandbox.run(&["cut", "missing.txt", "there.txt", "."], b"");
    ran.failed(2, "cannot read missing.txt: No such file");
    ran.failed(2, "cannot read .: Is a directory");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("==> there.txt <==\nthere\n"), "{ran:?}");
    sandbox.run(&["cut", "missing.txt"], b"").failed(2, "cannot read missing.txt");
}

#[test]
fn read_cat_and_show_default_to_the_last_output() {
    let sandbox = Sandbox::new();
    sandbox.run(&["read"], b"").failed(3, "no stored output");
    sandbox.run(&["cut"], numbered(3000).as_bytes());
    sandbox.run(&["cut"], numbered(4000).as_bytes());
    assert_eq!(sandbox.run(&["read", "--lines", "7:8"], b"").text(), "7\n8\n");
    assert_eq!(sandbox.run(&["cat"], b"").text(), numbered(4000));
    assert!(sandbox.run(&["show"], b"").text().contains("4000 lines"));
}

#[test]
fn cat_prints_several_outputs_in_order() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(3000).as_bytes());
    sandbox.run(&["cut"], numbered(4000).as_bytes());
    let expected = format!("{}{}", numbered(4000), numbered(3000));
    assert_eq!(sandbox.run(&["cat", "last", "last-1"], b"").text(), expected);
    let ran = sandbox.run(&["cat", "last-7", "last"], b"");
    ran.failed(3, "no stored output \"last-7\"");
    assert_eq!(ran.stdout, numbered(4000).as_bytes());
}

#[test]
fn ranges_accept_the_notations_of_other_programs() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(5000).as_bytes());
    for range in ["10:12", "10-12", "10,12", "10:+2", "10,+2"] {
        assert_eq!(sandbox.run(&["read", "--lines", range], b"").text(), "10\n11\n12\n", "{range}");
    }
    assert_eq!(sandbox.run(&["read", "--lines", "-2:"], b"").text(), "4999\n5000\n");
    for range in ["0:4", "0-4", "0,4", "0:+4"] {
        assert_eq!(sandbox.run(&["read", "--bytes", range], b"").text(), "1\n2\n", "{range}");
    }
    assert_eq!(sandbox.run(&["read", "--bytes", "-5:"], b"").text(), "5000\n");
    assert_eq!(sandbox.run(&["read", "--bytes", "-99999999:"], b"").stdout[..4], *b"1\n2\n");
    sandbox.run(&["read", "--lines", "12-10"], b"").failed(2, "not a range");
}

#[test]
fn unpin_allows_removal_again() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(3000).as_bytes());
    sandbox.run(&["pin", "last"], b"").text();
    sandbox.run(&["rm", "last"], b"").failed(2, "pinned");
    assert!(sandbox.run(&["unpin", "last"], b"").stderr.contains("unpinned "));
    sandbox.run(&["rm", "last"], b"").text();
    sandbox.run(&["unpin"], b"").failed(2, "required");
}

#[test]
fn ls_lists_the_outputs_of_today_and_yesterday() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut", "--tool", "made-now"], numbered(3000).as_bytes());
    let listed = |day: &str| sandbox.run(&["ls", "--day", day], b"").text().contains("made-now");
    // Midnight may pass between the two.
    assert!(listed("today") || listed("yesterday"));
    assert!(!listed("2020-01-01"));
    sandbox.run(&["ls", "--day", "tomorow"], b"").failed(2, "expected a date, for example 2026-11-15, today");
}

#[test]
fn grep_options_have_the_meaning_of_ripgrep() {
    let sandbox = Sandbox::new();
    let text = format!("{}f(x) two\ntwofold -e\n", numbered(2000));
    sandbox.run(&["cut"], text.as_bytes());
    let grep = |arguments: &[&str]| sandbox.run(&[&["grep"], arguments].concat(), b"").text();
    assert_eq!(grep(&["-n", "two"]), "2001:f(x) two\n2002:twofold -e\n");
    assert_eq!(grep(&["-nF", "f(x)"]), "2001:f(x) two\n");
    assert_eq!(grep(&["-w", "two"]), "2001:f(x) two\n");
    assert_eq!(grep(&["-o", "two|e$"]), "2001:two\n2002:two\n2002:e\n");
    assert_eq!(grep(&["-v", "[0-9]$"]), "2001:f(x) two\n2002:twofold -e\n");
}

#[test]
fn grep_prints_lines_before_and_after_a_match() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(3000).as_bytes());
    let grep = |arguments: &[&str]| sandbox.run(&[&["grep"], arguments].concat(), b"").text();
    assert_eq!(grep(&["-A1", "^1999$"]), "1999:1999\n2000-2000\n");
    assert_eq!(grep(&["-B", "1", "^1999$"]), "1998-1998\n1999:1999\n");
    assert_eq!(grep(&["-C", "1", "-A", "0", "^1999$"]), "1998-1998\n1999:1999\n");
    assert_eq!(grep(&["-v", "-m", "1", "^1$"]).lines().next(), Some("2:2"));
    assert!(grep(&["-m", "1", "-A", "2", "99"]).starts_with("99:99\n100-100\n101-101\n"));
    assert_eq!(grep(&["-m", "1", "-c", "99"]), "1\n");
    assert_eq!(grep(&["-c", "^1999$"]), "1\n");
}

#[test]
fn grep_takes_several_patterns_and_those_that_begin_with_a_hyphen() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], format!("{}-x\n", numbered(2000)).as_bytes());
    let grep = |arguments: &[&str]| sandbox.run(&[&["grep"], arguments].concat(), b"").text();
    assert_eq!(grep(&["-e", "^7$", "-e", "-x"]), "7:7\n2001:-x\n");
    assert_eq!(grep(&["-e", "^7$", "last"]), "7:7\n");
    assert_eq!(grep(&["--", "-x", "last"]), "2001:-x\n");
    sandbox.run(&["grep"], b"").failed(2, "<PATTERN>");
}

#[test]
fn program_in_place_of_a_command_gets_a_hint() {
    let sandbox = Sandbox::new();
    let check = |arguments: &[&str], expected: Option<&str>| {
        let mut command = sandbox.command();
        command.args(arguments).env("PATH", "/usr/bin:/bin");
        let ran = feed(command, b"");
        ran.failed(2, "unrecognized subcommand");
        let hint = ran.stderr.lines().find_map(|line| line.split_once("shorten its output: "));
        assert_eq!(hint.map(|(_, line)| line), expected, "{}", ran.stderr);
    };
    check(&["seq", "-w", "3"], Some("offcut run seq -w 3"));
    check(&["--store", "my store", "seq", "a b"], Some("offcut --store 'my store' run seq 'a b'"));
    check(&["/bin/sh", "-c", "exit 3"], Some("offcut run /bin/sh -c 'exit 3'"));
    check(&["no-such-program"], None);
    check(&["./no-such-program"], None);
    check(&["config", "seq"], None);
}

#[test]
fn grep_lists_and_counts_by_output() {
    let sandbox = Sandbox::new();
    let mut ids = Vec::new();
    for text in ["needle\n".repeat(3), "needle\n".to_owned(), String::new()] {
        let json = sandbox.run(&["cut", "--format", "json"], format!("{text}{}", numbered(3000)).as_bytes());
        ids.push(json.json()["saved"]["id"].as_str().unwrap().to_owned());
    }
    let grep = |arguments: &[&str]| sandbox.run(&[&["grep"], arguments].concat(), b"").text();
    assert_eq!(grep(&["-c", "needle", "all"]), format!("{}:3\n{}:1\n", ids[0], ids[1]));
    assert_eq!(grep(&["-c", "needle", "last-1"]), "1\n");
    assert_eq!(grep(&["-l", "needle", "all"]), format!("{}\n{}\n", ids[0], ids[1]));
    assert_eq!(grep(&["-L", "needle", "all"]), format!("{}\n", ids[2]));
    assert_eq!(sandbox.run(&["grep", "-L", "1", "all"], b"").code, Some(1));
    let json = sandbox.run(&["grep", "needle", "all", "--format", "json"], b"").json();
    assert_eq!(json["outputs"][0], serde_json::json!({"id": ids[0], "matches": 3, "lines": 3003}), "{json}");
}

#[test]
fn grep_says_what_it_searched_in_vain() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(2797).as_bytes());
    let id = sandbox.run(&["show", "--format", "json"], b"").json()["id"].as_str().unwrap().to_owned();
    let ran = sandbox.run(&["grep", "needle"], b"");
    let short = ran.stderr.trim().rsplit(' ').next().unwrap().to_owned();
    assert!(id.starts_with(&short) && !short.is_empty(), "{id}: {ran:?}");
    assert_eq!((ran.code, ran.stderr), (Some(1), format!("offcut: no match in 2797 lines of {short}\n")));
    sandbox.run(&["cut"], numbered(3000).as_bytes());
    sandbox.run(&["grep", "needle", "all"], b"").failed(1, "no match in 5797 lines of 2 outputs\n");
}

#[test]
fn grep_searches_for_text_if_the_pattern_is_no_regular_expression() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], format!("{}call f((x\n", numbered(2000)).as_bytes());
    let ran = sandbox.run(&["grep", "f((x"], b"");
    assert_eq!(ran.text(), "2001:call f((x\n");
    let message = "offcut: \"f((x\" is not a regular expression (unclosed group): searching for it as text\n";
    assert_eq!(ran.stderr, message);
}

#[test]
fn grep_searches_only_the_pattern_that_does_not_compile_as_text() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], format!("{}call f((x$\n", numbered(2000)).as_bytes());
    let ran = sandbox.run(&["grep", "-e", "^199.$", "-e", "f((x$", "-e", "^2000$", "-c"], b"");
    assert_eq!(ran.text(), "12\n");
    let message =
        "offcut: \"f((x$\" is not a regular expression (unclosed group): searching for it as text\n";
    assert_eq!(ran.stderr, message);
    let ran = sandbox.run(&["grep", "-F", "-e", "f((x$", "-e", "^2000$"], b"");
    assert_eq!((ran.text().as_str(), ran.stderr.as_str()), ("2001:call f((x$\n", ""));
    sandbox.run(&["grep", "-e", "a\\nb"], b"").failed(2, "the literal \"\\n\" is not allowed in a regex");
}

#[test]
fn config_edit_creates_a_commented_file_and_checks_it() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join(".config/offcut/config.toml");
    let edit = |variable: &str, editor: &str| {
        let mut command = sandbox.command();
        command.args(["config", "edit"]).env(variable, editor).env("PATH", "/bin:/usr/bin");
        feed(command, b"")
    };
    assert_eq!(edit("EDITOR", "touch -c").text(), "No errors found.\n");
    let created = std::fs::read_to_string(&file).unwrap();
    assert!(created.contains("\n#limits.lines = 1900\n") && created.contains("\n#profile = \"native\"\n"));
    let script = sandbox.path().join("my editor.sh");
    std::fs::write(&script, "echo 'limit.lines = 3' >> \"$2\"; test \"$1\" = --wait").unwrap();
    let editor = format!("sh '{}' --wait", script.display());
    edit("VISUAL", &editor).failed(2, "did you mean \"limits.lines\"?");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{created}limit.lines = 3\n"));
    edit("EDITOR", "no-such-editor").failed(2, "cannot start the editor \"no-such-editor\": set $VISUAL");
    edit("EDITOR", "false").failed(2, "failed (exit status: 1)");
}

#[test]
fn mistyped_names_get_a_suggestion() {
    let sandbox = Sandbox::new();
    for (arguments, message) in [
        (&["gerp", "x"][..], "similar subcommand exists: 'grep'"),
        (&["read", "--line", "3"], "--lines"),
        (&["cut", "--max-byts", "300"], "a similar argument exists: '--max-bytes'"),
        (&["cut", "--strategy", "tial"], "a similar value exists: 'tail'"),
        (&["init", "claud"], "a similar value exists: 'claude'"),
        (&["config", "set", "limit.lines", "30"], "did you mean \"limits.lines\"?"),
        (&["cut", "--profile", "opencod"], "did you mean \"opencode\"?"),
        (&["profiles", "natve"], "did you mean \"native\"?"),
    ] {
        sandbox.run(arguments, b"").failed(2, message);
    }
    assert!(!sandbox.run(&["profiles", "zzz"], b"").stderr.contains("did you mean"));
}

/// Long outputs of every kind of call pass whole, and nothing is stored.
#[test]
fn offcut_pass_lets_one_call_through_whole() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("long.txt"), numbered(5000)).unwrap();
    let pass = |arguments: &[&str], value: &str, input: &[u8]| {
        let mut command = sandbox.command();
        command.args(arguments).env("OFFCUT_PASS", value).env("PATH", "/bin:/usr/bin");
        feed(command, input)
    };
    let text = numbered(5000);
    assert_eq!(pass(&["cut"], "1", text.as_bytes()).text(), text);
    assert_eq!(pass(&["cut", "long.txt"], "1", b"").text(), text);
    assert_eq!(pass(&["run", "seq", "5000"], "1", b"").text(), text);
    assert_eq!(pass(&["run", "--timeout", "1h", "seq", "5000"], "1", b"").text(), text);
    assert_eq!(pass(&["run", "sh", "-c", "exit 7"], "1", b"").code, Some(7));
    assert_eq!(pass(&["run", "no-such-program"], "1", b"").code, Some(127));
    assert_eq!(pass(&["shell", "-c", "seq 5000"], "1", b"").text(), text);
    assert_eq!(pass(&["cut", "--format", "json"], "1", text.as_bytes()).json()["content"], text);
    let result = serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string();
    let content = serde_json::json!([{"type": "text", "text": numbered(100_000)}]);
    let response = serde_json::json!({"content": content});
    let call = serde_json::json!({"tool_name": "mcp__x__y", "tool_input": {}, "tool_response": response});
    assert_eq!(pass(&["result"], "1", result.as_bytes()).text(), result);
    assert_eq!(pass(&["hook", "claude", "after"], "1", call.to_string().as_bytes()).text(), "{}");
    assert!(!sandbox.store().exists());
    assert_ne!(pass(&["run", "seq", "5000"], "0", b"").text(), text);
    assert_ne!(pass(&["hook", "claude", "after"], "", call.to_string().as_bytes()).text(), "{}");
}

/// The shell that runs the line would set the variable too late for offcut, which starts the shell.
#[test]
fn offcut_pass_in_a_command_line_applies_to_the_agents_shell() {
    let sandbox = Sandbox::new();
    let shell = |line: &str| {
        let mut command = sandbox.command();
        command.args(["shell", "-c", line]).env("PATH", "/bin:/usr/bin");
        feed(command, b"").text()
    };
    assert_eq!(shell("OFFCUT_PASS=1 seq 5000"), numbered(5000));
    assert_eq!(shell("cd / && OFFCUT_PASS=1 seq 5000"), numbered(5000));
    assert_ne!(shell("OFFCUT_PASS=0 seq 5000"), numbered(5000));
    assert!(shell("echo use OFFCUT_PASS=1 here; seq 5000").len() < 10_000);
}

#[test]
fn offcut_pass_in_a_command_line_applies_to_hooks_after_it() {
    let sandbox = Sandbox::new();
    let text = numbered(100_000);
    let calls = |line: &str| {
        let input = serde_json::json!({"command": line});
        let claude = serde_json::json!({"tool_name": "Bash", "tool_input": input,
            "tool_response": {"stdout": text, "stderr": "", "interrupted": false}});
        let copilot = serde_json::json!({"toolName": "bash", "toolArgs": input,
            "toolResult": {"resultType": "success", "textResultForLlm": text}});
        let gemini = serde_json::json!({"tool_name": "run_shell_command", "tool_input": input,
            "tool_response": {"llmContent": format!("Output: {text}")}});
        [("claude", claude), ("copilot", copilot), ("gemini", gemini)]
    };
    let answer = |(agent, call): (&str, serde_json::Value)| {
        sandbox.run(&["hook", agent, "after"], call.to_string().as_bytes()).text()
    };
    for call in calls("cd / && OFFCUT_PASS=1 seq 100000") {
        assert_eq!(answer(call.clone()), "{}", "{}", call.0);
    }
    assert!(!sandbox.store().exists());
    for call in calls("seq 100000; echo OFFCUT_PASS=1") {
        assert_ne!(answer(call.clone()), "{}", "{}", call.0);
    }
}

#[test]
fn usage_error_in_a_pipe_stores_the_input() {
    let sandbox = Sandbox::new();
    for (arguments, message) in [
        (&["cut", "--max-byts", "100"][..], "a similar argument exists: '--max-bytes'"),
        (&["cut", "--max-bytes", "none", "--strategy", "tial"], "a similar value exists: 'tail'"),
        (&["cut", "--max-bytes", "3"], "give at least 256"),
        (&["cut", "--profile", "nativ"], "did you mean \"native\"?"),
        (&["--format", "json", "cut", "--profil", "x"], "a similar argument exists: '--profile'"),
        (&["--stroe", "x", "cut"], "a similar argument exists: '--store'"),
        (&["--stroe=x", "cut", "--max-bytes", "300"], "a similar argument exists: '--store'"),
        (&["--stroe", "read", "cut"], "a similar argument exists: '--store'"),
        (&["--format", "jsn", "cut"], "a similar value exists: 'json'"),
        (&["cutt", "--max-bytes", "300"], "'cut'"),
        (&["ct"], "unrecognized subcommand 'ct'"),
        (&["shorten"], "unrecognized subcommand 'shorten'"),
        (&["head", "-5"], "unrecognized subcommand 'head'"),
        (&["--max-bytes", "500"], "unexpected argument '--max-bytes'"),
        (&["-x"], "unexpected argument '-x'"),
        (&["--format", "jsn"], "a similar value exists: 'json'"),
        (&["--format", "json"], "requires a subcommand"),
    ] {
        let input = format!("{arguments:?}\n{}", numbered(100_000));
        let ran = sandbox.run(arguments, input.as_bytes());
        ran.failed(2, message);
        ran.failed(2, "the input was stored: offcut read ");
        assert_eq!(ran.stdout, b"");
        let id = ran.stderr.trim().rsplit(' ').next().unwrap();
        assert_eq!(sandbox.run(&["cat", id], b"").text(), input);
        assert!(sandbox.run(&["show", id], b"").text().contains("100001 lines"));
    }
    assert_eq!(sandbox.run(&["fsck"], b"").code, Some(0));
    let command = sandbox.run(&["show", "last-16", "--format", "json"], b"").json()["command"].clone();
    assert!(command.as_str().unwrap().ends_with(" cut --max-byts 100"), "{command}");
}

#[test]
fn usage_error_in_a_pipe_stores_a_short_input_in_the_given_store() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["cut", "--store", "here", "--max-byts", "100"], b"short");
    ran.failed(2, "the input was stored: offcut --store ");
    assert_eq!(sandbox.run(&["--store", "here", "cat"], b"").text(), "short");
    sandbox.run(&["cut", "--store", "none", "--max-byts", "100"], b"x").failed(2, "read, but not stored");
    let ran = sandbox.run(&["cut", "--max-byts", "100"], b"");
    assert!(!ran.stderr.contains("stored"), "there was no input: {ran:?}");
    assert!(!sandbox.store().exists());
}

#[test]
fn usage_error_in_a_pipe_stores_as_much_of_the_input_as_allowed() {
    let sandbox = Sandbox::new();
    let config = sandbox.path().join(".config/offcut");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "max_output = 20000\n").unwrap();
    let input = numbered(20_000);
    let ran = sandbox.run(&["cut", "--max-byts", "300"], input.as_bytes());
    ran.failed(2, "the first 20000 bytes of the input were stored (one output may have at most 20000 bytes");
    let id = ran.stderr.trim().rsplit(' ').next().unwrap();
    assert_eq!(sandbox.run(&["cat", id], b"").stdout, &input.as_bytes()[..20_000]);
    assert!(sandbox.run(&["ls"], b"").text().contains("capped"));
}

/// An agent may start offcut with a standard input that stays open.
#[test]
fn usage_error_does_not_read_input_that_cut_would_not_read() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("build.log"), "x").unwrap();
    for (arguments, message) in [
        (&["cut", "--max-byts", "100", "build.log"][..], "a similar argument exists"),
        (&["--max-bytes", "500", "build.log"], "unexpected argument"),
        (&["read", "--lins", "3"], "a similar argument exists"),
        (&["--stroe", "x", "read"], "a similar argument exists"),
        (&["--stroe", "cut", "read", "last"], "a similar argument exists"),
        (&["config", "shw"], "unrecognized subcommand"),
        (&["help", "ct"], "unrecognized subcommand"),
        (&["config"], "Usage: offcut config"),
        (&[], "Usage: offcut"),
    ] {
        let mut command = sandbox.command();
        let (reader, writer) = std::io::pipe().unwrap();
        let child = command.args(arguments).stdin(reader).stderr(std::process::Stdio::piped()).spawn();
        let ran = finish(child.unwrap());
        drop(writer);
        ran.failed(2, message);
    }
    let mut command = sandbox.command();
    let input = std::fs::File::open(sandbox.path().join("build.log")).unwrap();
    let child = command.args(["cut", "--max-byts", "9"]).stdin(input).stderr(std::process::Stdio::piped());
    let ran = finish(child.spawn().unwrap());
    assert!(!ran.stderr.contains("stored"), "a file is not lost: {ran:?}");
}

#[test]
fn exit_code_of_a_usage_error_before_the_command_is_that_of_the_command() {
    let sandbox = Sandbox::new();
    sandbox.run(&["--stroe", "x", "run", "true"], b"").failed(125, "a similar argument exists: '--store'");
    assert_eq!(sandbox.run(&["--stroe", "x", "hook", "claude", "after"], b"{}").code, Some(0));
}

/// Where the option is after the mistake, it still says where nothing may be stored.
#[test]
fn usage_error_respects_store_option_after_the_mistake() {
    let sandbox = Sandbox::new();
    for arguments in [&["cut", "--max-byts", "9", "--store", "none"][..], &["cut", "--bogus", "--store=none"]]
    {
        let ran = sandbox.run(arguments, numbered(20_000).as_bytes());
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("not stored"), "{}", ran.stderr);
    }
    assert!(!sandbox.store().exists());
}

#[test]
fn usage_error_passes_input_on_if_nothing_may_be_stored() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["cut", "--bogus"]).env("OFFCUT_PASS", "1");
    let ran = feed(command, numbered(20_000).as_bytes());
    assert_eq!((ran.code, ran.stdout), (Some(2), numbered(20_000).into_bytes()));
    assert!(!sandbox.store().exists());
}

/// `yes` ends as it does without offcut.
#[test]
fn passed_input_ends_when_nobody_reads_it() {
    let sandbox = Sandbox::new();
    let mut command = std::process::Command::new("bash");
    let line = format!("yes | OFFCUT_PASS=1 {} cut | head -1", crate::harness::binary());
    command.args(["-c", &line]).env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin");
    assert_eq!(feed(command, b"").text(), "y\n");
}
