//! The signals that arrive while a command runs.
//!
//! Handlers wake the event loop through a pipe, not through a socket pair: a sandbox without network access, such as
//! that of Codex, can forbid sending to any socket, and the end of the command would go unnoticed.

use crate::process::platform;
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that are forwarded to the command.
const FORWARDED: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// Signals that have arrived since the handlers were installed, which must happen before the command starts.
pub(crate) struct Signals {
    wake_reader: PipeReader,
    flags: Vec<SignalFlag>,
}

struct SignalFlag {
    signal: i32,
    has_arrived: Arc<AtomicBool>,
    actions: [SigId; 2],
}

impl Signals {
    pub(crate) fn catch() -> io::Result<Signals> {
        let (wake_reader, wake_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&wake_reader, true)?;
        let mut signals = Signals { wake_reader, flags: Vec::new() };
        // Signals that the caller ignores stay ignored, for the command too.
        for signal in FORWARDED.into_iter().filter(|&signal| !platform::is_ignored(signal)).chain([SIGCHLD]) {
            let has_arrived = Arc::new(AtomicBool::new(false));
            // Actions run in this order, so the flag is set when the pipe wakes the event loop.
            let actions = [
                signal_hook::flag::register(signal, Arc::clone(&has_arrived))?,
                signal_hook::low_level::pipe::register(signal, wake_writer.try_clone()?)?,
            ];
            signals.flags.push(SignalFlag { signal, has_arrived, actions });
        }
        Ok(signals)
    }

    /// Returns the signals that have arrived since the last call.
    pub(super) fn take(&mut self) -> Vec<i32> {
        let mut wakes = [0; 64];
        while matches!(self.wake_reader.read(&mut wakes), Ok(1..)) {}
        let arrived = self.flags.iter().filter(|flag| flag.has_arrived.swap(false, Ordering::SeqCst));
        arrived.map(|flag| flag.signal).collect()
    }
}

impl AsFd for Signals {
    /// Becomes readable when a signal has arrived.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_reader.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for action in self.flags.iter().flat_map(|flag| flag.actions) {
            signal_hook::low_level::unregister(action);
        }
    }
}
