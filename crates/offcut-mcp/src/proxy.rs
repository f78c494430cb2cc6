//! The proxy: a client on one side, a server on the other.

use crate::hub::{Client, Hub, is_json};
use crate::library::Library;
use crate::line::{Line, Lines};
use crate::relay::{Bounding, Relay};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take to end when nobody speaks to it any more, and again when it was told to end.
const GRACE: Duration = Duration::from_secs(3);

/// How often we look whether something has ended.
const MOMENT: Duration = Duration::from_millis(5);

/// What a proxy is set up with.
pub struct Proxy {
    /// Makes the middleware for each tool.
    pub bounding: Box<Bounding>,
    /// What our own tool reads.
    pub library: Library,
    /// The server's name in the configuration: its tools are `mcp__NAME__TOOL` there.
    pub server_name: Option<String>,
    /// The session that outputs are kept under.
    pub session: Option<String>,
    /// The largest message that is held.
    pub largest_message: usize,
}

impl Proxy {
    pub(crate) fn hub(self, output: Box<dyn Write + Send>) -> Hub {
        Hub {
            relay: Relay::new(self.bounding, self.server_name, self.session),
            library: self.library,
            client: Client::new(output),
            largest: self.largest_message,
        }
    }
}

/// How a proxy ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// The client has left.
    ByClient,
    /// The server ended by itself.
    ByServer(ExitStatus),
}

enum Event {
    ClientLeft,
    ServerSilent,
    Signal(i32),
}

/// Runs a server and stands between it and the client, until one of them ends.
pub fn proxy(
    proxy: Proxy,
    mut command: Command,
    input: impl Read + Send + 'static,
    output: Box<dyn Write + Send>,
) -> io::Result<Ended> {
    // A group of its own: what is told to end is the server, whatever started it (`npx`, a shell).
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn()?;
    let (Some(to_server), Some(from_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let hub = Arc::new(proxy.hub(output));
    let to_server = Arc::new(Mutex::new(Some(to_server)));
    let (events, happened) = channel();
    watch_signals(events.clone())?;
    let server = {
        let (hub, to_server, events) = (hub.clone(), to_server.clone(), events.clone());
        std::thread::spawn(move || {
            let mut lines = Lines::new(from_server, hub.largest);
            if follow_server(&hub, &mut lines, &to_server).is_err() {
                let _ = events.send(Event::ClientLeft);
                // Nobody listens; a server that may still speak can end in its own way.
                while let Ok(Some(_)) = lines.next() {}
            }
            let _ = events.send(Event::ServerSilent);
        })
    };
    {
        let hub = hub.clone();
        std::thread::spawn(move || {
            let forward = |line: &[u8]| {
                write(&to_server, line).map_err(|error| format!("the server does not listen: {error}"))
            };
            if let Err(error) = hub.follow_client(input, forward) {
                eprintln!("offcut: the client cannot be read: {error}");
            }
            // Our own end is all that keeps the server waiting for more.
            to_server.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _ = events.send(Event::ClientLeft);
        });
    }
    let (status, first) = wait_for_the_end(&mut child, &happened)?;
    // What it has said last is on its way; something that it started may hold the pipe open for ever.
    let deadline = Instant::now() + GRACE;
    while !server.is_finished() && Instant::now() < deadline {
        std::thread::sleep(MOMENT);
    }
    match first {
        First::Server => {
            hub.fail_all(&format!("the server has ended ({status}) before it answered"));
            Ok(Ended::ByServer(status))
        }
        First::Client => Ok(Ended::ByClient),
    }
}

/// Who ended first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Client,
    Server,
}

/// Waits for the server to end. When nobody speaks to it any more, or it has closed its output, it has some time to do
/// so; then it is told to, and then made to. What a host sends to end its server is passed on at once.
fn wait_for_the_end(child: &mut Child, happened: &Receiver<Event>) -> io::Result<(ExitStatus, First)> {
    let mut first = None;
    let mut deadline: Option<Instant> = None;
    let mut told = Told::Nothing;
    loop {
        // Before the first event there is nothing to look after.
        let event = match deadline {
            None => happened.recv().ok(),
            Some(_) => happened.recv_timeout(MOMENT).ok(),
        };
        match event {
            Some(Event::Signal(signal)) => {
                first.get_or_insert(First::Client);
                tell(child, Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
            }
            Some(Event::ClientLeft) => drop(first.get_or_insert(First::Client)),
            Some(Event::ServerSilent) => drop(first.get_or_insert(First::Server)),
            None => {}
        }
        if let Some(status) = child.try_wait()? {
            return Ok((status, first.unwrap_or(First::Server)));
        }
        let now = Instant::now();
        if *deadline.get_or_insert(now + GRACE) <= now {
            deadline = Some(now + GRACE);
            match told {
                Told::Nothing => tell(child, Signal::TERM),
                Told::ToEnd => tell(child, Signal::KILL),
            }
            told = Told::ToEnd;
        }
    }
}

/// What a server that does not end was told.
enum Told {
    Nothing,
    ToEnd,
}

fn tell(child: &Child, signal: Signal) {
    // If it cannot be told, it has ended.
    let _ = kill_process_group(Pid::from_child(child), signal);
}

/// Passes on what the server says, until it says no more. An error is the client's: it does not read any more.
fn follow_server(
    hub: &Arc<Hub>,
    lines: &mut Lines<impl Read>,
    to_server: &Arc<Mutex<Option<ChildStdin>>>,
) -> io::Result<()> {
    loop {
        match lines.next() {
            Ok(Some(Line::Whole(line))) => hub.pass_to_client(line)?,
            Ok(Some(Line::Unended(line))) if is_json(line) => hub.pass_to_client(line)?,
            Ok(Some(Line::Unended(_))) => eprintln!("offcut: the server ended in the middle of a message"),
            Ok(Some(Line::TooLong(long))) => {
                if let Some(refusal) = hub.refuse_server(&long)? {
                    // The server may not read before we do: waiting for it here could last for ever.
                    let to_server = to_server.clone();
                    std::thread::spawn(move || write(&to_server, refusal.as_bytes()));
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                eprintln!("offcut: the server cannot be read: {error}");
                return Ok(());
            }
        }
    }
}

/// One message for the server.
fn write(to_server: &Mutex<Option<ChildStdin>>, line: &[u8]) -> io::Result<()> {
    let mut pipe = to_server.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(pipe) = pipe.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
    // In one piece, so that the server wakes up once.
    let mut message = Vec::with_capacity(line.len() + 1);
    message.extend_from_slice(line);
    message.push(b'\n');
    pipe.write_all(&message)
}

/// What a host sends to end its server is meant for the server.
fn watch_signals(events: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}
