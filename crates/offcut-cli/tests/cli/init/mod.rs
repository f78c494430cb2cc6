//! `offcut init`: changes agents' settings, and nothing else.

mod settings;
mod uninstall;

use crate::harness::{Ran, Sandbox, feed};
use settings::{SETTINGS, WITHOUT_REWRITE};
use std::path::{Path, PathBuf};

pub(crate) struct Home(pub(crate) Sandbox);

impl Home {
    pub(crate) fn with(file: &str, text: &str) -> Home {
        let home = Home(Sandbox::new());
        let path = home.0.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        home
    }

    pub(crate) fn init(&self, arguments: &[&str]) -> Ran {
        let mut command = self.0.command();
        command.arg("init").args(arguments).env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin");
        feed(command, b"")
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// All files except the backups, with their content.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for file in std::fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                if path.is_dir() && !path.is_symlink() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(self.path(), &mut found);
        found.sort();
        let read = |path: PathBuf| {
            let content = match std::fs::read_link(&path) {
                Ok(target) => target.into_os_string().into_encoded_bytes(),
                Err(_) => std::fs::read(&path).unwrap(),
            };
            (path, content)
        };
        found
            .into_iter()
            .filter(|path| !path.components().any(|part| part.as_os_str() == "state"))
            .map(read)
            .collect()
    }
}

