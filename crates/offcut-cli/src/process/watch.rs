//! Watches a running command: reads its output, forwards signals and enforces the timeout.

use crate::process::launch::RunningCommand;
use crate::process::platform;
use crate::process::signals::Signals;
use crate::process::status_line::StatusLine;
use crate::stream::{BLOCK, Stdout, read_block};
use offcut::live::{DELAY, TICK};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use rustix::stdio::stdout;
use std::io::{self, PipeReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How long to wait for background processes to close the output after the command has ended.
const GRACE: Duration = Duration::from_millis(200);

/// How much to read after that: at least the content of the pipes, but not an endless stream.
const MAX_LATE_BYTES: usize = 4 * BLOCK;

/// How long a command has to end after SIGTERM before it is killed.
const KILL_AFTER: Duration = Duration::from_secs(2);

/// How long a signal waits before it is forwarded. If its sender signalled the whole process group, the command has it
/// already, and may have ended.
const FORWARD_AFTER: Duration = Duration::from_millis(50);

/// The number of an output: 0 for merged or standard output, 1 for standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream(pub(crate) usize);

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitCause {
    Exited(i32),
    Killed { signal: i32 },
    TimedOut,
}

/// An output that a background process still holds open.
pub(crate) struct OpenOutput {
    pub(crate) stream: Stream,
    pub(crate) reader: PipeReader,
}

/// The end of a command.
pub(crate) struct CommandExit {
    pub(crate) cause: ExitCause,
    pub(crate) duration: Duration,
    pub(crate) open: Vec<OpenOutput>,
}

/// Gets the output of a command while it runs.
pub(crate) trait Observer {
    /// Takes the next bytes.
    fn output(&mut self, stream: Stream, chunk: &[u8]);

    /// Takes the error because of which the rest of an output cannot be read.
    fn fail(&mut self, stream: Stream, error: &io::Error);

    /// Returns what to print now, `elapsed` after the command started.
    fn tick(&mut self, elapsed: Duration) -> Vec<u8>;
}

/// Reads the output until the command has ended and its output is closed, or a background process holds it open for
/// longer than the grace period.
pub(crate) fn watch(
    running: RunningCommand,
    signals: Signals,
    timeout: Option<Duration>,
    observer: &mut dyn Observer,
) -> io::Result<CommandExit> {
    let RunningCommand { child, started, outputs } = running;
    if timeout.is_some() {
        platform::adopt_orphans();
    }
    let open =
        outputs.into_iter().enumerate().map(|(number, reader)| OpenOutput { stream: Stream(number), reader });
    let mut watcher = Watcher {
        child,
        signals,
        to_forward: Vec::new(),
        open: open.collect(),
        ended: None,
        late_bytes: 0,
        timeout: timeout.map_or(TimeoutState::Unlimited, |timeout| TimeoutState::Running(started + timeout)),
        status: StatusLine::for_terminal(started),
        started,
        next_tick: started + TICK,
        unprinted: Vec::new(),
        polls_stdout: true,
        block: vec![0; BLOCK],
        observer,
    };
    let result = watcher.watch();
    watcher.status.erase();
    let Watcher { signals, unprinted, open, .. } = watcher;
    drop(signals);
    // An error occurs again when the rest of the output is printed, and is reported then.
    let _ = Stdout.write_all(&unprinted);
    result.map(|(cause, end)| CommandExit { cause, duration: end - started, open })
}

/// How far the timeout has been enforced.
#[derive(Clone, Copy, Debug)]
enum TimeoutState {
    Unlimited,
    /// SIGTERM is sent at this time.
    Running(Instant),
    /// SIGTERM was sent; SIGKILL is sent at this time.
    Terminating(Instant),
    /// SIGKILL was sent.
    Killed,
}

impl TimeoutState {
    fn is_expired(self) -> bool {
        matches!(self, TimeoutState::Terminating(_) | TimeoutState::Killed)
    }
}

struct Watcher<'o> {
    child: Child,
    signals: Signals,
    /// The signals to forward, and when.
    to_forward: Vec<(Instant, i32)>,
    open: Vec<OpenOutput>,
    ended: Option<(ExitStatus, Instant)>,
    /// The bytes read since the command ended.
    late_bytes: usize,
    timeout: TimeoutState,
    status: StatusLine,
    started: Instant,
    next_tick: Instant,
    /// What is to be printed as soon as standard output accepts it.
    unprinted: Vec<u8>,
    /// Whether standard output is open and can be polled.
    polls_stdout: bool,
    block: Vec<u8>,
    observer: &'o mut dyn Observer,
}

