//! How much of an output offcut passes on to each agent: as much as the agent passes on to its model.
//!
//! The figures are in the files of the agents. They were measured with the version that is named there
//! (`scripts/test-agents`), and have a margin. An output that the agent would pass on whole is whole with offcut too. A preview
//! is as long as what the agent itself would show of the output, but at least as long as without an agent.

use crate::config::{self, Trust};
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

/// Whether a command succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    Success,
    Failure,
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
    /// The settings in these JSON files, in the order in which they apply: those of the project, the nearest first, and then
    /// those of the user. An agent must have a shell even if its settings cannot be read, so these have no effect then.
    pub(super) fn json(&self, in_project: &[&str], of_user: &[&str]) -> Vec<Value> {
        let project =
            self.project.iter().flat_map(|directory| in_project.iter().map(|name| directory.join(name)));
        let user = of_user.iter().map(|name| self.user.join(name));
        let project = project.filter_map(|file| json(&file, Trust::Project));
        project.chain(user.filter_map(|file| json(&file, Trust::User))).collect()
    }
}

/// The number at `pointer` in the first of these settings that has one.
pub(super) fn number(settings: &[Value], pointer: &str) -> Option<i64> {
    settings.iter().find_map(|settings| settings.pointer(pointer)?.as_i64())
}

/// The limit that a setting changes, less a margin, but enough for a notice. A setting of 0 or less does not limit, and
/// `otherwise` applies, as it does without the setting.
pub(super) fn limit(setting: Option<i64>, otherwise: u64, margin: u64) -> u64 {
    let most =
        setting.and_then(|most| u64::try_from(most).ok()).filter(|&most| most > 0).unwrap_or(otherwise);
    most.saturating_sub(margin).max(500)
}

fn json(file: &Path, trust: Trust) -> Option<Value> {
    let text = config::read(file, trust).ok()?;
    jsonc_parser::parse_to_serde_value(&text, &jsonc_parser::ParseOptions::default()).ok()
}
