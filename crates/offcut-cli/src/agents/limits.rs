//! How much of an output each agent passes on to its model, which is as much as offcut passes on to the agent.
//!
//! The figures are in the files of the agents. They were measured with the version that is named there
//! (`scripts/test-agents`), and have a margin. An output that the agent would pass on whole is whole with offcut too. A preview
//! is as long as what the agent itself would show of the output, but at least as long as without an agent.

use crate::config;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The most bytes that are passed on to a model, even if the agent has a larger limit.
pub(super) const MAX_BYTES: u64 = 50_000;

/// Which tool has the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// The agent's shell.
    Shell,
    /// A tool of an MCP server, or another tool of the agent.
    Other,
}

/// Where an agent finds its own settings, which can change its limits.
pub(crate) struct AgentSettings {
    /// The directory of the user's settings of this agent.
    pub(super) user: PathBuf,
    /// The working directory and its parents up to the root of the project, the nearest first.
    pub(super) project: Vec<PathBuf>,
    pub(super) variable: fn(&str) -> Option<String>,
}

impl AgentSettings {
    /// The number at `pointer` in the first of these JSON files that has one: the project's, the nearest first, and then the
    /// user's. An agent must have a shell even if its settings cannot be read, so these have no effect then.
    pub(super) fn json_number(&self, in_project: &[&str], of_user: &[&str], pointer: &str) -> Option<u64> {
        let project =
            self.project.iter().flat_map(|directory| in_project.iter().map(|name| directory.join(name)));
        let user = of_user.iter().map(|name| self.user.join(name));
        project.chain(user).find_map(|file| json(&file)?.pointer(pointer)?.as_u64())
    }
}

fn json(file: &Path) -> Option<Value> {
    let text = config::read(file, config::Trust::Project).ok()?;
    jsonc_parser::parse_to_serde_value(&text, &jsonc_parser::ParseOptions::default()).ok()
}
