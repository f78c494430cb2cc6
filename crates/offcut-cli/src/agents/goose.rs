//! goose: the variable `GOOSE_SHELL`, set in a startup file of the user's shell, makes offcut its shell.
//!
//! It has no setting for its shell, and its hooks do not see results. MCP results are shortened by the proxy.

use super::limits::{AgentSettings, MAX_BYTES, ToolKind};
use super::{Agent, Base, McpClient, Options, PassedContent, SettingsPlace, Variables};
use crate::install::{Change, Content, InstallContext, Line, Method, Scope};
use offcut::measure::CharConvention;
use offcut::{Limits, ReaderLimits};
use std::time::Duration;

pub(super) const AGENT: Agent = Agent {
    name: "goose",
    title: "goose",
    settings: SettingsPlace { variable: None, user: "goose", base: Base::Config, project: ".goose" },
    variables: Variables { own: "AGENT_SESSION_ID", session: Some("AGENT_SESSION_ID"), call: None },
    measured_version: "1.52.0",
    mcp_client: Some(McpClient { name: "goose-cli", passes: PassedContent::TextsOrData }),
    limits,
    excerpt: |tool, _| (tool == ToolKind::Shell).then_some(770),
    options: Options::NONE,
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: None,
    sandbox: None,
};

/// It passes on 50,000 bytes and 2,000 lines of a command's output, and shows 50 lines of a longer one. It passes on 200,000
/// characters of an MCP result.
fn limits(tool: ToolKind, _: &AgentSettings) -> ReaderLimits {
    let bytes = |most| Limits { bytes: Some(most), ..Limits::default() };
    let (limits, preview) = match tool {
        ToolKind::Shell => (Limits { lines: Some(1990), ..bytes(49_500) }, bytes(9_500)),
        ToolKind::Other => (bytes(MAX_BYTES), Limits::default()),
    };
    ReaderLimits { success: limits, failure: limits, preview, char_convention: CharConvention::CodePoints }
}

fn changes(_: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let line =
        Line { text: context.export("GOOSE_SHELL"), ..Line::variable("GOOSE_SHELL", "", "offcut-bash") }
            .with_presence(method.wants(Method::Shell));
    let mut changes = context.files_for_bash(method);
    changes.extend(context.startup_file().map(|path| Change { path, content: Content::Line(line) }));
    changes
}

fn advice(_: Method, context: &InstallContext) -> Vec<String> {
    vec![match context.startup_file() {
        Some(_) => {
            "the variable GOOSE_SHELL is set in new terminals; goose's desktop app does not see it".to_owned()
        }
        None => format!(
            "your shell is {}: set this variable yourself: {}",
            context.shell,
            context.export("GOOSE_SHELL")
        ),
    }]
}
