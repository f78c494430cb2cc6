//! The settings that offcut adds to each agent, and the files that these refer to.
//!
//! offcut becomes the agent's shell, so that permission rules still see the original command line. A hook shortens the
//! results of other tools and of MCP servers.

use super::edit::{Edit, EditTarget, Presence};
use super::{Change, Content};
use crate::hook::AgentKind;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The file that the prefix of a command line sources.
const LINE: &str = "offcut-line.sh";

/// More tokens than any MCP result has.
const UNLIMITED_TOKENS: &str = "1000000000";

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}

/// How offcut gets the output of command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// offcut is the shell; permission rules see the original command line.
    Shell,
    /// A hook adds a prefix to each command line.
    Rewrite,
}

impl Method {
    /// Whether a setting that belongs to `owner` is wanted.
    fn wants(self, owner: Method) -> Presence {
        if self == owner { Presence::Present } else { Presence::Absent }
    }
}

/// The paths and names that settings contain.
#[derive(Clone, Debug)]
pub(crate) struct InstallContext {
    pub(crate) home: PathBuf,
    /// The working directory, for a project's settings.
    pub(crate) project: PathBuf,
    /// The user's configuration directory.
    pub(crate) config: PathBuf,
    /// Settings directories that agents' own variables have changed.
    pub(crate) moved: Vec<(AgentKind, PathBuf)>,
    /// This program.
    pub(crate) program: PathBuf,
    /// The directory of the files that settings refer to.
    pub(crate) files: PathBuf,
    pub(crate) store: Option<PathBuf>,
    /// The name of the user's shell: `bash`, `zsh`.
    pub(crate) shell: String,
}

impl InstallContext {
    /// The link for agents that use the shell of the user.
    fn users_shell(&self) -> PathBuf {
        if self.shell == "zsh" { self.files.join("offcut-zsh") } else { self.bash() }
    }

    /// The link for agents that always use bash.
    fn bash(&self) -> PathBuf {
        self.files.join("offcut-bash")
    }

    /// The file that bash reads before it runs a command line.
    fn bash_env_file(&self) -> PathBuf {
        self.files.join("offcut-bash-env.sh")
    }

    /// The value of `BASH_ENV`, escaped because bash expands variables and commands in it.
    pub(crate) fn bash_env(&self) -> String {
        let path = self.bash_env_file();
        let mut value = String::new();
        for letter in path.to_string_lossy().chars() {
            value.extend("\\$`\"".contains(letter).then_some('\\'));
            value.push(letter);
        }
        value
    }

    fn hook(&self, agent: &str, event: &str) -> String {
        format!("{} hook {agent} {event}", shell_quoted(&self.program))
    }

    /// The directory of an agent's settings.
    fn settings_directory(&self, agent: AgentKind, scope: Scope) -> PathBuf {
        let moved = self.moved.iter().find(|(moved, _)| *moved == agent).map(|(_, path)| path.clone());
        let name = match agent {
            AgentKind::Claude => ".claude",
            AgentKind::Codex => ".codex",
            AgentKind::Gemini => ".gemini",
            AgentKind::Opencode => ".opencode",
            AgentKind::Pi => ".pi",
        };
        match (scope, agent, moved) {
            (Scope::Project, ..) => self.project.join(name),
            (_, _, Some(moved)) => moved,
            (_, AgentKind::Opencode, None) => self.config.join("opencode"),
            (_, AgentKind::Pi, None) => self.home.join(name).join("agent"),
            (_, _, None) => self.home.join(name),
        }
    }

    /// Whether the agent has settings or is on PATH.
    pub(crate) fn is_installed(&self, agent: AgentKind, path: &str) -> bool {
        let name = agent.name();
        let is_program = |directory: PathBuf| directory.join(name).is_file();
        self.settings_directory(agent, Scope::User).is_dir() || std::env::split_paths(path).any(is_program)
    }
}

