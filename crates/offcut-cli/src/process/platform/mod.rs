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
pub(super) use system::{
    adopt_orphans, is_sent_by_process, kill_when_parent_dies, own_program, send_to_descendants,
};

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Identifies a pipe or file among all that are open.
pub(crate) fn pipe_identity(file: impl std::os::fd::AsFd) -> Option<String> {
    let found = rustix::fs::fstat(file).ok()?;
    Some(format!("{}:{}", found.st_dev, found.st_ino))
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
        let _ = handle(libc::SIGXFSZ);
    }
}

/// Survives an interrupt from the terminal, which is meant for a program that this process waits for.
pub(crate) fn catch_interrupt() {
    let _ = handle(libc::SIGINT);
}

/// Survives a signal without ignoring it, which commands would inherit.
#[expect(unsafe_code, reason = "a signal handler is registered")]
pub(super) fn handle(signal: i32) -> std::io::Result<()> {
    // SAFETY: the handler does nothing.
    unsafe { signal_hook_registry::register(signal, || ()).map(drop) }
}

/// Sends a signal, also a real-time one, to a process. It is not an error if the process has ended.
#[expect(unsafe_code, reason = "the safe interface does not know real-time signals")]
pub(super) fn send(process: Pid, signal: i32) {
    // SAFETY: `kill` has no preconditions.
    unsafe {
        libc::kill(process.as_raw_pid(), signal);
    }
}

/// Stops this process until a signal continues it.
pub(super) fn stop_self() {
    let _ = kill_process(getpid(), Signal::STOP);
}

/// Whether a shell with job control started this process and would continue it: one on the same terminal, in another
/// process group.
#[expect(
    unsafe_code,
    reason = "the safe interfaces fail for a session or group of another process namespace"
)]
pub(super) fn is_job() -> bool {
    let has_terminal = std::fs::File::open("/dev/tty").is_ok();
    // SAFETY: these functions have no preconditions.
    has_terminal
        && unsafe {
            let parent = libc::getppid();
            libc::getsid(parent) == libc::getsid(0) && libc::getpgid(parent) != libc::getpgid(0)
        }
}

/// Whether this process leads its session.
#[expect(unsafe_code, reason = "the safe interface fails for a session of another process namespace")]
pub(super) fn leads_session() -> bool {
    // SAFETY: these functions have no preconditions.
    unsafe { libc::getsid(0) == libc::getpid() }
}

/// Restores the default action of a signal.
#[expect(unsafe_code, reason = "no safe interface restores the default action of a signal")]
pub(super) fn restore_default(signal: i32) {
    // SAFETY: the default action has no handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// Ends this process by a signal, as its command ended. Returns if the signal does not end it.
#[expect(unsafe_code, reason = "no safe interface raises a signal or unblocks it")]
pub(crate) fn die_of(signal: i32) {
    // offcut is not the program whose memory somebody wants to examine.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    restore_default(signal);
    // SAFETY: `set` is initialised before it is used.
    unsafe {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}
