//! The commands that agents call, and those that put us into agents.

use crate::hook::{Event, Host};
use clap::Args;
use std::ffi::OsString;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The agents
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<Host>,
    /// All agents that are installed
    #[arg(long, conflicts_with = "agents")]
    pub(crate) all: bool,
    /// The settings of this project instead of the user's
    #[arg(long)]
    pub(crate) project: bool,
    /// Put a command of ours before each line instead of being the shell; permission rules then see it
    #[arg(long)]
    pub(crate) rewrite: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take offcut out again
    #[arg(long)]
    pub(crate) uninstall: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The agent that calls
    #[arg(value_enum)]
    pub(crate) agent: Host,
    /// What has happened
    #[arg(value_enum)]
    pub(crate) event: Event,
}

#[derive(Debug, Args)]
pub(crate) struct Shell {
    /// The arguments of the shell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<OsString>,
}
