//! The signals that arrive while a command runs.
//!
//! They wake us by a pipe and not by a socket: in a sandbox without network (Codex has one) nothing may be sent to a
//! socket, not even to one's own, and the end of the command would never be heard of.

use crate::process::platform;
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that are passed on.
const FORWARDED: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// Signals are caught from when this is made, before the command starts, so that none is lost between.
pub(crate) struct Signals {
    bell: PipeReader,
    caught: Vec<Caught>,
}

struct Caught {
    signal: i32,
    has_come: Arc<AtomicBool>,
    actions: [SigId; 2],
}

impl Signals {
    pub(crate) fn catch() -> io::Result<Signals> {
        let (bell, rope) = io::pipe()?;
        rustix::io::ioctl_fionbio(&bell, true)?;
        let mut signals = Signals { bell, caught: Vec::new() };
        // What we were told to ignore stays ignored, for the command too.
        for signal in FORWARDED.into_iter().filter(|&signal| !platform::is_ignored(signal)).chain([SIGCHLD]) {
            let has_come = Arc::new(AtomicBool::new(false));
            // Actions run in this order: whoever hears the bell sees who has come.
            let actions = [
                signal_hook::flag::register(signal, Arc::clone(&has_come))?,
                signal_hook::low_level::pipe::register(signal, rope.try_clone()?)?,
            ];
            signals.caught.push(Caught { signal, has_come, actions });
        }
        Ok(signals)
    }

    /// What has come since this was last asked.
    pub(super) fn take(&mut self) -> Vec<i32> {
        let mut rings = [0; 64];
        while matches!(self.bell.read(&mut rings), Ok(1..)) {}
        let come = self.caught.iter().filter(|caught| caught.has_come.swap(false, Ordering::SeqCst));
        come.map(|caught| caught.signal).collect()
    }
}

impl AsFd for Signals {
    /// What can be read when a signal has come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for action in self.caught.iter().flat_map(|caught| caught.actions) {
            signal_hook::low_level::unregister(action);
        }
    }
}
