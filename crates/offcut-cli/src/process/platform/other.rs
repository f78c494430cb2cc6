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

/// Does nothing: on these systems, only the command itself is stopped after a timeout.
pub(in crate::process) fn adopt_orphans() {}

/// Whether a process sent a signal. Otherwise the system did, for example because of a key on the terminal.
pub(in crate::process) fn is_sent_by_process(information: &libc::siginfo_t) -> bool {
    information.si_pid != 0
}

/// Does nothing: there is no list of processes to read.
pub(in crate::process) fn send_to_descendants(_signal: Signal, _command: Option<Pid>) {}
