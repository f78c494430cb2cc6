//! klaude: it runs each command line in `bash -lc`, which reads a startup file of the user first. A line there hands the
//! command line to offcut.
//!
//! It has neither hooks nor a setting for its shell, and no MCP.

use super::limits::{AgentSettings, MAX_BYTES, ToolKind};
use super::{Agent, Base, Options, SettingsPlace, Variables};
use crate::install::{Change, Content, InstallContext, Line, Method, Position, Scope};
use offcut::measure::CharConvention;
use offcut::{Limits, ReaderLimits};
use std::time::Duration;

pub(super) const AGENT: Agent = Agent {
    name: "klaude",
    title: "klaude",
    settings: SettingsPlace { variable: None, user: ".klaude", base: Base::Home, project: ".klaude" },
    variables: Variables { own: "KLAUDE_SESSION_ID", session: Some("KLAUDE_SESSION_ID"), call: None },
    measured_version: "2.43.0",
    mcp_client: None,
    limits,
    excerpt: |_, _| Some(20_220),
    options: Options::NONE,
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: None,
    sandbox: None,
};

/// It passes on 40,000 characters and 2,000 lines, and shows 20,000 characters of a longer output.
fn limits(_: ToolKind, _: &AgentSettings) -> ReaderLimits {
    let limits =
        Limits { chars: Some(39_500), bytes: Some(MAX_BYTES), lines: Some(1990), ..Limits::default() };
    ReaderLimits {
        success: limits,
        failure: limits,
        preview: Limits { chars: Some(20_000), ..Limits::default() },
        char_convention: CharConvention::CodePoints,
    }
}

fn changes(_: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    // bash reads the first of these files that exists.
    let files = [".bash_profile", ".bash_login", ".profile"].map(|name| context.home.join(name));
    let path = files.iter().find(|file| file.exists()).unwrap_or(&files[2]).clone();
    let line = Line {
        text: context.source_if("KLAUDE_SESSION_ID"),
        variable: None,
        signature: "/offcut-klaude.sh",
        // Before the user's own commands, which would otherwise run twice.
        position: Position::First,
        presence: method.wants(Method::Shell),
    };
    let mut changes = context.files_for_klaude();
    changes.push(Change { path, content: Content::Line(line) });
    changes
}

fn advice(_: Method, _: &InstallContext) -> Vec<String> {
    Vec::new()
}
