//! `offcut init --uninstall` restores settings byte for byte; switching between methods leaves nothing of the other.

use super::Home;
use super::settings::{SETTINGS, WITHOUT_REWRITE};
use std::path::PathBuf;

#[test]
fn uninstall_restores_settings_byte_for_byte() {
    for (agent, file, text) in SETTINGS {
        let home = Home::with(file, text);
        let before = home.files();
        let first = home.init(&[agent]).text();
        assert!(first.contains("+++ ") && first.contains(": configured. Restart "), "{first}");
        let set_up = home.files();
        // Copilot CLI needs no file of offcut.
        assert!(set_up.len() > before.len() || *agent == "copilot", "{file}: {text}");
        assert_ne!(set_up, before, "{file}: {text}");
        let second = home.init(&[agent]).text();
        assert!(second.contains("already configured") && !second.contains("+++ "), "{text}\n{second}");
        assert_eq!(home.files(), set_up, "{text}");
        home.init(&[agent, "--uninstall"]).text();
        assert_eq!(home.files(), before, "{text}");
        assert!(home.init(&[agent, "--uninstall"]).text().contains("offcut is not installed there"));
    }
}

/// Switching between shell and rewriting removes the settings of the other and nothing else.
#[test]
fn init_switches_between_shell_and_rewrite() {
    for (agent, file, text) in SETTINGS.iter().filter(|(agent, ..)| !WITHOUT_REWRITE.contains(agent)) {
        let home = Home::with(file, text);
        let before = home.files();
        home.init(&[agent]).text();
        let shell = home.files();
        home.init(&[agent, "--rewrite"]).text();
        let rewrite = home.files();
        assert!(home.init(&[agent, "--rewrite"]).text().contains("already configured"), "{text}");
        let has = |files: &[(PathBuf, Vec<u8>)], sign: &str| {
            files.iter().any(|(_, content)| String::from_utf8_lossy(content).contains(sign))
        };
        let settings = |files: &[(PathBuf, Vec<u8>)]| {
            files
                .iter()
                .filter(|(path, _)| !path.starts_with(home.path().join(".config/offcut")))
                .cloned()
                .collect::<Vec<_>>()
        };
        let sign = match *agent {
            "opencode" => "rewrites = true".to_owned(),
            "pi" => "\"shellCommandPrefix\": \". ".to_owned(),
            agent => format!(" hook {agent} before"),
        };
        assert!(has(&rewrite, &sign) && !has(&shell, &sign), "{text}");
        assert!(!has(&settings(&rewrite), "offcut-bash"), "{text}");
        home.init(&[agent]).text();
        assert!(!has(&home.files(), &sign), "{text}");
        home.init(&[agent, "--uninstall"]).text();
        assert_eq!(home.files(), before, "{text}");
    }
}

/// If the user changed the file in the meantime, only offcut's settings are removed.
#[test]
fn uninstall_keeps_later_changes_by_user() {
    for (agent, file, text) in SETTINGS.iter().filter(|(.., text)| text.contains("MINE")) {
        let home = Home::with(file, text);
        home.init(&[agent]).text();
        let path = home.path().join(file);
        let changed = std::fs::read_to_string(&path).unwrap().replace("MINE", "CHANGED");
        std::fs::write(&path, changed).unwrap();
        home.init(&[agent, "--uninstall"]).text();
        let words =
            |text: &str| text.split_whitespace().collect::<String>().replace(",}", "}").replace(",]", "]");
        let found = std::fs::read_to_string(&path).unwrap();
        assert_eq!(words(&found), words(&text.replace("MINE", "CHANGED")), "{found}");
    }
}

#[test]
fn uninstall_without_backup_removes_only_own_settings() {
    for (agent, file, text) in SETTINGS {
        let home = Home::with(file, text);
        home.init(&[agent]).text();
        let _ = std::fs::remove_dir_all(home.path().join(".local/state/offcut"));
        home.init(&[agent, "--uninstall"]).text();
        let words =
            |text: &str| text.split_whitespace().collect::<String>().replace(",}", "}").replace(",]", "]");
        let found = std::fs::read_to_string(home.path().join(file)).unwrap_or_default();
        let was_empty = matches!(text.trim(), "" | "{}");
        assert_eq!(words(&found), if was_empty { String::new() } else { words(text) }, "{text:?}");
    }
}

#[test]
fn uninstall_removes_shared_files_with_last_agent() {
    let home = Home::with(".codex/config.toml", "");
    std::fs::create_dir(home.path().join(".gemini")).unwrap();
    home.init(&["--all"]).text();
    let shell = home.path().join(".config/offcut/agents/offcut-bash");
    home.init(&["codex", "--uninstall"]).text();
    assert!(shell.is_file());
    home.init(&["gemini", "--uninstall"]).text();
    assert!(!shell.exists() && !home.path().join(".config/offcut").exists());
    home.init(&["codex"]).text();
    let configuration = home.path().join(".config/offcut/config.toml");
    std::fs::write(&configuration, "").unwrap();
    home.init(&["codex", "--uninstall"]).text();
    assert!(!shell.exists() && configuration.is_file());
}
