//! pi: offcut is its shell (`shellPath`); with `--rewrite`, a prefix before each command line hands it to offcut
//! (`shellCommandPrefix`).
//!
//! It has no MCP, and its hooks cannot run programs.

use super::limits::{AgentSettings, MAX_BYTES, ToolKind};
use super::{Agent, Base, Options, SettingsPlace, Variables};
use crate::install::{Change, Edit, InstallContext, Method, Scope};
use offcut::measure::CharConvention;
use offcut::{Limits, ReaderLimits};
use std::time::Duration;

pub(super) const AGENT: Agent = Agent {
    name: "pi",
    title: "pi",
    settings: SettingsPlace {
        variable: Some("PI_CODING_AGENT_DIR"),
        user: ".pi/agent",
        base: Base::Home,
        project: ".pi",
    },
    variables: Variables { own: "PI_CODING_AGENT", session: None, call: None },
    measured_version: "0.73.1",
    mcp_client: None,
    limits,
    excerpt: |_, _| None,
    options: Options::ALL,
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: None,
    sandbox: None,
};

fn limits(_: ToolKind, _: &AgentSettings) -> ReaderLimits {
    let limits = Limits { bytes: Some(MAX_BYTES), lines: Some(1990), ..Limits::default() };
    ReaderLimits {
        success: limits,
        failure: limits,
        preview: Limits::default(),
        char_convention: CharConvention::Utf16,
    }
}

fn changes(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let edits = vec![
        Edit::member(&[], "shellPath", context.bash().to_string_lossy(), "offcut-")
            .with_presence(method.wants(Method::Shell)),
        Edit::member(&[], "shellCommandPrefix", context.source(), "offcut-line.sh")
            .with_presence(method.wants(Method::Rewrite)),
    ];
    let mut changes = context.files_for_bash(method);
    changes.push(Change::json(AGENT.settings_directory(scope, context).join("settings.json"), edits));
    changes
}

fn advice(_: Method, _: &InstallContext) -> Vec<String> {
    Vec::new()
}