/// All changes for an agent, starting with offcut's own files.
pub(crate) fn changes(
    agent: AgentKind,
    scope: Scope,
    method: Method,
    context: &InstallContext,
) -> Vec<Change> {
    let mut changes = match (method, agent) {
        (Method::Rewrite, _) => vec![link(context, context.bash()), line_change(context)],
        (Method::Shell, AgentKind::Codex | AgentKind::Gemini) => {
            vec![link(context, context.bash()), bash_env_change(context)]
        }
        (Method::Shell, AgentKind::Claude | AgentKind::Opencode) => {
            vec![link(context, context.users_shell())]
        }
        (Method::Shell, AgentKind::Pi) => vec![link(context, context.bash())],
    };
    changes.extend(match agent {
        AgentKind::Claude => claude(scope, method, context),
        AgentKind::Opencode => opencode(scope, method, context),
        AgentKind::Pi => pi(scope, method, context),
        AgentKind::Codex => codex(scope, method, context),
        AgentKind::Gemini => gemini(scope, method, context),
    });
    changes
}

/// The files of offcut that agents share, for both methods.
pub(crate) fn shared(context: &InstallContext) -> Vec<Change> {
    vec![
        link(context, context.users_shell()),
        link(context, context.bash()),
        bash_env_change(context),
        line_change(context),
    ]
}

/// The prefix of command lines, if the file that it sources exists.
pub(crate) fn prefix(files: &Path) -> Option<String> {
    files.join(LINE).is_file().then(|| format!("{}; ", source(files)))
}

/// The command in the prefix.
fn source(files: &Path) -> String {
    format!(". {}", shell_quoted(&files.join(LINE)))
}

/// Limitations and manual steps to tell the user about.
pub(crate) fn advice(agent: AgentKind, method: Method, context: &InstallContext) -> Vec<String> {
    let mut advice = Vec::new();
    let is_bash = context.shell == "bash";
    if method == Method::Rewrite {
        advice.push(format!(
            "permission prompts and rules see the prefix `{}; ` before each command line",
            source(&context.files)
        ));
        if !is_bash && matches!(agent, AgentKind::Claude | AgentKind::Opencode) {
            advice.push(format!(
                "the prefix has no effect in your shell, {}: command lines are not shortened",
                context.shell
            ));
        }
        if agent == AgentKind::Claude {
            advice.push(
                "Claude Code asks before each command line with the prefix, unless all of Bash is allowed; without --rewrite it does not"
                    .to_owned(),
            );
        }
    }
    match agent {
        AgentKind::Codex => {
            if !is_bash {
                advice.push(format!(
                    "Codex runs command lines in your shell, {}, where offcut cannot shorten them: only MCP results are shortened",
                    context.shell
                ));
            }
            advice.push("Codex asks once whether to trust the hook: allow it with /hooks".to_owned());
            if let Some(store) = &context.store {
                advice.push(format!(
                    "in Codex's sandbox, outputs are shortened but not stored; to store them, add {} to \
                     sandbox_workspace_write.writable_roots",
                    store.display()
                ));
            }
        }
        AgentKind::Gemini if method == Method::Rewrite => {}
        AgentKind::Gemini => advice.push(
            "Gemini CLI reads only one .env file: if the project has its own, the hook shortens command output instead"
                .to_owned(),
        ),
        AgentKind::Claude | AgentKind::Opencode | AgentKind::Pi => {}
    }
    advice
}