/// What notices suggest needs no approval, and nothing else is allowed.
#[test]
fn init_allows_to_read_stored_outputs() {
    let rules = |home: &Home, file: &str, pointer: &str| {
        let text = std::fs::read_to_string(home.path().join(file)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap().pointer(pointer).unwrap().clone()
    };
    let home = Home::with(".claude/settings.json", "{}");
    assert!(home.init(&["claude", "--dry-run"]).text().contains("offcut read:*)"), "the diff shows the rule");
    home.init(&["claude"]).text();
    let store = home.path().join(".local/share/offcut");
    let program = crate::harness::binary();
    let expected = serde_json::json!([
        format!("Read(/{}/**)", store.display()),
        format!("Bash({program} read:*)"),
        format!("Bash({program} grep:*)"),
    ]);
    assert_eq!(rules(&home, ".claude/settings.json", "/permissions/allow"), expected, "not on PATH");
    let home = Home::with(".gemini/settings.json", "{}");
    home.init(&["gemini"]).text();
    // A rule in the settings would do harm: with one, Gemini CLI denies all other commands where it cannot ask.
    let settings = std::fs::read_to_string(home.path().join(".gemini/settings.json")).unwrap();
    assert!(!settings.contains("\"allowed\""), "{settings}");
    let policy = std::fs::read_to_string(home.path().join(".gemini/policies/offcut.toml")).unwrap();
    let prefixes = format!("commandPrefix = [\"{program} read\",\"{program} grep\"]\ndecision = \"allow\"\n");
    assert!(policy.contains(&prefixes), "{policy}");
}

#[test]
fn init_rejects_options_that_do_not_work_with_the_agent() {
    for agent in WITHOUT_REWRITE {
        let home = Home(Sandbox::new());
        home.init(&[agent, "--rewrite"]).failed(2, "--rewrite does not work with");
        assert!(home.files().is_empty(), "{agent}");
    }
    // The other agents are configured.
    let home = Home::with(".codex/config.toml", "");
    std::fs::create_dir(home.path().join(".klaude")).unwrap();
    for option in ["--rewrite", "--project"] {
        let text = home.init(&["--all", option]).text();
        assert!(text.contains("codex: configured"), "{text}");
        assert!(text.contains(&format!("klaude: {option} does not work with klaude; not changed")), "{text}");
    }
}

#[test]
fn dry_run_prints_changes_without_making_them() {
    for (agent, file, text) in SETTINGS {
        let home = Home::with(file, text);
        let before = home.files();
        assert!(home.init(&[agent, "--dry-run"]).text().contains("would be changed"), "{text}");
        assert_eq!(home.files(), before);
    }
}

#[test]
fn init_rejects_invalid_settings_without_changes() {
    for (agent, file, text) in [
        ("claude", ".claude/settings.json", "{ \"hooks\": "),
        ("claude", ".claude/settings.json", "[]"),
        ("codex", ".codex/config.toml", "model = "),
        ("gemini", ".gemini/settings.json", "\"text\""),
    ] {
        let home = Home::with(file, text);
        home.init(&[agent]).failed(2, file);
        assert_eq!(std::fs::read_to_string(home.path().join(file)).unwrap(), text);
        assert_eq!(home.files().len(), 1, "no other file was written");
    }
}

#[test]
fn init_never_replaces_or_removes_foreign_files() {
    for (agent, file) in [
        ("opencode", ".config/opencode/plugin/offcut.js"),
        ("claude", ".config/offcut/agents/offcut-bash"),
        ("codex", ".config/offcut/agents/offcut-bash-env.sh"),
    ] {
        let home = Home::with(file, "mine\n");
        let before = home.files();
        home.init(&[agent]).failed(2, "was not written by `offcut init`; move it away");
        assert_eq!(home.files(), before, "{file}");
        home.init(&[agent, "--uninstall"]).text();
        assert_eq!(home.files(), before, "{file}");
    }
    // A link to settings that no longer exist.
    let home = Home::with(".claude/x", "");
    std::os::unix::fs::symlink("../elsewhere/settings.json", home.path().join(".claude/settings.json"))
        .unwrap();
    let before = home.files();
    home.init(&["claude"]).failed(2, "symbolic link whose target does not exist");
    home.init(&["claude", "--uninstall"]).text();
    assert_eq!(home.files(), before);
}

#[test]
fn init_follows_symbolic_link_to_settings() {
    let home = Home::with("dotfiles/claude.json", "{\"model\": \"x\"}\n");
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/claude.json", home.path().join(".claude/settings.json")).unwrap();
    let before = home.files();
    home.init(&["claude"]).text();
    let text = std::fs::read_to_string(home.path().join("dotfiles/claude.json")).unwrap();
    assert!(
        text.contains("CLAUDE_CODE_SHELL") && home.path().join(".claude/settings.json").is_symlink(),
        "{text}"
    );
    home.init(&["claude", "--uninstall"]).text();
    assert_eq!(home.files(), before);
}

#[test]
fn init_all_continues_after_invalid_settings() {
    let home = Home::with(".claude/settings.json", "{ \"hooks\": ");
    std::fs::create_dir(home.path().join(".codex")).unwrap();
    std::fs::create_dir(home.path().join(".gemini")).unwrap();
    std::fs::write(home.path().join(".gemini/settings.json"), "[]").unwrap();
    let ran = home.init(&["--all"]);
    ran.failed(2, ".claude/settings.json");
    ran.failed(2, ".gemini/settings.json: expected a JSON object");
    assert!(home.path().join(".codex/config.toml").is_file());
}

/// The files for bash name an existing link, whichever shell the user has.
#[test]
fn init_links_bash_when_user_has_zsh() {
    for agent in ["codex", "gemini", "pi"] {
        for way in [&[][..], &["--rewrite"]] {
            let home = Home(Sandbox::new());
            let run = |arguments: &[&str]| {
                let mut command = home.0.command();
                command.args(arguments).env("SHELL", "/bin/zsh").env("PATH", "/usr/bin:/bin");
                feed(command, b"")
            };
            run(&[&["init", agent], way].concat()).text();
            let text = run(&["doctor"]).text();
            assert!(!text.contains("does not shorten"), "{text}");
            run(&["init", agent, "--uninstall"]).text();
            assert!(!home.path().join(".config/offcut/agents").exists(), "{agent}");
        }
    }
}

#[test]
fn init_keeps_shell_of_goose_set_by_user() {
    let home = Home::with(".bashrc", "export GOOSE_SHELL=/bin/zsh\n");
    let text = home.init(&["goose"]).text();
    assert!(text.contains("GOOSE_SHELL already has another value; left unchanged"), "{text}");
    assert_eq!(
        std::fs::read_to_string(home.path().join(".bashrc")).unwrap(),
        "export GOOSE_SHELL=/bin/zsh\n"
    );
}

/// bash expands variables and commands in the value of `BASH_ENV`.
#[test]
fn init_works_with_special_characters_in_home() {
    let home = Home(Sandbox::new());
    let odd = home.path().join("it's \"odd\" $HOME `date` \\ ü");
    std::fs::create_dir(&odd).unwrap();
    for folder in [".klaude", ".config/goose"] {
        std::fs::create_dir_all(odd.join(folder)).unwrap();
    }
    for agent in ["claude", "opencode", "codex", "gemini", "pi", "copilot", "klaude", "goose"] {
        let ways = if WITHOUT_REWRITE.contains(&agent) { 1 } else { 2 };
        for way in [&[][..], &["--rewrite"]].into_iter().take(ways) {
            let run = |arguments: &[&str]| {
                let mut command = home.0.command();
                command
                    .args(arguments)
                    .env("HOME", &odd)
                    .env("SHELL", "/bin/bash")
                    .env("PATH", "/usr/bin:/bin");
                feed(command, b"")
            };
            run(&[&["init", agent], way].concat()).text();
            let text = run(&["doctor"]).text();
            assert!(text.contains(" works") && !text.contains("does not shorten"), "{text}");
            run(&["init", agent, "--uninstall"]).text();
        }
    }
}

/// Settings of an unexpected type are left unchanged and reported.
#[test]
fn init_reports_settings_of_unexpected_type() {
    let text = "{\"hooks\": null, \"env\": \"x\", \"permissions\": {\"allow\": 7}}";
    let home = Home::with(".claude/settings.json", text);
    let printed = home.init(&["claude"]).text();
    for place in ["env.CLAUDE_CODE_SHELL", "hooks.PostToolUse", "permissions.allow"] {
        assert!(printed.contains(&format!("{place} already has another value; left unchanged")), "{printed}");
    }
    assert_eq!(std::fs::read_to_string(home.path().join(".claude/settings.json")).unwrap(), text);
}

/// Settings with an old path of the program are updated, and removed on uninstall.
#[test]
fn init_updates_path_of_older_installation() {
    let hook = "{\"hooks\": [{\"type\": \"command\", \"command\": \"/old/offcut hook claude after\"}]}";
    let text = format!(
        "{{\"model\": \"x\", \"env\": {{\"CLAUDE_CODE_SHELL\": \"/old/offcut-bash\"}}, \"hooks\": {{\"PostToolUse\": [{hook}]}}}}"
    );
    let home = Home::with(".claude/settings.json", &text);
    let read = || std::fs::read_to_string(home.path().join(".claude/settings.json")).unwrap();
    home.init(&["claude"]).text();
    assert!(!read().contains("/old/") && read().matches(" hook claude after").count() == 1, "{}", read());
    home.init(&["claude", "--uninstall"]).text();
    assert_eq!(read(), text, "the first uninstall restores the file as found");
    home.init(&["claude", "--uninstall"]).text();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&read()).unwrap(),
        serde_json::json!({"model": "x"})
    );
}

