//! The signals that arrive while a command runs.
//!
//! The command is in the process group of offcut, as it would be in that of its caller: what stops the group stops both. A
//! signal of the terminal reaches the whole group, so only signals that a process sent are forwarded.
//!
//! Handlers wake the event loop through a pipe, not through a socket pair: a sandbox without network access, such as
//! that of Codex, can forbid sending to any socket, and the end of the command would go unnoticed.

use crate::process::platform::{self, InheritedState};
use signal_hook_registry::SigId;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that have no handler: they cannot be caught, report an error in offcut itself, or stop the whole group when
/// a background process uses the terminal.
const NOT_CAUGHT: [i32; 10] = [
    libc::SIGKILL,
    libc::SIGSTOP,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// The signals that a terminal sends to its whole foreground group. If offcut leads the session, it alone gets SIGHUP.
const OF_TERMINAL: [i32; 5] = [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTSTP, libc::SIGWINCH];

/// The highest signal number; those from 32 on are real-time signals.
const MAX_SIGNAL: i32 = 64;

/// Signals that have arrived since the handlers were installed, which must happen before the command starts.
pub(crate) struct Signals {
    wake_reader: PipeReader,
    /// The handlers write to it.
    _wake_writer: PipeWriter,
    caught: Vec<CaughtSignal>,
}

struct CaughtSignal {
    number: i32,
    /// Whether it has arrived and concerns the command.
    has_arrived: Arc<AtomicBool>,
    handler: SigId,
}

impl Signals {
    /// Catches every signal that the caller did not ignore: those stay ignored, for the command too.
    pub(crate) fn catch(inherited: &InheritedState) -> io::Result<Signals> {
        let (wake_reader, wake_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&wake_reader, true)?;
        rustix::io::ioctl_fionbio(&wake_writer, true)?;
        let mut signals = Signals { wake_reader, _wake_writer: wake_writer, caught: Vec::new() };
        let is_wanted = |&number: &i32| {
            !NOT_CAUGHT.contains(&number) && (number == libc::SIGCHLD || !inherited.is_ignored(number))
        };
        for number in (1..=MAX_SIGNAL).filter(is_wanted) {
            match CaughtSignal::new(number, &signals._wake_writer) {
                Ok(caught) => signals.caught.push(caught),
                // Without it, the end of the command would go unnoticed.
                Err(error) if number == libc::SIGCHLD => return Err(error),
                // The numbers that the C library uses for itself are refused.
                Err(_) => {}
            }
        }
        Ok(signals)
    }

    /// Returns the signals that have arrived since the last call.
    pub(super) fn take(&mut self) -> Vec<i32> {
        let mut wakes = [0; 64];
        while matches!(self.wake_reader.read(&mut wakes), Ok(1..)) {}
        let arrived = self.caught.iter().filter(|caught| caught.has_arrived.swap(false, Ordering::SeqCst));
        arrived.map(|caught| caught.number).collect()
    }
}

impl CaughtSignal {
    #[expect(unsafe_code, reason = "only an unsafe interface tells a handler who sent the signal")]
    fn new(number: i32, wake_writer: &PipeWriter) -> io::Result<CaughtSignal> {
        let has_arrived = Arc::new(AtomicBool::new(false));
        let (flag, wake, own) = (Arc::clone(&has_arrived), wake_writer.as_raw_fd(), std::process::id());
        // The system sends a hang-up to the leader of the session alone.
        let is_for_leader = number == libc::SIGHUP && platform::leads_session();
        let is_for_group = OF_TERMINAL.contains(&number) && !is_for_leader;
        // SAFETY: the handler only loads and stores atomics, reads the information that the system passes, and writes to a
        // pipe that is open until the handler is removed; all of that is safe in a signal handler.
        let handler = unsafe {
            signal_hook_registry::register_sigaction(number, move |information| {
                let is_of_terminal = is_for_group && !platform::is_sent_by_process(information);
                // A write of offcut to a closed pipe, or to a file at its size limit, concerns only offcut.
                let is_own = number != libc::SIGCHLD
                    && platform::is_sent_by_process(information)
                    && u32::try_from(information.si_pid()) == Ok(own);
                if !is_of_terminal && !is_own {
                    flag.store(true, Ordering::SeqCst);
                    libc::write(wake, [0_u8].as_ptr().cast(), 1);
                }
            })?
        };
        Ok(CaughtSignal { number, has_arrived, handler })
    }
}

impl AsFd for Signals {
    /// Becomes readable when a signal has arrived.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_reader.as_fd()
    }
}

impl Drop for Signals {
    /// Restores the default actions: after the command, a signal ends offcut itself, for example during a slow upload.
    fn drop(&mut self) {
        for caught in &self.caught {
            signal_hook_registry::unregister(caught.handler);
            // offcut survives these two at all times.
            if !matches!(caught.number, libc::SIGPIPE | libc::SIGXFSZ) {
                platform::restore_default(caught.number);
            }
        }
    }
}