fn claude(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let file = match scope {
        Scope::User => "settings.json",
        // The other settings file of a project is shared with everybody who works on it.
        Scope::Project => "settings.local.json",
    };
    let mut edits = vec![
        Edit {
            presence: method.wants(Method::Shell),
            ..member(&["env"], "CLAUDE_CODE_SHELL", context.users_shell().to_string_lossy().into(), "offcut-")
        },
        // Above the agent's own limit, the hook would get only the name of a file. Without the hook, the agent still
        // truncates the result.
        member(&["env"], "MAX_MCP_OUTPUT_TOKENS", UNLIMITED_TOKENS.into(), UNLIMITED_TOKENS),
        element(
            &["hooks", "PostToolUse"],
            json!({
                "matcher": "mcp__.*|Bash|Grep|Glob|WebFetch|WebSearch",
                "hooks": [{"type": "command", "command": context.hook("claude", "after"), "timeout": 10}],
            }),
            " hook claude after",
        ),
        Edit {
            presence: method.wants(Method::Rewrite),
            ..element(
                &["hooks", "PreToolUse"],
                json!({
                    "matcher": "Bash",
                    "hooks": [{"type": "command", "command": context.hook("claude", "before"), "timeout": 10}],
                }),
                " hook claude before",
            )
        },
    ];
    if let Some(store) = &context.store {
        // Allow reading the store, and nothing else.
        let rule = format!("Read(/{}/**)", store.display());
        let signature = Value::from(rule.clone()).to_string();
        edits.push(element(&["permissions", "allow"], rule.into(), &signature));
    }
    vec![json_file(context.settings_directory(AgentKind::Claude, scope).join(file), edits)]
}

fn opencode(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let directory = context.settings_directory(AgentKind::Opencode, scope);
    let settings = match scope {
        Scope::User => directory.clone(),
        Scope::Project => context.project.clone(),
    };
    let names = ["opencode.jsonc", "opencode.json", "config.json"].map(|name| settings.join(name));
    let file = names.iter().find(|file| file.is_file()).unwrap_or(&names[1]);
    let mut edits = vec![Edit {
        presence: method.wants(Method::Shell),
        ..member(&[], "shell", context.users_shell().to_string_lossy().into(), "offcut-")
    }];
    if let Some(store) = &context.store {
        let pattern = store.join("*").to_string_lossy().into_owned();
        let path = vec!["permission", "external_directory"];
        edits.push(Edit { path, ..member(&[], &pattern, "allow".into(), "\"allow\"") });
    }
    let plugin = include_str!("opencode.js")
        .replace("\"{program}\"", &json_quoted(&context.program))
        .replace("\"{rewrites}\"", if method == Method::Rewrite { "true" } else { "false" });
    vec![
        Change { path: directory.join("plugin/offcut.js"), content: Content::OwnFile(plugin) },
        json_file(file.clone(), edits),
    ]
}

fn codex(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let variable = |name: &str, value: &str, signature: &str| Edit {
        presence: method.wants(Method::Shell),
        ..member(&["shell_environment_policy", "set"], name, value.into(), signature)
    };
    let hook =
        |event: &str| json!([{"type": "command", "command": context.hook("codex", event), "timeout": 10}]);
    let edits = vec![
        variable("BASH_ENV", &context.bash_env(), "offcut-bash-env"),
        // In a sandbox without network, Debian's bash believes that a remote shell started it and reads another file
        // instead, unless SHLVL says that it was started by a shell.
        variable("SHLVL", "1", "\"1\""),
        element(
            &["hooks", "PostToolUse"],
            json!({"matcher": "mcp__.*", "hooks": hook("after")}),
            " hook codex after",
        ),
        Edit {
            presence: method.wants(Method::Rewrite),
            ..element(
                &["hooks", "PreToolUse"],
                json!({"matcher": "Bash", "hooks": hook("before")}),
                " hook codex before",
            )
        },
    ];
    let path = context.settings_directory(AgentKind::Codex, scope).join("config.toml");
    vec![Change { path, content: Content::Toml(edits) }]
}

