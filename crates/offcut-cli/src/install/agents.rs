//! What is put where for each agent: its settings, and the files of ours that they name.
//!
//! The shell tool is bounded by being its shell, below the permissions, which still see the original line. Other tools
//! and MCP results are bounded by a hook afterwards.

use super::edit::{Edit, What};
use super::{Change, Content};
use crate::hook::Host;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// More tokens than any MCP result has.
const WHOLE_RESULTS: &str = "1000000000";

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}

/// What the settings name.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) home: PathBuf,
    /// The working directory, for a project's settings.
    pub(crate) project: PathBuf,
    /// Where the user's configuration of programs lives.
    pub(crate) config: PathBuf,
    /// Where agents' own variables have moved their settings.
    pub(crate) moved: Vec<(Host, PathBuf)>,
    /// This program.
    pub(crate) program: PathBuf,
    /// The folder of the files that settings name.
    pub(crate) files: PathBuf,
    pub(crate) store: Option<PathBuf>,
    /// The name of the user's shell: `bash`, `zsh`.
    pub(crate) shell: String,
}

impl Facts {
    /// This program under the name of the shell that an agent is to use.
    fn link(&self) -> PathBuf {
        let name = if self.shell == "zsh" { "offcut-zsh" } else { "offcut-bash" };
        self.files.join(name)
    }

    /// The file that bash reads before it runs a line.
    fn start(&self) -> PathBuf {
        self.files.join("offcut-bash-env.sh")
    }

    fn hook(&self, host: &str) -> String {
        let program = self.program.to_string_lossy();
        let program = shlex::try_quote(&program).unwrap_or_else(|_| program.clone());
        format!("{program} hook {host} after")
    }

    /// The folder of an agent's settings.
    fn folder(&self, host: Host, scope: Scope) -> PathBuf {
        let moved = self.moved.iter().find(|(moved, _)| *moved == host).map(|(_, path)| path.clone());
        let name = match host {
            Host::Claude => ".claude",
            Host::Codex => ".codex",
            Host::Gemini => ".gemini",
            Host::Opencode => ".opencode",
        };
        match (scope, host, moved) {
            (Scope::Project, ..) => self.project.join(name),
            (_, _, Some(moved)) => moved,
            (_, Host::Opencode, None) => self.config.join("opencode"),
            (_, _, None) => self.home.join(name),
        }
    }

    /// Whether the agent has been used here, or could be.
    pub(crate) fn is_installed(&self, host: Host, path: &str) -> bool {
        let name = host.name();
        let is_program = |directory: PathBuf| directory.join(name).is_file();
        self.folder(host, Scope::User).is_dir() || std::env::split_paths(path).any(is_program)
    }
}

/// All that is to be changed for an agent, our own files first.
pub(crate) fn changes(host: Host, scope: Scope, facts: &Facts) -> Vec<Change> {
    match host {
        Host::Claude => claude(scope, facts),
        Host::Opencode => opencode(scope, facts),
        Host::Codex => codex(scope, facts),
        Host::Gemini => gemini(scope, facts),
    }
}

/// What a person should know that no setting can do.
pub(crate) fn advice(host: Host, facts: &Facts) -> Vec<String> {
    let mut advice = Vec::new();
    let is_bash = facts.shell == "bash";
    match host {
        Host::Codex => {
            if !is_bash {
                advice.push(format!(
                    "Codex runs lines in your shell, {}, which has no door for us: only MCP results are bounded",
                    facts.shell
                ));
            }
            advice.push("Codex asks once whether it may run the hook: say yes with /hooks".to_owned());
            if let Some(store) = &facts.store {
                advice.push(format!(
                    "in Codex's sandbox outputs are bounded but not kept, unless you add {} to \
                     sandbox_workspace_write.writable_roots",
                    store.display()
                ));
            }
        }
        Host::Gemini => advice.push(
            "Gemini CLI reads only one .env: with another one in the project, lines are bounded by the hook instead"
                .to_owned(),
        ),
        Host::Claude | Host::Opencode => {}
    }
    advice
}

