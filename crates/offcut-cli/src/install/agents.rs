//! What is put where for each agent: its settings, and the files of ours that they name.
//!
//! The shell tool is bounded by being its shell, below the permissions, which still see the original line. Other tools
//! and MCP results are bounded by a hook afterwards.

use super::edit::{Edit, What, Wish};
use super::{Change, Content};
use crate::hook::Host;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The file that stands before a line.
const LINE: &str = "offcut-line.sh";

/// More tokens than any MCP result has.
const WHOLE_RESULTS: &str = "1000000000";

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}

/// How lines are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// We are the shell: below the permissions, which see the original line.
    Shell,
    /// A command of ours stands before each line, put there by a hook.
    Rewrite,
}

impl Way {
    /// Whether what belongs to one way is wanted in another.
    fn wants(self, owner: Way) -> Wish {
        if self == owner { Wish::There } else { Wish::Gone }
    }
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
    /// This program under the name of the user's shell, for agents that use that.
    fn users_shell(&self) -> PathBuf {
        if self.shell == "zsh" { self.files.join("offcut-zsh") } else { self.bash() }
    }

    /// This program under the name of bash, for agents that always use that.
    fn bash(&self) -> PathBuf {
        self.files.join("offcut-bash")
    }

    /// The file that bash reads before it runs a line.
    fn start(&self) -> PathBuf {
        self.files.join("offcut-bash-env.sh")
    }

    /// Its path as the value of `BASH_ENV`, in which bash looks for variables and commands.
    pub(crate) fn bash_env(&self) -> String {
        let path = self.start();
        let mut value = String::new();
        for letter in path.to_string_lossy().chars() {
            value.extend("\\$`\"".contains(letter).then_some('\\'));
            value.push(letter);
        }
        value
    }

    fn hook(&self, host: &str, event: &str) -> String {
        format!("{} hook {host} {event}", shell_quoted(&self.program))
    }

