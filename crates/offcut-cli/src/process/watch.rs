//! Following a command to its end: its output, our signals, its time.

use crate::process::launch::{Group, Launched};
use crate::process::platform::{self, Kin};
use crate::process::signals::Signals;
use crate::process::status::Status;
use crate::stream::{BLOCK, read_block};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT};
use std::io::{self, PipeReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How long something else may keep the output open after the command has ended before we stop waiting for it.
const GRACE: Duration = Duration::from_millis(200);

/// What is read at the most after that: more than pipes hold when the command ends, less than what never ends.
const LATE: usize = 4 * BLOCK;

/// How long a command that is out of time has to end by itself before it is killed.
const KILL_AFTER: Duration = Duration::from_secs(2);

/// The signals that a terminal sends to everything in its foreground group.
const FROM_TERMINAL: [i32; 3] = [SIGINT, SIGQUIT, SIGHUP];

/// An output of the command, by number: all of it, or standard output and standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream(pub(crate) usize);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Exited(i32),
    Killed { signal: i32 },
    TimedOut,
}

/// An output that somebody still holds open.
pub(crate) struct Open {
    pub(crate) stream: Stream,
    pub(crate) reader: PipeReader,
}

/// A command that has ended.
pub(crate) struct Watched {
    pub(crate) fate: Fate,
    pub(crate) duration: Duration,
    pub(crate) open: Vec<Open>,
}

/// Reads everything the command prints, and returns when it has ended and its output has too, or does not.
///
/// After `wake`, `take` is called even if nothing came, with nothing.
pub(crate) fn watch(
    launched: Launched,
    signals: Signals,
    timeout: Option<Duration>,
    wake: Option<Duration>,
    take: impl FnMut(Stream, &[u8]),
) -> io::Result<Watched> {
    let Launched { child, group, started, outputs } = launched;
    let open =
        outputs.into_iter().enumerate().map(|(number, reader)| Open { stream: Stream(number), reader });
    let mut watch = Watch {
        leader: i32::try_from(child.id()).ok().and_then(Pid::from_raw),
        child,
        group,
        kin: Kin::default(),
        signals,
        open: open.collect(),
        ended: None,
        late: 0,
        patience: timeout.map_or(Patience::Endless, |timeout| Patience::Until(started + timeout)),
        status: Status::for_terminal(started),
        wake: wake.map(|wake| started + wake),
        block: vec![0; BLOCK],
        take,
    };
    let result = watch.follow();
    watch.status.erase();
    result.map(|(fate, end)| Watched { fate, duration: end - started, open: watch.open })
}

/// What happens when the command takes too long.
#[derive(Clone, Copy, Debug)]
enum Patience {
    Endless,
    /// It is asked to end then.
    Until(Instant),
    /// It was asked, and is killed then.
    Asked(Instant),
    /// It was killed.
    Gone,
}

impl Patience {
    fn is_over(self) -> bool {
        matches!(self, Patience::Asked(_) | Patience::Gone)
    }
}

struct Watch<F> {
    child: Child,
    leader: Option<Pid>,
    group: Group,
    /// What else gets our signals once its time is up, where a group does not say it.
    kin: Kin,
    signals: Signals,
    open: Vec<Open>,
    ended: Option<(ExitStatus, Instant)>,
    /// The bytes read since the command ended.
    late: usize,
    patience: Patience,
    status: Status,
    wake: Option<Instant>,
    block: Vec<u8>,
    take: F,
}

impl<F: FnMut(Stream, &[u8])> Watch<F> {
    fn follow(&mut self) -> io::Result<(Fate, Instant)> {
        let mut is_quiet = false;
        loop {
            let now = Instant::now();
            if let Some((status, end)) = self.ended
                // Not before what is there has been read, however long that takes: its end may be behind it.
                && (self.open.is_empty() || (self.gave_up(end, now) && (is_quiet || self.late > LATE)))
            {
                return Ok((self.fate(status), end));
            }
            self.mind_the_time(now);
            self.status.draw(now);
            if self.wake.is_some_and(|wake| now >= wake) {
                self.wake = None;
                (self.take)(Stream(0), &[]);
            }
            let ready = self.wait(now)?;
            if ready.signal {
                self.handle_signals()?;
            }
            for &number in ready.outputs.iter().rev() {
                self.read(number);
            }
            is_quiet = ready.outputs.is_empty();
        }
    }

