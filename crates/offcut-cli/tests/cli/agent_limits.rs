//! An output that an agent passes on whole is whole with offcut, and no preview is so long that the agent cuts it again.

use crate::harness::{Ran, Sandbox, feed};

/// What was measured with the real agents: variables and files, and the largest output that arrives whole, by exit code.
struct Case {
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str)],
    success: usize,
    failure: usize,
}

const SESSION: &str = ".codex/sessions/2026/11/17/rollout-2026-11-17T10-00-00-t1.jsonl";
const CODEX: &[(&str, &str)] = &[("CODEX_THREAD_ID", "t1"), ("CODEX_TOOL_CALL_ID", "call_1")];

const CASES: &[Case] = &[
    Case { name: "unknown agent", variables: &[], files: &[], success: 9500, failure: 9500 },
    Case {
        name: "two agents",
        variables: &[("CLAUDECODE", "1"), ("OPENCODE", "1")],
        files: &[],
        success: 9500,
        failure: 9500,
    },
    Case { name: "claude", variables: &[("CLAUDECODE", "1")], files: &[], success: 30_000, failure: 11_013 },
    Case {
        name: "claude with a lower limit",
        variables: &[("CLAUDECODE", "1"), ("BASH_MAX_OUTPUT_LENGTH", "2000")],
        files: &[],
        success: 2000,
        failure: 2000,
    },
    Case {
        name: "claude with a higher limit",
        variables: &[("CLAUDECODE", "1"), ("BASH_MAX_OUTPUT_LENGTH", "100000")],
        files: &[],
        success: 30_000,
        failure: 11_013,
    },
    Case { name: "opencode", variables: &[("OPENCODE", "1")], files: &[], success: 51_200, failure: 51_200 },
    Case {
        name: "opencode with its own setting",
        variables: &[("OPENCODE", "1")],
        files: &[(
            ".config/opencode/opencode.json",
            "{ \"tool_output\": { \"max_bytes\": 20000, } // less\n }",
        )],
        success: 20_000,
        failure: 20_000,
    },
    Case {
        name: "opencode with the setting of a project",
        variables: &[("OPENCODE", "1")],
        files: &[
            (".config/opencode/opencode.json", "{\"tool_output\":{\"max_bytes\":20000}}"),
            ("opencode.json", "{\"tool_output\":{\"max_bytes\":40000}}"),
        ],
        success: 40_000,
        failure: 40_000,
    },
    Case { name: "codex", variables: CODEX, files: &[], success: 40_000, failure: 40_000 },
    Case {
        name: "codex with a model that it does not know",
        variables: CODEX,
        files: &[(".codex/config.toml", "model = \"mock-model\"\n")],
        success: 10_000,
        failure: 10_000,
    },
    Case {
        name: "codex with a model that was chosen for the session",
        variables: CODEX,
        files: &[
            (".codex/config.toml", "model = \"mock-model\"\n"),
            (
                SESSION,
                "{\"type\":\"turn_context\",\"payload\":{\"model\":\"other\"}}\n{\"timestamp\":\"x\",\"type\":\"turn_context\",\"payload\":{\"model\":\"gpt-5.5\"}}\n{\"type\":\"event\"}\n",
            ),
        ],
        success: 40_000,
        failure: 40_000,
    },
    Case {
        name: "codex with its own setting",
        variables: CODEX,
        files: &[(".codex/config.toml", "model = \"mock-model\"\ntool_output_token_limit = 5000\n")],
        success: 20_000,
        failure: 20_000,
    },
    Case { name: "gemini", variables: &[("GEMINI_CLI", "1")], files: &[], success: 39_926, failure: 39_913 },
    Case {
        name: "gemini with its own setting",
        variables: &[("GEMINI_CLI", "1")],
        files: &[(".gemini/settings.json", "{\"tools\":{\"truncateToolOutputThreshold\":12000}}")],
        success: 11_900,
        failure: 11_900,
    },
    Case {
        name: "pi",
        variables: &[("PI_CODING_AGENT", "true")],
        files: &[],
        success: 51_200,
        failure: 51_200,
    },
];

/// How much less than the agent offcut may pass on.
const MARGIN: usize = 1300;

fn sandbox(case: &Case) -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, text) in case.files {
        let path = sandbox.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    sandbox
}

fn run(sandbox: &Sandbox, case: &Case, options: &[&str], size: usize, code: i32) -> Ran {
    let line = format!("head -c {size} input; exit {code}");
    std::fs::write(sandbox.path().join("input"), text(size)).unwrap();
    let mut command = sandbox.command();
    command.args(["run"]).args(options).args(["--", "sh", "-c", &line]).env("PATH", "/usr/bin:/bin");
    command.envs(case.variables.iter().copied());
    feed(command, b"")
}

