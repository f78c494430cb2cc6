//! `offcut init`: changes agents' settings and restores them byte for byte.

use crate::harness::{Ran, Sandbox, feed};
use std::path::{Path, PathBuf};

/// Agent, file, and its content; tests of later changes by the user replace `MINE`.
const SETTINGS: &[(&str, &str, &str)] = &[
    ("claude", ".claude/settings.json", "{}\n"),
    ("claude", ".claude/settings.json", "{}"),
    ("claude", ".claude/settings.json", ""),
    ("claude", ".claude/settings.json", "\u{feff}{\"model\": \"MINE\"}\n"),
    (
        "claude",
        ".claude/settings.json",
        "{\"env\": {\"A\": \"MINE\"}, \"env\": {\"B\": \"2\"}, \"hooks\": {\"PreToolUse\": []}}",
    ),
    ("claude", ".claude/settings.json", "{\n  \"model\": \"MINE\"\n}\n"),
    (
        "claude",
        ".claude/settings.json",
        "{\"model\":\"MINE\",\"env\":{\"A\":\"1\"},\"permissions\":{\"deny\":[\"Read(.env)\"]}}",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Bash(npm run test:*)\",\n\t\t\t\"MINE\"\n\t\t]\n\t},\n\t\"hooks\": {\n\t\t\"PostToolUse\": [\n\t\t\t{ \"matcher\": \"Edit|Write\", \"hooks\": [{ \"type\": \"command\", \"command\": \"prettier --write\" }] }\n\t\t],\n\t\t\"Stop\": []\n\t}\n}\n",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\r\n  \"env\": {\r\n    \"CLAUDE_CODE_ENABLE_TELEMETRY\": \"0\"\r\n  },\r\n  \"statusLine\": { \"type\": \"command\", \"command\": \"MINE\" }\r\n}\r\n",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\n  \"env\": {\n    \"MAX_MCP_OUTPUT_TOKENS\": \"50000\", \"B\": \"MINE\"\n  }\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"theme\": \"MINE\"\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  // what I like\n  \"theme\": \"MINE\", // dark\n  /* tools */\n  \"permission\": {\n    \"edit\": \"ask\",\n    \"external_directory\": { \"~/notes/*\": \"allow\", },\n  },\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{ \"permission\": { \"external_directory\": \"ask\" }, \"username\": \"MINE\" }\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n    \"mcp\": {\n        \"x\": { \"type\": \"local\", \"command\": [\"MINE\"] }\n    }\n}",
    ),
    ("opencode", ".config/opencode/opencode.json", "{ \"shell\": \"/usr/bin/fish\", \"theme\": \"MINE\" }\n"),
    ("opencode", ".config/opencode/.npmrc", "//registry.example/:_authToken=MINE\n"),
    ("opencode", ".config/opencode/.npmrc", "fetch-retry-mintimeout = 1000\nregistry=MINE"),
    ("opencode", ".config/opencode/package.json", "{ \"dependencies\": { \"MINE\": \"1\" } }\n"),
    ("codex", ".codex/config.toml", ""),
    (
        "codex",
        ".codex/config.toml",
        "# my settings\nmodel = \"MINE\" # the good one\napproval_policy = \"on-request\"\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "model = \"MINE\"\n\n[shell_environment_policy]\ninherit = \"core\" # not everything\nset = { EDITOR = \"true\" }\n\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\n  \"--stdio\", # yes\n]\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "[profiles.fast]\nmodel = \"MINE\"\n\n[shell_environment_policy.set]\nCI = \"1\"\n\n[[hooks.PostToolUse]]\nmatcher = \"Bash\"\n\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"notify\"\n\n[projects.\"/home/you/x\"]\ntrust_level = \"trusted\"\n",
    ),
    ("codex", ".codex/config.toml", "model = \"MINE\"\n\n\n# the end"),
    ("codex", ".codex/config.toml", "hooks = { Stop = [], PreToolUse = [] } # MINE\n"),
    (
        "codex",
        ".codex/config.toml",
        "shell_environment_policy.set.FOO = \"MINE\"\r\nshell_environment_policy.inherit = \"core\"\r\n[hooks]\r\nStop = []\r\n",
    ),
    ("codex", ".codex/config.toml", "[shell_environment_policy]\nset = \"MINE\"\n"),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"theme\": \"MINE\",\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "// Gemini\n{\n  \"hooks\": {\n    \"AfterTool\": [ { \"matcher\": \"write_file\", \"hooks\": [ { \"type\": \"command\", \"command\": \"MINE\" } ] } ], // tidy\n    \"BeforeTool\": []\n  }\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{ \"tools\": { \"shell\": { \"enableInteractiveShell\": true, \"pager\": \"MINE\" } } }\n",
    ),
    ("gemini", ".gemini/.env", "GEMINI_API_KEY=abc\nexport OTHER=\"MINE\"\n"),
    ("gemini", ".gemini/.env", "# keys\nGEMINI_API_KEY=MINE"),
    (
        "pi",
        ".pi/agent/settings.json",
        "{\n  \"theme\": \"MINE\",\n  \"compaction\": { \"enabled\": false }\n}\n",
    ),
    ("gemini", ".gemini/.env", "BASH_ENV=/home/you/env.sh\nA=MINE\n"),
    ("gemini", ".gemini/.env", "A=\"MINE\nB\"\r\nexport BASH_ENV = '/x y'\r\n"),
    ("klaude", ".profile", "# ~/.profile\nPATH=\"$HOME/MINE:$PATH\"\n"),
    ("klaude", ".bash_profile", "export EDITOR=MINE"),
    ("goose", ".bashrc", "case $- in *i*) ;; *) return ;; esac\nexport EDITOR=MINE"),
    ("copilot", ".copilot/settings.json", "{\n  \"theme\": \"MINE\"\n}\n"),
    (
        "copilot",
        ".copilot/settings.json",
        "{\"hooks\": {\"postToolUse\": [{\"type\": \"command\", \"bash\": \"MINE\"}], \"preToolUse\": []}}\n",
    ),
];