impl Watcher<'_> {
    fn watch(&mut self) -> io::Result<(ExitCause, Instant)> {
        let mut is_quiet = false;
        loop {
            let now = Instant::now();
            // Read everything that is available first, however long that takes: the end of the output may follow.
            let is_drained = is_quiet || self.late_bytes > MAX_LATE_BYTES;
            if let Some((status, end)) = self.ended
                && (self.open.is_empty() || (is_drained && self.is_grace_over(end, now)))
                && now >= settled(status, end)
            {
                return Ok((self.cause(status), end));
            }
            self.enforce_timeout(now);
            self.forward_signals(now);
            self.status.draw(now);
            if now >= self.next_tick {
                self.next_tick = now + TICK;
                self.tick(now);
            }
            let ready = self.wait(now)?;
            if ready.signal {
                self.handle_signals()?;
            }
            for &number in ready.outputs.iter().rev() {
                self.read(number);
            }
            self.handle_stdout(ready.stdout);
            is_quiet = ready.outputs.is_empty();
        }
    }

    /// Asks what to print while the command runs. Once it has ended, the rest is part of the preview.
    fn tick(&mut self, now: Instant) {
        if self.ended.is_none() {
            self.unprinted.extend(self.observer.tick(now - self.started));
        }
        if !self.polls_stdout {
            self.print();
        }
    }

    fn handle_stdout(&mut self, events: PollFlags) {
        if events.contains(PollFlags::NVAL) {
            self.polls_stdout = false;
        } else if events.intersects(PollFlags::ERR | PollFlags::HUP) {
            self.close_output();
        } else if events.contains(PollFlags::OUT) {
            self.print();
        }
    }

    /// Prints as much as standard output accepts without blocking. A full pipe must not delay signals and the timeout.
    fn print(&mut self) {
        let count = self.unprinted.len().min(libc::PIPE_BUF);
        if count == 0 {
            return;
        }
        self.status.clear();
        match rustix::io::write(stdout(), &self.unprinted[..count]) {
            Ok(count) => {
                let printed: Vec<u8> = self.unprinted.drain(..count).collect();
                self.status.observe_printed(&printed);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::PIPE) => self.close_output(),
            Err(_) => self.unprinted.clear(),
        }
    }

    /// Closes the output of the command, because nobody reads it: the command ends as it would without offcut. Background
    /// processes keep theirs.
    fn close_output(&mut self) {
        self.polls_stdout = false;
        self.unprinted.clear();
        let position = self.open.iter().position(|open| open.stream == Stream(0));
        if let (Some(number), None) = (position, self.ended) {
            // What is in the pipe now is stored.
            if ioctl_fionread(&self.open[number].reader).is_ok_and(|count| count > 0) {
                self.read(number);
            }
            self.open.retain(|open| open.stream != Stream(0));
        }
    }

    /// Whether to stop waiting for background processes that hold the output open.
    fn is_grace_over(&self, end: Instant, now: Instant) -> bool {
        match self.timeout {
            // After a timeout, the descendants of the command are killed before offcut returns.
            TimeoutState::Terminating(_) => false,
            _ => now >= end + GRACE,
        }
    }

    fn cause(&self, status: ExitStatus) -> ExitCause {
        match (self.timeout.is_expired(), status.code(), status.signal()) {
            (true, _, _) => ExitCause::TimedOut,
            (_, Some(code), _) => ExitCause::Exited(code),
            (_, _, signal) => ExitCause::Killed { signal: signal.unwrap_or_default() },
        }
    }

    fn enforce_timeout(&mut self, now: Instant) {
        match self.timeout {
            TimeoutState::Running(deadline) if now >= deadline && self.ended.is_none() => {
                self.send_to_all(Signal::TERM);
                // A stopped process handles SIGTERM only after SIGCONT.
                self.send_to_all(Signal::CONT);
                self.timeout = TimeoutState::Terminating(now + KILL_AFTER);
            }
            TimeoutState::Terminating(deadline) if now >= deadline => {
                self.send_to_all(Signal::KILL);
                self.timeout = TimeoutState::Killed;
                // The grace period starts again: killed processes take a moment to close the output.
                if let Some((_, end)) = &mut self.ended {
                    *end = now;
                }
            }
            _ => {}
        }
    }

    /// Sends a signal to the command and to its descendants.
    fn send_to_all(&self, signal: Signal) {
        self.send(signal.as_raw());
        platform::send_to_descendants(signal, self.command());
    }

    /// Sends a signal to the command.
    fn send(&self, signal: i32) {
        if let Some(command) = self.command() {
            platform::send(command, signal);
        }
    }

    /// The process number of the command. Once it has been reaped, the number may belong to another process.
    fn command(&self) -> Option<Pid> {
        if self.ended.is_none() { Some(Pid::from_child(&self.child)) } else { None }
    }

    fn forward_signals(&mut self, now: Instant) {
        let due = self.to_forward.extract_if(.., |(time, _)| *time <= now).collect::<Vec<_>>();
        due.into_iter().for_each(|(_, signal)| self.send(signal));
    }

    fn wait(&self, now: Instant) -> io::Result<Ready> {
        let deadline = match self.timeout {
            TimeoutState::Running(time) if self.ended.is_none() => Some(time),
            TimeoutState::Terminating(time) => Some(time),
            _ => None,
        };
        let grace = self.ended.map(|(_, end)| end + GRACE).filter(|_| deadline.is_none());
        let settled = self.ended.map(|(status, end)| settled(status, end)).filter(|&time| time > now);
        let forward = self.to_forward.iter().map(|(time, _)| *time).min();
        let next = [deadline, grace, settled, self.status.next_draw(), self.tick_due(), forward]
            .into_iter()
            .flatten()
            .min();
        let timeout = next.map(|next| next.saturating_duration_since(now) + Duration::from_millis(1));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut polled: Vec<PollFd<'_>> =
            self.open.iter().map(|open| PollFd::new(&open.reader, PollFlags::IN)).collect();
        polled.push(PollFd::new(&self.signals, PollFlags::IN));
        let output = stdout();
        // A command that ends soon ends as if its output were read.
        if self.polls_stdout && now >= self.started + DELAY {
            // Without anything to print, only to notice that nobody reads it any more.
            let events = if self.unprinted.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            polled.push(PollFd::new(&output, events));
        }
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |number: &usize| !polled[*number].revents().is_empty();
        let outputs = (0..self.open.len()).filter(is_ready).collect();
        let stdout = polled.get(self.open.len() + 1).map_or(PollFlags::empty(), PollFd::revents);
        Ok(Ready { outputs, signal: is_ready(&self.open.len()), stdout })
    }

    fn tick_due(&self) -> Option<Instant> {
        self.ended.is_none().then_some(self.next_tick)
    }

    fn handle_signals(&mut self) -> io::Result<()> {
        let arrived = self.signals.take();
        for &number in arrived.iter().filter(|&&number| !matches!(number, libc::SIGCHLD | libc::SIGCONT)) {
            self.to_forward.push((Instant::now() + FORWARD_AFTER, number));
        }
        if arrived.contains(&libc::SIGCONT) {
            self.forget_stop();
            self.send(libc::SIGCONT);
        }
        if arrived.contains(&libc::SIGCHLD) && self.ended.is_none() {
            self.ended = self.child.try_wait()?.map(|status| (status, Instant::now()));
            self.stop_with_command();
        }
        Ok(())
    }

    /// Stops offcut if the command was stopped, so that the caller's job control sees what it would see without offcut.
    /// Without job control, nobody would continue offcut: it waits until the command is continued.
    fn stop_with_command(&mut self) {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        if let Some(command) = self.command()
            && matches!(waitid(WaitId::Pid(command), options), Ok(Some(_)))
        {
            self.forget_stop();
            self.status.clear();
            if platform::is_job() {
                platform::stop_self();
            }
        }
    }

    /// Does not forward a stop signal that had its effect, or that SIGCONT made void: it would stop the command again.
    fn forget_stop(&mut self) {
        self.to_forward.retain(|&(_, number)| number != libc::SIGTSTP);
    }

    fn read(&mut self, number: usize) {
        let OpenOutput { stream, reader } = &mut self.open[number];
        match read_block(reader, &mut self.block) {
            Ok(count @ 1..) => {
                self.late_bytes += if self.ended.is_some() { count } else { 0 };
                self.status.observe(&self.block[..count]);
                self.observer.output(*stream, &self.block[..count]);
            }
            Ok(0) => drop(self.open.remove(number)),
            Err(error) => {
                self.observer.fail(*stream, &error);
                drop(self.open.remove(number));
            }
        }
    }
}

/// When a command that has ended counts as such. The sender of the signal that ended it may signal offcut next, and must not
/// end it before it has printed the output. A shell reports the signal that ended its last command by a code above 128.
fn settled(status: ExitStatus, end: Instant) -> Instant {
    if status.code().is_none_or(|code| code > 128) { end + FORWARD_AFTER } else { end }
}

struct Ready {
    outputs: Vec<usize>,
    signal: bool,
    stdout: PollFlags,
}
