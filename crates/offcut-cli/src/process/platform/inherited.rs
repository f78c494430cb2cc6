//! What a caller hands down to every process it starts, beside arguments and environment.
//!
//! We need some of it otherwise than we got it. The command gets it as we did: it must not be able to tell us from its
//! caller.

use super::is_ignored;
use rustix::io::fcntl_getfd;
use rustix::stdio::{stderr, stdin, stdout};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The state in which we were started.
#[derive(Clone, Copy)]
pub(crate) struct Inherited {
    broken_pipe: Disposition,
    child_ended: Disposition,
    mask: libc::sigset_t,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disposition {
    Default,
    Ignored,
}

impl Inherited {
    /// Notes how we were started, and then makes it what we ourselves need. To be called before anything else.
    pub(crate) fn take() -> Inherited {
        let disposition = |signal| match is_ignored(signal) {
            true => Disposition::Ignored,
            false => Disposition::Default,
        };
        let inherited = Inherited {
            // The standard library's own start has ignored it already, and nobody knows any more what it was.
            broken_pipe: if cfg!(bare_start) { disposition(libc::SIGPIPE) } else { Disposition::Default },
            child_ended: disposition(libc::SIGCHLD),
            mask: mask(),
        };
        // Whoever stops reading us is an error of a write, and not our end.
        ignore(libc::SIGPIPE);
        // The end of the command is told by a signal, also if our caller did not want to hear of its own children.
        unblock(libc::SIGCHLD);
        open_what_is_closed();
        inherited
    }

    /// Hands it down to a command that is about to be started.
    #[expect(unsafe_code, reason = "only the child itself can change what it is, between fork and exec")]
    pub(crate) fn hand_down(self, command: &mut Command) {
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
                Ok(())
            });
        }
    }
}

/// The first files we open would otherwise be taken for standard input, output and error.
///
/// What is opened here is closed again when another program is executed: the command finds closed what was closed.
fn open_what_is_closed() {
    for standard in [stdin(), stdout(), stderr()] {
        if fcntl_getfd(standard).is_err()
            // A new descriptor is the lowest that is free, and those before are not.
            && let Ok(nothing) = std::fs::File::options().read(true).write(true).open("/dev/null")
        {
            let _ = nothing.into_raw_fd();
        }
    }
}

#[expect(unsafe_code, reason = "no safe interface ignores a signal")]
fn ignore(signal: i32) {
    // SAFETY: to ignore a signal runs no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
    }
}

#[expect(unsafe_code, reason = "no safe interface asks for the mask")]
fn mask() -> libc::sigset_t {
    let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the set is ours and made empty first; without a new mask the second call only writes the present one to it.
    unsafe {
        libc::sigemptyset(mask.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
        mask.assume_init()
    }
}

#[expect(unsafe_code, reason = "no safe interface changes the mask")]
fn unblock(signal: i32) {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the set is ours and made empty before it is used; nothing is written to it afterwards.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}
