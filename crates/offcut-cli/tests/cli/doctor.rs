//! `offcut doctor`: reports what works, and what is broken.

use crate::harness::{Ran, feed};
use crate::init::Home;

fn doctor(home: &Home) -> Ran {
    let mut command = home.0.command();
    command.arg("doctor").env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin");
    feed(command, b"")
}

#[test]
fn doctor_runs_shell_and_hook_of_configured_agent() {
    let home = Home::with(".codex/config.toml", "");
    home.init(&["codex"]).text();
    let text = doctor(&home).text();
    for message in
        ["shell works", "bash works", "hook works", "readable only by you", "claude         not installed"]
    {
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
        assert!(shown.contains(&format!("{agent:<14} not installed")), "{shown}");
    }
}

#[test]
fn doctor_lists_an_agent_once_in_the_home_directory() {
    let home = Home::with(".gemini/settings.json", "{}");
    home.init(&["gemini"]).text();
    let shown = doctor(&home).text();
    assert_eq!(shown.matches("configured").count(), 1, "{shown}");
}
