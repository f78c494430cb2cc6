//! Everything that offcut knows about each agent, one file per agent: how to recognise it, which settings to change, and
//! how to answer its hooks.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod goose;
mod klaude;
mod limits;
mod opencode;
mod pi;

pub(crate) use limits::{CommandOutcome, ToolKind};

use crate::hook::Hooks;
use crate::install::{Change, InstallContext, Method, Scope};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use etcetera::{BaseStrategy, choose_base_strategy};
use limits::AgentSettings;
use offcut::ReaderLimits;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The supported agents.
pub(crate) const ALL: &[&Agent] = &[
    &claude::AGENT,
    &opencode::AGENT,
    &codex::AGENT,
    &gemini::AGENT,
    &pi::AGENT,
    &copilot::AGENT,
    &klaude::AGENT,
    &goose::AGENT,
];

/// An agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The name of the program, which is also the name in commands and in stored entries.
    pub(crate) name: &'static str,
    /// The name of the product.
    pub(crate) title: &'static str,
    settings: SettingsPlace,
    variables: Variables,
    /// The version that the limits were measured with.
    pub(crate) measured_version: &'static str,
    /// Its client for MCP servers, if a server can know the limits that apply.
    mcp_client: Option<McpClient>,
    /// What it passes on to its model.
    limits: fn(ToolKind, &AgentSettings) -> ReaderLimits,
    /// How many bytes it shows, without offcut, of an output that exceeds its limits; `None` if as many as the limits allow.
    excerpt: fn(ToolKind, CommandOutcome) -> Option<u64>,
    options: Options,
    /// How long to wait before exiting: some agents lose output that is printed just before the end.
    pub(crate) exit_delay: Duration,
    /// The settings to change.
    changes: fn(Scope, Method, &InstallContext) -> Vec<Change>,
    /// Limitations and manual steps to tell the user about.
    advice: fn(Method, &InstallContext) -> Vec<String>,
    /// How to answer its hooks, if it has hooks that run programs.
    pub(crate) hooks: Option<Hooks>,
    /// The arguments by which its program runs the command after them in its sandbox, if it has one: with write access to the
    /// project and to temporary directories.
    pub(crate) sandbox: Option<&'static [&'static str]>,
}

/// Where an agent has its settings.
#[derive(Debug)]
struct SettingsPlace {
    /// The agent's own variable with the directory of the user's settings.
    variable: Option<&'static str>,
    base: Base,
    /// The directory of the user's settings, below the base.
    user: &'static str,
    /// The directory in a project.
    project: &'static str,
}

impl SettingsPlace {
    fn default(&self, home: &Path, config: &Path) -> PathBuf {
        match self.base {
            Base::Home => home.join(self.user),
            Base::Config => config.join(self.user),
        }
    }
}

#[derive(Debug)]
enum Base {
    Home,
    /// The user's configuration directory.
    Config,
}

/// The client of MCP servers in an agent.
#[derive(Debug)]
struct McpClient {
    /// Its name in `clientInfo`.
    name: &'static str,
    passes: PassedContent,
}

/// What a client passes on of a result that has texts and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassedContent {
    TextsOrData,
    TextsAndData,
}

/// The options of `offcut init` that work with an agent.
#[derive(Debug)]
struct Options {
    /// The agent has settings for a project.
    project: bool,
    /// The agent has a setting or a hook that changes command lines.
    rewrite: bool,
}

impl Options {
    const ALL: Options = Options { project: true, rewrite: true };
    const NONE: Options = Options { project: false, rewrite: false };
}

/// Environment variables that an agent sets for the commands that it runs.
#[derive(Debug)]
struct Variables {
    /// Set by this agent only.
    own: &'static str,
    /// The ids of the session and of the tool call.
    session: Option<&'static str>,
    call: Option<&'static str>,
}

impl Agent {
    /// The directory of the settings.
    fn settings_directory(&self, scope: Scope, context: &InstallContext) -> PathBuf {
        let moved = context.moved.iter().find(|(agent, _)| *agent == self.name).map(|(_, path)| path);
        match (scope, moved) {
            (Scope::Project, _) => context.project.join(self.settings.project),
            (Scope::User, Some(moved)) => moved.clone(),
            (Scope::User, None) => self.settings.default(&context.home, &context.config),
        }
    }

