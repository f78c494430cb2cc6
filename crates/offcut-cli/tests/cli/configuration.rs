//! Configuration: precedence, errors, and the restrictions of project files.

use crate::harness::{Sandbox, feed, numbered};

fn user(sandbox: &Sandbox, text: &str) {
    let directory = sandbox.path().join(".config/offcut");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), text).unwrap();
}

fn project(sandbox: &Sandbox, text: &str) {
    std::fs::write(sandbox.path().join(".offcut.toml"), text).unwrap();
}

/// Expects `config check` to report an error, and `cut` to ignore the file with a warning.
#[track_caller]
fn check_invalid(text: &str, message: &str) {
    let sandbox = Sandbox::new();
    user(&sandbox, text);
    sandbox.run(&["config", "check"], b"").failed(2, message);
    // An error never prevents shortening.
    let ran = sandbox.run(&["cut"], numbered(100_000).as_bytes());
    assert!(ran.code == Some(0) && ran.stdout.len() <= 9500, "{text}");
    assert!(ran.stderr.contains("warning: "), "{}", ran.stderr);
}

#[test]
fn config_check_reports_errors_with_file_line_and_nearest_key() {
    check_invalid(
        "limits.linse = 5\n",
        "config.toml:1: unknown key \"limits.linse\"; did you mean \"limits.lines\"?",
    );
    check_invalid(
        "\n\nstratgy = \"head\"\n",
        "config.toml:3: unknown key \"stratgy\"; did you mean \"strategy\"?",
    );
    check_invalid("[limits]\nlines = 0\n", "config.toml:2: \"limits.lines\": expected a positive size");
    check_invalid("limits.bytes = -5\n", "config.toml:1: \"limits.bytes\": expected a positive size");
    check_invalid(
        "limits.bytes = \"lots\"\n",
        "\"limits.bytes\": expected a positive size, for example 2000, \"8k\" or \"50KiB\", or \"none\", found lots",
    );
    check_invalid(
        "strategy = \"middle\"\n",
        "\"strategy\": expected one of head, tail, head-tail, smart, json, auto, found middle",
    );
    check_invalid("enabled = \"perhaps\"\n", "\"enabled\": expected true or false, found perhaps");
    check_invalid("split = [1]\n", "\"split\": expected two weights, for example [1, 2], found [1]");
    check_invalid(
        "limits.bytes = 100\n",
        "config.toml:1: \"limits.bytes\": a limit of 100 bytes is too small",
    );
    check_invalid("[tools.bash]\nprofile = \"x\"\n", "unknown key \"tools.bash.profile\"");
    check_invalid("this is not toml\n", "config.toml:1: invalid TOML");
    check_invalid("limits = 7\n", "config.toml:1: unknown key \"limits\"");
    check_invalid("[tools.bash.limits]\nline = 7\n", "did you mean \"tools.bash.limits.lines\"?");
}

#[test]
fn all_errors_are_reported_and_the_other_settings_apply() {
    let sandbox = Sandbox::new();
    user(
        &sandbox,
        "limts.bytes = 3\nlimits.lines = \"many\"\nlimits.bytes = 2000\nstrategy = \"head\"\nthis is not toml\n",
    );
    project(&sandbox, "store.path = \"/tmp\"\nlimits.bytes = 60000\nsplit = [2, 1]\n");
    let check = sandbox.run(&["config", "check"], b"");
    for message in [
        "config.toml:1: unknown key \"limts.bytes\"; did you mean \"limits.bytes\"?",
        "config.toml:2: \"limits.lines\": expected a positive size",
        "config.toml:5: invalid TOML",
        ".offcut.toml:1: a project file cannot set \"store.path\"",
        ".offcut.toml:2: limits.bytes = 60000 has no effect: a project file cannot raise a limit (2000)",
    ] {
        check.failed(2, message);
    }
    let report = sandbox.run(&["config", "check", "--format", "json"], b"");
    let json: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!((json["problems"].as_array().unwrap().len(), report.code), (5, Some(2)), "{json}");
    let show = sandbox.run(&["config", "show"], b"").text();
    for setting in ["limits.bytes = 2000\n", "strategy = \"head\"\n", "split = [2, 1]\n"] {
        assert!(show.contains(setting), "{show}");
    }
}

