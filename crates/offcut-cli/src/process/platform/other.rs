//! Substitutes for Linux interfaces on macOS and the BSDs.

use rustix::process::{Pid, Signal};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::Command;

/// Does nothing: pipes grow automatically on these systems.
pub(crate) fn enlarge_pipe(_pipe: impl AsFd) {}

pub(in crate::process) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Does nothing: these systems cannot signal a process when its parent dies.
pub(in crate::process) fn kill_when_parent_dies(_command: &mut Command) {}

/// Always empty, because there is no list of processes to read: signals reach only the command itself.
#[derive(Default)]
pub(in crate::process) struct Descendants(());

impl Descendants {
    pub(in crate::process) fn of(_leader: Pid) -> Descendants {
        Descendants(())
    }

    pub(in crate::process) fn send(&self, _signal: Signal) {}
}
