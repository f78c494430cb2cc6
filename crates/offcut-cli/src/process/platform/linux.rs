//! Interfaces that only Linux has.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

pub(in crate::process) use super::descendants::Descendants;

/// A larger pipe means fewer waits for the writer.
const PIPE_BYTES: usize = 1 << 20;

/// Enlarges a pipe, if it is one.
pub(crate) fn enlarge_pipe(pipe: impl AsFd) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

/// The path of this program, valid even if its file has been replaced.
pub(in crate::process) fn own_program() -> std::io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Has the command killed when offcut is killed. The command has its own process group, so killing the group of offcut
/// would not reach it.
#[expect(unsafe_code, reason = "a child must request this itself, between fork and exec")]
pub(in crate::process) fn kill_when_parent_dies(command: &mut Command) {
    // SAFETY: between fork and exec only one system call is made; nothing is allocated or locked.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}
