//! Everything that offcut knows about each agent, one file per agent: how to recognise it, which settings to change, and
//! how to answer its hooks.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;

use crate::hook::Hooks;
use crate::install::{Change, InstallContext, Method, Scope};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use offcut::Context;
use std::path::PathBuf;
use std::time::Duration;

/// The supported agents.
pub(crate) const ALL: &[&Agent] =
    &[&claude::AGENT, &opencode::AGENT, &codex::AGENT, &gemini::AGENT, &pi::AGENT];

/// An agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The name of the program, which is also the name in commands and in stored entries.
    pub(crate) name: &'static str,
    /// The name of the product.
    pub(crate) title: &'static str,
    settings: SettingsPlace,
    variables: Variables,
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

#[derive(Debug)]
enum Base {
    Home,
    /// The user's configuration directory.
    Config,
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
        match (scope, moved, &self.settings.base) {
            (Scope::Project, ..) => context.project.join(self.settings.project),
            (Scope::User, Some(moved), _) => moved.clone(),
            (Scope::User, None, Base::Home) => context.home.join(self.settings.user),
            (Scope::User, None, Base::Config) => context.config.join(self.settings.user),
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

/// Returns the agent that started this process. In an agent that was started by another agent, the variables of both are
/// set, and the result is `None`.
pub(crate) fn caller() -> Option<&'static Agent> {
    let mut found = ALL.iter().filter(|agent| std::env::var_os(agent.variables.own).is_some());
    found.next().copied().filter(|_| found.next().is_none())
}

/// The context of a call of the agent's shell tool.
pub(crate) fn shell_call(agent: Option<&Agent>) -> Context {
    let variable = |name: Option<&'static str>| {
        name.and_then(std::env::var_os).map(|value| value.to_string_lossy().into_owned())
    };
    Context {
        tool: Some("bash".to_owned()),
        call_id: agent.and_then(|agent| variable(agent.variables.call)),
        session: agent.and_then(|agent| variable(agent.variables.session)),
        ..Context::default()
    }
}
