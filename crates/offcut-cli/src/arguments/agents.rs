//! Arguments of the commands that agents call, and of `offcut init`, which installs them.

use crate::agents::Agent;
use crate::hook::Event;
use clap::Args;
use std::ffi::OsString;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Agents to change
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<&'static Agent>,
    /// Change all installed agents
    #[arg(long, conflicts_with = "agents")]
    pub(crate) all: bool,
    /// Change the settings of this project instead of the user's
    #[arg(long)]
    pub(crate) project: bool,
    /// Add a prefix to each command line instead of replacing the shell; permission rules then see the prefix
    #[arg(long)]
    pub(crate) rewrite: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove offcut and restore the original settings
    #[arg(long)]
    pub(crate) uninstall: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The agent that calls the hook
    #[arg(value_enum)]
    pub(crate) agent: &'static Agent,
    /// When the hook is called
    #[arg(value_enum)]
    pub(crate) event: Event,
}

#[derive(Debug, Args)]
pub(crate) struct Shell {
    /// Arguments of the shell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<OsString>,
}
