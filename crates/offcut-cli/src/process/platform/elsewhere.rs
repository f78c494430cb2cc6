//! Where the system has none of what Linux has: macOS and the BSDs.

use rustix::process::{Pid, Signal};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::Command;

/// A pipe grows by itself there, as far as it can.
pub(crate) fn enlarge_pipe(_pipe: impl AsFd) {}

pub(in crate::process) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Nothing tells a process that its parent was killed.
pub(in crate::process) fn die_with_us(_command: &mut Command) {}

/// There is no list of processes to read: only the command itself gets what is meant for it.
#[derive(Default)]
pub(in crate::process) struct Kin(());

impl Kin {
    pub(in crate::process) fn of(_leader: Pid) -> Kin {
        Kin(())
    }

    pub(in crate::process) fn send(&self, _signal: Signal) {}
}