fn claude(scope: Scope, facts: &Facts) -> Vec<Change> {
    let file = match scope {
        Scope::User => "settings.json",
        // The other file of a project is for everybody who works on it.
        Scope::Project => "settings.local.json",
    };
    let mut edits = vec![
        member(&["env"], "CLAUDE_CODE_SHELL", facts.link().to_string_lossy().into(), "offcut-"),
        // Over its own limit the hook is only shown the name of a file. Without the hook the agent still bounds it.
        member(&["env"], "MAX_MCP_OUTPUT_TOKENS", WHOLE_RESULTS.into(), WHOLE_RESULTS),
        Edit {
            path: vec!["hooks", "PostToolUse"],
            what: What::Element(json!({
                "matcher": "mcp__.*|Bash|Grep|Glob|WebFetch|WebSearch",
                "hooks": [{"type": "command", "command": facts.hook("claude"), "timeout": 10}],
            })),
            sign: " hook claude after".to_owned(),
        },
    ];
    if let Some(store) = &facts.store {
        // Reading what was kept, and nothing else.
        let rule = format!("Read(/{}/**)", store.display());
        edits.push(Edit {
            path: vec!["permissions", "allow"],
            sign: Value::from(rule.clone()).to_string(),
            what: What::Element(rule.into()),
        });
    }
    vec![link(facts), json_file(facts.folder(Host::Claude, scope).join(file), edits)]
}

fn opencode(scope: Scope, facts: &Facts) -> Vec<Change> {
    let folder = facts.folder(Host::Opencode, scope);
    let settings = match scope {
        Scope::User => folder.clone(),
        Scope::Project => facts.project.clone(),
    };
    let names = ["opencode.jsonc", "opencode.json", "config.json"].map(|name| settings.join(name));
    let file = names.iter().find(|file| file.is_file()).unwrap_or(&names[1]);
    let mut edits = vec![member(&[], "shell", facts.link().to_string_lossy().into(), "offcut-")];
    if let Some(store) = &facts.store {
        let pattern = store.join("*").to_string_lossy().into_owned();
        let path = vec!["permission", "external_directory"];
        edits.push(Edit { path, ..member(&[], &pattern, "allow".into(), "\"allow\"") });
    }
    let plugin = include_str!("opencode.js").replace("\"{program}\"", &quoted(&facts.program));
    vec![
        link(facts),
        Change { path: folder.join("plugin/offcut.js"), content: Content::Whole(plugin) },
        json_file(file.clone(), edits),
    ]
}

fn codex(scope: Scope, facts: &Facts) -> Vec<Change> {
    let edits = vec![
        member(
            &["shell_environment_policy", "set"],
            "BASH_ENV",
            facts.start().to_string_lossy().into(),
            "offcut-bash-env",
        ),
        Edit {
            path: vec!["hooks", "PostToolUse"],
            what: What::Element(json!({
                "matcher": "mcp__.*",
                "hooks": [{"type": "command", "command": facts.hook("codex"), "timeout": 10}],
            })),
            sign: " hook codex after".to_owned(),
        },
    ];
    let path = facts.folder(Host::Codex, scope).join("config.toml");
    vec![link(facts), start(facts), Change { path, content: Content::Toml(edits) }]
}

fn gemini(scope: Scope, facts: &Facts) -> Vec<Change> {
    let folder = facts.folder(Host::Gemini, scope);
    let edits = vec![Edit {
        path: vec!["hooks", "AfterTool"],
        what: What::Element(json!({
            "matcher": ".*",
            "hooks": [
                {"type": "command", "name": "offcut", "command": facts.hook("gemini"), "timeout": 10000},
            ],
        })),
        sign: " hook gemini after".to_owned(),
    }];
    vec![
        link(facts),
        start(facts),
        Change {
            path: folder.join(".env"),
            content: Content::Variable {
                name: "BASH_ENV",
                value: facts.start().to_string_lossy().into_owned(),
                sign: "offcut-bash-env",
            },
        },
        json_file(folder.join("settings.json"), edits),
    ]
}

fn member(path: &[&'static str], key: &str, value: Value, sign: &str) -> Edit {
    Edit { path: path.to_vec(), what: What::Member { key: key.to_owned(), value }, sign: sign.to_owned() }
}

fn json_file(path: PathBuf, edits: Vec<Edit>) -> Change {
    Change { path, content: Content::Json(edits) }
}

fn link(facts: &Facts) -> Change {
    Change { path: facts.link(), content: Content::Link(facts.program.clone()) }
}

/// What bash reads before a line of an agent: the line is then ours to run, in this very bash.
fn start(facts: &Facts) -> Change {
    let link = facts.files.join("offcut-bash");
    let text = include_str!("bash_env.sh").replace("{link}", &shell_quoted(&link));
    Change { path: facts.start(), content: Content::Whole(text) }
}

fn shell_quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    shlex::try_quote(&path).map_or_else(|_| path.to_string(), |quoted| quoted.into_owned())
}

fn quoted(path: &Path) -> String {
    Value::from(path.to_string_lossy()).to_string()
}

impl Host {
    pub(crate) const ALL: [Host; 4] = [Host::Claude, Host::Opencode, Host::Codex, Host::Gemini];

    /// The name of its program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Host::Claude => "claude",
            Host::Opencode => "opencode",
            Host::Codex => "codex",
            Host::Gemini => "gemini",
        }
    }
}