/// Long lines that are not like each other.
fn text(size: usize) -> String {
    let line = |number: u64| format!("{:0>99}\n", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut text: String = (1..=(size as u64 / 100 + 1)).map(line).collect();
    text.truncate(size);
    text
}

#[test]
fn output_is_whole_if_the_agent_passes_it_on_and_is_never_cut_twice() {
    for case in CASES {
        let sandbox = sandbox(case);
        for (code, limit) in [(0, case.success), (1, case.failure)] {
            let whole = limit - MARGIN.min(limit / 2);
            let ran = run(&sandbox, case, &[], whole, code);
            assert!(ran.stdout == text(whole).as_bytes(), "{}: exit {code}, {whole} bytes", case.name);
            for size in [limit + 1, 1_000_000] {
                let shown = run(&sandbox, case, &[], size, code).stdout.len();
                assert!(shown <= limit, "{}: exit {code}, {size} bytes: {shown} of {limit} shown", case.name);
                assert!(shown >= whole.min(9000) * 9 / 10, "{}: exit {code}: only {shown} shown", case.name);
            }
        }
    }
}

#[test]
fn script_of_codex_gets_the_whole_output() {
    let variables = &[("CODEX_THREAD_ID", "t1"), ("CODEX_TOOL_CALL_ID", "exec-0198")];
    let case = Case { name: "codex script", variables, files: &[], success: 0, failure: 0 };
    let sandbox = sandbox(&case);
    for code in [0, 1] {
        assert!(run(&sandbox, &case, &[], 900_000, code).stdout == text(900_000).as_bytes());
        assert!(run(&sandbox, &case, &[], 3_000_000, code).stdout.len() <= 1 << 20);
    }
}

#[test]
fn limit_of_the_user_comes_before_that_of_the_agent() {
    for case in CASES.iter().skip_while(|case| case.name != "claude") {
        let sandbox = sandbox(case);
        for (option, most) in [("--max-bytes", 60_000), ("--max-chars", 60_000), ("--max-bytes", 3000)] {
            // Some agents limit lines too.
            let options = [option, &most.to_string(), "--max-lines", "none"];
            for code in [0, 1] {
                let ran = run(&sandbox, case, &options, most - 1, code);
                assert!(ran.stdout == text(most - 1).as_bytes(), "{}: {option} {most}", case.name);
                let shown = run(&sandbox, case, &options, 500_000, code).stdout.len();
                assert!(shown <= most && shown > most * 8 / 10, "{}: {option} {most}: {shown}", case.name);
            }
        }
    }
}

#[test]
fn doctor_compares_limits_with_those_of_the_agents() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path().join(".claude")).unwrap();
    sandbox.run(&["config", "set", "limits.bytes", "20000"], b"").text();
    let shown = String::from_utf8(sandbox.run(&["doctor"], b"").stdout).unwrap();
    let note =
        "your limit of 20000 is more than Claude Code passes on: about 29500, and 10800 of a failed command";
    assert!(shown.contains(note) && !shown.contains("more than pi"), "{shown}");
}

#[test]
fn project_can_only_lower_the_limits() {
    for (name, variables, text) in [
        ("claude", &[("CLAUDECODE", "1")][..], "limits.bytes = 1000000\n"),
        ("claude", &[("CLAUDECODE", "1")], "limits.chars = 25000\n"),
        ("opencode", &[("OPENCODE", "1")], "limits.chars = 1000000000\n"),
        ("pi", &[("PI_CODING_AGENT", "true")], "keep.bytes = 1000000\n"),
    ] {
        let files = Vec::leak(vec![(".offcut.toml", text)]);
        let (success, failure) = if name == "claude" { (30_000, 11_013) } else { (51_200, 51_200) };
        let case = Case { name, variables, files, success, failure };
        let sandbox = sandbox(&case);
        for (code, limit) in [(0, success), (1, failure)] {
            let shown = run(&sandbox, &case, &[], 1_000_000, code).stdout.len();
            assert!(shown <= limit, "{name}: {text:?}, exit {code}: {shown} of {limit}");
        }
    }
    let files = &[(".offcut.toml", "limits.bytes = 5000\n")];
    let case = Case { name: "lower", variables: &[("OPENCODE", "1")], files, success: 0, failure: 0 };
    assert!(run(&sandbox(&case), &case, &[], 20_000, 0).stdout.len() <= 5000);
}

#[test]
fn config_show_names_the_agent_whose_limits_apply() {
    let sandbox = Sandbox::new();
    let show = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command();
        command.args(["config", "show", "--origin"]).envs(variables.iter().copied());
        feed(command, b"").text()
    };
    #[track_caller]
    fn check(shown: &str, start: &str, origin: &str) {
        let row =
            shown.lines().find(|row| row.starts_with(start)).unwrap_or_else(|| panic!("{start}: {shown}"));
        assert!(row.ends_with(&format!("# {origin}")), "{row}");
    }
    let shown = show(&[("CLAUDECODE", "1")]);
    check(&shown, "limits.chars = 29500 ", "agent claude; 10800 if a command fails");
    check(&shown, "limits.bytes = 29500 ", "agent claude");
    check(&shown, "keep.bytes = 10800 ", "agent claude");
    check(&shown, "strategy = \"auto\" ", "profile native");
    let shown = show(&[("CLAUDECODE", "1"), ("OFFCUT_MAX_BYTES", "5000")]);
    check(&shown, "limits.bytes = 5000 ", "$OFFCUT_MAX_BYTES");
    check(&shown, "keep.bytes = 5000 ", "same as limits.bytes");
    check(&shown, "# limits.chars is not set", "default");
    check(&show(&[]), "limits.bytes = 9500 ", "profile native");
}
