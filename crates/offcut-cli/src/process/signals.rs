//! The signals that arrive while a command runs.
//!
//! The command is in the process group of offcut, as it would be in that of its caller: what stops the group stops both. A
//! signal of the terminal reaches the whole group, so only signals that a process sent are forwarded.
//!
//! Handlers wake the event loop through a pipe, not through a socket pair: a sandbox without network access, such as
//! that of Codex, can forbid sending to any socket, and the end of the command would go unnoticed.
//!
//! A signal that arrives just after the command has ended was meant for the command: it must not end offcut before its
//! output is printed. If that takes long, for example because of a slow upload, a signal ends offcut.

use crate::process::platform::{self, InheritedState};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

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

/// How long after the command a signal has no effect.
const LATE_AFTER: Duration = Duration::from_secs(1);

/// Signals that have arrived since the handlers were installed, which must happen before the command starts.
pub(crate) struct Signals {
    wake_reader: PipeReader,
    caught: Vec<CaughtSignal>,
    shared: Arc<Shared>,
}

/// What the handlers use until the process ends.
struct Shared {
    wake_writer: PipeWriter,
    /// When the command ended.
    ended: OnceLock<Instant>,
}

struct CaughtSignal {
    number: i32,
    /// Whether it has arrived and concerns the command.
    has_arrived: Arc<AtomicBool>,
}

impl Signals {
    /// Catches every signal that the caller did not ignore: those stay ignored, for the command too.
    pub(crate) fn catch(inherited: &InheritedState) -> io::Result<Signals> {
        let (wake_reader, wake_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&wake_reader, true)?;
        rustix::io::ioctl_fionbio(&wake_writer, true)?;
        let shared = Arc::new(Shared { wake_writer, ended: OnceLock::new() });
        let mut signals = Signals { wake_reader, caught: Vec::new(), shared };
        let is_wanted = |&number: &i32| {
            !NOT_CAUGHT.contains(&number) && (number == libc::SIGCHLD || !inherited.is_ignored(number))
        };
        for number in (1..=MAX_SIGNAL).filter(is_wanted) {
            match CaughtSignal::new(number, &signals.shared) {
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
    fn new(number: i32, shared: &Arc<Shared>) -> io::Result<CaughtSignal> {
        let has_arrived = Arc::new(AtomicBool::new(false));
        let (flag, shared, own) = (Arc::clone(&has_arrived), Arc::clone(shared), std::process::id());
        // The system sends a hang-up to the leader of the session alone.
        let is_for_leader = number == libc::SIGHUP && platform::leads_session();
        let is_for_group = OF_TERMINAL.contains(&number) && !is_for_leader;
        // SAFETY: the handler only loads and stores atomics, reads the clock and the information that the system passes,
        // writes to a pipe that it keeps open, and restores and raises a signal; all of that is safe in a signal handler.
        unsafe {
            signal_hook_registry::register_sigaction(number, move |information| {
                if let Some(ended) = shared.ended.get() {
                    // offcut survives a closed pipe and a full file at all times.
                    if ended.elapsed() > LATE_AFTER && !matches!(number, libc::SIGPIPE | libc::SIGXFSZ) {
                        platform::restore_default(number);
                        libc::raise(number);
                    }
                    return;
                }
                let is_of_terminal = is_for_group && !platform::is_sent_by_process(information);
                // A write of offcut to a closed pipe, or to a file at its size limit, concerns only offcut.
                let is_own = number != libc::SIGCHLD
                    && platform::is_sent_by_process(information)
                    && u32::try_from(information.si_pid()) == Ok(own);
                if !is_of_terminal && !is_own {
                    flag.store(true, Ordering::SeqCst);
                    libc::write(shared.wake_writer.as_raw_fd(), [0_u8].as_ptr().cast(), 1);
                }
            })?;
        }
        Ok(CaughtSignal { number, has_arrived })
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
        let _ = self.shared.ended.set(Instant::now());
    }
}