    /// The folder of an agent's settings.
    fn folder(&self, host: Host, scope: Scope) -> PathBuf {
        let moved = self.moved.iter().find(|(moved, _)| *moved == host).map(|(_, path)| path.clone());
        let name = match host {
            Host::Claude => ".claude",
            Host::Codex => ".codex",
            Host::Gemini => ".gemini",
            Host::Opencode => ".opencode",
            Host::Pi => ".pi",
        };
        match (scope, host, moved) {
            (Scope::Project, ..) => self.project.join(name),
            (_, _, Some(moved)) => moved,
            (_, Host::Opencode, None) => self.config.join("opencode"),
            (_, Host::Pi, None) => self.home.join(name).join("agent"),
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
pub(crate) fn changes(host: Host, scope: Scope, way: Way, facts: &Facts) -> Vec<Change> {
    let mut changes = match (way, host) {
        (Way::Rewrite, _) => vec![link(facts, facts.bash()), line(facts)],
        (Way::Shell, Host::Codex | Host::Gemini) => vec![link(facts, facts.bash()), start(facts)],
        (Way::Shell, Host::Claude | Host::Opencode) => vec![link(facts, facts.users_shell())],
        (Way::Shell, Host::Pi) => vec![link(facts, facts.bash())],
    };
    changes.extend(match host {
        Host::Claude => claude(scope, way, facts),
        Host::Opencode => opencode(scope, way, facts),
        Host::Pi => pi(scope, way, facts),
        Host::Codex => codex(scope, way, facts),
        Host::Gemini => gemini(scope, way, facts),
    });
    changes
}

/// The files of our own that agents share, whatever way they use.
pub(crate) fn shared(facts: &Facts) -> Vec<Change> {
    vec![link(facts, facts.users_shell()), link(facts, facts.bash()), start(facts), line(facts)]
}

/// What stands before a line, if the file is there that it names.
pub(crate) fn prefix(files: &Path) -> Option<String> {
    files.join(LINE).is_file().then(|| format!("{}; ", source(files)))
}

/// The command that stands before a line.
fn source(files: &Path) -> String {
    format!(". {}", shell_quoted(&files.join(LINE)))
}

/// What a person should know that no setting can do.
pub(crate) fn advice(host: Host, way: Way, facts: &Facts) -> Vec<String> {
    let mut advice = Vec::new();
    let is_bash = facts.shell == "bash";
    if way == Way::Rewrite {
        advice.push(format!(
            "permission prompts and rules see the prefix `{}; ` before each command line",
            source(&facts.files)
        ));
        if !is_bash && matches!(host, Host::Claude | Host::Opencode) {
            advice.push(format!(
                "the prefix has no effect in your shell, {}: command lines are not shortened",
                facts.shell
            ));
        }
        if host == Host::Claude {
            advice.push(
                "Claude Code asks before each command line with the prefix, unless all of Bash is allowed; without --rewrite it does not"
                    .to_owned(),
            );
        }
    }
    match host {
        Host::Codex => {
            if !is_bash {
                advice.push(format!(
                    "Codex runs command lines in your shell, {}, where offcut cannot shorten them: only MCP results are shortened",
                    facts.shell
                ));
            }
            advice.push("Codex asks once whether to trust the hook: allow it with /hooks".to_owned());
            if let Some(store) = &facts.store {
                advice.push(format!(
                    "in Codex's sandbox, outputs are shortened but not stored; to store them, add {} to \
                     sandbox_workspace_write.writable_roots",
                    store.display()
                ));
            }
        }
        Host::Gemini if way == Way::Rewrite => {}
        Host::Gemini => advice.push(
            "Gemini CLI reads only one .env file: if the project has its own, the hook shortens command output instead"
                .to_owned(),
        ),
        Host::Claude | Host::Opencode | Host::Pi => {}
    }
    advice
}

fn claude(scope: Scope, way: Way, facts: &Facts) -> Vec<Change> {
    let file = match scope {
        Scope::User => "settings.json",
        // The other file of a project is for everybody who works on it.
        Scope::Project => "settings.local.json",
    };
    let mut edits = vec![
        Edit {
            wish: way.wants(Way::Shell),
            ..member(&["env"], "CLAUDE_CODE_SHELL", facts.users_shell().to_string_lossy().into(), "offcut-")
        },
        // Over its own limit the hook is only shown the name of a file. Without the hook the agent still bounds it.
        member(&["env"], "MAX_MCP_OUTPUT_TOKENS", WHOLE_RESULTS.into(), WHOLE_RESULTS),
        element(
            &["hooks", "PostToolUse"],
            json!({
                "matcher": "mcp__.*|Bash|Grep|Glob|WebFetch|WebSearch",
                "hooks": [{"type": "command", "command": facts.hook("claude", "after"), "timeout": 10}],
            }),
            " hook claude after",
        ),
        Edit {
            wish: way.wants(Way::Rewrite),
            ..element(
                &["hooks", "PreToolUse"],
                json!({
                    "matcher": "Bash",
                    "hooks": [{"type": "command", "command": facts.hook("claude", "before"), "timeout": 10}],
                }),
                " hook claude before",
            )
        },
    ];
    if let Some(store) = &facts.store {
        // Reading what was kept, and nothing else.
        let rule = format!("Read(/{}/**)", store.display());
        let sign = Value::from(rule.clone()).to_string();
        edits.push(element(&["permissions", "allow"], rule.into(), &sign));
    }
    vec![json_file(facts.folder(Host::Claude, scope).join(file), edits)]
}

fn opencode(scope: Scope, way: Way, facts: &Facts) -> Vec<Change> {
    let folder = facts.folder(Host::Opencode, scope);
    let settings = match scope {
        Scope::User => folder.clone(),
        Scope::Project => facts.project.clone(),
    };
    let names = ["opencode.jsonc", "opencode.json", "config.json"].map(|name| settings.join(name));
    let file = names.iter().find(|file| file.is_file()).unwrap_or(&names[1]);
    let mut edits = vec![Edit {
        wish: way.wants(Way::Shell),
        ..member(&[], "shell", facts.users_shell().to_string_lossy().into(), "offcut-")
    }];
    if let Some(store) = &facts.store {
        let pattern = store.join("*").to_string_lossy().into_owned();
        let path = vec!["permission", "external_directory"];
        edits.push(Edit { path, ..member(&[], &pattern, "allow".into(), "\"allow\"") });
    }
    let plugin = include_str!("opencode.js")
        .replace("\"{program}\"", &quoted(&facts.program))
        .replace("\"{rewrites}\"", if way == Way::Rewrite { "true" } else { "false" });
    vec![
        Change { path: folder.join("plugin/offcut.js"), content: Content::Whole(plugin) },
        json_file(file.clone(), edits),
    ]
}

fn codex(scope: Scope, way: Way, facts: &Facts) -> Vec<Change> {
    let variable = |name: &str, value: &str, sign: &str| Edit {
        wish: way.wants(Way::Shell),
        ..member(&["shell_environment_policy", "set"], name, value.into(), sign)
    };
    let hook =
        |event: &str| json!([{"type": "command", "command": facts.hook("codex", event), "timeout": 10}]);
    let edits = vec![
        variable("BASH_ENV", &facts.bash_env(), "offcut-bash-env"),
        // In a sandbox without network, Debian's bash takes itself for one that a remote shell has started, and reads
        // another file instead, unless it knows of a shell around it.
        variable("SHLVL", "1", "\"1\""),
        element(
            &["hooks", "PostToolUse"],
            json!({"matcher": "mcp__.*", "hooks": hook("after")}),
            " hook codex after",
        ),
        Edit {
            wish: way.wants(Way::Rewrite),
            ..element(
                &["hooks", "PreToolUse"],
                json!({"matcher": "Bash", "hooks": hook("before")}),
                " hook codex before",
            )
        },
    ];
    let path = facts.folder(Host::Codex, scope).join("config.toml");
    vec![Change { path, content: Content::Toml(edits) }]
}

fn gemini(scope: Scope, way: Way, facts: &Facts) -> Vec<Change> {
    let folder = facts.folder(Host::Gemini, scope);
    let hook = |event: &str| {
        let command = facts.hook("gemini", event);
        json!([{"type": "command", "name": "offcut", "command": command, "timeout": 10000}])
    };
    let edits = vec![
        element(
            &["hooks", "AfterTool"],
            json!({"matcher": ".*", "hooks": hook("after")}),
            " hook gemini after",
        ),
        Edit {
            wish: way.wants(Way::Rewrite),
            ..element(
                &["hooks", "BeforeTool"],
                json!({"matcher": "run_shell_command", "hooks": hook("before")}),
                " hook gemini before",
            )
        },
    ];
    vec![
        Change {
            path: folder.join(".env"),
            content: Content::Variable {
                name: "BASH_ENV",
                value: facts.bash_env(),
                sign: "offcut-bash-env",
                wish: way.wants(Way::Shell),
            },
        },
        json_file(folder.join("settings.json"), edits),
    ]
}

/// It has no hooks for programs, and no MCP: its shell is all.
fn pi(scope: Scope, way: Way, facts: &Facts) -> Vec<Change> {
    let edits = vec![
        Edit {
            wish: way.wants(Way::Shell),
            ..member(&[], "shellPath", facts.bash().to_string_lossy().into(), "offcut-")
        },
        Edit {
            wish: way.wants(Way::Rewrite),
            ..member(&[], "shellCommandPrefix", source(&facts.files).into(), LINE)
        },
    ];
    vec![json_file(facts.folder(Host::Pi, scope).join("settings.json"), edits)]
}

fn member(path: &[&'static str], key: &str, value: Value, sign: &str) -> Edit {
    let what = What::Member { key: key.to_owned(), value };
    Edit { path: path.to_vec(), what, wish: Wish::There, sign: sign.to_owned() }
}

fn element(path: &[&'static str], value: Value, sign: &str) -> Edit {
    Edit { path: path.to_vec(), what: What::Element(value), wish: Wish::There, sign: sign.to_owned() }
}

fn json_file(path: PathBuf, edits: Vec<Edit>) -> Change {
    Change { path, content: Content::Json(edits) }
}

fn link(facts: &Facts, path: PathBuf) -> Change {
    Change { path, content: Content::Link(facts.program.clone()) }
}

/// What bash reads before a line of an agent: the line is then ours to run, in this very bash.
fn start(facts: &Facts) -> Change {
    let link = facts.bash();
    let text = include_str!("bash_env.sh").replace("{link}", &shell_quoted(&link));
    Change { path: facts.start(), content: Content::Whole(text) }
}

/// What stands before a line of an agent that has been rewritten.
fn line(facts: &Facts) -> Change {
    let link = facts.bash();
    let text = include_str!("line.sh").replace("{link}", &shell_quoted(&link));
    Change { path: facts.files.join(LINE), content: Content::Whole(text) }
}

fn shell_quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    shlex::try_quote(&path).map_or_else(|_| path.to_string(), |quoted| quoted.into_owned())
}

fn quoted(path: &Path) -> String {
    Value::from(path.to_string_lossy()).to_string()
}

impl Host {
    pub(crate) const ALL: [Host; 5] = [Host::Claude, Host::Opencode, Host::Codex, Host::Gemini, Host::Pi];

    /// The name of the product.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Host::Claude => "Claude Code",
            Host::Opencode => "opencode",
            Host::Pi => "pi",
            Host::Codex => "Codex",
            Host::Gemini => "Gemini CLI",
        }
    }

    /// The name of the program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Host::Claude => "claude",
            Host::Opencode => "opencode",
            Host::Pi => "pi",
            Host::Codex => "codex",
            Host::Gemini => "gemini",
        }
    }
}
