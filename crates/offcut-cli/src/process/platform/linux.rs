//! What only Linux has.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

pub(in crate::process) use super::kin::Kin;

/// Whoever writes to the pipe stops less often when more fits into it.
const PIPE_BYTES: usize = 1 << 20;

/// Enlarges a pipe, if it is one.
pub(crate) fn enlarge_pipe(pipe: impl AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

/// This very program, also if its file was replaced since it started.
pub(in crate::process) fn own_program() -> std::io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Lets the command be killed when we are: whoever kills us and our group means the command, which is not in it.
#[expect(unsafe_code, reason = "only the child itself can ask for this, between fork and exec")]
pub(in crate::process) fn die_with_us(command: &mut Command) {
    // SAFETY: between fork and exec only one system call is made; nothing is allocated or locked.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}