/// Agents whose settings cannot change command lines.
const WITHOUT_REWRITE: &[&str] = &["klaude", "goose"];

struct Home(Sandbox);

impl Home {
    fn with(file: &str, text: &str) -> Home {
        let home = Home(Sandbox::new());
        let path = home.0.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        home
    }

    fn init(&self, arguments: &[&str]) -> Ran {
        let mut command = self.0.command();
        command.arg("init").args(arguments).env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin");
        feed(command, b"")
    }

    fn path(&self) -> &Path {
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
fn uninstall_removes_shared_files_with_last_agent() {
    let home = Home::with(".codex/config.toml", "");
    std::fs::create_dir(home.path().join(".gemini")).unwrap();
    home.init(&["--all"]).text();
    let shell = home.path().join(".config/offcut/agents/offcut-bash");
    home.init(&["codex", "--uninstall"]).text();
    assert!(shell.is_file());
    home.init(&["gemini", "--uninstall"]).text();
    assert!(!shell.exists() && !shell.parent().unwrap().exists());
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
fn doctor_runs_shell_and_hook_of_configured_agent() {
    let home = Home::with(".codex/config.toml", "");
    home.init(&["codex"]).text();
    let doctor = || {
        let mut command = home.0.command();
        feed(
            {
                command.arg("doctor").env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin");
                command
            },
            b"",
        )
    };
    let text = doctor().text();
    for message in
        ["shell works", "bash works", "hook works", "readable only by you", "claude         not installed"]
    {
        assert!(text.contains(message), "{message}: {text}");
    }
    home.0.run(&["hook", "codex", "after"], b"not what it should be");
    let store = home.0.store();
    std::fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = doctor();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.code, Some(1));
    assert!(text.contains("chmod 700") && text.contains("hook codex after: expected"), "{text}");
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