    /// Whether what is still open will not be waited for.
    fn gave_up(&self, end: Instant, now: Instant) -> bool {
        match self.patience {
            // The group of a command that ran out of time is killed before anything is left to itself.
            Patience::Asked(_) => false,
            _ => now >= end + GRACE,
        }
    }

    fn fate(&self, status: ExitStatus) -> Fate {
        match (self.patience.is_over(), status.code(), status.signal()) {
            (true, _, _) => Fate::TimedOut,
            (_, Some(code), _) => Fate::Exited(code),
            (_, _, signal) => Fate::Killed { signal: signal.unwrap_or_default() },
        }
    }

    fn mind_the_time(&mut self, now: Instant) {
        match self.patience {
            Patience::Until(deadline) if now >= deadline && self.ended.is_none() => {
                if let (Group::Shared, Some(leader)) = (self.group, self.leader) {
                    self.kin = Kin::of(leader);
                }
                self.send(Signal::TERM);
                // Whoever is stopped could not end.
                self.send(Signal::CONT);
                self.patience = Patience::Asked(now + KILL_AFTER);
            }
            Patience::Asked(deadline) if now >= deadline => {
                self.send(Signal::KILL);
                self.patience = Patience::Gone;
                // The grace begins again: those that were killed need a moment to let go of the output.
                if let Some((_, end)) = &mut self.ended {
                    *end = now;
                }
            }
            _ => {}
        }
    }

    fn send(&self, signal: Signal) {
        match (self.leader, self.group) {
            (Some(leader), Group::Own) => platform::send_to_group(leader, signal),
            // A number may belong to another process once its own has been waited for.
            (Some(leader), Group::Shared) if self.ended.is_none() => platform::send(leader, signal),
            _ => {}
        }
        self.kin.send(signal);
    }

    fn wait(&self, now: Instant) -> io::Result<Ready> {
        let patience = match self.patience {
            Patience::Until(time) if self.ended.is_none() => Some(time),
            Patience::Asked(time) => Some(time),
            _ => None,
        };
        let grace = self.ended.map(|(_, end)| end + GRACE).filter(|_| patience.is_none());
        let next = [patience, grace, self.status.next_draw(), self.wake].into_iter().flatten().min();
        let timeout = next.map(|next| next.saturating_duration_since(now) + Duration::from_millis(1));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut polled: Vec<PollFd<'_>> =
            self.open.iter().map(|open| PollFd::new(&open.reader, PollFlags::IN)).collect();
        polled.push(PollFd::new(&self.signals, PollFlags::IN));
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |number: &usize| !polled[*number].revents().is_empty();
        let outputs = (0..self.open.len()).filter(is_ready).collect();
        Ok(Ready { outputs, signal: is_ready(&self.open.len()) })
    }

    fn handle_signals(&mut self) -> io::Result<()> {
        for number in self.signals.take() {
            if number == SIGCHLD {
                if self.ended.is_none() {
                    self.ended = self.child.try_wait()?.map(|status| (status, Instant::now()));
                }
            } else if self.group == Group::Own || !FROM_TERMINAL.contains(&number) {
                platform::signal(number).into_iter().for_each(|signal| self.send(signal));
            }
        }
        Ok(())
    }

    fn read(&mut self, number: usize) {
        let Open { stream, reader } = &mut self.open[number];
        match read_block(reader, &mut self.block) {
            Ok(count @ 1..) => {
                self.late += if self.ended.is_some() { count } else { 0 };
                self.status.observe(&self.block[..count]);
                (self.take)(*stream, &self.block[..count]);
            }
            // A pipe that cannot be read has nothing more for us.
            Ok(0) | Err(_) => drop(self.open.remove(number)),
        }
    }
}

struct Ready {
    outputs: Vec<usize>,
    signal: bool,
}