/// The hook would delay every command line, although the shell has already shortened the output.
#[test]
fn claude_calls_hook_for_command_lines_only_if_they_are_rewritten() {
    let home = Home::with(".claude/settings.json", "{}");
    for (arguments, tools) in [(&["claude"][..], 0), (&["claude", "--rewrite"], 1), (&["claude"], 0)] {
        home.init(arguments).text();
        let settings = std::fs::read_to_string(home.path().join(".claude/settings.json")).unwrap();
        assert_eq!(settings.matches("|Bash\"").count(), tools, "{settings}");
    }
}

#[test]
fn init_keeps_value_set_by_user() {
    let home = Home::with(".claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/bin/zsh\"}}");
    let text = home.init(&["claude"]).text();
    assert!(text.contains("env.CLAUDE_CODE_SHELL already has another value; left unchanged"), "{text}");
    assert!(
        std::fs::read_to_string(home.path().join(".claude/settings.json")).unwrap().contains("\"/bin/zsh\"")
    );
}

#[test]
fn init_without_agent_prints_changes_only() {
    let home = Home::with(".codex/config.toml", "");
    let text = home.init(&[]).text();
    assert!(text.contains("codex: would be changed") && text.contains("Nothing was changed"), "{text}");
    assert!(!text.contains("claude") && !text.contains("gemini"), "{text}");
    Home(Sandbox::new()).init(&[]).failed(3, "no agent is installed");
}

#[test]
fn init_project_writes_project_settings() {
    let home = Home::with(".git/HEAD", "");
    home.init(&["claude", "opencode", "codex", "gemini", "--project"]).text();
    for file in [
        ".claude/settings.local.json",
        "opencode.json",
        ".opencode/plugin/offcut.js",
        ".codex/config.toml",
        ".gemini/.env",
    ] {
        assert!(home.path().join(file).is_file(), "{file}");
    }
}

/// opencode waits for the installation of a package in both directories, and npm reads only the settings next to a package.json.
#[test]
fn init_opencode_configures_npm_where_opencode_installs() {
    let home = Home::with("package.json", "{}");
    let user = |file: &str| home.path().join(".config/opencode").join(file);
    let project = |file: &str| home.path().join(".opencode").join(file);
    let before = home.files();
    home.init(&["opencode", "--project"]).text();
    for file in [user(".npmrc"), user("package.json"), project(".npmrc"), project("package.json")] {
        assert!(file.is_file(), "{file:?}");
    }
    home.init(&["opencode"]).text();
    home.init(&["opencode", "--project", "--uninstall"]).text();
    assert!(user(".npmrc").is_file() && user("package.json").is_file() && !project("").exists());
    // What opencode adds to the file stays.
    let text = std::fs::read_to_string(user("package.json")).unwrap();
    std::fs::write(user("package.json"), text.replacen('{', "{\n  \"dependencies\": {},", 1)).unwrap();
    home.init(&["opencode", "--uninstall"]).text();
    let text = std::fs::read_to_string(user("package.json")).unwrap();
    assert!(text.contains("dependencies") && !text.contains("offcut") && !user(".npmrc").exists(), "{text}");
    std::fs::remove_dir_all(user("")).unwrap();
    assert_eq!(home.files(), before);
}

#[test]
fn init_does_not_wait_for_settings_that_are_no_regular_file() {
    let home = Home::with(".claude/other", "");
    let settings = home.path().join(".claude/settings.json");
    rustix::fs::mknodat(rustix::fs::CWD, &settings, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    home.init(&["claude"]).failed(2, "not a regular file");
    std::fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &settings).unwrap();
    home.init(&["claude"]).failed(2, "not a regular file");
}
