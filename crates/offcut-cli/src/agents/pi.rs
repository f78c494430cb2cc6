//! pi has no MCP, and its hooks cannot run programs: only its shell is changed.

use super::{Agent, Base, SettingsPlace, Variables};
use crate::install::{Change, Edit, InstallContext, Method, Scope};
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
    exit_delay: Duration::ZERO,
    changes,
    advice,
    hooks: None,
    sandbox: None,
};

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
