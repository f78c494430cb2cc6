//! Interfaces that only Linux has.

use rustix::process::{Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

pub(in crate::process) use super::descendants::send_to_descendants;

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

/// Has the command killed when offcut is killed: to the caller, offcut is the command.
#[expect(unsafe_code, reason = "a child must request this itself, between fork and exec")]
pub(in crate::process) fn kill_when_parent_dies(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // If offcut was killed before that, there is no signal any more.
            match getppid() == Some(parent) {
                true => Ok(()),
                false => Err(rustix::io::Errno::CANCELED.into()),
            }
        });
    }
}

/// Makes offcut the parent of processes whose own parent has ended, so that they are found after a timeout.
pub(in crate::process) fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Whether a process sent a signal. Otherwise the system did, for example because of a key on the terminal.
pub(in crate::process) fn is_sent_by_process(information: &libc::siginfo_t) -> bool {
    information.si_code <= 0
}
