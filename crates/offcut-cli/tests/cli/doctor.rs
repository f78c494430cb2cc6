//! `offcut doctor`: reports what works, and what is broken.

use crate::harness::{Ran, Sandbox, feed, numbered};
use crate::init::Home;

fn doctor(home: &Home) -> Ran {
    let mut command = home.0.command();
    command.arg("doctor").env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin");
    feed(command, b"")
}

#[test]
fn doctor_runs_shell_and_hook_of_configured_agent() {
    let home = Home::with(".codex/config.toml", "");
    let text = doctor(&home).text();
    assert!(text.contains("; offcut is not installed in Codex; run: offcut init codex\n"), "{text}");
    home.init(&["codex"]).text();
    let text = doctor(&home).text();
    for message in [
        "shell works",
        "bash works",
        "hook works",
        "readable only by you",
        "claude         Claude Code is not installed",
    ] {
        assert!(text.contains(message), "{message}: {text}");
    }
    home.0.run(&["hook", "codex", "after"], b"not what it should be");
    let store = home.0.store();
    std::fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = doctor(&home);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.code, Some(1));
    assert!(text.contains("chmod 700") && text.contains("hook codex after: expected"), "{text}");
}

#[test]
fn doctor_mentions_damaged_and_incomplete_outputs() {
    let sandbox = Sandbox::new();
    let text = || String::from_utf8(sandbox.run(&["doctor"], b"").stdout).unwrap();
    for _ in 0..3 {
        sandbox.run(&["cut"], numbered(5000).as_bytes());
    }
    assert!(text().contains("3 outputs, 72 kB of ") && !text().contains("incomplete"), "{}", text());
    let ids: Vec<String> = ["last", "last-1", "last-2"]
        .map(|reference| sandbox.run(&["show", reference, "--format", "json"], b"").json()["id"].clone())
        .map(|id| id.as_str().unwrap().to_owned())
        .into();
    let file = |name: String| sandbox.store().join(name);
    std::fs::write(file(format!("{}.txt", ids[0])), "changed").unwrap();
    std::fs::write(file(format!(".offcut/{}.json", ids[1])), "not JSON").unwrap();
    let metadata = file(format!(".offcut/{}.json", ids[2]));
    let capped = std::fs::read_to_string(&metadata)
        .unwrap()
        .replace(r#""state":"complete""#, r#""state":"capped","reason":"disk full""#);
    std::fs::write(&metadata, capped).unwrap();
    assert!(text().contains("2 damaged, 1 incomplete; `offcut fsck` lists them"), "{}", text());
}

#[test]
fn doctor_reports_settings_that_cannot_be_parsed() {
    for (agent, file, text) in [
        ("claude", ".claude/settings.json", "{ \"env\": "),
        ("codex", ".codex/config.toml", "model = "),
        ("gemini", ".gemini/settings.json", "[]"),
    ] {
        let home = Home::with(file, text);
        let ran = doctor(&home);
        let shown = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.code, Some(1), "{shown}");
        let bad: Vec<&str> = shown.lines().filter(|line| line.starts_with("!!")).collect();
        assert_eq!(bad.len(), 1, "{shown}");
        assert!(bad[0].contains(agent) && bad[0].contains(file), "{shown}");
        assert!(!shown.contains("offcut is not installed"), "{shown}");
    }
}

#[test]
fn doctor_reports_settings_of_a_project_that_cannot_be_parsed() {
    let home = Home::with(".codex/config.toml", "");
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".codex")).unwrap();
    std::fs::write(project.join(".codex/config.toml"), "model = ").unwrap();
    let mut command = home.0.command();
    command.arg("doctor").env("SHELL", "/bin/bash").current_dir(&project);
    let ran = feed(command, b"");
    let shown = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.code == Some(1) && shown.contains("project/.codex/config.toml"), "{shown}");
}

#[test]
fn doctor_checks_an_installation_whose_agent_is_missing() {
    for agent in ["klaude", "goose"] {
        let home = Home::with(".bashrc", "");
        home.init(&[agent]).text();
        let shown = doctor(&home).text();
        assert!(shown.contains(&format!("{agent:<14} not on your PATH, configured")), "{shown}");
        home.init(&[agent, "--uninstall"]).text();
        let shown = doctor(&home).text();
        assert!(shown.contains(&format!("{agent:<14} {agent} is not installed\n")), "{shown}");
    }
}

#[test]
fn doctor_lists_an_agent_once_in_the_home_directory() {
    let home = Home::with(".gemini/settings.json", "{}");
    home.init(&["gemini"]).text();
    let shown = doctor(&home).text();
    assert_eq!(shown.matches("configured").count(), 1, "{shown}");
}

/// The server does not answer: the problem names the bucket, and the status says that something is wrong.
#[cfg(feature = "s3")]
#[test]
fn doctor_reports_shared_store_that_cannot_be_reached() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.arg("doctor").env("OFFCUT_STORE", "s3://outputs/team").env("OFFCUT_STORE_DEADLINE", "1");
    command.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1").env("AWS_REGION", "x");
    command.env("AWS_ACCESS_KEY_ID", "x").env("AWS_SECRET_ACCESS_KEY", "x");
    let ran = feed(command, b"");
    let text = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.code, Some(1), "{text}");
    assert!(text.contains("!! store          s3://outputs/team: "), "{text}");
    assert!(text.ends_with("1 problem found: see the line with !!.\n"), "{text}");
}

#[test]
fn doctor_lists_files_and_variables_in_force() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join(".offcut.toml"), "limits.lines = 100\nlimits.bytes = 60000\n")
        .unwrap();
    let mut command = sandbox.command();
    command.arg("doctor").env("OFFCUT_MAX_LINES", "50");
    let text = feed(command, b"").text();
    assert!(text.contains("/.offcut.toml, $OFFCUT_MAX_LINES\n"), "{text}");
    assert!(text.contains("limits.bytes = 60000 has no effect"), "{text}");
    assert!(text.contains("No problems found ("), "{text}");
}