    /// What this agent passes on to its model.
    pub(crate) fn limits(&self, tool: ToolKind) -> Option<ReaderLimits> {
        let base = choose_base_strategy().ok()?;
        let (home, config) = (base.home_dir(), base.config_dir());
        let settings = AgentSettings {
            user: self.moved_settings().unwrap_or_else(|| self.settings.default(home, &config)),
            project: crate::config::project_directories(),
            variable: |name| std::env::var(name).ok(),
        };
        Some((self.limits)(tool, &settings))
    }

    /// What this agent passes on to its model of an MCP result: of its texts, and of its data.
    pub(crate) fn mcp_limits(&self, is_error: bool, has_data: bool) -> Option<ReaderLimits> {
        let limits = self.limits(ToolKind::Other)?;
        let most = if is_error { limits.failure } else { limits.success };
        let most = match self.mcp_client.as_ref()?.passes {
            PassedContent::TextsAndData if has_data => most.map(|most| most.map(|most| most / 2)),
            _ => most,
        };
        Some(ReaderLimits { success: most, failure: most, ..limits })
    }

    /// How many bytes of an output this agent passes on to its model without offcut.
    pub(crate) fn shows_without_offcut(
        &self,
        tool: ToolKind,
        outcome: CommandOutcome,
        bytes: u64,
        lines: Option<u64>,
    ) -> Option<u64> {
        let ReaderLimits { success, failure, .. } = self.limits(tool)?;
        let limits = match outcome {
            CommandOutcome::Success => success,
            CommandOutcome::Failure => failure,
        };
        // Lines of average length, and characters of one byte.
        let allowed_lines = limits.lines.zip(lines).filter(|(most, lines)| most < lines);
        let first_lines =
            allowed_lines.map(|(most, lines)| (bytes as f64 / lines as f64 * most as f64) as u64);
        let allowed = limits.bytes.into_iter().chain(limits.chars).chain(first_lines).min().unwrap_or(bytes);
        match bytes <= allowed {
            true => Some(bytes),
            false => Some((self.excerpt)(tool, outcome).unwrap_or(allowed).min(bytes)),
        }
    }

    /// The directory that the agent's own variable names, if it is set.
    pub(crate) fn moved_settings(&self) -> Option<PathBuf> {
        let moved = self.settings.variable.and_then(std::env::var_os).filter(|path| !path.is_empty());
        moved.map(PathBuf::from)
    }

    /// Whether the agent has settings or is on PATH.
    pub(crate) fn is_installed(&self, context: &InstallContext) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.settings_directory(Scope::User, context).is_dir()
            || std::env::split_paths(&path).any(|directory| directory.join(self.name).is_file())
    }

    /// The session in which the agent started this process.
    pub(crate) fn session(&self) -> Option<String> {
        variable(self.variables.session?)
    }

    /// The tool call for which the agent started this process.
    pub(crate) fn call_id(&self) -> Option<String> {
        variable(self.variables.call?)
    }

    /// Returns the option that does not work with this agent, if any.
    pub(crate) fn unsupported(&self, scope: Scope, method: Method) -> Option<&'static str> {
        match (scope, method) {
            (Scope::Project, _) if !self.options.project => Some("--project"),
            (_, Method::Rewrite) if !self.options.rewrite => Some("--rewrite"),
            _ => None,
        }
    }

    /// All changes for this agent, starting with offcut's own files.
    pub(crate) fn changes(&self, scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
        (self.changes)(scope, method, context)
    }

    /// Limitations and manual steps to tell the user about.
    pub(crate) fn advice(&self, method: Method, context: &InstallContext) -> Vec<String> {
        let mut advice = match method {
            Method::Rewrite => vec![format!(
                "permission prompts and rules see the prefix `{}; ` before each command line",
                context.source()
            )],
            Method::Shell => Vec::new(),
        };
        advice.extend((self.advice)(method, context));
        advice
    }
}

impl ValueEnum for &'static Agent {
    fn value_variants<'a>() -> &'a [&'static Agent] {
        ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name))
    }
}

/// Returns the agent with this name.
pub(crate) fn named(name: &str) -> Option<&'static Agent> {
    ALL.iter().copied().find(|agent| agent.name == name)
}

/// Returns the agent that started this process. In an agent that was started by another agent, the variables of both are
/// set, and the result is `None`.
pub(crate) fn caller() -> Option<&'static Agent> {
    let mut found = ALL.iter().filter(|agent| std::env::var_os(agent.variables.own).is_some());
    found.next().copied().filter(|_| found.next().is_none())
}

/// Returns the agent that has this MCP client.
pub(crate) fn with_mcp_client(client: &str) -> Option<&'static Agent> {
    ALL.iter().copied().find(|agent| agent.mcp_client.as_ref().is_some_and(|known| known.name == client))
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
