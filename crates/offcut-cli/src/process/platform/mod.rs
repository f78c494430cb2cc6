//! What differs between systems, and what the standard library does not offer.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod elsewhere;
mod inherited;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod kin;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use elsewhere as system;
#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as system;

pub(crate) use inherited::Inherited;
pub(crate) use system::enlarge_pipe;
pub(super) use system::{Kin, die_with_us, own_program};

use rustix::process::{Pid, Signal};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What tells a pipe or file from every other, for as long as it is open.
pub(crate) fn identity(file: impl std::os::fd::AsFd) -> Option<String> {
    let found = rustix::fs::fstat(file).ok()?;
    Some(format!("{}:{}", found.st_dev, found.st_ino))
}

/// Whether the terminal sends its signals to us, and so to a child in our group.
pub(super) fn in_foreground() -> bool {
    File::open("/dev/tty")
        .ok()
        .and_then(|terminal| rustix::termios::tcgetpgrp(&terminal).ok())
        .is_some_and(|group| group == rustix::process::getpgrp())
}

/// Whether a signal was set to be ignored when we were started, as `nohup` does.
#[expect(unsafe_code, reason = "no safe interface asks for the disposition of a signal")]
pub(super) fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call changes nothing; it writes the present one to memory that is ours, large
    // enough and aligned. All-zero is a valid `sigaction`, so it is initialised also if the call fails.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Makes a store that reaches the limit on the size of files fail as a full disk does, instead of ending us.
pub(crate) fn survive_large_files() {
    if !is_ignored(libc::SIGXFSZ) {
        // A handler, and not to ignore the signal: the command must not inherit that.
        let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// The number of a signal as `kill -l` has it.
pub(super) fn signal(number: i32) -> Option<Signal> {
    Signal::from_named_raw(number)
}

/// Sends a signal to one process. That it is gone already is no error.
pub(super) fn send(process: Pid, signal: Signal) {
    let _ = rustix::process::kill_process(process, signal);
}

/// Sends a signal to a group of processes. That it is gone already is no error.
pub(super) fn send_to_group(leader: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(leader, signal);
}
