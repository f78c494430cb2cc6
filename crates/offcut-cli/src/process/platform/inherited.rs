//! Process state that is inherited in addition to arguments and environment: signal dispositions, the signal mask and
//! closed standard streams.
//!
//! offcut changes some of it for itself. The command gets it as offcut got it, as if the caller had started it directly.

use super::is_ignored;
use rustix::io::fcntl_getfd;
use rustix::stdio::{stderr, stdin, stdout};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The state in which this process was started.
#[derive(Clone, Copy)]
pub(crate) struct InheritedState {
    broken_pipe: Disposition,
    child_ended: Disposition,
    mask: libc::sigset_t,
    /// Which of the standard streams were closed.
    closed: [bool; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disposition {
    Default,
    Ignored,
}

impl InheritedState {
    /// Records the inherited state, then changes it as offcut needs it. Must be called first.
    pub(crate) fn capture() -> InheritedState {
        let disposition = |signal| match is_ignored(signal) {
            true => Disposition::Ignored,
            false => Disposition::Default,
        };
        let inherited = InheritedState {
            // The standard start-up code has already set SIGPIPE to ignored, and its disposition is unknown.
            broken_pipe: if cfg!(bare_start) { disposition(libc::SIGPIPE) } else { Disposition::Default },
            child_ended: disposition(libc::SIGCHLD),
            mask: mask(),
            closed: [stdin(), stdout(), stderr()].map(|stream| fcntl_getfd(stream).is_err()),
        };
        // A closed output is a write error, not the end of offcut.
        ignore(libc::SIGPIPE);
        // offcut learns of the end of the command by SIGCHLD, even if the caller blocked it.
        unblock(libc::SIGCHLD);
        inherited.open_closed_streams();
        inherited
    }

    /// Whether the caller ignored a signal. The command inherits that.
    pub(crate) fn is_ignored(&self, signal: i32) -> bool {
        match signal {
            libc::SIGPIPE => self.broken_pipe == Disposition::Ignored,
            libc::SIGCHLD => self.child_ended == Disposition::Ignored,
            other => is_ignored(other),
        }
    }

    /// Whether this process was started without standard output.
    pub(crate) fn has_closed_output(&self) -> bool {
        self.closed[1]
    }

    /// Opens closed standard streams, so that no other file gets their descriptors. Writing to them is an error.
    ///
    /// These descriptors are closed on exec: the command finds the streams closed, as they were.
    fn open_closed_streams(&self) {
        for _ in self.closed.iter().filter(|&&closed| closed) {
            // A new descriptor has the lowest free number, which is that of the first closed stream.
            if let Ok(null) = std::fs::File::open("/dev/null") {
                let _ = null.into_raw_fd();
            }
        }
    }

    /// Restores the inherited state in a command before it is executed.
    #[expect(unsafe_code, reason = "the state of a child is set between fork and exec")]
    pub(crate) fn restore_in(self, command: &mut Command) {
        // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
        unsafe {
            command.pre_exec(move || {
                for (disposition, signal) in
                    [(self.broken_pipe, libc::SIGPIPE), (self.child_ended, libc::SIGCHLD)]
                {
                    if disposition == Disposition::Ignored {
                        ignore(signal);
                    }
                }
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, std::ptr::null_mut());
                for (stream, _) in (0..).zip(self.closed).filter(|&(_, closed)| closed) {
                    libc::close(stream);
                }
                Ok(())
            });
        }
    }
}

#[expect(unsafe_code, reason = "no safe interface ignores a signal")]
fn ignore(signal: i32) {
    // SAFETY: ignoring a signal installs no handler.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
    }
}

#[expect(unsafe_code, reason = "no safe interface reads the mask")]
fn mask() -> libc::sigset_t {
    let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `mask` is initialised first; without a new mask, the second call only writes the current one to it.
    unsafe {
        libc::sigemptyset(mask.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
        mask.assume_init()
    }
}

#[expect(unsafe_code, reason = "no safe interface changes the mask")]
fn unblock(signal: i32) {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `set` is initialised before it is used.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}