/// A project file of the largest size, with an error in every line.
#[test]
fn thousands_of_errors_are_counted() {
    let sandbox = Sandbox::new();
    project(
        &sandbox,
        &(1..20_000).map(|number| format!("limits.line{number} = 1\n")).collect::<String>()[..250_000],
    );
    let ran = sandbox.run(&["config", "check"], b"");
    ran.failed(2, " more errors");
    assert_eq!(ran.stderr.lines().count(), 21, "{}", ran.stderr);
}

#[test]
fn unknown_variables_are_reported() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["config", "check"]).env("OFFCUT_MAX_LINS", "3").env("OFFCUT_FOO", "x");
    let ran = feed(command, b"");
    ran.failed(2, "$OFFCUT_MAX_LINS: no such variable; did you mean OFFCUT_MAX_LINES?");
    ran.failed(2, "$OFFCUT_FOO: no such variable\n");
}

#[test]
fn cut_ignores_invalid_variables_with_warning() {
    let sandbox = Sandbox::new();
    for (name, value) in [("OFFCUT_MAX_BYTES", "0"), ("OFFCUT_MAX_LINES", "-1"), ("OFFCUT_STRATEGY", "none")]
    {
        let mut command = sandbox.command();
        command.arg("cut").env(name, value);
        let ran = crate::harness::feed(command, numbered(100_000).as_bytes());
        assert!(
            ran.stdout.len() <= 9500 && ran.stderr.contains(&format!("${name}: expected")),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn precedence_applies_to_each_key() {
    let sandbox = Sandbox::new();
    user(
        &sandbox,
        "limits.lines = 100\nlimits.bytes = 5000\n[tools.bash]\nlimits.lines = 50\nstrategy = \"tail\"\n",
    );
    project(&sandbox, "[tools.bash]\nlimits.lines = 40\n");
    let lines = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let mut command = sandbox.command();
        command.arg("cut").args(arguments).envs(variable);
        String::from_utf8(crate::harness::feed(command, numbered(10_000).as_bytes()).stdout)
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines(&[], None), 100);
    assert_eq!(lines(&["--tool", "bash"], None), 40, "the project file lowers the limit of the tool");
    assert_eq!(
        lines(&["--tool", "bash"], Some(("OFFCUT_MAX_LINES", "30"))),
        30,
        "the environment takes precedence over files"
    );
    assert_eq!(lines(&["--tool", "bash", "--max-lines", "20"], Some(("OFFCUT_MAX_LINES", "30"))), 20);
    let shown = sandbox.run(&["cut", "--tool", "bash"], numbered(10_000).as_bytes()).text();
    assert!(
        shown.contains("\n10000\n") && !shown.contains("\n1\n"),
        "the strategy of the user's file still applies"
    );

    let origins = sandbox.run(&["config", "show", "--origin"], b"").text();
    for (line, origin) in [
        ("limits.lines = 100 ", "config.toml:1"),
        ("limits.bytes = 5000 ", "config.toml:2"),
        ("strategy = \"auto\" ", "profile native"),
        ("tools.bash.limits.lines = 40 ", ".offcut.toml:2"),
        ("tools.bash.strategy = \"tail\" ", "config.toml:5"),
    ] {
        let row =
            origins.lines().find(|row| row.starts_with(line)).unwrap_or_else(|| panic!("{line}: {origins}"));
        assert!(row.ends_with(origin), "{row}");
    }
    let parsed: Result<toml::Table, _> = origins.parse();
    assert!(parsed.is_ok(), "the output is a valid configuration: {parsed:?}");
    assert_eq!(sandbox.run(&["config", "check"], b"").text(), "No errors found.\n");
    assert_eq!(sandbox.run(&["config", "check", "--format", "json"], b"").text(), "{\"problems\":[]}\n");
}

#[test]
fn project_file_cannot_loosen_user_settings() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path().join("elsewhere");
    for text in [
        format!("store.path = {:?}\n", elsewhere.display().to_string()),
        "store.layout = \"seed\"\n".to_owned(),
        "profile = \"klaude\"\n".to_owned(),
        "enabled = false\n".to_owned(),
        "[tools.bash]\nenabled = false\n".to_owned(),
        "retention.days = 1\n".to_owned(),
        "max_output = 1\n".to_owned(),
        "reach = \"nothing\"\n".to_owned(),
    ] {
        project(&sandbox, &text);
        sandbox.run(&["config", "check"], b"").failed(2, ".offcut.toml:");
        let ran = sandbox.run(&["cut", "--tool", "bash"], numbered(100_000).as_bytes());
        assert!(
            ran.stdout.len() <= 9500 && ran.stderr.contains("a project file cannot set"),
            "{}",
            ran.stderr
        );
        assert!(!elsewhere.exists());
    }
    // It can lower a limit, but not raise one.
    project(&sandbox, "limits.bytes = 1000000\nlimits.lines = 1000000\n");
    assert!(sandbox.run(&["cut"], numbered(100_000).as_bytes()).stdout.len() <= 9500);
    project(&sandbox, "limits.bytes = 1000\n");
    assert!(sandbox.run(&["cut"], numbered(100_000).as_bytes()).stdout.len() <= 1000);
    assert!(sandbox.store().exists(), "the store is in its default place");
    // Invalid limits in the project file leave the user's limits in effect.
    user(&sandbox, "limits.bytes = 2000\n");
    for absurd in ["limits.lines = 1\n", "limits.bytes = 1\n", "keep.lines = 1\n"] {
        project(&sandbox, absurd);
        let ran = sandbox.run(&["cut"], numbered(100_000).as_bytes());
        assert!(ran.stdout.len() <= 2000, "{absurd}");
        assert!(
            ran.stderr.contains(".offcut.toml:1: ") && ran.stderr.contains("too small"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn limit_that_is_too_small_leaves_the_others_of_its_source_in_force() {
    let sandbox = Sandbox::new();
    user(
        &sandbox,
        "limits.lines = 1\nlimits.bytes = 2000\nstrategy = \"tail\"\n[tools.grep]\nlimits.bytes = 2\nlimits.lines = 5\n",
    );
    let ran = sandbox.run(&["cut"], numbered(100_000).as_bytes());
    assert!(ran.stdout.len() <= 2000 && ran.text().contains("\n100000\n"), "{}", ran.text());
    assert!(
        ran.stderr.contains("config.toml:1: \"limits.lines\": a limit of 1 lines is too small"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("(1 more: run `offcut config check`)"), "{ran:?}");
    let ran = sandbox.run(&["cut", "--tool", "grep"], numbered(100_000).as_bytes());
    assert!(ran.text().lines().count() <= 5, "{}", ran.text());
    let problem = "config.toml:5: \"tools.grep.limits.bytes\": a limit of 2 bytes is too small";
    sandbox.run(&["config", "check"], b"").failed(2, problem);
    let shown = sandbox.run(&["config", "show", "--origin"], b"").text();
    assert!(shown.contains("limits.bytes = 2000 ") && shown.contains("limits.lines = 1900 "), "{shown}");
}

/// A file above the working directory is a project file only inside the same repository.
#[test]
fn project_file_outside_repository_is_ignored() {
    let sandbox = Sandbox::new();
    project(&sandbox, "limits.lines = 20\n");
    let below = sandbox.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    let path = || {
        let mut command = sandbox.command();
        command.args(["config", "path"]).current_dir(&below);
        crate::harness::feed(command, b"").text()
    };
    assert!(path().contains("project  none"), "{}", path());
    std::fs::create_dir(sandbox.path().join(".git")).unwrap();
    assert!(path().contains(".offcut.toml"), "{}", path());
}

#[test]
fn unknown_configured_profile_falls_back_to_native() {
    let sandbox = Sandbox::new();
    user(&sandbox, "profile = \"nope\"\n");
    let ran = sandbox.run(&["cut"], numbered(100_000).as_bytes());
    assert!(ran.code == Some(0) && !ran.stdout.is_empty() && ran.stdout.len() <= 9500);
    assert!(
        ran.stderr.contains("config.toml:1: no profile \"nope\"")
            && ran.stderr.contains("using profile native"),
        "{}",
        ran.stderr
    );
    sandbox.run(&["config", "check"], b"").failed(2, "no profile");
    sandbox.run(&["cut", "--profile", "nope"], b"x").failed(2, "no profile");
}

#[test]
fn store_path_in_file_expands_home_and_is_relative_to_file() {
    let sandbox = Sandbox::new();
    let saved = |text: &str| {
        user(&sandbox, text);
        let result = sandbox.run(&["cut", "--format", "json"], numbered(5000).as_bytes()).json();
        result["saved"]["path"]
            .as_str()
            .map(str::to_owned)
            .unwrap_or_else(|| result["save_error"].to_string())
    };
    let home = sandbox.path().display().to_string();
    assert!(saved("store.path = \"~/kept\"\n").starts_with(&format!("{home}/kept/")));
    assert!(saved("store.path = \"beside\"\n").starts_with(&format!("{home}/.config/offcut/beside/")));
    assert!(saved("store.path = \"$HOME/x\"\n").contains("are not expanded"));
    assert!(!sandbox.path().join("~").exists());
}

#[test]
fn config_show_prints_effective_value_of_tool() {
    let sandbox = Sandbox::new();
    user(&sandbox, "[tools.grep]\nlimits.lines = 900\n");
    let mut command = sandbox.command();
    command.args(["config", "show", "--origin"]).env("OFFCUT_MAX_LINES", "600");
    let shown = crate::harness::feed(command, b"").text();
    let row = shown.lines().find(|row| row.starts_with("tools.grep.limits.lines")).unwrap();
    assert!(row.starts_with("tools.grep.limits.lines = 600 ") && row.ends_with("$OFFCUT_MAX_LINES"), "{row}");
    let json = sandbox.run(&["config", "show", "--format", "json"], b"").json();
    let lines = json.as_array().unwrap().iter().find(|row| row["key"] == "limits.lines").unwrap();
    assert_eq!(lines["value"], 1900);
}

#[test]
fn user_profiles_are_listed_and_used() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path().join(".config/offcut/profiles");
    std::fs::create_dir_all(&directory).unwrap();
    let text = sandbox.run(&["profiles", "opencode"], b"").text();
    std::fs::write(
        directory.join("mine.toml"),
        text.replace("lines = 2000", "lines = 7").replace("\"opencode\"", "\"mine\""),
    )
    .unwrap();
    std::fs::write(directory.join("broken.toml"), "name = 7").unwrap();
    assert!(sandbox.run(&["profiles"], b"").text().contains("mine"));
    let shown = sandbox.run(&["cut", "--profile", "mine"], numbered(100).as_bytes()).text();
    assert!(shown.starts_with("1\n2\n3\n4\n5\n6\n7\n\n...94 lines truncated..."), "{shown}");
    let ran = sandbox.run(&["cut", "--profile", "broken"], b"x");
    ran.failed(2, "invalid profile ");
    ran.failed(2, "/profiles/broken.toml: ");
    assert_eq!(ran.stderr.matches("invalid profile").count(), 1, "{}", ran.stderr);
    sandbox.run(&["cut", "--profile", "../config"], b"x").failed(2, "no profile");
}

#[test]
fn profile_variables_apply_to_their_profile_only() {
    let sandbox = Sandbox::new();
    let run = |profile: &str| {
        let mut command = sandbox.command();
        command.args(["cut", "--profile", profile, "--format", "json"]);
        command
            .env("TOOL_OUTPUT_MAX_LINES", "10")
            .env("TOOL_OUTPUT_TRUNCATE_DIRECTION", "tail")
            .env("TOOL_OUTPUT_DIR", "out");
        crate::harness::feed(command, numbered(100).as_bytes()).json()
    };
    let unified = run("unified");
    assert_eq!(unified["shown"]["lines"], 10);
    assert!(unified["content"].as_str().unwrap().starts_with("91\n"), "{unified}");
    assert!(unified["saved"]["path"].as_str().unwrap().contains("/out/tool_"), "{unified}");
    assert_eq!(run("opencode")["truncated"], false);
}

/// unified (seed 002 §4, §9): the directory is relative to the root of the project, and so is the path (§5).
#[test]
fn unified_directory_is_relative_to_the_project_root() {
    let sandbox = Sandbox::new();
    let below = sandbox.path().join("project/a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir(sandbox.path().join("project/.git")).unwrap();
    let mut command = sandbox.command();
    command.args(["result", "--profile", "unified", "--tool", "Read"]).current_dir(&below);
    command.env("TOOL_OUTPUT_DIR", "tool-output");
    let envelope = serde_json::json!({"status": "success", "data": {"stdout": numbered(9000)}, "text": ""});
    let result = crate::harness::feed(command, envelope.to_string().as_bytes()).json();
    let path = result["data"]["truncation"]["full_output_path"].as_str().unwrap();
    assert!(path.starts_with("tool-output/tool_"), "{path}");
    assert!(result["text"].as_str().unwrap().contains(&format!("完整内容见 {path}\n")), "{result}");
    let stored = std::fs::read_to_string(sandbox.path().join("project").join(path)).unwrap();
    assert_eq!(stored, envelope.to_string());
}

#[test]
fn preset_sets_limits_and_seed_layout_sets_directory() {
    let sandbox = Sandbox::new();
    let result = sandbox
        .run(
            &["cut", "--preset", "error", "--profile", "opencode", "--format", "json"],
            numbered(1000).as_bytes(),
        )
        .json();
    assert_eq!((&result["shown"]["lines"], &result["limited_by"]), (&100.into(), &"lines".into()));
    assert!(result["content"].as_str().unwrap().ends_with("999\n1000\n"), "tail");
    user(&sandbox, "store.layout = \"seed\"\nprofile = \"takumi\"\n");
    let result = sandbox.run(&["cut", "--format", "json"], numbered(3000).as_bytes()).json();
    let path = result["saved"]["path"].as_str().unwrap().to_owned();
    assert!(path.starts_with(&format!("{}/.takumi/tool-output/", sandbox.path().display())), "{path}");
    assert_eq!(sandbox.run(&["read", &path, "--lines", "7"], b"").text(), "7\n");
}

/// takumi (seed 003): `takumi config set truncation false`.
#[test]
fn config_set_switches_shortening_off_and_unset_on_again() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join(".config/offcut/config.toml");
    let text = numbered(9000);
    let input = serde_json::json!({"llmContent": text}).to_string();
    let result = || sandbox.run(&["result", "--profile", "takumi"], input.as_bytes()).text();
    let ran = sandbox.run(&["config", "set", "truncation", "false"], b"");
    assert_eq!(ran.text(), format!("Set truncation = false in {}\n", file.display()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "truncation = false\n");
    let mode = |path: &std::path::Path| {
        std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777
    };
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(result(), input);
    sandbox.run(&["config", "set", "limits.lines", "3"], b"").failed(2, "too small");
    sandbox.run(&["config", "set", "limit.lines", "30"], b"").failed(2, "did you mean \"limits.lines\"?");
    sandbox.run(&["config", "set", "profile", "nope"], b"").failed(2, "no profile");
    sandbox
        .run(&["config", "set", "enabled", "true", "--project"], b"")
        .failed(2, "a project file cannot set");
    let ran = sandbox.run(&["config", "unset", "truncation"], b"");
    assert!(ran.text().starts_with("Removed truncation = false from "), "{}", ran.text());
    assert!(result().contains("lines truncated"));
    assert!(sandbox.run(&["config", "unset", "enabled"], b"").text().starts_with("enabled is not set in "));
    sandbox.run(&["config", "set", "strategy", "head", "--project"], b"");
    assert_eq!(
        std::fs::read_to_string(sandbox.path().join(".offcut.toml")).unwrap(),
        "strategy = \"head\"\n"
    );
    sandbox.run(&["config", "check"], b"");
}
