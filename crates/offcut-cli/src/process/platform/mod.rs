//! Operating system interfaces that differ between systems or that the standard library lacks.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod descendants;
mod inherited;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod other;

#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as system;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use other as system;

pub(crate) use inherited::InheritedState;
pub(crate) use system::enlarge_pipe;
pub(super) use system::{Descendants, kill_when_parent_dies, own_program};

use rustix::process::{Pid, Signal};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Identifies a pipe or file among all that are open.
pub(crate) fn pipe_identity(file: impl std::os::fd::AsFd) -> Option<String> {
    let found = rustix::fs::fstat(file).ok()?;
    Some(format!("{}:{}", found.st_dev, found.st_ino))
}

/// Whether this process is in the foreground group of the terminal, which gets the signals of the keyboard.
pub(super) fn is_in_foreground() -> bool {
    File::open("/dev/tty")
        .ok()
        .and_then(|terminal| rustix::termios::tcgetpgrp(&terminal).ok())
        .is_some_and(|group| group == rustix::process::getpgrp())
}

/// Whether a signal is ignored, as by `nohup`.
#[expect(unsafe_code, reason = "no safe interface asks for the disposition of a signal")]
pub(super) fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, the call only writes the current one to `action`, which is large enough and
    // aligned. All zeros are a valid `sigaction`, so it is initialised even if the call fails.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Turns reaching the file size limit into a write error, like a full disk, instead of death by SIGXFSZ.
pub(crate) fn catch_file_size_signal() {
    if !is_ignored(libc::SIGXFSZ) {
        // A handler, because commands would inherit an ignored signal.
        let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Converts the number of a signal.
pub(super) fn signal(number: i32) -> Option<Signal> {
    Signal::from_named_raw(number)
}

/// Sends a signal to a process. It is not an error if the process has ended.
pub(super) fn send(process: Pid, signal: Signal) {
    let _ = rustix::process::kill_process(process, signal);
}

/// Sends a signal to a process group. It is not an error if the group has ended.
pub(super) fn send_to_group(leader: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(leader, signal);
}