fn gemini(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let directory = context.settings_directory(AgentKind::Gemini, scope);
    let hook = |event: &str| {
        let command = context.hook("gemini", event);
        json!([{"type": "command", "name": "offcut", "command": command, "timeout": 10000}])
    };
    let edits = vec![
        element(
            &["hooks", "AfterTool"],
            json!({"matcher": ".*", "hooks": hook("after")}),
            " hook gemini after",
        ),
        Edit {
            presence: method.wants(Method::Rewrite),
            ..element(
                &["hooks", "BeforeTool"],
                json!({"matcher": "run_shell_command", "hooks": hook("before")}),
                " hook gemini before",
            )
        },
    ];
    vec![
        Change {
            path: directory.join(".env"),
            content: Content::Variable {
                name: "BASH_ENV",
                value: context.bash_env(),
                signature: "offcut-bash-env",
                presence: method.wants(Method::Shell),
            },
        },
        json_file(directory.join("settings.json"), edits),
    ]
}

/// pi has no MCP, and its hooks cannot run programs: only its shell is changed.
fn pi(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let edits = vec![
        Edit {
            presence: method.wants(Method::Shell),
            ..member(&[], "shellPath", context.bash().to_string_lossy().into(), "offcut-")
        },
        Edit {
            presence: method.wants(Method::Rewrite),
            ..member(&[], "shellCommandPrefix", source(&context.files).into(), LINE)
        },
    ];
    vec![json_file(context.settings_directory(AgentKind::Pi, scope).join("settings.json"), edits)]
}

fn member(path: &[&'static str], key: &str, value: Value, signature: &str) -> Edit {
    let target = EditTarget::Member { key: key.to_owned(), value };
    Edit { path: path.to_vec(), target, presence: Presence::Present, signature: signature.to_owned() }
}

fn element(path: &[&'static str], value: Value, signature: &str) -> Edit {
    Edit {
        path: path.to_vec(),
        target: EditTarget::Element(value),
        presence: Presence::Present,
        signature: signature.to_owned(),
    }
}

fn json_file(path: PathBuf, edits: Vec<Edit>) -> Change {
    Change { path, content: Content::Json(edits) }
}

fn link(context: &InstallContext, path: PathBuf) -> Change {
    Change { path, content: Content::Link(context.program.clone()) }
}

/// The file that bash reads first, and that hands the command line to offcut.
fn bash_env_change(context: &InstallContext) -> Change {
    let text = with_handover(include_str!("bash_env.sh"), context);
    Change { path: context.bash_env_file(), content: Content::OwnFile(text) }
}

/// The file that rewritten command lines source.
fn line_change(context: &InstallContext) -> Change {
    let text = with_handover(include_str!("line.sh"), context);
    Change { path: context.files.join(LINE), content: Content::OwnFile(text) }
}

/// A script with the commands that hand the line of the running bash to offcut.
fn with_handover(script: &str, context: &InstallContext) -> String {
    let commands = include_str!("handover.sh");
    script.replace("  {handover}\n", commands).replace("{link}", &shell_quoted(&context.bash()))
}

fn shell_quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    shlex::try_quote(&path).map_or_else(|_| path.to_string(), |quoted| quoted.into_owned())
}

fn json_quoted(path: &Path) -> String {
    Value::from(path.to_string_lossy()).to_string()
}

impl AgentKind {
    pub(crate) const ALL: [AgentKind; 5] =
        [AgentKind::Claude, AgentKind::Opencode, AgentKind::Codex, AgentKind::Gemini, AgentKind::Pi];

    /// The name of the product.
    pub(crate) fn title(self) -> &'static str {
        match self {
            AgentKind::Claude => "Claude Code",
            AgentKind::Opencode => "opencode",
            AgentKind::Pi => "pi",
            AgentKind::Codex => "Codex",
            AgentKind::Gemini => "Gemini CLI",
        }
    }

    /// The name of the program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            AgentKind::Claude => "claude",
            AgentKind::Opencode => "opencode",
            AgentKind::Pi => "pi",
            AgentKind::Codex => "codex",
            AgentKind::Gemini => "gemini",
        }
    }
}
